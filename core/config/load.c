/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loading: all entries are collected first and resolved then, so that sections may stand in any order; every value is
 * checked and every error reported before the answer.
 */
#include "keys.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX (1 << 20)

const struct config_entry *
config_given(const struct config_ctx *c, enum key_section s, unsigned int index, const char *key)
{
	const struct config_key *k = config_key_find(s, key);
	unsigned int i;

	for (i = c->n; i-- > 0;)
		if (c->e[i].s == s && c->e[i].index == index && c->e[i].k == k && c->e[i].key)
			return &c->e[i];
	return NULL;
}

bool
config_bad(const struct config_ctx *c, enum key_section s, unsigned int index, const char *key)
{
	const struct config_entry *e = config_given(c, s, index, key);

	return e && e->bad;
}

int
config_section_line(const struct config_ctx *c, enum key_section s, unsigned int index)
{
	unsigned int i;

	for (i = 0; i < c->n; i++)
		if (c->e[i].s == s && c->e[i].index == index && !c->e[i].key)
			return c->e[i].line;
	return 0;
}

/* ---- sections ---- */

/* An indexed section's number; false (with a message at a header) when it is none. */
static bool
section_index(struct config_ctx *c, const struct section_info *si, struct config_entry *e)
{
	const char *digits = e->section + strlen(si->name);
	char why[96];
	uint64_t v;

	if (config_parse_u64(digits, si->min, si->max, &v, why, sizeof(why)) == 0) {
		if (digits[0] != '0' || digits[1] == '\0') {
			e->index = (unsigned int)v;
			return true;
		}
		snprintf(why, sizeof(why), "with a zero in front");
	}
	if (!e->key)
		config_msg(c, true, e->line, e->section, NULL, NULL, "its number is %s; accepted: [%s%u]..[%s%u]", why,
			si->name, si->min, si->name, si->max);
	return false;
}

static void
unknown_section(struct config_ctx *c, const struct config_entry *e)
{
	char near[64];

	if (e->section[0] == '\0') {
		config_msg(c, c->strict, e->line, NULL, e->key, e->value,
			"stands in front of any section and is ignored; accepted: keys under a [section]");
		return;
	}
	if (e->key)
		return; /* said at the header */
	if (config_section_nearest(e->section, near, sizeof(near)))
		config_msg(c, c->strict, e->line, e->section, NULL, NULL,
			"unknown section, ignored; the nearest known one is %s", near);
	else
		config_msg(c, c->strict, e->line, e->section, NULL, NULL,
			"unknown section, ignored; accepted: dpdk, pcap, portN, vlanN, vdevN, bondN, rss_check, kni, "
			"freebsd.boot, freebsd.sysctl, stack");
}

static void
resolve_section(struct config_ctx *c, struct config_entry *e)
{
	const struct section_info *si;
	size_t len;

	for (si = config_sections; si < config_sections + SECT_COUNT; si++) {
		len = strlen(si->name);
		if (!si->indexed) {
			if (strcmp(e->section, si->name) != 0)
				continue;
		} else if (strncmp(e->section, si->name, len) != 0 ||
				(!isdigit((unsigned char)e->section[len]) && !strchr("-+", e->section[len]))) {
			continue;
		} else if (!section_index(c, si, e)) {
			return;
		}
		e->s = (enum key_section)(si - config_sections);
		return;
	}
	unknown_section(c, e);
}

/* The slot of [vlanN], taken when it is new; -1: none left, or (new false) there is none. */
static int
vlan_slot(struct nonic_config *cfg, unsigned int id, bool new)
{
	unsigned int i;

	for (i = 0; i < cfg->nb_vlans; i++)
		if (cfg->vlan[i].id == id)
			return (int)i;
	if (!new || cfg->nb_vlans == CONFIG_MAX_VLANS)
		return -1;
	cfg->vlan[cfg->nb_vlans++].id = (uint16_t)id;
	return (int)i;
}

static void
set_defaults(struct config_ctx *c, enum key_section s, unsigned int slot)
{
	const struct config_key *k;
	char why[256];

	for (k = config_keys; k < config_keys + config_nb_keys; k++)
		if (k->section == s && k->def &&
				config_value_parse(k, k->def, config_base(c->cfg, s, slot), why, sizeof(why)) == -ENOMEM)
			c->oom = true;
}

/* Makes the section's struct ready at its first header. */
static void
open_section(struct config_ctx *c, struct config_entry *e)
{
	struct nonic_config *cfg = c->cfg;
	int slot = (int)e->index;
	bool *present = e->s == SECT_PORT ? &cfg->port[slot].present :
		e->s == SECT_VDEV ? &cfg->vdev[slot].present :
		e->s == SECT_BOND ? &cfg->bond[slot].present : NULL;

	if (e->s == SECT_VLAN) {
		if (vlan_slot(cfg, e->index, false) >= 0)
			return;
		slot = vlan_slot(cfg, e->index, true);
		if (slot < 0) {
			config_msg(c, true, e->line, e->section, NULL, NULL, "one VLAN too many; accepted: at most %d",
				CONFIG_MAX_VLANS);
			return;
		}
	} else if (!present || *present) {
		return;
	} else {
		*present = true;
	}
	set_defaults(c, e->s, (unsigned int)slot);
	if (e->s == SECT_PORT)
		snprintf(cfg->port[slot].if_name, sizeof(cfg->port[slot].if_name), "f-stack-%d", slot);
}

