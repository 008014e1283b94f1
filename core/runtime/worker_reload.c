/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker's part in a reload: sitting down, what a turn of its seat asks for, publishing, leaving. */
#include "worker_reload.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <string.h>

#include "../stack/priv.h"

/* ---- making and ending ------------------------------------------------------------------------ */

int
worker_reload_claim(struct worker *w, uint32_t generation)
{
	struct shim_proc self = shim_self(w->shim);
	struct seat_config sc = {
		.shim = w->shim, .lane = w->lane, .gen = generation, .proc_word = ctl_proc_word(&self),
		.heartbeat_timeout_ms = w->cfg->reload_heartbeat_timeout_ms,
		.shutdown_ms = w->cfg->worker_shutdown_timeout_ms,
	};
	struct worker_reload *rl;
	int rc;

	if (!w->cfg->graceful_reload) {
		w->owner = true;
		return 0;
	}
	rl = shim_malloc(w->shim, sizeof(*rl));
	if (rl == NULL)
		return -ENOMEM;
	rc = gen_dir_attach(w->shim, w->dir->boot_id, &rl->dir);
	if (rc < 0)
		shim_log(w->shim, SHIM_LOG_ERR, "the primary's memory is incomplete: %s", strerror(-rc));
	sc.dir = rl->dir;
	if (rc == 0)
		rc = seat_claim(&rl->seat, &sc);
	if (rc < 0) {
		shim_free(w->shim, rl);
		return rc;
	}
	rl->born_ns = w->now_ns;
	w->rl = rl;
	return 0;
}

/* The publish table of a side of this lane, for reading. The zone once found is *addr of *size; it stays where it is. */
static int
table_find(struct worker *w, unsigned int side, void **addr, size_t *size, struct pub *p)
{
	struct siphash_key key = { w->dir->secrets.table[0], w->dir->secrets.table[1] };
	char name[SHIM_NAME_MAX];
	int rc = 0;

	layout_pub_name(w->lane, side, name);
	if (*addr == NULL)
		rc = shim_zone_lookup(w->shim, name, addr, size);
	if (rc == 0)
		rc = pub_attach(p, w->shim, *addr, *size, w->dir->boot_id, &key, w->cfg->reload_udp_idle_ms);
	if (rc < 0)
		shim_log(w->shim, SHIM_LOG_ERR, "publish table %s: %s", name, strerror(-rc));
	return rc;
}

int
worker_reload_setup(struct worker *w)
{
	struct siphash_key key = { w->dir->secrets.table[0], w->dir->secrets.table[1] };
	void *addr = NULL;
	size_t size = 0;
	int rc;

	if (w->rl == NULL)
		return 0;
	rc = table_find(w, worker_side(w), &addr, &size, &w->rl->pub);
	if (rc < 0)
		return rc;
	pub_writer_begin(&w->rl->pub, w->rl->seat.proc_word);
	rc = dispatch_create(&w->rl->disp, w->shim, &key);
	if (rc < 0)
		return rc;
	w->rl->rings = true;
	return 0;
}

int
worker_reload_port(struct worker *w, struct worker_port *wp)
{
	char name[SHIM_NAME_MAX];
	unsigned int mine;
	int rc = 0;

	if (w->rl == NULL)
		return 0;
	mine = worker_side(w);
	for (unsigned int side = 0; rc == 0 && side < GEN_SIDES; side++) {
		layout_drain_name(wp->port, w->lane, side, name);
		rc = worker_ring_find(w, name, w->cfg->drain_ring_size, &wp->drain[side]);
		layout_relay_name(wp->port, w->lane, side, name);
		if (rc == 0)
			rc = worker_ring_find(w, name, w->cfg->drain_ring_size, &wp->relay[side]);
	}
	if (rc < 0)
		return rc;
	/* the ends that are this seat's, whoever owns the lane: a predecessor may have died at them */
	worker_ring_succeed(w, &wp->drain[!mine], SHIM_RING_PRODUCER);
	worker_ring_succeed(w, &wp->relay[mine], SHIM_RING_PRODUCER);
	wp->route = ROUTE_RELAY;
	return 0;
}

/*
 * Drain rings have one consumer: the seat's worker, or, when that is gone, the other side's for what is left. A word says which
 * process it is, so that a successor does not begin before the other one has ended.
 */
static bool
drain_claim(struct worker *w, struct gen_seat *seat)
{
	uint64_t mine = w->rl->seat.proc_word;
	/* acquire: what the last consumer took is out of the rings */
	uint64_t seen = shim_load64(w->shim, &seat->drain_claim, SHIM_ACQUIRE);
	struct shim_proc who = ctl_word_proc(seen);

	if (seen != 0 && seen != mine && shim_proc_alive(w->shim, &who) != 0)
		return false;
	return shim_cas64(w->shim, &seat->drain_claim, &seen, mine, SHIM_ACQ_REL);
}

