/* SPDX-License-Identifier: BSD-3-Clause */
/* A host under test: slim primary and workers; see node.h. */
#include "node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../shim/shim.h"
#include "node_priv.h"

#define POLL_NS 10000000ull /* how long an idle worker goes without looking at its control words */
#define CALL_MS 2000u

static int
config_of(struct sim_world *w, struct node *n)
{
	const struct node_conf *c = &n->conf;
	struct config_messages msgs = { 0 };
	char text[2048], a4[128] = "", a6[128] = "";
	int len, rc;

	if (c->addr4 != NULL)
		snprintf(a4, sizeof(a4), "addr=%s\nnetmask=255.255.255.0\nbroadcast=%s\ngateway=%s\n",
			c->addr4, c->broadcast4, c->gateway4);
	if (c->addr6 != NULL)
		snprintf(a6, sizeof(a6), "addr6=%s\nprefix_len=64\n", c->addr6);
	len = snprintf(text, sizeof(text),
		"[dpdk]\nlcore_mask=%x\nprimary_slim=1\nprimary_slim_idle_sleep=10000\nport_list=0\nmtu_enable=%d\ngraceful_reload=%d\n%s"
		"[port0]\n%s%smtu=%u\n",
		(1u << (c->nb_workers + 1)) - 1, c->mtu_enable, c->reload, c->dpdk != NULL ? c->dpdk : "", a4, a6, c->mtu);
	rc = config_load_mem(c->name, text, (size_t)len, 0, &n->cfg, &msgs);
	for (unsigned int i = 0; i < msgs.n; i++)
		if (msgs.m[i].error)
			sim_fail(w, "%s", msgs.m[i].text);
	config_messages_free(&msgs);
	return rc;
}

static void
primary_main(struct sim_proc *proc, void *arg)
{
	struct node *n = arg;
	struct shim *s = sim_proc_shim(proc);
	int rc = primary_setup(s, &n->cfg, &n->primary);

	if (!sim_check(sim_proc_world(proc), rc == 0, "%s: primary: error %d", n->conf.name, -rc))
		return;
	while (!primary_stopped(n->primary)) {
		/* the master first: it works in the primary's memory */
		if (sim_stopping(proc) && (n->master_proc == NULL || !sim_proc_alive(n->master_proc)))
			primary_stop(n->primary);
		if (primary_turn(n->primary) == 0)
			shim_sleep_ns(s, n->cfg.primary_slim_idle_sleep_us * 1000ull);
	}
	n->dir = NULL;
	primary_teardown(n->primary);
	n->primary = NULL;
}

static int
serve(void *arg)
{
	struct node_worker *nw = arg;

	if (nw->worker != NULL)
		udp_server_turn(&nw->server, worker_stack(nw->worker));
	return 0;
}

static bool
later(int rc)
{
	return rc == -ENOENT || rc == -EAGAIN || rc == -EBUSY;
}

/* Something is wrong with it: it does not come up as it should. True: this is its end. */
static bool
sick(struct sim_proc *proc, const struct node_worker *nw)
{
	if (nw->fault == NODE_HANGS)
		while (!sim_stopping(proc))
			shim_sleep_ns(sim_proc_shim(proc), 50000000);
	return nw->fault == NODE_EXITS || nw->fault == NODE_HANGS;
}

static void
turns(struct sim_proc *proc, struct node_worker *nw)
{
	const struct node_conf *c = &nw->node->conf;
	uint64_t wake;

	while (!worker_stopped(nw->worker)) {
		if (nw->fault == NODE_NEVER_READY) {
			shim_sleep_ns(sim_proc_shim(proc), 50000000);
			if (sim_stopping(proc))
				return;
			continue;
		}
		if (c->reload && sim_stopping(proc))
			worker_stop(nw->worker);
		if (worker_turn(nw->worker) > 0) {
			sim_yield(proc);
			continue;
		}
		wake = worker_next_wake(nw->worker);
		wake = wake > c->least_wait_ns ? wake : c->least_wait_ns;
		sim_wait(proc, wake < POLL_NS ? wake : POLL_NS);
	}
}

/* Into the event log, for whoever looks for a datagram. */
static void
drops_log(struct shim *s, struct stack *st)
{
	for (unsigned int i = 0; i < STACK_DROP_COUNT; i++)
		if (stack_drops(st, i) > 0)
			shim_log(s, SHIM_LOG_DEBUG, "dropped %llu: %s", (unsigned long long)stack_drops(st, i), stack_drop_text(i));
}

void
node_worker_main(struct sim_proc *proc, void *arg)
{
	struct node_worker *nw = arg;
	struct node *n = nw->node;
	struct shim *s = sim_proc_shim(proc);
	struct worker_config wc = { .shim = s, .cfg = &n->cfg, .proc_id = shim_self(s).proc_id, .generation = nw->generation,
		.loop = serve, .loop_arg = nw };
	struct worker *w = NULL;
	int rc;

	nw->worker = NULL;
	if (sick(proc, nw))
		return;
	/* the primary may not have finished, or not have noticed that a former life ended */
	do {
		rc = worker_create(&wc, &w);
		if (later(rc) && !n->conf.reload)
			shim_sleep_ns(s, 1000000);
	} while (later(rc) && !n->conf.reload && !sim_stopping(proc));
	if (rc == 0)
		rc = udp_server_init(&nw->server, worker_stack(w));
	/* with a master that is its business */
	if (rc != 0 && !n->conf.reload && !sim_stopping(proc))
		sim_fail(sim_proc_world(proc), "%s: worker: error %d", n->conf.name, -rc);
	nw->worker = w;
	nw->lives++;
	if (rc == 0)
		turns(proc, nw);
	if (w != NULL) {
		drops_log(s, worker_stack(w));
		n->cold += stack_drops(worker_stack(w), STACK_DROP_NEIGH_QUEUE_FULL);
	}
	if (!n->conf.reload)
		nw->worker = NULL;
	worker_destroy(w); /* it may send what it has */
	nw->worker = NULL;
}

