/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending: frames go to the port's queue at once, or wait up to pkt_tx_delay for company. What a full queue does not
 * take waits, in order, in a bounded back-log; only past that is anything dropped, and a frame that the port never takes.
 * While the queue is another generation's, its place is taken by the relay ring, without delay.
 */
#include <errno.h>

#include "worker_reload.h"

static void
sent(struct worker *w, unsigned int n, uint64_t bytes)
{
	w->tx_packets += n;
	w->tx_bytes += bytes;
	if (n > 0)
		w->dirty = true;
}

/* A port without gather takes single buffers only. NULL: it does not fit one, or there is none; m is freed. */
static struct rte_mbuf *
single(struct worker *w, struct rte_mbuf *m)
{
	struct rte_mbuf *copy = NULL;

	if (m->nb_segs == 1)
		return m;
	if (shim_buf_len(m) + SHIM_HEADROOM <= shim_pool_data_room(w->shim, w->pool))
		copy = shim_buf_copy(w->shim, m, w->pool, 0, UINT32_MAX);
	if (copy != NULL) {
		copy->ol_flags = m->ol_flags;
		copy->tx_offload = m->tx_offload;
		copy->vlan_tci = m->vlan_tci;
		shim_buf_mark_set(copy, w->mark);
	}
	shim_buf_free(w->shim, m);
	return copy;
}

static unsigned int
port_burst(struct worker_port *wp, struct rte_mbuf **m, unsigned int n)
{
	struct worker *w = wp->w;
	uint64_t bytes[WORKER_BURST], total = 0;
	unsigned int done = 0;

	while (done < n) {
		unsigned int k = n - done < WORKER_BURST ? n - done : WORKER_BURST;
		unsigned int took;

		/* lengths and marks first: a sent buffer is the port's */
		for (unsigned int i = 0; i < k; i++) {
			bytes[i] = shim_buf_len(m[done + i]);
			shim_buf_mark_set(m[done + i], 0);
		}
		if (__builtin_expect(w->capture != NULL, 0))
			capture_stage(w->capture, m + done, k);
		took = shim_tx_burst(w->shim, wp->port, wp->queue, m + done, k);
		if (__builtin_expect(w->capture != NULL, 0))
			capture_commit(w->capture, took);
		for (unsigned int i = 0; i < took; i++)
			total += bytes[i];
		for (unsigned int i = took; i < k; i++)
			shim_buf_mark_set(m[done + i], w->mark);
		done += took;
		if (took < k)
			break;
	}
	sent(w, done, total);
	return done;
}

static inline unsigned int
burst(struct worker_port *wp, struct rte_mbuf **m, unsigned int n)
{
	if (__builtin_expect(wp->route == ROUTE_PORT, 1))
		return port_burst(wp, m, n);
	return wp->route == ROUTE_RELAY ? worker_relay(wp, m, n) : 0;
}

/* May anything leave now? */
static inline bool
moves(const struct worker_port *wp)
{
	return wp->route == ROUTE_RELAY || (wp->route == ROUTE_PORT && !wp->w->parked);
}

/* pkt_tx_delay, which the relay ring's consumer keeps, not its producer. */
static inline uint64_t
delay(const struct worker_port *wp)
{
	return wp->route == ROUTE_RELAY ? 0 : wp->w->tx_delay_ns;
}

static void
backlog_drop(struct worker_port *wp)
{
	shim_buf_free(wp->w->shim, wp->backlog[wp->head]);
	wp->head = (wp->head + 1) & (wp->cap - 1);
	wp->count--;
	wp->w->tx_dropped++;
	wp->w->dirty = true;
}

/*
 * The queue took nothing. Full, it will; but some drivers (net_tap) refuse a frame that is longer than the port's MTU, which
 * may have shrunk since, and then nothing behind it leaves either. True: such a frame was taken away, try again.
 */
static bool
unblock(struct worker_port *wp)
{
	struct worker *w = wp->w;
	uint16_t mtu;

	if (wp->route != ROUTE_PORT)
		return false;
	if (shim_port_mtu_get(w->shim, wp->port, &mtu) == 0 &&
	    shim_buf_len(wp->backlog[wp->head]) > mtu_frame_len(mtu)) {
		backlog_drop(wp);
		return true;
	}
	if (wp->stuck_ns == 0) {
		wp->stuck_ns = w->now_ns;
		return false;
	}
	if (w->now_ns - wp->stuck_ns < WORKER_TX_STUCK_NS)
		return false;
	wp->stuck_ns = w->now_ns;
	backlog_drop(wp);
	return true;
}

