/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker's life: attaching, building the stack, the turn, leaving. */
#include "worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "primary_priv.h"
#include "worker_reload.h"

#define SWEEP_TRIES 500u    /* how long a successor waits for the sweep of its predecessor's buffers */
#define SWEEP_STEP_NS 1000000ull

/* The directory, this worker's block and the pool; nothing is claimed yet. */
static int
attach(struct worker *w, uint32_t generation)
{
	uint8_t digest[CONFIG_DIGEST_LEN];
	int rc = ctl_dir_attach(w->shim, &w->dir);

	if (rc == -ENOENT)
		shim_log(w->shim, SHIM_LOG_ERR, "no primary: start one with 'nonic primary --conf %s'", w->cfg->file);
	if (rc < 0)
		return rc;
	if (w->proc_id < w->dir->first_proc || w->proc_id - w->dir->first_proc >= w->dir->nb_workers) {
		shim_log(w->shim, SHIM_LOG_ERR, "proc_id %u is no worker's: %u to %u are", w->proc_id,
			w->dir->first_proc, w->dir->first_proc + w->dir->nb_workers - 1);
		return -EINVAL;
	}
	w->lane = w->proc_id - w->dir->first_proc;
	config_device_digest(w->cfg, digest);
	if (memcmp(digest, w->dir->device_digest, sizeof(digest)) != 0) {
		shim_log(w->shim, SHIM_LOG_ERR, "%s: its device-side keys (ports, lcores, vdevs, MTU limits) are not those "
			"the primary was started with: restart the primary with this file", w->cfg->file);
		return -EINVAL;
	}
	rc = ctl_attach(w->shim, CTL_PRIMARY, &w->primary);
	if (rc == 0)
		rc = shim_pool_lookup(w->shim, CTL_POOL, &w->pool);
	if (rc == 0) {
		rc = worker_reload_claim(w, generation);
		if (rc < 0)
			return rc;
		rc = ctl_attach(w->shim, layout_ctl_index(w->proc_id, w->rl != NULL ? worker_side(w) : 0), &w->block);
	}
	if (rc < 0)
		shim_log(w->shim, SHIM_LOG_ERR, "the primary's memory is incomplete: %s", strerror(-rc));
	return rc;
}

/* A predecessor's buffers go home before this process takes the first one: they may share a cache (REL-18). */
static int
sweep(struct worker *w)
{
	int n = ctl_sweep(w->shim, w->block, w->pool);

	for (unsigned int i = 0; n == -EBUSY && i < SWEEP_TRIES; i++) {
		shim_sleep_ns(w->shim, SWEEP_STEP_NS);
		n = ctl_sweep(w->shim, w->block, w->pool);
	}
	if (n > 0)
		shim_log(w->shim, SHIM_LOG_NOTICE, "worker %u: %d buffers of its dead predecessor came home", w->proc_id, n);
	if (n < 0)
		shim_log(w->shim, SHIM_LOG_ERR, "worker %u: its predecessor's buffers are being swept all the time", w->proc_id);
	return n < 0 ? n : 0;
}

static int
claim(struct worker *w)
{
	int rc = ctl_claim(w->shim, w->block);

	if (rc == -EBUSY)
		shim_log(w->shim, SHIM_LOG_ERR, "worker %u is running already (pid %u)", w->proc_id, w->block->owner.pid);
	if (rc < 0)
		return rc;
	w->claimed = true;
	rc = sweep(w);
	if (rc < 0)
		return rc;
	w->mark = w->rl != NULL ? w->rl->seat.owner_mark : ctl_mark_next(w->shim, w->dir);
	ctl_mark_set(w->shim, w->block, w->mark);
	return worker_reload_setup(w);
}

static int
rings_find(struct worker *w, struct worker_port *wp)
{
	uint32_t size = primary_pair_size(wp->nb_queues);
	char name[SHIM_NAME_MAX];
	int rc = 0;

	for (unsigned int q = 0; wp->nb_queues > 1 && q < wp->nb_queues; q++) {
		if (q == wp->queue)
			continue;
		layout_ring_name(wp->port, wp->queue, q, name);
		rc = worker_ring_find(w, name, size, &wp->to[q]);
		layout_ring_name(wp->port, q, wp->queue, name);
		if (rc == 0)
			rc = worker_ring_find(w, name, size, &wp->from[q]);
		if (rc < 0)
			return rc;
	}
	/* with generations the ends go with the lane, and are taken when it is */
	if (w->owner)
		worker_ring_ends(wp);
	return worker_reload_port(w, wp);
}

