/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the configuration share: a file made of parts, loaded, looked at, released. */
#ifndef NONIC_UNIT_SPEC_CFG_H
#define NONIC_UNIT_SPEC_CFG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/config/config.h"

struct load {
	struct nonic_config cfg;
	struct config_messages msgs;
	int ret;
};

/* Every part may be NULL. mask and ports replace the usual lcore_mask=1 and port_list=0. */
struct parts {
	const char *top;   /* before everything */
	const char *dpdk;  /* first lines of [dpdk] */
	const char *mask;
	const char *port;  /* first lines of [port0] */
	const char *more;  /* at the end */
};

static inline void
load_text(struct load *l, const char *text, unsigned int flags)
{
	memset(l, 0, sizeof(*l));
	l->ret = config_load_mem("t.ini", text, strlen(text), flags, &l->cfg, &l->msgs);
}

static inline void
load_parts(struct load *l, const struct parts *p, unsigned int flags)
{
	static const char addr[] = "addr=192.168.1.2\nnetmask=255.255.255.0\nbroadcast=192.168.1.255\n"
		"gateway=192.168.1.1\n";
	char text[8192];

	snprintf(text, sizeof(text), "%s[dpdk]\n%slcore_mask=%s\nport_list=0\n[port0]\n%s%s%s", p->top ? p->top : "",
		p->dpdk ? p->dpdk : "", p->mask ? p->mask : "1", p->port ? p->port : "", addr, p->more ? p->more : "");
	load_text(l, text, flags);
}

static inline void
unload(struct load *l)
{
	config_free(&l->cfg);
	config_messages_free(&l->msgs);
}

static inline void
load_show(const struct load *l)
{
	for (unsigned int i = 0; i < l->msgs.n; i++)
		print_message("%s\n", l->msgs.m[i].text);
}

/* Loaded without a word. */
static inline void
load_clean(struct load *l, const struct parts *p)
{
	load_parts(l, p, CONFIG_STRICT);
	if (l->ret != 0 || l->msgs.n != 0)
		load_show(l);
	assert_int_equal(l->ret, 0);
	assert_int_equal(l->msgs.n, 0);
}

/* The first error's text, or NULL. */
static inline const char *
first_error(const struct load *l)
{
	for (unsigned int i = 0; i < l->msgs.n; i++)
		if (l->msgs.m[i].error)
			return l->msgs.m[i].text;
	return NULL;
}

static inline bool
any_message(const struct load *l, bool error, const char *part)
{
	for (unsigned int i = 0; i < l->msgs.n; i++)
		if (l->msgs.m[i].error == error && strstr(l->msgs.m[i].text, part) != NULL)
			return true;
	return false;
}

/* Refused, with one error that has each of the words (NULL: not looked for). */
static inline void
refused(const struct parts *p, const char *w1, const char *w2)
{
	struct load l;
	const char *e;

	load_parts(&l, p, 0);
	e = first_error(&l);
	if (l.ret != -EINVAL || l.msgs.errors != 1 || (w1 != NULL && strstr(e, w1) == NULL) ||
		(w2 != NULL && strstr(e, w2) == NULL)) {
		load_show(&l);
		fail_msg("dpdk '%s' port '%s' more '%s': %d, %u errors, wanted '%s' '%s'", p->dpdk ? p->dpdk : "",
			p->port ? p->port : "", p->more ? p->more : "", l.ret, l.msgs.errors, w1 ? w1 : "", w2 ? w2 : "");
	}
	unload(&l);
}

static inline void
accepted(const struct parts *p)
{
	struct load l;

	load_clean(&l, p);
	unload(&l);
}

/* One key = value on line 2 of the file, in its section; ctx: more lines of [dpdk]. */
static inline void
load_key(struct load *l, const char *section, const char *key, const char *value, const char *ctx, const char *mask)
{
	char line[512], top[600];
	struct parts p = { .mask = mask, .dpdk = ctx };

	snprintf(line, sizeof(line), "%s=%s\n%s", key, value, strcmp(section, "dpdk") == 0 && ctx ? ctx : "");
	if (strcmp(section, "dpdk") == 0) {
		p.dpdk = line;
	} else {
		snprintf(top, sizeof(top), "[%s]\n%s=%s\n%s", section, key, value,
			strncmp(section, "port", 4) != 0 ? "" :
			"addr=192.168.1.2\nnetmask=255.255.255.0\nbroadcast=192.168.1.255\ngateway=192.168.1.1\n");
		p.top = top;
		if (strcmp(section, "port0") == 0) {
			char text[2048];

			snprintf(text, sizeof(text), "%s[dpdk]\n%slcore_mask=%s\nport_list=0\n", top, ctx ? ctx : "",
				mask ? mask : "1");
			load_text(l, text, CONFIG_STRICT);
			return;
		}
	}
	load_parts(l, &p, CONFIG_STRICT);
}

static inline void
key_good(const char *section, const char *key, const char *value, const char *ctx, const char *mask)
{
	struct load l;

	load_key(&l, section, key, value, ctx, mask);
	if (l.ret != 0) {
		load_show(&l);
		fail_msg("[%s] %s=%s was refused", section, key, value);
	}
	unload(&l);
}

/* CFG-2: one error, with file and line, section and key, the value, what is accepted. */
static inline void
key_bad(const char *section, const char *key, const char *value, const char *ctx, const char *mask)
{
	struct load l;
	char name[80];
	const char *e;

	load_key(&l, section, key, value, ctx, mask);
	snprintf(name, sizeof(name), "[%s] %s", section, key);
	e = first_error(&l);
	if (l.ret != -EINVAL || e == NULL || l.msgs.errors != 1 || strncmp(e, "t.ini:2:", 8) != 0 ||
		strstr(e, name) == NULL || strstr(e, value) == NULL || strstr(e, "accepted") == NULL) {
		load_show(&l);
		fail_msg("[%s] %s=%s: returned %d with %u errors, or the message lacks something", section, key, value,
			l.ret, l.msgs.errors);
	}
	unload(&l);
}

#endif
