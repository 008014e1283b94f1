/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reloads of a whole host, seen from the wire: frames made byte by byte, answers counted and ordered by flow. The server
 * writes into each answer which generation it is.
 */
#include "pkt.h"

#include "core/reload/master.h"
#include "sim/node.h"

#define MS 1000000ull
#define SEC 1000000000ull
#define FLOWS 18u

struct seen {
	uint32_t sent, got;       /* sequence numbers: of the last one sent, of the last one answered */
	uint32_t gen;             /* that answered last */
	uint64_t back;            /* answers of an older generation than the one before */
	uint64_t disordered, twice;
	uint64_t answers;
};

struct bed {
	struct sim_world *w;
	struct node node;
	struct sim_end end;
	struct seen flow[FLOWS];
	unsigned int arps, strange;
};

static uint8_t F[P_MAX], L4[P_MAX];

static void
served(void *ctx, struct node_worker *nw, uint8_t *buf, size_t n)
{
	(void)ctx;
	if (n >= 12)
		w32(buf + 8, nw->generation);
}

/* What the node sends. */
static void
receive(struct sim_end *e, const uint8_t *f, uint32_t n)
{
	struct bed *b = e->ctx;
	const uint8_t *u = f + L2 + H4;
	uint32_t port, seq, gen;
	uint8_t r[60] = { 0 };

	if (n >= 42 && r16(f + 12) == 0x0806 && r16(f + 20) == 1 && memcmp(f + 38, PEER4, 4) == 0) {
		memcpy(r, f + 6, 6);
		memcpy(r + 6, FX_PEER_MAC, 6);
		memcpy(r + 12, f + 12, 8);
		w16(r + 20, 2);
		memcpy(r + 22, FX_PEER_MAC, 6);
		memcpy(r + 28, PEER4, 4);
		memcpy(r + 32, f + 22, 10);
		b->arps++;
		sim_send(e, r, 60);
		return;
	}
	if (n < L2 + H4 + 8 + 12 || r16(f + 12) != 0x0800 || f[L2 + 9] != 17 || (r16(f + L2 + 6) & 0x1fff) != 0)
		return;
	port = r16(u + 2);
	seq = r32(u + 8 + 4);
	gen = r32(u + 8 + 8);
	if (r16(u) != SIM_ECHO_PORT || port < 1000 || port >= 1000 + FLOWS || r32(u + 8) != port) {
		b->strange++;
		return;
	}
	port -= 1000;
	b->flow[port].answers++;
	b->flow[port].twice += seq == b->flow[port].got;
	b->flow[port].disordered += seq < b->flow[port].got;
	b->flow[port].back += gen < b->flow[port].gen;
	b->flow[port].got = seq;
	b->flow[port].gen = gen;
}

/* A request of the flow; frags: in pieces of 16 bytes, the last one first, and one of them twice. */
static void
ask(struct bed *b, unsigned int flow, bool frags)
{
	uint8_t d[56] = { 0 };
	uint32_t n, at[8], k = 0;

	w32(d, 1000 + flow);
	w32(d + 4, ++b->flow[flow].sent);
	n = udp(L4, 4, 1000 + flow, SIM_ECHO_PORT, d, sizeof(d));
	if (!frags) {
		sim_send(&b->end, F, ip4(F, 17, b->flow[flow].sent, 0, L4, n));
		return;
	}
	for (uint32_t off = 0; off < n; off += 16)
		at[k++] = off;
	for (uint32_t i = 0; i <= k; i++) {
		uint32_t off = at[i == k ? 0 : k - 1 - i], len = n - off < 16 ? n - off : 16;
		uint32_t id = (flow << 8 | (b->flow[flow].sent & 0xff)) & 0xffff;

		if (i == k && (b->flow[flow].sent & 1))
			break; /* every other time the first one comes twice */
		len = ip4(F, 17, id, (off + len < n ? 0x2000 : 0) | off / 8, L4 + off, len);
		sim_send(&b->end, F, len);
	}
}

static bool
calm(void *arg)
{
	return node_calm(arg);
}