static int
ports_setup(struct worker *w)
{
	int rc;

	for (unsigned int i = 0; i < w->cfg->nb_ports; i++) {
		uint16_t port = w->cfg->port_list[i];
		int queue = config_port_queue(w->cfg, port, w->proc_id);
		struct worker_port *wp;

		if (queue < 0)
			continue;
		wp = shim_malloc(w->shim, sizeof(*wp));
		if (wp == NULL)
			return -ENOMEM;
		w->port[w->nb_ports++] = wp;
		wp->w = w;
		wp->port = port;
		wp->queue = queue;
		wp->nb_queues = w->cfg->port[port].nb_lcores;
		rc = worker_tx_init(w, wp);
		if (rc == 0)
			rc = rings_find(w, wp);
		if (rc == 0)
			rc = worker_if_setup(w, wp);
		if (rc < 0)
			return rc;
	}
	if (w->nb_ports == 0)
		shim_log(w->shim, SHIM_LOG_WARNING, "worker %u polls no port: no lcore_list names lcore %u", w->proc_id,
			w->cfg->proc_lcore[w->proc_id]);
	return 0;
}

static int
stack_setup(struct worker *w)
{
	struct stack_config sc = {
		.shim = w->shim, .pool = w->pool, .secrets = w->dir->secrets,
		.fd_reserve = w->cfg->fd_reserve, .buf_low_watermark = w->cfg->mbuf_low_watermark, .buf_mark = w->mark,
		.udp_flow = w->rl != NULL ? worker_reload_flow : NULL, .udp_flow_ctx = w,
	};
	int rc = stack_create(&sc, &w->stack);

	if (rc < 0) {
		w->stack = NULL;
		shim_log(w->shim, SHIM_LOG_ERR, "the stack could not be made: %s", strerror(-rc));
		return rc;
	}
	stack_poll(w->stack, w->now_ns);
	return ports_setup(w);
}

int
worker_create(const struct worker_config *wc, struct worker **out)
{
	struct worker *w = shim_malloc(wc->shim, sizeof(*w));
	int rc;

	if (w == NULL)
		return -ENOMEM;
	w->shim = wc->shim;
	w->cfg = wc->cfg;
	w->proc_id = wc->proc_id;
	w->loop = wc->loop;
	w->loop_arg = wc->loop_arg;
	w->tx_delay_ns = wc->cfg->pkt_tx_delay_us * 1000ull;
	w->now_ns = shim_clock_sample(w->shim);
	w->turn_cycles = shim_cycles(w->shim);
	rc = attach(w, wc->generation);
	if (rc == 0)
		rc = claim(w);
	/* after the claim: a live worker's files are never touched; before the stack: it may send already */
	if (rc == 0)
		rc = capture_open(w->shim, w->cfg, w->proc_id, w->rl != NULL ? worker_side(w) : 0, &w->capture);
	if (rc == 0)
		rc = stack_setup(w);
	if (rc < 0) {
		worker_destroy(w);
		return rc;
	}
	worker_publish(w);
	ctl_state_set(w->shim, w->block, CTL_RUNNING);
	*out = w;
	return 0;
}

void
worker_destroy(struct worker *w)
{
	struct shim *s;

	if (w == NULL)
		return;
	s = w->shim;
	if (w->claimed)
		ctl_state_set(s, w->block, CTL_STOPPING);
	/* the stack flushes nothing more once it is gone; what waits for the port goes now, or is dropped */
	if (w->stack != NULL) {
		stack_flush(w->stack);
		worker_tx_flush(w, true);
		stack_destroy(w->stack);
	}
	for (unsigned int i = 0; i < w->nb_ports; i++) {
		worker_tx_free(w, w->port[i]);
		shim_free(s, w->port[i]);
	}
	capture_close(w->capture);
	worker_reload_release(w);
	/* a mark of its own, not that of a predecessor which still waits for its sweep */
	if (w->mark != 0)
		ctl_mark_set(s, w->block, 0);
	if (w->claimed)
		ctl_release(s, w->block);
	shim_free(s, w);
}

