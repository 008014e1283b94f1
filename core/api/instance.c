/* SPDX-License-Identifier: BSD-3-Clause */
/* Instances: the calling thread's, and those that own primary and worker. */
#include "api_priv.h"

#include <string.h>

#include "../runtime/layout.h"
#include "../stack/link/netif.h"

#define PRIMARY_TURN_NS 1000000ull /* how often a process that is both looks at the primary's work */

/* One per thread; what an application registers before ff_init waits here. */
static _Thread_local struct {
	struct ff_instance *current;
	dispatch_func_t dispatch;
	dispatch_func_context_t dispatch_context;
	pcblddr_func_t lddr;
} tls;

struct ff_instance *
ff_instance_set(struct ff_instance *in)
{
	struct ff_instance *before = tls.current;

	tls.current = in;
	return before;
}

struct ff_instance *
ff_instance_current(void)
{
	return tls.current;
}

struct stack *
api_stack(void)
{
	if (__builtin_expect(tls.current == NULL || tls.current->stack == NULL, 0)) {
		errno = ENXIO;
		return NULL;
	}
	return tls.current->stack;
}

/* MTU-4: the primary changes the port too; a worker only its own view, within what the port carries. */
static int
mtu_hook(void *ctx, struct netif *nif, uint16_t mtu)
{
	struct ff_instance *in = ctx;
	uint16_t port_mtu;
	char why[256];
	int err = 0, rc;

	if (in->primary != NULL) {
		if (primary_mtu_set(in->primary, nif->cfg.port, mtu, &err, why, sizeof(why)) == MTU_CHANGED)
			return 0;
		shim_log(in->shim, SHIM_LOG_ERR, "%s: MTU %u: %s", nif->cfg.name, mtu, why);
		return err < 0 ? err : err > 0 ? -err : -EIO;
	}
	rc = shim_port_mtu_get(in->shim, nif->cfg.port, &port_mtu);
	if (rc < 0)
		return rc;
	return mtu > port_mtu ? -EINVAL : 0;
}

static int
dispatch(void *arg, void *data, uint16_t *len, uint16_t queue, uint16_t nb_queues,
	const struct worker_dispatch_vlan *vlan)
{
	struct ff_instance *in = arg;
	struct ff_dispatcher_context c;

	if (in->dispatch != NULL)
		return in->dispatch(data, len, queue, nb_queues);
	c.vlan.stripped = vlan->stripped;
	c.vlan.vlan_tci = __builtin_bswap16(vlan->tci);
	return in->dispatch_context(data, len, queue, nb_queues, c);
}

void
api_dispatcher_apply(struct ff_instance *in)
{
	in->dispatch = tls.dispatch;
	in->dispatch_context = tls.dispatch_context;
	if (in->worker != NULL)
		worker_dispatcher_set(in->worker,
			in->dispatch != NULL || in->dispatch_context != NULL ? dispatch : NULL, in);
	if (in->stack != NULL)
		sock_lddr_set(in->stack, tls.lddr);
}

void
ff_regist_packet_dispatcher(dispatch_func_t func)
{
	tls.dispatch = func;
	if (tls.current != NULL)
		api_dispatcher_apply(tls.current);
}

void
ff_regist_packet_dispatcher_context(dispatch_func_context_t func)
{
	tls.dispatch_context = func;
	if (tls.current != NULL)
		api_dispatcher_apply(tls.current);
}

void
ff_regist_pcblddr_fun(pcblddr_func_t func)
{
	tls.lddr = func;
	if (tls.current != NULL)
		api_dispatcher_apply(tls.current);
}

