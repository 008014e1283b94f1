/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of a script in their order and at their times; see run.h. */
#include "run_priv.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOL_FREEBSD_NS 1000000     /* nothing jitters here: for roundings of timers */
#define TOL_LINUX_NS 4000000       /* the original's default */
#define TOL_LINUX_PERCENT 12       /* and what it adds for long waits, 12.5 % */
#define ANY_NS 7200000000000       /* how long "*" waits */
#define STEPS_MAX 2000000u
#define SCRIPT_NS_MAX (INT64_MAX / 4)

static bool
verdict(struct run *r, enum pd_verdict v, int line, const char *fmt, va_list ap)
{
	if (r->stop)
		return false;
	r->stop = true;
	r->out->verdict = v;
	r->out->line = line;
	vsnprintf(r->out->why, sizeof(r->out->why), fmt, ap);
	return false;
}

bool
run_fail(struct run *r, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	verdict(r, PD_FAIL, line, fmt, ap);
	va_end(ap);
	return false;
}

bool
run_skip(struct run *r, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	verdict(r, PD_SKIP, line, fmt, ap);
	va_end(ap);
	return false;
}

const char *
run_time(int64_t ns, char buf[32])
{
	snprintf(buf, 32, "%s%lld.%06lld", ns < 0 ? "-" : "", (long long)(llabs(ns) / 1000000000),
		(long long)(llabs(ns) / 1000 % 1000000));
	return buf;
}

bool
run_step(struct run *r, uint64_t to_ns)
{
	pd_net_step(&r->net, to_ns);
	if (r->net.why[0] != '\0')
		return run_fail(r, 0, "%s", r->net.why);
	return run_retry(r);
}

bool
run_advance(struct run *r, uint64_t to_ns)
{
	for (unsigned int i = 0; pd_net_now(&r->net) < to_ns; i++) {
		if (i == STEPS_MAX)
			return run_fail(r, 0, "more than %u timers until the next event", STEPS_MAX);
		if (!run_step(r, to_ns))
			return false;
	}
	return !r->stop;
}

/* ---- settings ---- */

static bool
opt_number(struct run *r, const char *name, uint64_t max, uint64_t *v)
{
	const char *text = pd_option(r->script, name);
	char *end;

	if (text == NULL)
		return true;
	*v = strtoull(text, &end, 0);
	if (*text < '0' || *text > '9' || *end != '\0' || *v > max)
		return run_fail(r, 0, "--%s=%s: expected a number up to %llu", name, text, (unsigned long long)max);
	return true;
}

static bool
opt_addr(struct run *r, const char *name, const char *dflt, union ip_addr *a)
{
	const char *text = pd_option(r->script, name);
	bool v4 = r->conf.family == ADDR_INET;

	memset(a, 0, sizeof(*a));
	/* one of the other family belongs to the script's other run */
	if (text == NULL || (r->conf.both && (strchr(text, ':') != NULL) == v4))
		text = dflt;
	if (inet_pton(v4 ? AF_INET : AF_INET6, text, a->v6) != 1)
		return run_fail(r, 0, "--%s=%s: expected an IPv%u address", name, text, r->conf.family);
	return true;
}

static bool
net_conf(struct run *r, struct pd_net_conf *nc)
{
	bool v4 = r->conf.family == ADDR_INET;
	/* one MSS of 1460 in both families, as Linux's own runner does */
	uint64_t mtu = !v4 && (r->conf.both || r->conf.persona == PD_LINUX) ? 1520 : 1500;

	memset(nc, 0, sizeof(*nc));
	nc->family = r->conf.family;
	nc->prefix = v4 ? 16 : 48;
	nc->seed = 1;
	if (!opt_addr(r, "local_ip", v4 ? "192.168.0.1" : "fd3d:0a0b:17d6::1", &nc->local)
		|| !opt_addr(r, "remote_ip", v4 ? "192.0.2.1" : "fd3d:fa7b:d17d::1", &nc->remote)
		|| !opt_addr(r, "gateway_ip", v4 ? "192.168.0.2" : "fd3d:0a0b:17d6:8888::1", &nc->gateway)
		|| !opt_number(r, "mtu", 9216, &mtu))
		return false;
	if (ip_addr_eq(&nc->local, &nc->gateway)) {
		if (v4)
			nc->gateway.v4 ^= htonl(3);
		else
			nc->gateway.v6[15] ^= 3;
	}
	nc->mtu = (uint16_t)mtu;
	if (mtu < (v4 ? 68 : 1280))
		return run_fail(r, 0, "--mtu=%llu: too small", (unsigned long long)mtu);
	return true;
}