static void
turn_now(struct worker *w)
{
	uint64_t cycles = shim_cycles(w->shim);

	if (w->busy)
		w->cycles_busy += cycles - w->turn_cycles;
	else
		w->cycles_idle += cycles - w->turn_cycles;
	w->turn_cycles = cycles;
	w->now_ns = shim_clock_sample(w->shim);
}

/* Is the primary still there? Its death does not stop the data path, but it must be seen (SPEC's role model). */
static void
primary_look(struct worker *w)
{
	uint64_t beat;

	if (w->primary_gone || w->now_ns - w->primary_ns < WORKER_PRIMARY_NS)
		return;
	w->primary_ns = w->now_ns;
	beat = shim_load64(w->shim, &w->primary->heartbeat, SHIM_RELAXED);
	if (beat == w->primary_beat && !ctl_owner_alive(w->shim, w->primary)) {
		w->primary_gone = true;
		shim_log(w->shim, SHIM_LOG_ERR, "the primary is gone; the ports stay as they are until this worker ends");
	}
	w->primary_beat = beat;
}

/* MTU-1: whoever asked for the port's new MTU may be gone before the views were cut to it. */
static void
mtu_follow(struct worker *w)
{
	for (unsigned int i = 0; i < w->nb_ports; i++) {
		struct netif *nif = w->port[i]->nif;
		uint16_t mtu;

		if (shim_port_mtu_get(w->shim, w->port[i]->port, &mtu) == 0 && nif->mtu > mtu)
			(void)stack_if_mtu_set(w->stack, nif, mtu);
	}
}

static void
turn_control(struct worker *w)
{
	struct ctl_request r;
	uint32_t order;

	/* acquire: what the primary did before the order is seen */
	order = shim_load32(w->shim, &w->block->park_order, SHIM_ACQUIRE);
	if (order != 0 && !w->parked) {
		worker_tx_flush(w, true);
		w->parked = true;
		/* release: the last burst is over before the acknowledgement is seen */
		shim_store32(w->shim, &w->block->park_ack, order, SHIM_RELEASE);
	} else if (order != 0) {
		shim_store32(w->shim, &w->block->park_ack, order, SHIM_RELEASE);
	} else if (w->parked) {
		w->parked = false;
		mtu_follow(w);
	}
	if (shim_load32(w->shim, &w->block->quit, SHIM_ACQUIRE) != 0)
		w->stop = true;
	if (ctl_poll(w->shim, w->block, &r))
		worker_answer(w, &r);
	primary_look(w);
	if (w->rl != NULL)
		worker_reload_turn(w);
}

static void
turn_application(struct worker *w)
{
	if (w->loop != NULL)
		w->loop(w->loop_arg);
}

static unsigned int
turn_tx(struct worker *w)
{
	uint64_t before = w->tx_packets;

	stack_flush(w->stack);
	worker_tx_flush(w, false);
	return w->tx_packets - before;
}

static void
turn_heartbeat(struct worker *w, unsigned int did)
{
	w->busy = did != 0;
	w->turns++;
	w->idle_turns += did == 0;
	shim_store64(w->shim, &w->block->heartbeat, w->turns, SHIM_RELAXED);
	if (w->rl != NULL)
		worker_reload_end(w);
	if (w->dirty && (did == 0 || w->now_ns - w->published_ns >= WORKER_PUBLISH_NS)) {
		worker_publish(w);
		if (w->capture != NULL)
			capture_flush(w->capture);
	}
}

unsigned int
worker_turn(struct worker *w)
{
	unsigned int did;

	turn_now(w);
	turn_control(w);
	stack_poll(w->stack, w->now_ns);
	did = worker_rx(w);
	turn_application(w);
	did += turn_tx(w);
	turn_heartbeat(w, did);
	return did;
}