static struct bed *
bed_new(uint64_t seed, unsigned int lanes, const struct fault_params *faults)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };
	struct node_conf c = { .name = "node", .nb_workers = lanes, .addr4 = "10.0.0.1", .broadcast4 = "10.0.0.255",
		.gateway4 = "10.0.0.2", .reload = true, .served = served,
		.dpdk = "reload_udp_idle_ms=300\n", .least_wait_ns = 200000 };
	struct bed *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	memcpy(c.port.mac, mac, 6);
	c.port.reta_size = 128;
	c.port.rss_key_size = 40;
	c.port.max_queues = 8;
	c.ctx = b;
	b->w = sim_world_create(&(struct sim_options){ .seed = seed, .preempt_ppm = seed & 1 ? 2000 : 0,
		.preempt_ns = 50000 });
	assert_non_null(b->w);
	b->end = (struct sim_end){ .receive = receive, .ctx = b, .name = "client" };
	if (node_add(b->w, &b->node, &c) != 0)
		fail_msg("%s", sim_why(b->w));
	assert_non_null(sim_wire_add(b->w, &b->end, node_end(&b->node), faults, faults));
	assert_true(sim_run_until(b->w, calm, &b->node, 20 * SEC));
	return b;
}

static void
bed_free(struct bed *b)
{
	struct sim_result r;

	sim_finish(b->w);
	sim_world_destroy(b->w, &r);
	node_release(&b->node);
	if (r.failed)
		fail_msg("%s", r.why);
	assert_int_equal(b->strange, 0);
	free(b);
}

static enum window_state
window(struct bed *b)
{
	struct window w;

	assert_int_equal(gen_window(sim_proc_shim(b->node.primary_proc), b->node.dir, &w), 0);
	return w.state;
}

/* Flows from .. to - 1 ask every 10 ms for so long. */
static void
talk(struct bed *b, unsigned int from, unsigned int to, uint64_t ns, bool frags)
{
	for (uint64_t t = 0; t < ns; t += 10 * MS) {
		for (unsigned int i = from; i < to; i++)
			ask(b, i, frags);
		sim_run(b->w, sim_now(b->w) + 10 * MS);
	}
}

static void
assert_whole(const struct bed *b, unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++) {
		const struct seen *f = &b->flow[i];

		if (f->answers != f->sent || f->back + f->disordered + f->twice != 0)
			fail_msg("flow %u: %u asked, %llu answered, %llu back, %llu out of order, %llu twice", i, f->sent,
				(unsigned long long)f->answers, (unsigned long long)f->back,
				(unsigned long long)f->disordered, (unsigned long long)f->twice);
	}
}

/* A HUP, and talk until the lanes have changed hands; around that time densely: a frame every 10 us. */
static void
flip(struct bed *b, unsigned int flows, bool frags)
{
	const struct gen_dir *d = b->node.dir;
	unsigned int side = gen_side(b->node.active) ^ 1, left = 150;

	b->node.hups = 1;
	for (unsigned int t = 0; window(b) == WINDOW_CLOSED || d->seat[side][0].ready >> 32 != b->node.wid; t++) {
		assert_true(t < 100000);
		for (unsigned int i = 0; i < flows && t % 200 == 0; i++)
			ask(b, i, frags);
		sim_run(b->w, sim_now(b->w) + 50000);
	}
	assert_true(window(b) == WINDOW_OPEN || window(b) == WINDOW_PARKING);
	for (unsigned int t = 0; left > 0; t++) {
		assert_true(t < 20000);
		ask(b, t % flows, frags);
		sim_run(b->w, sim_now(b->w) + 10000);
		left -= window(b) == WINDOW_COMMITTED;
	}
}

/* DSP-1, DSP-4, DSP-9, REL-14: old flows stay, new ones are the new generation's, none loses a datagram, each in order */
static void
flows_stay_and_come_and_nothing_is_lost(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct bed *b = bed_new(seed, seed % 2 + 1, NULL);
		uint32_t old = b->node.active;

		talk(b, 0, 6, 200 * MS, false);
		for (unsigned int i = 0; i < 6; i++)
			assert_int_equal(b->flow[i].gen, old);
		flip(b, 6, false);
		talk(b, 0, 12, 400 * MS, false); /* longer than idle: they speak, so they stay */
		for (unsigned int i = 0; i < 6; i++)
			assert_int_equal(b->flow[i].gen, old);
		for (unsigned int i = 6; i < 12; i++)
			assert_true(b->flow[i].gen > old);
		assert_whole(b, 0, 12);
		talk(b, 6, 12, 500 * MS, false); /* the old ones are silent: the drain ends */
		assert_true(sim_run_until(b->w, calm, &b->node, 5 * SEC));
		assert_true(b->node.active > old);
		talk(b, 0, 18, 100 * MS, false);
		for (unsigned int i = 0; i < 18; i++)
			assert_true(b->flow[i].gen > old);
		sim_run(b->w, sim_now(b->w) + 10 * MS);
		assert_whole(b, 0, 18);
		bed_free(b);
	}
}

