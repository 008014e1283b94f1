/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bulk transfers between two whole stacks over a wire with delay that loses, doubles and reorders frames; virtual
 * time.
 */
#include <stdlib.h>
#include <sys/socket.h>

#include "core/stack/tcp/tcp_priv.h"
#include "unit/stack/fixture.h"

#define WIRE_MAX 8192
#define CHUNK 65521 /* prime: segments begin everywhere in it */

/* Sockets are out of it: the test looks at control blocks itself. */
void __wrap_socket_tcp_event(struct stack *s, struct socket *so, uint32_t events);
void
__wrap_socket_tcp_event(struct stack *s, struct socket *so, uint32_t events)
{
	(void)s;
	(void)so;
	(void)events;
}

#define SO ((struct socket *)(uintptr_t)16)

struct world;

struct end {
	struct world *w;
	struct stack *s;
	struct netif *nif;
	struct end *peer;
	uint64_t busy;
};

struct frame {
	uint64_t at, order;
	struct end *to;
	struct rte_mbuf *m;
};

struct world {
	struct shim *shim;
	struct shim_pool *pool;
	uint64_t now, seed, order;
	uint64_t delay, ns_per_byte;
	uint32_t loss, twice, late; /* per mille of TCP frames */
	uint32_t queue;             /* frames in flight each way; 0: WIRE_MAX */
	uint32_t lost;
	uint32_t edge, holes;       /* with holes: the client's segments around the end of the numbers get lost, each once */
	uint16_t port;              /* the client's; 0: any */
	bool crossed;               /* it was seen in fast recovery with bytes in flight on both sides of that end */
	struct end end[2];
	unsigned int n, in_flight[2];
	struct frame q[WIRE_MAX];
};

/* What is sent: a pattern of CHUNK bytes again and again, twice here so that any CHUNK of it is in one piece. */
static uint8_t pattern[2 * CHUNK];

static void
pattern_make(void)
{
	uint32_t x = 1;

	for (size_t i = 0; i < CHUNK; i++) {
		x = x * 1103515245 + 12345;
		pattern[i] = pattern[CHUNK + i] = (uint8_t)(x >> 16);
	}
}

static uint32_t
chance(struct world *w)
{
	w->seed ^= w->seed << 13;
	w->seed ^= w->seed >> 7;
	w->seed ^= w->seed << 17;
	return (uint32_t)(w->seed >> 20) % 1000;
}

static void
carry(struct end *e, struct rte_mbuf *m, uint64_t extra)
{
	struct world *w = e->w;

	assert_true(w->n < WIRE_MAX);
	e->busy = (e->busy > w->now ? e->busy : w->now) + w->ns_per_byte * shim_buf_len(m);
	w->in_flight[e - w->end]++;
	w->q[w->n++] = (struct frame){ e->busy + w->delay + extra, w->order++, e->peer, m };
}

/* Some runs of segments before, over and after the end, when they are sent for the first time. */
static bool
in_hole(struct world *w, const uint8_t *tcp)
{
	uint32_t seq = get_be32(tcp + 4);
	int32_t at = (int32_t)seq;

	if (w->holes == 0 || !seq_lt(w->edge, seq))
		return false;
	w->edge = seq;
	return (at >= -30000 && at < -24000) || (at >= -1460 && at < 1460) || (at >= 9000 && at < 15000);
}

static unsigned int
transmit(void *ctx, struct rte_mbuf **m, unsigned int n)
{
	struct end *e = ctx;
	struct world *w = e->w;
	unsigned int i;

	for (i = 0; i < n; i++) {
		const uint8_t *b = shim_buf_data(m[i]);
		bool tcp = b[12] == 8 && b[13] == 0 && b[23] == 6;

		if (tcp && ((e == &w->end[0] && in_hole(w, b + 34)) || chance(w) < w->loss || (w->queue != 0 && w->in_flight[e - w->end] >= w->queue))) {
			w->lost++;
			shim_buf_free(w->shim, m[i]);
			continue;
		}
		carry(e, m[i], tcp && chance(w) < w->late ? 3 * FX_MS : 0);
	}
	return n;
}

/* Beginning at ns. */
static struct world *
world_new_at(uint64_t ns)
{
	struct world *w = calloc(1, sizeof(*w));
	int i;

	assert_non_null(w);
	pattern_make();
	w->seed = 0x9e3779b97f4a7c15ull;
	w->delay = 5 * FX_MS;
	w->ns_per_byte = 80; /* 100 Mbit/s */
	w->shim = mock_shim_new();
	mock_set_clock_ns(w->shim, ns);
	w->now = shim_clock_sample(w->shim);
	assert_int_equal(shim_pool_create(w->shim, "wire", 16384, 2176, &w->pool), 0);
	for (i = 0; i < 2; i++) {
		struct end *e = &w->end[i];
		struct stack_config c = {
			.shim = w->shim, .pool = w->pool,
			.secrets = { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 }, { 9, 10 }, { 11, 12 } },
		};
		struct netif_config n = { .name = "f-stack-0", .mtu = 1500, .tx = transmit, .tx_ctx = e, .no_link_local = true };

		memcpy(n.mac, i == 0 ? FX_MAC : FX_PEER_MAC, 6);
		e->w = w;
		e->peer = &w->end[!i];
		assert_int_equal(stack_create(&c, &e->s), 0);
		assert_int_equal(stack_if_add(e->s, &n, &e->nif), 0);
		assert_int_equal(stack_addr4_add(e->s, e->nif, fx_ip4(i == 0 ? "10.0.0.1" : "10.0.0.2"), 24, 0), 0);
	}
	return w;
}