/* ---- keys ---- */

static void
unknown_key(struct config_ctx *c, const struct config_entry *e)
{
	const struct config_key *near = config_key_nearest(e->s, e->key), *other;
	enum key_section s;

	for (s = 0; s < SECT_COUNT; s++) {
		other = s == e->s ? NULL : config_key_find(s, e->key);
		if (!other)
			continue;
		config_msg(c, c->strict, e->line, e->section, e->key, e->value,
			"unknown key, ignored; %s is a key of [%s%s]", e->key, config_sections[s].name,
			config_sections[s].indexed ? "N" : "");
		return;
	}
	if (near)
		config_msg(c, c->strict, e->line, e->section, e->key, e->value,
			"unknown key, ignored; the nearest known one is %s", near->name);
	else
		config_msg(c, c->strict, e->line, e->section, e->key, e->value, "unknown key, ignored; none is near");
}

/* A second time the same key: the later one wins, as with F-Stack, but it is said. */
static void
warn_again(struct config_ctx *c, const struct config_entry *e)
{
	const struct config_entry *o;

	for (o = e; o-- > c->e;)
		if (o->key && o->s == e->s && o->index == e->index && o->k == e->k &&
				(e->k || strcmp(o->key, e->key) == 0)) {
			config_msg(c, false, e->line, e->section, e->key, e->value,
				"given before in line %d; this one wins", o->line);
			return;
		}
}

static void
keep_pair(struct config_ctx *c, const struct config_entry *e)
{
	struct config_pair *p = &c->cfg->pairs[c->cfg->nb_pairs];
	const char *q;

	for (q = e->key; *q; q++)
		if (*q <= 0x20 || *q >= 0x7f) {
			config_msg(c, true, e->line, e->section, e->key, e->value,
				"the key has a character that a name can not have; accepted: letters, digits, . _ - %%");
			return;
		}
	if (e->value[0] == '\0') {
		config_msg(c, true, e->line, e->section, e->key, e->value, "empty; accepted: a number or text");
		return;
	}
	warn_again(c, e);
	p->section = config_strndup(e->section, strlen(e->section));
	p->key = config_strndup(e->key, strlen(e->key));
	p->value = config_strndup(e->value, strlen(e->value));
	p->line = e->line;
	c->cfg->nb_pairs++; /* config_free releases what there is of it */
	if (!p->section || !p->key || !p->value)
		c->oom = true;
}

static void
set_key(struct config_ctx *c, struct config_entry *e)
{
	char why[256], accepted[256];
	int slot = e->s == SECT_VLAN ? vlan_slot(c->cfg, e->index, false) : (int)e->index, rc;

	if (slot < 0)
		return; /* said at the header */
	warn_again(c, e);
	rc = config_value_parse(e->k, e->value, config_base(c->cfg, e->s, (unsigned int)slot), why, sizeof(why));
	config_value_accepted(e->k, accepted, sizeof(accepted));
	e->bad = rc < 0;
	if (rc == -ENOMEM)
		c->oom = true;
	else if (rc < 0 && strstr(e->value, "#"))
		config_msg(c, true, e->line, e->section, e->key, e->value,
			"%s (a comment behind a value begins with a blank and ;, not with #); accepted: %s", why, accepted);
	else if (rc < 0)
		config_msg(c, true, e->line, e->section, e->key, e->value, "%s; accepted: %s", why, accepted);
	else if (rc > 0)
		config_msg(c, false, e->line, e->section, e->key, e->value, "%s; accepted: %s", why, accepted);
	if (e->cut && (e->k->type == KEY_VIP4 || e->k->type == KEY_VIP6 || e->k->type == KEY_RSS_TBL))
		config_msg(c, false, e->line, e->section, e->key, e->value,
			"what follows is a comment, because ; stands behind a blank; accepted: no blank in front of ;");
	if (e->k->flags & KEY_NO_EFFECT)
		config_msg(c, false, e->line, e->section, e->key, e->value, "accepted, without effect");
}

static bool
alloc_pairs(struct config_ctx *c)
{
	unsigned int i, n = 0;

	for (i = 0; i < c->n; i++)
		n += c->e[i].key && c->e[i].s < SECT_COUNT && config_sections[c->e[i].s].pairs;
	if (n == 0)
		return true;
	c->cfg->pairs = config_alloc(n * sizeof(*c->cfg->pairs));
	return c->cfg->pairs != NULL;
}