/* DSP-6, REL-14: datagrams in fragments, the last one first, over several reloads */
static void
fragmented_flows_survive_reloads(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct bed *b = bed_new(seed, seed % 2 + 1, NULL);

		for (unsigned int round = 0; round < 2; round++) {
			talk(b, 0, 4, 100 * MS, true);
			flip(b, 4, true);
			talk(b, 0, 8, 200 * MS, true);
			sim_run(b->w, sim_now(b->w) + 10 * MS);
			assert_whole(b, 0, 8);
			sim_run(b->w, sim_now(b->w) + 1500 * MS);
			assert_true(sim_run_until(b->w, calm, &b->node, 10 * SEC));
		}
		bed_free(b);
	}
}

/* PAR-3, REL-13: the master dies in the middle of a reload: nobody's datagram is lost, and its successor goes on */
static void
the_master_dies_under_traffic(void **state)
{
	(void)state;
	for (uint64_t at = 1; at < 1200; at = at * 3 + 7) {
		struct bed *b = bed_new(at, 1, NULL);

		talk(b, 0, 3, 50 * MS, false);
		b->node.hups = 1;
		talk(b, 0, 3, at * MS, false);
		sim_proc_kill(b->node.master_proc);
		b->node.hups = 0;
		talk(b, 0, 3, 500 * MS, false);
		node_master_again(&b->node);
		talk(b, 0, 3, 500 * MS, false);
		sim_run(b->w, sim_now(b->w) + 10 * MS);
		assert_whole(b, 0, 3);
		sim_run(b->w, sim_now(b->w) + 2 * SEC);
		assert_true(sim_run_until(b->w, calm, &b->node, 20 * SEC));
		bed_free(b);
	}
}

/* SIM-3, SIM-5, REL-7, REL-18: a worker dies or stands still in a window: the others go on, buffers come home */
static void
a_worker_dies_under_traffic(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct bed *b = bed_new(seed, 2, NULL);
		struct node_worker *victim = NULL;
		uint64_t answers = 0;

		talk(b, 0, 4, 50 * MS, false);
		b->node.hups = 1;
		talk(b, 0, 4, (20 + 110 * seed) * MS, false);
		for (unsigned int i = 0; i < b->node.nb_spawned; i++)
			if (sim_proc_alive(b->node.spawned[i].proc) && ((seed & 1) == 0 || victim == NULL))
				victim = &b->node.spawned[i];
		assert_non_null(victim);
		if (seed & 2)
			sim_proc_pause(victim->proc);
		else
			sim_proc_kill(victim->proc);
		talk(b, 0, 4, 1500 * MS, false);
		if (sim_proc_alive(victim->proc))
			sim_proc_resume(victim->proc);
		sim_run(b->w, sim_now(b->w) + 2 * SEC);
		assert_true(sim_run_until(b->w, calm, &b->node, 30 * SEC));
		for (unsigned int i = 0; i < 4; i++)
			answers += b->flow[i].answers;
		talk(b, 0, 4, 50 * MS, false);
		sim_run(b->w, sim_now(b->w) + 10 * MS);
		for (unsigned int i = 0; i < 4; i++) {
			answers -= b->flow[i].answers;
			assert_int_equal(b->flow[i].got, b->flow[i].sent);
		}
		assert_true(answers == (uint64_t)-20);
		bed_free(b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flows_stay_and_come_and_nothing_is_lost),
		cmocka_unit_test(fragmented_flows_survive_reloads),
		cmocka_unit_test(the_master_dies_under_traffic),
		cmocka_unit_test(a_worker_dies_under_traffic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