static void
drain_release(struct worker *w, struct gen_seat *seat)
{
	uint64_t mine = w->rl->seat.proc_word;

	/* release: the last frame is out before the next consumer begins */
	shim_cas64(w->shim, &seat->drain_claim, &mine, 0, SHIM_ACQ_REL);
}

static void
drain_recover(struct worker *w, unsigned int side)
{
	for (unsigned int i = 0; i < w->nb_ports; i++)
		worker_ring_succeed(w, &w->port[i]->drain[side], SHIM_RING_CONSUMER);
}

void
worker_rescue_end(struct worker *w)
{
	w->rl->rescuing = false;
	drain_release(w, w->rl->seat.peer);
}

void
worker_reload_release(struct worker *w)
{
	struct worker_reload *rl = w->rl;

	if (rl == NULL)
		return;
	/* who leaves has no flows any more, whatever its table says */
	if (rl->pub.t != NULL && rl->publishing)
		pub_state_set(&rl->pub, PUB_HANDED, rl->seat.window.wid);
	if (rl->disp.map != NULL)
		worker_reload_publish(w);
	dispatch_destroy(&rl->disp);
	if (rl->rescuing)
		worker_rescue_end(w);
	if (rl->drain_mine)
		drain_release(w, rl->seat.mine);
	seat_release(&rl->seat);
	shim_free(w->shim, rl);
	w->rl = NULL;
}

/* ---- flows ------------------------------------------------------------------------------------ */

void
worker_reload_flow(void *ctx, int family, const union ip_addr *remote, uint16_t rport_be, const union ip_addr *local,
	uint16_t lport_be)
{
	struct worker *w = ctx;
	struct flow_key k;

	flow_key_make(&k, family, IPPROTO_UDP, remote, rport_be, local, lport_be);
	pub_record(&w->rl->pub, &k, shim_now_ms(w->shim));
}

static void
report(struct worker *w)
{
	struct drain_counts c = { .udp = pub_active(&w->rl->pub, shim_now_ms(w->shim)) };

	seat_report(&w->rl->seat, &c, shim_now_ms(w->shim));
}

void
worker_reload_publish(struct worker *w)
{
	const struct worker_reload *rl = w->rl;
	const struct worker_moved *mv = &rl->moved;
	struct gen_seat *seat = rl->seat.mine;
	const struct { uint64_t *to, v; } words[] = {
		{ &seat->forwarded, mv->forwarded }, { &seat->relayed, mv->relayed }, { &seat->cloned, mv->cloned },
		{ &seat->kept, rl->disp.st.kept }, { &seat->taken_over, rl->disp.st.taken_over },
		{ &seat->without_peer_table, rl->disp.st.without_peer_table }, { &seat->bounced, mv->bounced },
		{ &seat->drain_full, mv->drain_full }, { &seat->relay_full, mv->relay_full },
	};

	/* relaxed: figures, each by itself */
	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		shim_store64(w->shim, words[i].to, words[i].v, SHIM_RELAXED);
	shim_store32(w->shim, &seat->drain_peak, mv->drain_peak, SHIM_RELAXED);
	shim_store32(w->shim, &seat->relay_peak, mv->relay_peak, SHIM_RELAXED);
}

/* ---- what the seat asks for -------------------------------------------------------------------- */

static void
window_open(struct worker *w)
{
	struct worker_reload *rl = w->rl;

	memset(&rl->moved, 0, sizeof(rl->moved));
	memset(&rl->disp.st, 0, sizeof(rl->disp.st));
	worker_neigh_open(w);
	w->dirty = true;
	rl->rings = true;
	rl->retiring = false;
	if (rl->seat.gen == rl->seat.window.wid) {
		/* looked up now, for the lane is nobody's when it is needed; checked again then */
		table_find(w, !worker_side(w), &rl->peer_table, &rl->peer_size, &(struct pub){ 0 });
		return;
	}
	rl->publishing = true;
	pub_state_set(&rl->pub, PUB_PUBLISHING, rl->seat.window.wid);
	shim_log(w->shim, SHIM_LOG_NOTICE, "reload: publishing UDP flows (HUP), %u in the snapshot",
		pub_active(&rl->pub, shim_now_ms(w->shim)));
}

static void
dispatch_end(struct worker *w)
{
	struct worker_reload *rl = w->rl;

	if (!rl->dispatching)
		return;
	worker_window_close(w);
	shim_log(w->shim, SHIM_LOG_NOTICE, "reload: UDP dispatch: %llu forwarded, %llu kept, %llu taken over, %llu without a "
		"peer table", (unsigned long long)rl->moved.forwarded, (unsigned long long)rl->disp.st.kept,
		(unsigned long long)rl->disp.st.taken_over, (unsigned long long)rl->disp.st.without_peer_table);
}

