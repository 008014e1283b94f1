/* SPDX-License-Identifier: BSD-3-Clause */
/* The MTU changed at run time on both ends, and a path that is narrower than both. */
#include <string.h>

#include "../narrow.h"
#include "all.h"

/* A peer with one client after the other. */
struct mtu {
	struct node node;
	struct peer peer;
	struct udp_client client[3], *now;
	struct sim_wire *wire[2];
	struct sim_narrow narrow;
	struct node_mtu order;
	struct sim_world *w;
};

static int
current_init(struct peer *p, void *arg)
{
	(void)p;
	(void)arg;
	return 0;
}

static void
current_turn(struct peer *p, uint64_t now_ns, void *arg)
{
	struct mtu *s = arg;

	p->wake_ns = now_ns + 10 * MS;
	if (s->now == NULL)
		return;
	if (s->now->fd4 == 0 && udp_client_init(s->now, p->stack) != 0)
		sim_fail(s->w, "no sockets");
	peer_client_turn(p, now_ns, s->now);
	if (p->wake_ns == UINT64_MAX)
		p->wake_ns = now_ns + 10 * MS;
}

static bool
now_done(void *arg)
{
	const struct mtu *s = arg;

	return udp_client_done(s->now) || s->now->wrong[0] != '\0';
}

/* One exchange with client i; frames of the server's side are counted into *frames. */
static bool
exchange(struct mtu *s, unsigned int i, const char *what, uint64_t *frames)
{
	uint64_t before = sim_wire_fault(s->wire[0], 1)->st.frames;

	s->now = &s->client[i];
	if (!sim_run_until(s->w, now_done, s, 60 * SEC))
		sim_fail(s->w, "%s: %llu of %u answered (%llu sent, %llu errors, the last %d)", what,
			(unsigned long long)s->now->answered, s->now->conf.n, (unsigned long long)s->now->sent,
			(unsigned long long)s->now->send_errors, s->now->last_error);
	*frames = sim_wire_fault(s->wire[0], 1)->st.frames - before;
	return client_check(s->w, s->now, what);
}

static bool
order_done(void *arg)
{
	return ((struct mtu *)arg)->order.done;
}

/* Both ends go to mtu: the node as an administrator does it, the peer by itself. */
static bool
both_to(struct mtu *s, uint16_t mtu)
{
	s->peer.want_mtu = mtu;
	if (node_mtu_start(&s->node, &s->order, mtu) != 0 || !sim_run_until(s->w, order_done, s, 10 * SEC)) {
		sim_fail(s->w, "MTU %u: no answer", mtu);
		return false;
	}
	return sim_check(s->w, s->order.result == 0, "MTU %u: error %d", mtu, -s->order.result) &&
		sim_check(s->w, s->node.port->mtu == mtu, "the port says %u, not %u", s->node.port->mtu, mtu);
}

static bool
build(struct sim_world *w, struct mtu *s, const struct node_conf *nc, uint16_t mtu)
{
	struct peer_conf pc = { .name = "client", .addr4_be = CLIENT4_BE, .init = current_init, .turn = current_turn,
		.arg = s, .mtu = mtu, .data_room = 9216 + SHIM_HEADROOM };
	struct node_conf n = *nc;

	s->w = w;
	n.name = "server";
	n.addr4 = SERVER4;
	n.broadcast4 = "10.0.0.255";
	n.gateway4 = "10.0.0.254";
	n.addr6 = SERVER6;
	addr6_of(2, pc.addr6);
	draw_offloads(sim_rng(w), &n.port);
	draw_offloads(sim_rng(w), &pc.port);
	if (node_add(w, &s->node, &n) == 0 && peer_add(w, &s->peer, &pc) == 0)
		return true;
	sim_fail(w, "the hosts could not be made");
	return false;
}

static bool
clients(struct sim_world *w, struct mtu *s, uint32_t min_len, uint32_t max_len, bool df, unsigned int i)
{
	struct udp_client_conf cc = duo_client(w);

	cc.n = 60;
	cc.window = 4;
	cc.min_len = min_len;
	cc.max_len = max_len;
	cc.df = df;
	cc.timeout_ns = SEC;
	return sim_check(w, udp_client_prepare(&s->client[i], &cc) == 0, "out of memory");
}