void
api_config_fill(struct ff_instance *in)
{
	const struct nonic_config *c = in->cfg;
	struct ff_config *f = &in->config;
	unsigned int i;

	if (c == NULL)
		return;
	f->filename = c->file;
	f->dpdk.nb_channel = (int)c->channel;
	f->dpdk.memory = (int)c->memory_mb;
	f->dpdk.no_huge = c->no_huge;
	f->dpdk.nb_procs = (int)c->nb_lcores;
	f->dpdk.proc_id = c->proc_id < 0 ? 0 : c->proc_id;
	f->dpdk.promiscuous = c->promiscuous;
	f->dpdk.nb_vdev = (int)c->nb_vdevs;
	f->dpdk.nb_bond = (int)c->nb_bonds;
	f->dpdk.numa_on = c->numa_on;
	f->dpdk.tso = c->tso;
	f->dpdk.vlan_strip = c->vlan_strip;
	f->dpdk.symmetric_rss = c->symmetric_rss;
	f->dpdk.idle_sleep = c->idle_sleep_us;
	f->dpdk.pkt_tx_delay = c->pkt_tx_delay_us;
	for (i = 0; i < c->nb_lcores && i < DPDK_MAX_LCORE; i++)
		f->dpdk.proc_lcore[i] = c->proc_lcore[i];
	f->dpdk.nb_ports = (int)c->nb_ports;
	for (i = 0; i < c->nb_ports; i++) {
		f->dpdk.portid_list[i] = c->port_list[i];
		if (c->port_list[i] > f->dpdk.max_portid)
			f->dpdk.max_portid = c->port_list[i];
	}
	f->log.level = c->log_level;
	f->freebsd.physmem = (long)c->physmem;
	f->freebsd.hz = (int)c->hz;
	f->freebsd.fd_reserve = (int)c->fd_reserve;
	f->freebsd.mem_size = (int)c->memsz_mb;
}

const struct ff_config *
ff_config_current(void)
{
	static const struct ff_config none;

	return tls.current != NULL ? &tls.current->config : &none;
}

/* [freebsd.sysctl]: what the stack knows is set; a value it refuses is said once, as F-Stack does. */
static void
sysctl_apply(struct ff_instance *in)
{
	unsigned int i;

	for (i = 0; in->cfg != NULL && in->stack != NULL && i < in->cfg->nb_pairs; i++) {
		const struct config_pair *p = &in->cfg->pairs[i];
		int rc;

		if (strcmp(p->section, "freebsd.sysctl") != 0)
			continue;
		rc = sock_sysctl_set_text(in->stack, p->key, p->value);
		if (rc == -ENOENT)
			shim_log(in->shim, SHIM_LOG_INFO, "%s:%d: %s has no meaning here", in->cfg->file, p->line,
				p->key);
		else if (rc < 0)
			shim_log(in->shim, SHIM_LOG_WARNING, "%s:%d: %s: %s is not accepted", in->cfg->file, p->line,
				p->key, p->value);
	}
}

static void
instance_init(struct ff_instance *in, const struct ff_instance_config *c)
{
	struct sock_if_hook hook = { .mtu_set = mtu_hook, .ctx = in };

	in->shim = c->shim;
	in->worker = c->worker;
	in->stack = c->stack;
	if (in->stack == NULL && in->worker != NULL)
		in->stack = worker_stack(in->worker);
	in->primary = c->primary;
	in->cfg = c->cfg;
	if (in->worker != NULL)
		sock_if_hook_set(in->stack, &hook);
	api_log_setup(in);
	api_config_fill(in);
	sysctl_apply(in);
	api_dispatcher_apply(in);
}

int
ff_instance_new(const struct ff_instance_config *c, struct ff_instance **out)
{
	struct ff_instance *in;

	if (c->shim == NULL || (c->stack == NULL && c->worker == NULL && c->primary == NULL))
		return -EINVAL;
	in = shim_malloc(c->shim, sizeof(*in));
	if (in == NULL)
		return -ENOMEM;
	instance_init(in, c);
	*out = in;
	return 0;
}

void
ff_instance_free(struct ff_instance *in)
{
	if (in == NULL)
		return;
	if (tls.current == in)
		tls.current = NULL;
	if (in->worker != NULL)
		worker_dispatcher_set(in->worker, NULL, NULL);
	if (in->stack != NULL) {
		sock_if_hook_set(in->stack, NULL);
		sock_lddr_set(in->stack, NULL);
	}
	api_log_end(in);
	shim_free(in->shim, in);
}