static void
window_close(struct worker *w)
{
	struct worker_reload *rl = w->rl;

	dispatch_end(w);
	if (rl->moved.neigh_learned + rl->moved.neigh_left + rl->moved.neigh_bad > 0)
		shim_log(w->shim, SHIM_LOG_NOTICE, "reload: %u neighbours learned from the other generation, %u left alone, %u frames "
			"that can not be read", rl->moved.neigh_learned, rl->moved.neigh_left, rl->moved.neigh_bad);
	if (rl->publishing)
		pub_state_set(&rl->pub, PUB_NONE, 0);
	rl->publishing = false;
	rl->retiring = true;
	w->dirty = true;
}

/* Everything in hand is finished; then the lane is nobody's. */
static void
let_go(struct worker *w)
{
	dispatch_end(w);
	stack_flush(w->stack);
	worker_tx_flush(w, true);
	pub_flush(&w->rl->pub);
	worker_neigh_rest(w);
	w->owner = false;
	seat_let_go(&w->rl->seat, w->now_ns);
}

static void
took(struct worker *w)
{
	struct worker_reload *rl = w->rl;
	struct pub peer;

	worker_ring_take(w);
	rl->taking = true;
	if (!seat_dispatching(&rl->seat))
		return;
	if (table_find(w, !worker_side(w), &rl->peer_table, &rl->peer_size, &peer) < 0)
		memset(&peer, 0, sizeof(peer)); /* said; nothing is forwarded */
	dispatch_open(&rl->disp, &peer, rl->seat.window.wid);
	rl->disp.peer_alive = true;
	rl->dispatching = true;
}

static void
peer_gone(struct worker *w)
{
	struct worker_reload *rl = w->rl;

	rl->disp.peer_alive = false;
	dispatch_end(w);
	/* what waits for it in its rings is nobody's otherwise; a successor comes with a window of its own */
	if (!rl->rescuing && drain_claim(w, rl->seat.peer)) {
		drain_recover(w, !worker_side(w));
		rl->rescuing = true;
	}
	rl->rings = true;
}

static void
gave(struct worker *w)
{
	const struct worker_moved *mv = &w->rl->moved;

	shim_log(w->shim, SHIM_LOG_NOTICE, "reload: generation %u drains %u UDP flows", w->rl->seat.gen,
		pub_active(&w->rl->pub, shim_now_ms(w->shim)));
	if (mv->neigh_told + mv->neigh_untold > 0)
		shim_log(w->shim, mv->neigh_untold > 0 ? SHIM_LOG_WARNING : SHIM_LOG_NOTICE, "reload: %u neighbours handed over, %u not "
			"(no buffer, or a full ring)", mv->neigh_told, mv->neigh_untold);
}

static void
role_apply(struct worker *w)
{
	const struct seat *st = &w->rl->seat;
	enum seat_role role = st->role;

	w->owner = role == SEAT_ROLE_OWNER;
	w->rl->bouncing = role == SEAT_ROLE_DRAIN && seat_peer(st); /* somebody must be there to take it */
	if (w->owner)
		return; /* took() opened the way to the port */
	for (unsigned int i = 0; i < w->nb_ports; i++)
		w->port[i]->route = role == SEAT_ROLE_PARKED ? ROUTE_HOLD : ROUTE_RELAY;
}

/* An address that is being looked for duplicates of has to wait for so long, from this worker's beginning. */
static uint64_t
addr_wait_ns(const struct netif *nif)
{
	return WORKER_ADDR_NS + (nif->cfg.dad_transmits > 1 ? (nif->cfg.dad_transmits - 1) * NEIGH_RETRANS_NS : 0);
}

/* One message when it takes longer than it should, one for each address that READY is said without. True: wait for a. */
static bool
addr_wait(struct worker *w, const struct netif_addr6 *a)
{
	struct worker_reload *rl = w->rl;
	uint64_t age = w->now_ns - rl->born_ns;
	bool over = age >= addr_wait_ns(a->nif);
	char text[INET6_ADDRSTRLEN] = "?";

	if (!over && (rl->waits_told || age < WORKER_SETTLE_NS))
		return true;
	rl->waits_told = true;
	inet_ntop(AF_INET6, &a->addr, text, sizeof(text));
	shim_log(w->shim, SHIM_LOG_WARNING, "reload: READY %s %s of %s: no end of its duplicate address detection for %" PRIu64 " ms",
		over ? "does not wait any more for" : "still waits for", text, a->nif->cfg.name, age / 1000000);
	return !over;
}