/* Sends from the back-log until it is empty or the queue is full. */
static unsigned int
backlog_send(struct worker_port *wp)
{
	unsigned int total = 0;

	while (wp->count > 0) {
		unsigned int run = wp->cap - wp->head;
		unsigned int n;

		if (run > wp->count)
			run = wp->count;
		n = burst(wp, wp->backlog + wp->head, run);
		wp->head = (wp->head + n) & (wp->cap - 1);
		wp->count -= n;
		total += n;
		if (n > 0)
			wp->stuck_ns = 0;
		if (n < run && (n > 0 || !unblock(wp)))
			break;
	}
	return total;
}

/* Before the port there is room beyond the back-log's own for what comes back out of the relay ring. */
static inline unsigned int
most(const struct worker_port *wp)
{
	return wp->route == ROUTE_PORT ? wp->cap : WORKER_BACKLOG;
}

static bool
backlog_put(struct worker_port *wp, struct rte_mbuf *m, unsigned int limit)
{
	if (wp->count >= limit)
		return false;
	if (wp->count == 0)
		wp->oldest_ns = wp->w->now_ns;
	wp->backlog[(wp->head + wp->count++) & (wp->cap - 1)] = m;
	return true;
}

unsigned int
worker_tx(void *ctx, struct rte_mbuf **m, unsigned int n)
{
	struct worker_port *wp = ctx;
	struct worker *w = wp->w;
	unsigned int i = 0;

	if (w->rl != NULL)
		pub_flush(&w->rl->pub); /* the answer to a frame may come before the turn ends: its flow has to be published */
	if (!(wp->tx_offloads & SHIM_TX_MULTI_SEGS)) {
		for (i = 0; i < n; i++) {
			struct rte_mbuf *one = single(w, m[i]);

			if (one == NULL)
				w->tx_dropped++;
			else if (!backlog_put(wp, one, most(wp))) {
				shim_buf_free(w->shim, one);
				w->tx_dropped++;
			}
		}
	} else if (delay(wp) == 0 && wp->count == 0 && moves(wp)) {
		i = burst(wp, m, n);
	}
	while (i < n && backlog_put(wp, m[i], most(wp)))
		i++;
	if (wp->count > 0 && (delay(wp) == 0 || wp->count >= WORKER_BURST) && moves(wp)) {
		backlog_send(wp);
		while (i < n && backlog_put(wp, m[i], most(wp)))
			i++;
	}
	w->tx_dropped += n - i;
	if (i < n && wp->route == ROUTE_RELAY)
		worker_relay_full(wp, n - i);
	return i;
}

unsigned int
worker_tx_flush(struct worker *w, bool all)
{
	unsigned int total = 0;

	for (unsigned int i = 0; i < w->nb_ports; i++) {
		struct worker_port *wp = w->port[i];

		if (wp->count > 0 && moves(wp) && (all || w->now_ns - wp->oldest_ns >= delay(wp)))
			total += backlog_send(wp);
	}
	return total;
}

uint64_t
worker_tx_due(const struct worker *w)
{
	uint64_t due = UINT64_MAX;

	for (unsigned int i = 0; i < w->nb_ports; i++)
		if (w->port[i]->count > 0 && moves(w->port[i]) && w->port[i]->oldest_ns + delay(w->port[i]) < due)
			due = w->port[i]->oldest_ns + delay(w->port[i]);
	return due;
}

int
worker_tx_init(struct worker *w, struct worker_port *wp)
{
	wp->cap = WORKER_BACKLOG;
	/* with a relay ring: room for what is left in it when the queue becomes this worker's */
	while (w->rl != NULL && wp->cap < WORKER_BACKLOG + w->cfg->drain_ring_size)
		wp->cap *= 2;
	wp->backlog = shim_malloc(w->shim, wp->cap * sizeof(*wp->backlog));
	return wp->backlog == NULL ? -ENOMEM : 0;
}

void
worker_tx_reclaim(struct worker_port *wp)
{
	struct worker *w = wp->w;
	unsigned int later = wp->count, n;
	struct rte_mbuf *m[WORKER_BURST];

	do {
		n = wp->cap - wp->count < WORKER_BURST ? wp->cap - wp->count : WORKER_BURST;
		n = worker_ring_get(w, &wp->relay[worker_side(w)], m, n, &w->tx_dropped);
		for (unsigned int i = 0; i < n; i++)
			backlog_put(wp, m[i], wp->cap);
	} while (n > 0);
	/* what came first goes first: the others step behind */
	for (; later > 0 && wp->count > later; later--) {
		struct rte_mbuf *front = wp->backlog[wp->head];

		wp->head = (wp->head + 1) & (wp->cap - 1);
		wp->count--;
		backlog_put(wp, front, wp->cap);
	}
}

void
worker_tx_free(struct worker *w, struct worker_port *wp)
{
	for (; wp->count > 0; wp->count--) {
		shim_buf_free(w->shim, wp->backlog[wp->head]);
		wp->head = (wp->head + 1) & (wp->cap - 1);
	}
	shim_free(w->shim, wp->backlog);
}