static struct world *
world_new(void)
{
	return world_new_at(FX_NS);
}

static void
world_end(struct world *w)
{
	while (w->n > 0)
		shim_buf_free(w->shim, w->q[--w->n].m);
	stack_destroy(w->end[0].s);
	stack_destroy(w->end[1].s);
	assert_int_equal(shim_pool_avail(w->shim, w->pool), shim_pool_size(w->shim, w->pool));
	shim_pool_free(w->shim, w->pool);
	assert_int_equal(mock_shim_free(w->shim), 0);
	free(w);
}

static uint64_t
next_at(const struct world *w, unsigned int *frame)
{
	uint64_t at = UINT64_MAX;
	unsigned int i;

	*frame = WIRE_MAX;
	for (i = 0; i < w->n; i++) {
		if (*frame == WIRE_MAX || w->q[i].at < at || (w->q[i].at == at && w->q[i].order < w->q[*frame].order)) {
			at = w->q[i].at;
			*frame = i;
		}
	}
	return at;
}

/* The next thing happens: a frame arrives or a stack's timer is due. false: nothing ever will. */
static bool
step(struct world *w)
{
	unsigned int frame, i;
	uint64_t at = next_at(w, &frame), due = at;

	for (i = 0; i < 2; i++) {
		uint64_t d = stack_next_deadline(w->end[i].s);

		due = d < due ? d : due;
	}
	if (due == UINT64_MAX)
		return false;
	if (due > w->now)
		w->now = due;
	mock_set_clock_ns(w->shim, w->now);
	shim_clock_sample(w->shim);
	stack_poll(w->end[0].s, w->now);
	stack_poll(w->end[1].s, w->now);
	if (at <= w->now) {
		struct frame f = w->q[frame];

		w->q[frame] = w->q[--w->n];
		w->in_flight[f.to->peer - w->end]--;
		stack_input(f.to->s, f.to->nif, &f.m, 1);
	}
	stack_flush(w->end[0].s);
	stack_flush(w->end[1].s);
	return true;
}

/* bytes from one end to the other on a connection of its own; the seconds that took. */
static double
bulk(struct world *w, uint64_t bytes, const char *law)
{
	static uint8_t in[CHUNK];
	struct end *c = &w->end[0], *d = &w->end[1];
	struct tcp_pcb *l = tcp_new(d->s, SO, ADDR_INET), *p = tcp_new(c->s, SO, ADDR_INET), *a = NULL;
	union ip_addr any = fx_a4("10.0.0.2"), us = fx_a4("10.0.0.1");
	uint64_t start = w->now, sent = 0, got = 0, quiet = 0;
	bool over = false;

	if (w->port != 0)
		assert_int_equal(tcp_bind(c->s, p, ADDR_INET, &us, be16(w->port), NULL), 0);
	assert_int_equal(tcp_bind(d->s, l, ADDR_INET, &any, be16(80), NULL), 0);
	assert_int_equal(tcp_listen(d->s, l, 5), 0);
	assert_int_equal(tcp_congestion_set(c->s, p, law), 0);
	assert_int_equal(tcp_connect(c->s, p, ADDR_INET, &any, be16(80), NULL), -EINPROGRESS);
	stack_flush(c->s);
	while (!over) {
		struct iovec v = { pattern + sent % CHUNK, bytes - sent < CHUNK ? (size_t)(bytes - sent) : CHUNK };
		ssize_t n;

		assert_true(step(w));
		w->crossed |= p->rec.ca == REC_RECOVERY && p->snd_nxt < p->snd_una && p->snd_nxt > 4000;
		assert_true(w->now - start < 2000 * FX_NS);
		if (sent < bytes && tcp_fsm_of(p) == TCP_ESTABLISHED && tcp_writable(p) > 0) {
			n = tcp_write(c->s, p, &v, 1, 0);
			assert_true(n > 0 || n == -EAGAIN);
			sent += n > 0 ? (uint64_t)n : 0;
			if (sent == bytes)
				assert_int_equal(tcp_shutdown(c->s, p, SHUT_WR), 0);
		}
		if (a == NULL && (a = tcp_accept(d->s, l)) != NULL)
			tcp_attach(a, SO);
		v = (struct iovec){ in, CHUNK };
		n = a == NULL || (tcp_readable(a) == 0 && !tcp_at_eof(a)) ? -EAGAIN : tcp_read(d->s, a, &v, 1, 0);
		if (n > 0) {
			if (memcmp(in, pattern + got % CHUNK, (size_t)n) != 0)
				fail_msg("of %zd bytes from %llu some are wrong", n, (unsigned long long)got);
			got += (uint64_t)n;
		}
		over = n == 0;
		quiet = n > 0 ? 0 : quiet + 1;
		assert_true(quiet < 2000000);
		stack_flush(c->s);
		stack_flush(d->s);
	}
	assert_int_equal(got, bytes);
	tcp_close(c->s, p, false);
	tcp_close(d->s, a, false);
	tcp_close(d->s, l, false);
	return (double)(w->now - start) / 1e9;
}