int
node_add(struct sim_world *w, struct node *n, const struct node_conf *conf)
{
	struct sim_proc_conf pc = { .name = "primary", .role = SHIM_ROLE_PRIMARY, .main = primary_main, .arg = n,
		.skew_ns = conf->skew_ns, .drift_ppm = conf->drift_ppm };
	int rc;

	memset(n, 0, sizeof(*n));
	n->conf = *conf;
	if (n->conf.nb_workers == 0)
		n->conf.nb_workers = 1;
	if (n->conf.mtu == 0)
		n->conf.mtu = 1500;
	n->conf.port.tx_offloads |= SHIM_TX_MULTI_SEGS;
	n->conf.port.leased = n->conf.reload;
	rc = config_of(w, n);
	if (rc != 0)
		return rc;
	n->host = sim_host_add(w, conf->name);
	if (n->host == NULL)
		return -ENOMEM;
	n->port = sim_host_port(n->host, &n->conf.port);
	n->primary_proc = n->port != NULL ? sim_proc_start(n->host, &pc) : NULL;
	if (n->primary_proc == NULL)
		return -ENOMEM;
	if (n->conf.reload)
		return node_reload_start(w, n);
	for (unsigned int i = 0; i < n->conf.nb_workers; i++) {
		struct sim_proc_conf wc = { .name = "worker", .role = SHIM_ROLE_WORKER, .proc_id = 1 + i,
			.main = node_worker_main, .arg = &n->worker[i], .skew_ns = conf->skew_ns,
			.drift_ppm = conf->drift_ppm };

		n->worker[i].node = n;
		n->worker[i].proc = sim_proc_start(n->host, &wc);
		if (n->worker[i].proc == NULL)
			return -ENOMEM;
	}
	return 0;
}

void
node_release(struct node *n)
{
	config_free(&n->cfg);
	free(n->spawned);
}

struct sim_end *
node_end(struct node *n)
{
	return sim_port_end(n->host, n->port);
}

bool
node_ready(const struct node *n)
{
	if (n->conf.reload)
		return node_calm(n);
	for (unsigned int i = 0; i < n->conf.nb_workers; i++)
		if (n->worker[i].worker == NULL)
			return false;
	return true;
}

struct udp_server
node_served(const struct node *n)
{
	struct udp_server all = { 0 };

	for (unsigned int i = 0; i < n->conf.nb_workers; i++) {
		all.received += n->worker[i].server.received;
		all.answered += n->worker[i].server.answered;
		all.failed += n->worker[i].server.failed;
	}
	for (unsigned int i = 0; i < n->nb_spawned; i++) {
		all.received += n->spawned[i].server.received;
		all.answered += n->spawned[i].server.answered;
		all.failed += n->spawned[i].server.failed;
	}
	return all;
}

/* Words of a request, each with its zero, and the empty one that ends them. */
static size_t
words(char *buf, size_t n, const char *a, unsigned int b)
{
	size_t at = (size_t)snprintf(buf, n, "%s", a) + 1;

	at += (size_t)snprintf(buf + at, n - at, "%u", b) + 1;
	buf[at] = '\0';
	return at + 1;
}

static void
mtu_main(struct sim_proc *proc, void *arg)
{
	struct node_mtu *m = arg;
	struct shim *s = sim_proc_shim(proc);
	struct ctl_block *b;
	char args[64], text[512];
	size_t len = words(args, sizeof(args), "0", m->mtu);
	int rc = ctl_attach(s, CTL_PRIMARY, &b);

	shim_clock_sample(s);
	if (rc == 0)
		rc = ctl_call(s, b, CTL_MTU_SET, args, len, text, sizeof(text), NULL, CALL_MS);
	len = words(args, sizeof(args), "f-stack-0", m->mtu);
	for (unsigned int i = 0; rc == 0 && i < m->node->conf.nb_workers; i++) {
		rc = ctl_attach(s, 2 + i, &b);
		if (rc == 0)
			rc = ctl_call(s, b, CTL_IF_MTU, args, len, text, sizeof(text), NULL, CALL_MS);
	}
	m->result = rc;
	m->done = true;
}

int
node_mtu_start(struct node *n, struct node_mtu *m, uint16_t mtu)
{
	struct sim_proc_conf pc = { .name = "ifconfig", .role = SHIM_ROLE_OBSERVER, .main = mtu_main, .arg = m };

	*m = (struct node_mtu){ .node = n, .mtu = mtu };
	return sim_proc_start(n->host, &pc) != NULL ? 0 : -ENOMEM;
}