static void
resolve(struct config_ctx *c)
{
	enum key_section s;
	struct config_entry *e;
	unsigned int i;

	for (s = 0; s < SECT_COUNT; s++)
		if (!config_sections[s].indexed)
			set_defaults(c, s, 0);
	for (i = 0; i < c->n; i++) {
		e = &c->e[i];
		resolve_section(c, e);
		if (e->s < SECT_COUNT && !e->key)
			open_section(c, e);
	}
	if (!alloc_pairs(c))
		c->oom = true;
	for (i = 0; i < c->n && !c->oom; i++) {
		e = &c->e[i];
		if (!e->key || e->s == SECT_COUNT)
			continue;
		e->k = config_key_find(e->s, e->key);
		if (e->k)
			set_key(c, e);
		else if (config_sections[e->s].pairs)
			keep_pair(c, e);
		else
			unknown_key(c, e);
	}
}

static void
free_entries(struct config_ctx *c)
{
	unsigned int i;

	for (i = 0; i < c->n; i++) {
		free(c->e[i].section);
		free(c->e[i].key);
		free(c->e[i].value);
	}
	free(c->e);
}

int
config_load_mem(const char *name, const char *text, size_t len, unsigned int flags, struct nonic_config *cfg,
	struct config_messages *msgs)
{
	struct config_ctx c = { .cfg = cfg, .msgs = msgs, .file = name, .strict = flags & CONFIG_STRICT };

	memset(cfg, 0, sizeof(*cfg));
	memset(msgs, 0, sizeof(*msgs));
	cfg->proc_id = -1;
	cfg->file = config_strndup(name, strlen(name));
	c.oom = !cfg->file;
	config_lex(&c, text, len);
	if (!c.oom)
		resolve(&c);
	if (!c.oom)
		config_check(&c);
	free_entries(&c);
	config_msgs_sort(msgs);
	if (c.oom)
		return -ENOMEM;
	return msgs->errors ? -EINVAL : 0;
}

/* Opens a file to read; a FIFO that nobody writes to is empty, it does not hang. */
static FILE *
open_file(const char *file)
{
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	FILE *f;

	if (fd < 0)
		return NULL;
	fcntl(fd, F_SETFL, 0); /* what is written to a pipe may come late */
	f = fdopen(fd, "rb");
	if (!f)
		close(fd);
	return f;
}

/* Reads the whole file; 0 or -errno. */
static int
read_file(const char *file, char **text, size_t *len)
{
	FILE *f = open_file(file);
	int rc = 0;

	*text = NULL;
	if (!f)
		return -errno;
	*text = config_alloc(FILE_MAX + 1);
	if (!*text) {
		fclose(f);
		return -ENOMEM;
	}
	*len = fread(*text, 1, FILE_MAX + 1, f);
	if (ferror(f))
		rc = errno ? -errno : -EIO;
	else if (*len > FILE_MAX)
		rc = -EFBIG;
	fclose(f);
	return rc;
}

int
config_load(const char *file, unsigned int flags, struct nonic_config *cfg, struct config_messages *msgs)
{
	struct config_ctx c = { .msgs = msgs, .file = file };
	size_t len = 0;
	char *text;
	int rc = read_file(file, &text, &len);

	if (rc == 0) {
		rc = config_load_mem(file, text, len, flags, cfg, msgs);
	} else {
		memset(cfg, 0, sizeof(*cfg));
		memset(msgs, 0, sizeof(*msgs));
		config_msg(&c, true, 0, NULL, NULL, NULL, "can not be read: %s; accepted: a readable file of at most 1 MiB",
			strerror(-rc));
	}
	free(text);
	return rc;
}

void
config_free(struct nonic_config *cfg)
{
	const struct config_key *k;
	unsigned int i, n;
	char *s, *field;

	for (k = config_keys; k < config_keys + config_nb_keys; k++) {
		if (k->type != KEY_STR && (k->type < KEY_PREFIX || k->type > KEY_MAC))
			continue;
		n = k->section == SECT_PORT ? CONFIG_MAX_PORTS : k->section == SECT_VLAN ? CONFIG_MAX_VLANS :
			k->section == SECT_VDEV ? CONFIG_MAX_VDEVS : k->section == SECT_BOND ? CONFIG_MAX_BONDS : 1;
		for (i = 0; i < n; i++) {
			field = (char *)config_base(cfg, k->section, i) + k->off;
			memcpy(&s, field, sizeof(s));
			free(s);
			s = NULL;
			memcpy(field, &s, sizeof(s));
		}
	}
	for (i = 0; i < cfg->nb_pairs; i++) {
		free(cfg->pairs[i].section);
		free(cfg->pairs[i].key);
		free(cfg->pairs[i].value);
	}
	free(cfg->pairs);
	free(cfg->file);
	memset(cfg, 0, sizeof(*cfg));
}