/*
 * Are the addresses usable, so that what comes for them finds a stack that answers? A tentative one without a timer is not looked
 * at by anybody, for IPv6 is off on its interface: nothing would come of waiting for it.
 */
static bool
settled(struct worker *w)
{
	bool late = w->now_ns - w->rl->born_ns >= WORKER_SETTLE_NS;
	const struct netif *nif;

	for (unsigned int i = 1; (nif = stack_if_by_index(w->stack, i)) != NULL; i++) {
		if (nif->cfg.accept_ra && !late && timer_pending(&nif->rs_timer))
			return false;
		for (unsigned int a = 0; a < nif->nb_addr6; a++)
			if (nif->addr6[a].state == ADDR6_TENTATIVE && timer_pending(&nif->addr6[a].timer) &&
			    addr_wait(w, &nif->addr6[a]))
				return false;
	}
	return true;
}

static void
obey(struct worker *w, unsigned int asks)
{
	struct seat *st = &w->rl->seat;

	/* publishing first: from the moment the lane is let go the other one may ask */
	if (asks & SEAT_DO_OPEN)
		window_open(w);
	if (asks & SEAT_DO_LET_GO)
		let_go(w);
	if (asks & SEAT_DO_CLOSE)
		window_close(w);
	if (asks & SEAT_DO_TOOK)
		took(w);
	role_apply(w);
	if (asks & SEAT_DO_GAVE)
		gave(w);
	if (asks & SEAT_DO_PEER_GONE)
		peer_gone(w);
	if (asks & SEAT_DO_REPORT)
		report(w);
	if (asks & SEAT_DO_HAND) {
		w->rl->publishing = true;
		pub_state_set(&w->rl->pub, PUB_HANDED, st->window.wid);
	}
	if (asks & SEAT_DO_EXIT)
		w->stop = true;
}

void
worker_reload_turn(struct worker *w)
{
	struct worker_reload *rl = w->rl;
	struct seat *st = &rl->seat;

	obey(w, seat_turn(st, w->now_ns));
	worker_neigh_turn(w);
	w->window = w->owner && (rl->dispatching || seat_peer(st));
	if (!rl->drain_mine && drain_claim(w, st->mine)) {
		rl->drain_mine = true;
		drain_recover(w, worker_side(w));
	}
	if (!rl->ready && settled(w)) {
		rl->ready = true;
		seat_ready(st);
	}
}

/* Leaves when the last frame of the drain ring is answered and the answer is on its way. */
static void
leave(struct worker *w)
{
	struct worker_reload *rl = w->rl;
	bool done = worker_ring_empty(w);

	if (!rl->leaving)
		rl->leaving_ns = w->now_ns;
	rl->leaving = true;
	for (unsigned int i = 0; i < w->nb_ports; i++)
		done &= w->port[i]->count == 0;
	if (!done && w->now_ns - rl->leaving_ns < WORKER_LEAVE_NS)
		return;
	shim_log(w->shim, SHIM_LOG_NOTICE, "reload: generation %u leaves: %llu relayed, %llu bounced, %llu dropped for a full ring",
		rl->seat.gen, (unsigned long long)rl->moved.relayed, (unsigned long long)rl->moved.bounced,
		(unsigned long long)(rl->moved.drain_full + rl->moved.relay_full));
	w->stop = true;
}

void
worker_reload_end(struct worker *w)
{
	struct worker_reload *rl = w->rl;
	struct seat *st = &rl->seat;

	rl->crowded = rl->dispatching && worker_ring_crowded(w);
	if (st->handing && seat_may_leave(st, w->now_ns))
		leave(w);
	if (rl->rings && w->owner && st->window.state == WINDOW_CLOSED && !rl->rescuing && worker_ring_empty(w)) {
		rl->rings = false;
		if (rl->retiring)
			shim_log(w->shim, SHIM_LOG_NOTICE, "reload data plane retired (steady state, generation %u)", st->gen);
		rl->retiring = false;
	}
	if (w->now_ns - rl->sweep_ns >= WORKER_SWEEP_NS) {
		rl->sweep_ns = w->now_ns;
		pub_sweep(&rl->pub, WORKER_SWEEP, shim_now_ms(w->shim));
	}
	pub_flush(&rl->pub);
	seat_beat(st);
}

uint64_t
worker_reload_nap(const struct worker *w)
{
	const struct worker_reload *rl = w->rl;
	uint64_t beat;

	if (rl == NULL)
		return UINT64_MAX;
	if (!w->owner || rl->rings)
		return WORKER_NAP_NS;
	/* whoever watches sees it move in time */
	beat = w->cfg->reload_heartbeat_timeout_ms * 1000000ull / 4;
	return beat < SEAT_LOOK_NS ? beat : SEAT_LOOK_NS;
}