/* STK-3, STK-9 */
static void
bulk_without_loss_fills_the_wire(void **state)
{
	struct world *w = world_new();

	(void)state;
	assert_true(bulk(w, 20000000, "cubic") < 2.4); /* 1.6 s at 100 Mbit/s */
	assert_int_equal(w->lost, 0);
	world_end(w);
}

static void
lossy(const char *law, uint32_t loss, uint32_t late, uint32_t queue, bool sack, bool ts, uint64_t bytes, double most)
{
	struct world *w = world_new();
	double s;

	w->loss = loss;
	w->late = late;
	w->queue = queue;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tcp_knob_set(w->end[i].s, TCP_KNOB_SACK, sack), 0);
		assert_int_equal(tcp_knob_set(w->end[i].s, TCP_KNOB_TIMESTAMPS, ts), 0);
	}
	s = bulk(w, bytes, law);
	if (s > most)
		fail_msg("%s, loss %u, reordering %u: %.1f s", law, loss, late, s);
	world_end(w);
}

/* STK-3, STK-9 */
static void
bulk_arrives_whole_over_a_wire_that_loses_and_reorders(void **state)
{
	(void)state;
	lossy("cubic", 10, 0, 0, true, true, 4000000, 10);
	lossy("newreno", 10, 0, 0, true, true, 4000000, 10);
	lossy("newreno", 10, 0, 0, false, true, 4000000, 20);
	lossy("newreno", 10, 0, 0, false, false, 2000000, 20);
	lossy("cubic", 0, 20, 0, true, true, 4000000, 4);
	lossy("cubic", 50, 10, 0, true, true, 2000000, 40);
	lossy("cubic", 0, 0, 60, true, true, 10000000, 3);
}

/*
 * The client's port, and when to begin, for a connection whose numbers begin up to below under the end of theirs and whose
 * timestamps pass the end of theirs after ms.
 */
static uint16_t
port_near_the_end(uint32_t below, uint32_t ms, uint64_t *begin)
{
	struct tcp_key k = { .local = fx_a4("10.0.0.1"), .remote = fx_a4("10.0.0.2"), .rport_be = be16(80), .family = ADDR_INET };
	struct world *w = world_new();
	static struct stack then;
	uint32_t port, left = 0;

	then = *w->end[0].s;
	for (port = 2000; port < 65536; port++) {
		k.lport_be = be16((uint16_t)port);
		*begin = (uint64_t)(0u - ms - tcp_ts_offset(&then, &k)) * 1000000;
		then.now_ns = *begin;
		left = 0u - tcp_isn(&then, &k);
		if (*begin > FX_NS && left <= below && left > below / 2)
			break;
	}
	world_end(w);
	assert_true(port < 65536);
	return (uint16_t)port;
}

/* STK-3: checklist 66, 30: a scaled window in loss recovery over the end of the numbers, and timestamps over the end of theirs */
static void
bulk_over_the_end_of_numbers_and_timestamps(void **state)
{
	uint64_t begin;
	uint16_t port = port_near_the_end(600000, 150, &begin);
	struct world *w = world_new_at(begin);

	(void)state;
	w->port = port;
	w->holes = 1;
	w->edge = 0u - 700000;
	assert_true(bulk(w, 4000000, "cubic") < 3);
	assert_true(w->crossed);
	assert_true(w->lost >= 8);
	assert_true((uint32_t)(w->now / 1000000) - (uint32_t)(begin / 1000000) > 150);
	assert_int_equal(tcp_events(w->end[0].s, TCP_EV_RTO), 0);
	assert_true(tcp_events(w->end[0].s, TCP_EV_FAST_RECOVERY) >= 1);
	assert_int_equal(stack_drops(w->end[0].s, STACK_DROP_TCP_PAWS) + stack_drops(w->end[1].s, STACK_DROP_TCP_PAWS), 0);
	world_end(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bulk_without_loss_fills_the_wire),
		cmocka_unit_test(bulk_over_the_end_of_numbers_and_timestamps),
		cmocka_unit_test(bulk_arrives_whole_over_a_wire_that_loses_and_reorders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
