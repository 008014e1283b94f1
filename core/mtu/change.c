/* SPDX-License-Identifier: BSD-3-Clause */
/* The change of a port's MTU at run time (MTU-5), and the way back from each of its steps. */
#include "mtu.h"

#include <errno.h>

/* One change: what the port was, to be restored. */
struct change {
	struct shim *s;
	uint16_t port, old, new;
	bool started;                 /* the port ran when the change began */
	int promiscuous;
	uint8_t key[SHIM_RSS_KEY_MAX], key_len; /* key_len 0: the port has none */
	uint16_t reta[SHIM_RETA_MAX], reta_size; /* 0: the port has none */
};

/* Sets and reads back. 0, the door's error, or -EIO for another value than set. */
static int
set_mtu(const struct change *c, uint16_t mtu)
{
	uint16_t now = 0;
	int rc = shim_port_mtu_set(c->s, c->port, mtu);

	if (rc == 0)
		rc = shim_port_mtu_get(c->s, c->port, &now);
	if (rc)
		return rc;
	return now == mtu ? 0 : -EIO;
}

static bool
runs(const struct change *c)
{
	struct shim_port_info info;

	return shim_port_info(c->s, c->port, &info) == 0 && info.started;
}

/* Reads what a stop and start may lose. What the port does not have is not an error. */
static int
save(struct change *c)
{
	struct shim_port_info info;
	int rc = shim_port_info(c->s, c->port, &info);

	if (rc)
		return rc;
	c->started = info.started;
	c->promiscuous = shim_port_promiscuous_get(c->s, c->port);
	if (c->promiscuous < 0)
		return c->promiscuous;
	if (info.rss_key_size) {
		c->key_len = sizeof(c->key);
		rc = shim_port_rss_key_get(c->s, c->port, c->key, &c->key_len);
		if (rc == -ENOTSUP)
			c->key_len = 0;
		else if (rc)
			return rc;
	}
	if (info.reta_size && info.reta_size <= SHIM_RETA_MAX) {
		c->reta_size = info.reta_size;
		rc = shim_port_reta_get(c->s, c->port, c->reta, c->reta_size);
		if (rc == -ENOTSUP)
			c->reta_size = 0;
		else if (rc)
			return rc;
	}
	return 0;
}

static int
restore(const struct change *c)
{
	int rc = 0;

	if (c->key_len)
		rc = shim_port_rss_key_set(c->s, c->port, c->key, c->key_len);
	if (rc == 0 && c->reta_size)
		rc = shim_port_reta_set(c->s, c->port, c->reta, c->reta_size);
	if (rc == 0)
		rc = shim_port_promiscuous_set(c->s, c->port, c->promiscuous != 0);
	return rc;
}

/* Stopped, set, started again (if it ran) and as it was otherwise. */
static int
set_stopped(const struct change *c, uint16_t mtu)
{
	int rc = runs(c) ? shim_port_stop(c->s, c->port) : 0;

	if (rc == 0)
		rc = set_mtu(c, mtu);
	if (rc == 0 && c->started)
		rc = shim_port_start(c->s, c->port);
	if (rc == 0)
		rc = restore(c);
	return rc;
}

/*
 * Back to the old MTU with the port running. The first error is reported, but the steps behind it are tried all the same: a port
 * that runs with a wrong table is better than one that does not run.
 */
static int
roll_back(const struct change *c)
{
	uint16_t now = 0;
	int first, rc;

	if (c->started && runs(c) && shim_port_mtu_get(c->s, c->port, &now) == 0 && now == c->old)
		return 0; /* it did not even stop */
	first = set_stopped(c, c->old);
	if (first == 0 || !c->started || runs(c))
		return first;
	rc = shim_port_start(c->s, c->port);
	if (rc == 0)
		restore(c);
	return first;
}

/* The port must stop for it. 0 or the first cause; *rollback_err is not 0 when the way back failed too. */
static int
change_stopped(struct change *c, const struct mtu_quiesce *q, int *rollback_err)
{
	int rc = save(c);

	if (rc)
		return rc;
	rc = q->park(q->ctx);
	if (rc == 0)
		rc = q->drain(q->ctx);
	if (rc) {
		q->resume(q->ctx);
		return rc;
	}
	rc = set_stopped(c, c->new);
	if (rc)
		*rollback_err = roll_back(c);
	/* Nobody may poll a port that does not run. */
	if (*rollback_err == 0 || runs(c))
		q->resume(q->ctx);
	return rc;
}

/* set_mtu was refused or did something else: is the old one still in force, or can it be again? 0, or why not. */
static int
undo_running(const struct change *c)
{
	uint16_t now = 0;

	if (shim_port_mtu_get(c->s, c->port, &now) == 0 && now == c->old)
		return 0;
	return set_mtu(c, c->old);
}

static enum mtu_result
change(struct change *c, const struct mtu_quiesce *q, int *err, int *rollback_err)
{
	int rc;

	rc = shim_port_mtu_get(c->s, c->port, &c->old);
	if (rc == 0 && c->old == c->new)
		return MTU_CHANGED;
	if (rc == 0) {
		rc = set_mtu(c, c->new);
		if (rc == -EBUSY && q)
			rc = change_stopped(c, q, rollback_err);
		else if (rc)
			*rollback_err = undo_running(c);
	}
	*err = rc;
	if (rc == 0)
		return MTU_CHANGED;
	return *rollback_err ? MTU_PORT_FAILED : MTU_UNCHANGED;
}

enum mtu_result
mtu_change_port(struct shim *s, uint16_t port, uint16_t mtu, const struct mtu_quiesce *q, int *err,
	int *rollback_err)
{
	struct change c = { .s = s, .port = port, .new = mtu };
	enum mtu_result r;

	*err = 0;
	*rollback_err = 0;
	r = change(&c, q, err, rollback_err);
	if (r == MTU_CHANGED)
		shim_log(s, SHIM_LOG_NOTICE, "port %u: MTU %u -> %u", port, c.old, mtu);
	else if (r == MTU_UNCHANGED)
		shim_log(s, SHIM_LOG_ERR, "port %u: MTU stays %u, %u was not possible: errno %d", port, c.old, mtu, -*err);
	else
		shim_log(s, SHIM_LOG_CRIT,
			"port %u: MTU %u was not possible (errno %d), and the way back to %u failed (errno %d): the port %s",
			port, mtu, -*err, c.old, -*rollback_err, runs(&c) ? "runs, but not as it was" : "is down");
	return r;
}