uint64_t
worker_next_wake(struct worker *w)
{
	uint64_t at = stack_next_deadline(w->stack), due = worker_tx_due(w), now = shim_now_ns(w->shim);
	uint64_t nap = worker_reload_nap(w);

	if (due < at)
		at = due;
	if (nap != UINT64_MAX && now + nap < at)
		at = now + nap;
	if (w->dirty && w->published_ns + WORKER_PUBLISH_NS < at)
		at = w->published_ns + WORKER_PUBLISH_NS;
	if (at == UINT64_MAX)
		return UINT64_MAX;
	return at > now ? at - now : 0;
}

void
worker_rest(struct worker *w, unsigned int did)
{
	/* while two workers share a lane, and its processor, a turn that did nothing gives it away, and one that filled rings */
	bool shared = worker_reload_nap(w) == WORKER_NAP_NS;
	uint64_t most = shared ? WORKER_NAP_NS : w->cfg->idle_sleep_us * 1000ull, wake;

	if (did > 0) {
		if (shared && w->rl->crowded)
			shim_sleep_ns(w->shim, WORKER_NAP_NS);
		return;
	}
	if (w->rl != NULL && w->rl->seat.stamp)
		return; /* the lane was taken in this turn: it has waited long enough */
	wake = most > 0 ? worker_next_wake(w) : 0;
	if (wake == 0 && shared)
		wake = most; /* a ring that is full, most likely: its other end is to have the processor */
	if (wake > 0)
		shim_sleep_ns(w->shim, wake < most ? wake : most);
}

void
worker_run(struct worker *w, const volatile int *stop)
{
	while (!w->stop && (stop == NULL || !*stop))
		worker_rest(w, worker_turn(w));
}

void
worker_stop(struct worker *w)
{
	w->stop = true;
}

bool
worker_stopped(const struct worker *w)
{
	return w->stop;
}

uint32_t
worker_generation(const struct worker *w)
{
	return w->rl != NULL ? w->rl->seat.gen : 0;
}

struct stack *
worker_stack(struct worker *w)
{
	return w->stack;
}

struct netif *
worker_netif(struct worker *w, uint16_t port)
{
	for (unsigned int i = 0; i < w->nb_ports; i++)
		if (w->port[i]->port == port)
			return w->port[i]->nif;
	return NULL;
}

void
worker_traffic(const struct worker *w, uint64_t out[6])
{
	out[0] = w->rx_packets;
	out[1] = w->rx_bytes;
	out[2] = w->tx_packets;
	out[3] = w->tx_bytes;
	out[4] = w->rx_dropped;
	out[5] = w->tx_dropped;
}

void
worker_dispatcher_set(struct worker *w, worker_dispatch_fn *fn, void *arg)
{
	w->dispatch = fn;
	w->dispatch_arg = arg;
}

static struct worker_port *
port_find(struct worker *w, uint16_t port)
{
	for (unsigned int i = 0; i < w->nb_ports; i++)
		if (w->port[i]->port == port)
			return w->port[i];
	return NULL;
}

int
worker_raw_send(struct worker *w, uint16_t port, const void *data, size_t len)
{
	struct worker_port *wp = port_find(w, port);
	struct rte_mbuf *head = NULL, *m;
	size_t done = 0;

	if (wp == NULL)
		return -ENODEV;
	if (len < 14)
		return -EINVAL;
	if (len > mtu_frame_len(wp->nif->mtu))
		return -EMSGSIZE;
	while (done < len) {
		uint32_t k;

		m = shim_buf_alloc(w->shim, w->pool);
		if (m == NULL)
			break;
		shim_buf_mark_set(m, w->mark);
		k = shim_buf_tailroom(m);
		if (k > len - done)
			k = len - done;
		memcpy(shim_buf_append(m, k), (const uint8_t *)data + done, k);
		done += k;
		if (head == NULL)
			head = m;
		else if (shim_buf_chain(head, m) < 0) {
			shim_buf_free(w->shim, m);
			done = 0;
			break;
		}
	}
	if (done < len || worker_tx(wp, &head, 1) == 0) {
		shim_buf_free(w->shim, head);
		return -ENOBUFS;
	}
	return 0;
}