static void
mtu(struct sim_world *w, void *state)
{
	struct mtu *s = state;
	struct node_conf nc = { .mtu_enable = true, .nb_workers = (unsigned int)prng_range(sim_rng(w), 1, 2),
		.port.reta_size = 128 };
	const struct fault_params f = { .delay_ns = 20000 };
	uint64_t frames;

	draw_preemption(w);
	if (!build(w, s, &nc, 1500) || !clients(w, s, 8, 1452, true, 0) || !clients(w, s, 3000, 8000, true, 1) ||
		!clients(w, s, 3000, 8000, false, 2))
		return;
	s->wire[0] = sim_wire_add(w, peer_end(&s->peer), node_end(&s->node), &f, &f);
	if (!exchange(s, 0, "MTU 1500", &frames) || !both_to(s, 9000) || !exchange(s, 1, "MTU 9000", &frames))
		return;
	/* nothing is cut: a frame for each answer, and what little neighbours have to say (MTU-6) */
	if (!sim_check(w, frames < s->client[1].conf.n + 20, "%llu frames for %u answers at MTU 9000",
		(unsigned long long)frames, s->client[1].conf.n))
		return;
	if (!both_to(s, 1500) || !exchange(s, 2, "MTU 1500 again", &frames))
		return;
	if (sim_check(w, frames >= 3 * s->client[2].conf.n, "%llu frames for %u answers at MTU 1500",
		(unsigned long long)frames, s->client[2].conf.n))
		sim_finish(w);
}

static void
pmtu(struct sim_world *w, void *state)
{
	struct mtu *s = state;
	struct prng *r = sim_rng(w);
	struct node_conf nc = { .mtu_enable = true, .mtu = 9000 };
	const struct fault_params f = { .delay_ns = 20000 };
	uint8_t router6[16];
	uint64_t frames;

	addr6_of(0xfe, router6);
	sim_narrow_init(&s->narrow, (uint16_t)prng_range(r, 1280, 4000), 0xfe00000au, router6);
	if (!build(w, s, &nc, 9000) || !clients(w, s, 8, 8000, false, 0) || !clients(w, s, 8, 8000, false, 1) ||
		!clients(w, s, 8, s->narrow.mtu - 48u, true, 2))
		return;
	s->wire[0] = sim_wire_add(w, peer_end(&s->peer), &s->narrow.end[0], &f, &f);
	s->wire[1] = sim_wire_add(w, &s->narrow.end[1], node_end(&s->node), &f, &f);
	/* both directions learn the path's MTU; the client sends again what was lost for it */
	if (!exchange(s, 0, "narrow path", &frames))
		return;
	if (!sim_check(w, s->narrow.too_big > 0, "nothing was too big for the path"))
		return;
	/* learned: now nothing more is too big, and nobody waits */
	s->narrow.too_big = 0;
	if (!exchange(s, 1, "narrow path, known", &frames) ||
		!sim_check(w, s->narrow.too_big == 0, "%llu packets still too big", (unsigned long long)s->narrow.too_big))
		return;
	if (exchange(s, 2, "narrow path, never fragmented", &frames))
		sim_finish(w);
}

static void
mtu_release(void *state)
{
	struct mtu *s = state;

	for (int i = 0; i < 3; i++)
		udp_client_release(&s->client[i]);
	node_release(&s->node);
}

const struct sim_scenario scenario_mtu = {
	.name = "mtu",
	.soak = 1,
	.description = "MTU 1500, 9000 and 1500 again on running hosts, by the administrator's request to primary and workers",
	.state_size = sizeof(struct mtu),
	.run = mtu,
	.release = mtu_release,
};

const struct sim_scenario scenario_pmtu = {
	.name = "pmtu",
	.soak = 1,
	.description = "jumbo hosts on a path of 1280 to 4000 bytes: fragmentation-needed and packet-too-big are learned, both families",
	.state_size = sizeof(struct mtu),
	.run = pmtu,
	.release = mtu_release,
};