/* Options that say nothing about what happens, or what cannot be otherwise here. */
static bool
harmless(const char *name)
{
	static const char *const list[] = { "tolerance_usecs", "tolerance_percent", "tcp_ts_tick_usecs", "ip_version", "local_ip",
		"remote_ip", "gateway_ip", "netmask_ip",
		"mtu", "bind_port", "connect_port", "define", "strict_segments", "verbose", "debug", "non_fatal", "speed",
			"persistent_tun_dev",
		"init_scripts", "send_omit_free", "wire_client_dev", "tun_dev", "code_command", "code_format", "code_sockopt",
			"dry_run", "no_cleanup", "so_filename",
		"socket_fd_start" };

	for (unsigned int i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (strcmp(name, list[i]) == 0)
			return true;
	return false;
}

static bool
settings(struct run *r)
{
	uint64_t tol = (uint64_t)r->tol_ns / 1000, tick = 0, bind = 8080, connect = 8080, percent = r->tol_percent;

	for (const struct pd_option *o = r->script->options; o != NULL; o = o->next)
		if (!harmless(o->name))
			return run_skip(r, o->line, "option --%s", o->name);
	if (!opt_number(r, "tolerance_usecs", 100000000, &tol) || !opt_number(r, "tcp_ts_tick_usecs", 1000000, &tick)
		|| !opt_number(r, "bind_port", 65535, &bind) || !opt_number(r, "connect_port", 65535, &connect)
		|| !opt_number(r, "tolerance_percent", 100, &percent))
		return false;
	r->tol_ns = (int64_t)tol * 1000;
	r->tol_percent = (unsigned int)percent;
	r->ts_tick_ns = (int64_t)tick * 1000;
	r->bind_port = (uint16_t)bind;
	r->connect_port = (uint16_t)connect;
	r->next_port = 40001;
	r->rules.strict_segments = pd_option(r->script, "strict_segments") != NULL;
	return true;
}

/* ---- events ---- */

/* A packet that is due has its time and the tolerance around. */
static bool
outbound(struct run *r, const struct pd_event *ev, int64_t at, int64_t end)
{
	int64_t tol = r->tol_ns, gap = at - (int64_t)pd_net_now(&r->net);
	uint64_t came;

	if (gap > 0 && gap / 100 * r->tol_percent > tol)
		tol = gap / 100 * r->tol_percent;
	if (ev->time == PD_T_ANY) {
		at = r->base_ns;
		end = (int64_t)pd_net_now(&r->net) + ANY_NS;
		tol = r->tol_ns;
	}
	if (!run_expect(r, ev, at > tol ? at - tol : 0, end + tol, &came))
		return false;
	/* times that follow count from when it was due or, where the script leaves that open, from when it came */
	r->base_ns = ev->time == PD_T_ANY || ev->window ? (int64_t)came : at;
	return true;
}

static bool
event(struct run *r, const struct pd_event *ev)
{
	int64_t from = ev->time == PD_T_REL ? r->base_ns : 0, at = from + ev->at, end = ev->window || ev->blocks
		? from + ev->end : at;
	bool call = ev->kind == PD_E_CALL;

	if (r->base_ns > SCRIPT_NS_MAX)
		return run_fail(r, ev->line, "this script lasts longer than time does");
	if (ev->kind == PD_E_PACKET && !ev->packet->inbound)
		return outbound(r, ev, at, end);
	/* only one call blocks at a time */
	while (call && r->pending.ev != NULL && !run_pending_late(r))
		if (!run_step(r, r->pending.end_ns + (uint64_t)r->tol_ns))
			return false;
	if (r->stop || !run_advance(r, at > 0 ? (uint64_t)at : 0))
		return false;
	r->base_ns = at;
	if (ev->kind == PD_E_PACKET)
		return run_inject(r, ev);
	if (call)
		return run_call(r, ev, ev->blocks && end > 0 ? (uint64_t)end : 0);
	return ev->kind == PD_E_COMMAND ? run_command(r, ev) : run_code(r, ev);
}

static void
events(struct run *r)
{
	for (const struct pd_event *ev = r->script->events; ev != NULL; ev = ev->next)
		if (ev->kind == PD_E_PACKET)
			r->last_packet = ev;
	for (const struct pd_event *ev = r->script->events; ev != NULL; ev = ev->next) {
		if (!event(r, ev) || r->stop)
			return;
		if (ev == r->last_packet && !run_leftover(r))
			return;
	}
	while (r->pending.ev != NULL && !run_pending_late(r))
		if (!run_step(r, r->pending.end_ns + (uint64_t)r->tol_ns))
			return;
}

void
pd_run(const struct pd_script *s, const struct pd_conf *c, struct pd_result *out)
{
	struct run *r = calloc(1, sizeof(*r));
	struct pd_net_conf nc;

	memset(out, 0, sizeof(*out));
	if (r != NULL)
		r->io = calloc(1, RUN_IO_MAX);
	if (r == NULL || r->io == NULL) {
		free(r);
		out->verdict = PD_FAIL;
		strcpy(out->why, "out of memory");
		return;
	}
	r->script = s;
	r->conf = *c;
	r->out = out;
	r->info_fd = -1;
	r->rules.persona = c->persona;
	r->rules.strict = c->strict;
	r->tol_ns = c->persona == PD_LINUX ? TOL_LINUX_NS : TOL_FREEBSD_NS;
	r->tol_percent = c->persona == PD_LINUX ? TOL_LINUX_PERCENT : 0;
	if (settings(r) && net_conf(r, &nc)) {
		if (pd_net_open(&r->net, &nc) != 0)
			run_fail(r, 0, "%s", r->net.why);
		else if (run_persona(r))
			events(r);
		out->virtual_ns = pd_net_now(&r->net);
		out->packets = r->net.taken;
		if (!pd_net_close(&r->net))
			run_fail(r, 0, "at the end: %s", r->net.why);
	}
	run_flows_free(r);
	free(r->io);
	free(r);
}

/* ---- how to run a script ---- */

unsigned int
pd_families(const struct pd_script *s, struct pd_conf c[2], char *why, size_t n)
{
	const char *v = pd_option(s, "ip_version");

	memset(c, 0, 2 * sizeof(c[0]));
	c[0].family = ADDR_INET;
	if (v == NULL && !s->says_v4 && !s->says_v6) {
		c[1].family = ADDR_INET6;
		c[0].both = c[1].both = true;
		return 2;
	}
	if (v == NULL && s->says_v6 && !s->says_v4)
		c[0].family = ADDR_INET6;
	if (v == NULL || strcmp(v, "ipv4") == 0)
		return 1;
	c[0].mapped = strcmp(v, "ipv4-mapped-ipv6") == 0;
	if (c[0].mapped)
		return 1;
	c[0].family = ADDR_INET6;
	if (strcmp(v, "ipv6") == 0)
		return 1;
	snprintf(why, n, "--ip_version=%s", v);
	return 0;
}

enum pd_persona
pd_persona_of(const struct pd_script *s)
{
	static const char *const linux_marks[] = { "defaults.sh", "set_sysctls", "/proc/sys/", "net.ipv4.", "net.ipv6.",
		"net.core." };

	for (const struct pd_event *ev = s->events; ev != NULL; ev = ev->next) {
		if (ev->kind == PD_E_COMMAND) {
			for (unsigned int i = 0; i < sizeof(linux_marks) / sizeof(linux_marks[0]); i++)
				if (strstr(ev->text, linux_marks[i]) != NULL)
					return PD_LINUX;
			if (strstr(ev->text, "net.inet") != NULL || strstr(ev->text, "kern.") != NULL)
				return PD_FREEBSD;
		}
		if (ev->kind != PD_E_PACKET || ev->packet->inbound || (ev->packet->flags & PD_SYN) == 0)
			continue;
		for (unsigned int i = 0; i < ev->packet->nopts; i++)
			if (ev->packet->opt[i].kind == PD_O_WSCALE)
				return ev->packet->opt[i].a == 6 ? PD_FREEBSD : PD_LINUX;
	}
	return PD_FREEBSD;
}
