/* SPDX-License-Identifier: BSD-3-Clause */
/* What the primary answers: ports, MTU changes with the pollers parked, stop. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primary_priv.h"

#define STEP_NS 50000ull

struct quiesce {
	struct primary *p;
	uint16_t port;
};

/* Every live worker obeys the park order, or the deadline passes. A dead one touches nothing. */
static int
park(void *ctx)
{
	struct primary *p = ((struct quiesce *)ctx)->p;
	uint64_t deadline = shim_clock_ns(p->shim) + PRIMARY_PARK_MS * 1000000ull;
	uint32_t order = ++p->park_number == 0 ? ++p->park_number : p->park_number;
	struct shim_proc self = shim_self(p->shim);

	/* all of them, those without an owner too: whoever comes now finds the order before its first turn */
	for (unsigned int i = 0; i < p->nb_places; i++)
		shim_store32(p->shim, &p->worker[i].block->park_order, order, SHIM_SEQ_CST);
	for (unsigned int i = 0; i < p->nb_places; i++) {
		struct ctl_block *b = p->worker[i].block;

		/* a worker inside this process does not run while this does */
		if (b->owner.pid == self.pid)
			continue;
		/* acquire pairs with the worker's release: its last burst is over */
		while (shim_load32(p->shim, &b->park_ack, SHIM_ACQUIRE) != order) {
			if (!ctl_owner_alive(p->shim, b))
				break;
			if (shim_clock_ns(p->shim) >= deadline) {
				shim_log(p->shim, SHIM_LOG_ERR, "%s (pid %u) did not let go of its queues within %u ms",
					p->worker[i].name, b->owner.pid, PRIMARY_PARK_MS);
				return -ETIMEDOUT;
			}
			shim_sleep_ns(p->shim, STEP_NS);
		}
	}
	return 0;
}

/* Nobody sends any more: the port has sent all when its counter stands still. */
static int
drain(void *ctx)
{
	struct quiesce *q = ctx;
	struct primary *p = q->p;
	uint64_t deadline = shim_clock_ns(p->shim) + PRIMARY_DRAIN_MS * 1000000ull;
	struct shim_port_stats st;
	uint64_t last = UINT64_MAX;
	int rc;

	for (;;) {
		rc = shim_port_stats(p->shim, q->port, &st);
		if (rc == -ENOTSUP)
			return 0;
		if (rc < 0)
			return rc;
		if (st.tx_packets == last)
			return 0;
		if (shim_clock_ns(p->shim) >= deadline)
			return -ETIMEDOUT;
		last = st.tx_packets;
		shim_sleep_ns(p->shim, 1000000);
	}
}

static void
resume(void *ctx)
{
	struct primary *p = ((struct quiesce *)ctx)->p;

	for (unsigned int i = 0; i < p->nb_places; i++)
		shim_store32(p->shim, &p->worker[i].block->park_order, 0, SHIM_RELEASE);
}

static bool
has_port(const struct primary *p, uint16_t port)
{
	for (unsigned int i = 0; i < p->nb_ports; i++)
		if (p->port[i].port == port)
			return true;
	return false;
}

enum mtu_result
primary_mtu_set(struct primary *p, uint16_t port, uint16_t mtu, int *err, char *why, size_t n)
{
	enum mtu_mode mode = layout_mtu_mode(p->cfg);
	struct quiesce ctx = { .p = p, .port = port };
	struct mtu_quiesce q = { .park = park, .drain = drain, .resume = resume, .ctx = &ctx };
	struct shim_port_info info;
	enum mtu_result res;
	int back = 0;

	*err = has_port(p, port) ? shim_port_info(p->shim, port, &info) : -ENODEV;
	if (*err < 0) {
		snprintf(why, n, "port %u: %s", port, strerror(-*err));
		return MTU_UNCHANGED;
	}
	if (mode == MTU_MODE_OFF && mtu > MTU_DEFAULT) {
		*err = -ERANGE;
		snprintf(why, n, "MTU %u: above %u needs [dpdk] mtu_enable=1", mtu, MTU_DEFAULT);
		return MTU_UNCHANGED;
	}
	*err = mtu_check_port(&info, mode, mtu, p->data_room, why, n);
	if (*err < 0)
		return MTU_UNCHANGED;
	res = mtu_change_port(p->shim, port, mtu, &q, err, &back);
	if (res == MTU_UNCHANGED)
		snprintf(why, n, "port %u keeps its MTU: %s", port, strerror(-*err));
	else if (res == MTU_PORT_FAILED)
		snprintf(why, n, "port %u has failed: MTU %u: %s; putting the old one back: %s", port, mtu,
			strerror(-*err), strerror(-back));
	shim_log(p->shim, res == MTU_CHANGED ? SHIM_LOG_NOTICE : SHIM_LOG_ERR, "%s", res == MTU_CHANGED ?
		"MTU changed" : why);
	return res;
}