int
ff_instance_loop(void *arg)
{
	struct ff_instance *in = arg;

	return in->loop != NULL ? in->loop(in->loop_arg) : 0;
}

bool
ff_instance_stopped(const struct ff_instance *in)
{
	return in->stop != 0;
}

/* With primary_slim=1 process 0 is the primary and nobody else is. */
static int
role_check(struct shim *s, const struct nonic_config *cfg, unsigned int proc_id)
{
	bool primary = shim_role(s) == SHIM_ROLE_PRIMARY;
	unsigned int workers = layout_nb_workers(cfg);

	if (!cfg->primary_slim || primary == (proc_id == 0))
		return 0;
	if (primary)
		shim_log(s, SHIM_LOG_ERR, "%s: primary_slim=1: process %u is a worker: start it with --proc-type=secondary, "
			"and the primary with --proc-id=0", cfg->file, proc_id);
	else
		shim_log(s, SHIM_LOG_ERR, "%s: primary_slim=1: process 0 is the primary: start it with --proc-type=primary, "
			"and the %u worker%s with --proc-type=secondary --proc-id=1%s", cfg->file, workers,
			workers == 1 ? "" : "s", workers == 1 ? "" : " and so on");
	return -EINVAL;
}

int
ff_instance_open(struct shim *s, struct nonic_config *cfg, struct ff_instance **out)
{
	struct ff_instance_config ic = { .shim = s };
	struct worker_config wc = { .shim = s, .loop = ff_instance_loop };
	struct nonic_config *own = shim_malloc(s, sizeof(*own));
	struct ff_instance *in = shim_malloc(s, sizeof(*in));
	int rc = own == NULL || in == NULL ? -ENOMEM : 0;

	if (rc == 0) {
		*own = *cfg;
		ic.cfg = wc.cfg = own;
		wc.proc_id = own->proc_id < 0 ? 0 : (unsigned int)own->proc_id;
		wc.loop_arg = in;
		rc = role_check(s, own, wc.proc_id);
	}
	if (rc == 0 && shim_role(s) == SHIM_ROLE_PRIMARY)
		rc = primary_setup(s, own, &ic.primary);
	if (rc == 0 && wc.proc_id >= layout_first_proc(own))
		rc = worker_create(&wc, &ic.worker);
	if (rc < 0) {
		primary_teardown(ic.primary);
		shim_free(s, in);
		shim_free(s, own);
		return rc;
	}
	instance_init(in, &ic);
	in->own_cfg = own;
	memset(cfg, 0, sizeof(*cfg));
	*out = in;
	return 0;
}

struct shim *
ff_instance_close(struct ff_instance *in)
{
	struct shim *s = in->shim;
	struct worker *w = in->worker;
	struct primary *p = in->primary;
	struct nonic_config *own = in->own_cfg;

	ff_instance_free(in);
	worker_destroy(w);
	if (p != NULL) { /* it outlives the workers of other processes */
		primary_stop(p);
		primary_run(p, NULL);
	}
	primary_teardown(p);
	if (own != NULL)
		config_free(own);
	shim_free(s, own);
	return s;
}

void
ff_instance_run(struct ff_instance *in, loop_func_t loop, void *arg)
{
	struct worker *w = in->worker;
	uint64_t primary_ns = 0;

	if (w == NULL) { /* a slim primary: the application's loop is the workers' */
		if (in->primary != NULL)
			primary_run(in->primary, &in->stop);
		return;
	}
	in->loop = loop;
	in->loop_arg = arg;
	while (!in->stop && !worker_stopped(w)) {
		unsigned int did = worker_turn(w);

		if (in->primary != NULL && shim_now_ns(in->shim) - primary_ns >= PRIMARY_TURN_NS) {
			primary_ns = shim_now_ns(in->shim);
			did += primary_turn(in->primary);
			if (primary_stopped(in->primary))
				break;
		}
		worker_rest(w, did);
	}
	in->loop = NULL;
}