static bool
number(const char *word, unsigned int max, unsigned int *out)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(word, &end, 10);
	if (word[0] < '0' || word[0] > '9' || *end != '\0' || errno != 0 || v > max)
		return false;
	*out = v;
	return true;
}

static int
answer_mtu(struct primary *p, const struct ctl_request *r, struct text *t)
{
	unsigned int port, mtu;
	char why[512];
	int err = 0;

	if (r->nb_words != 2 || !number(r->word[0], SHIM_MAX_PORTS - 1, &port) || !number(r->word[1], 65535, &mtu)) {
		text_add(t, "expected a port and an MTU");
		return -EINVAL;
	}
	why[0] = '\0';
	switch (primary_mtu_set(p, port, mtu, &err, why, sizeof(why))) {
	case MTU_CHANGED:
		return 0;
	case MTU_UNCHANGED:
	case MTU_PORT_FAILED:
		break;
	}
	text_add(t, "%s", why);
	return err < 0 ? err : -EIO;
}

static void
port_line(struct primary *p, const struct primary_port *pp, bool json, struct text *t)
{
	struct shim_port_stats st = { 0 };
	struct shim_port_link link = { 0 };
	struct shim_port_info info;
	uint16_t mtu = 0;

	if (shim_port_info(p->shim, pp->port, &info) < 0)
		memset(&info, 0, sizeof(info));
	(void)shim_port_stats(p->shim, pp->port, &st);
	(void)shim_port_link(p->shim, pp->port, &link);
	(void)shim_port_mtu_get(p->shim, pp->port, &mtu);
	if (json) {
		text_add(t, "{\"port\":%u,\"driver\":", pp->port);
		text_json(t, info.driver);
		text_add(t, ",\"mtu\":%u,\"link\":%s,\"queues\":%u,\"rss\":%s,\"rx_packets\":%llu,\"tx_packets\":%llu,"
			"\"rx_bytes\":%llu,\"tx_bytes\":%llu,\"rx_missed\":%llu,\"rx_nombuf\":%llu,\"rx_errors\":%llu,"
			"\"tx_errors\":%llu}", mtu, link.up ? "true" : "false", pp->nb_queues,
			info.reta_size > 0 ? "true" : "false", (unsigned long long)st.rx_packets,
			(unsigned long long)st.tx_packets, (unsigned long long)st.rx_bytes,
			(unsigned long long)st.tx_bytes, (unsigned long long)st.rx_missed,
			(unsigned long long)st.rx_nombuf, (unsigned long long)st.rx_errors,
			(unsigned long long)st.tx_errors);
		return;
	}
	text_add(t, "port %u  %s, link %s, MTU %u, %u queue%s  rx %llu tx %llu  missed %llu no-buffer %llu errors %llu/%llu\n",
		pp->port, info.driver, link.up ? "up" : "down", mtu, pp->nb_queues, pp->nb_queues == 1 ? "" : "s",
		(unsigned long long)st.rx_packets, (unsigned long long)st.tx_packets, (unsigned long long)st.rx_missed,
		(unsigned long long)st.rx_nombuf, (unsigned long long)st.rx_errors, (unsigned long long)st.tx_errors);
}

static int
answer_ports(struct primary *p, const struct ctl_request *r, struct text *t, uint32_t *next)
{
	bool json = r->nb_words > 0 && strcmp(r->word[0], "json") == 0;
	unsigned int first = 0;

	if (r->nb_words > 1 && !number(r->word[1], UINT32_MAX, &first))
		return -EINVAL;
	for (unsigned int i = first; i < p->nb_ports; i++) {
		size_t mark = t->len;

		if (json && i > first)
			text_add(t, ",");
		port_line(p, &p->port[i], json, t);
		if (t->cut) {
			text_back(t, mark);
			*next = i;
			return 0;
		}
	}
	return 0;
}

void
primary_answer(struct primary *p, const struct ctl_request *r)
{
	uint32_t next = 0;
	struct text t;
	int rc = 0;

	text_init(&t, p->answer, sizeof(p->answer));
	switch (r->op) {
	case CTL_PING:
		text_add(&t, "pong");
		break;
	case CTL_STOP:
		primary_stop(p);
		break;
	case CTL_MTU_SET:
		rc = answer_mtu(p, r, &t);
		break;
	case CTL_PORT_LIST:
		rc = answer_ports(p, r, &t, &next);
		break;
	default:
		text_add(&t, "the primary has no stack: ask a worker");
		rc = -EOPNOTSUPP;
		break;
	}
	ctl_answer(p->shim, p->block, r, rc, t.buf, t.len, next);
}
