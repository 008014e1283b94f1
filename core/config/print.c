/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said about a configuration as a whole: its text, its differences, its device digest, the reference page. */
#include "keys.h"

#include <stdio.h>
#include <string.h>

#include "../base/sha256.h"

/* The slot of section s's instance number n in cfg, or -1 when there is none. */
static int
slot_of(const struct nonic_config *cfg, enum key_section s, unsigned int n)
{
	unsigned int i;

	if (s == SECT_VLAN) {
		for (i = 0; i < cfg->nb_vlans; i++)
			if (cfg->vlan[i].id == n)
				return (int)i;
		return -1;
	}
	if ((s == SECT_PORT && !cfg->port[n].present) || (s == SECT_VDEV && !cfg->vdev[n].present) ||
			(s == SECT_BOND && !cfg->bond[n].present))
		return -1;
	return (int)n;
}

/* The value as text, or false when it is not set (zero is a number, but no address). */
static bool
value_text(const struct nonic_config *cfg, const struct config_key *k, int slot, char *buf, size_t n)
{
	const void *base = config_base(cfg, k->section, (unsigned int)slot);
	const struct config_addrs *a = k->section == SECT_PORT ? &cfg->port[slot].a :
		k->section == SECT_VLAN ? &cfg->vlan[slot].a : NULL;

	if (k->type == KEY_IP4 && !a->has_v4)
		return false;
	if (k->type == KEY_IP6 && !(strcmp(k->name, "addr6") == 0 ? a->has_v6 : a->has_gateway6))
		return false;
	if (k->section == SECT_KNI && strcmp(k->name, "owner_proc_id") == 0 && !cfg->kni.has_owner)
		return false;
	if (!config_value_format(k, base, buf, n))
		return false;
	/* What only virtio_user reads is said of another driver only when the file said it. */
	return k->section != SECT_VDEV || cfg->vdev[slot].driver == VDEV_VIRTIO_USER || !k->def ||
		strcmp(k->def, buf) != 0 || strcmp(k->name, "driver") == 0;
}

static void
print_section(const struct nonic_config *cfg, enum key_section s, unsigned int n, int slot,
	const struct config_out *out)
{
	char line[CONFIG_TEXT_MAX + 128], text[CONFIG_TEXT_MAX], name[64];
	const struct config_key *k;
	unsigned int i;

	config_section_text(s, n, name, sizeof(name));
	snprintf(line, sizeof(line), "[%s]", name);
	out->line(out->ctx, line);
	for (k = config_keys; k < config_keys + config_nb_keys; k++)
		if (k->section == s && value_text(cfg, k, slot, text, sizeof(text))) {
			snprintf(line, sizeof(line), "%s=%s", k->name, text);
			out->line(out->ctx, line);
		}
	for (i = 0; i < cfg->nb_pairs; i++)
		if (strcmp(cfg->pairs[i].section, name) == 0) {
			snprintf(line, sizeof(line), "%s=%s", cfg->pairs[i].key, cfg->pairs[i].value);
			out->line(out->ctx, line);
		}
	out->line(out->ctx, "");
}

void
config_print(const struct nonic_config *cfg, const struct config_out *out)
{
	enum key_section s;
	unsigned int n;
	int slot;

	for (s = 0; s < SECT_COUNT; s++) {
		if (s == SECT_VLAN) { /* in the order of the file */
			for (n = 0; n < cfg->nb_vlans; n++)
				print_section(cfg, s, cfg->vlan[n].id, (int)n, out);
			continue;
		}
		for (n = config_sections[s].min; n <= config_sections[s].max; n++) {
			slot = slot_of(cfg, s, n);
			if (slot >= 0)
				print_section(cfg, s, n, slot, out);
		}
	}
}

/* Is the instance part of the device? Ports that are not listed are nobody's. */
static bool
on_device(const struct nonic_config *cfg, enum key_section s, unsigned int n)
{
	return s != SECT_VLAN && (s != SECT_PORT || config_port_listed(cfg, n));
}

void
config_device_digest(const struct nonic_config *cfg, uint8_t digest[CONFIG_DIGEST_LEN])
{
	char line[CONFIG_TEXT_MAX + 128], text[CONFIG_TEXT_MAX], name[64];
	const struct config_key *k;
	struct sha256 h;
	unsigned int n;
	int slot;

	sha256_init(&h);
	for (k = config_keys; k < config_keys + config_nb_keys; k++) {
		if (!(k->flags & KEY_DEVICE))
			continue;
		for (n = config_sections[k->section].min; n <= config_sections[k->section].max; n++) {
			slot = on_device(cfg, k->section, n) ? slot_of(cfg, k->section, n) : -1;
			if (slot < 0 || !value_text(cfg, k, slot, text, sizeof(text)))
				continue;
			config_section_text(k->section, n, name, sizeof(name));
			/* The zero at the end separates: no two configurations run into the same text. */
			sha256_add(&h, line, (size_t)snprintf(line, sizeof(line), "[%s] %s=%s", name, k->name, text) + 1);
		}
	}
	sha256_finish(&h, digest);
}

/* The first key of one instance that differs, or NULL. */
static const char *
diff_keys(const struct nonic_config *a, const struct nonic_config *b, enum key_section s, int slot_a, int slot_b,
	unsigned int flags)
{
	char ta[CONFIG_TEXT_MAX], tb[CONFIG_TEXT_MAX];
	const struct config_key *k;
	bool in_a, in_b;

	for (k = config_keys; k < config_keys + config_nb_keys; k++) {
		if (k->section != s || (k->flags & flags) != flags)
			continue;
		in_a = value_text(a, k, slot_a, ta, sizeof(ta));
		in_b = value_text(b, k, slot_b, tb, sizeof(tb));
		if (in_a != in_b || (in_a && strcmp(ta, tb) != 0))
			return k->name;
	}
	return NULL;
}

static bool
diff(const struct nonic_config *a, const struct nonic_config *b, unsigned int flags, char *name, size_t size)
{
	char section[64];
	const char *key;
	enum key_section s;
	int slot_a, slot_b;
	unsigned int n;

	for (s = 0; s < SECT_COUNT; s++)
		for (n = config_sections[s].min; n <= config_sections[s].max; n++) {
			slot_a = flags && !on_device(a, s, n) ? -1 : slot_of(a, s, n);
			slot_b = flags && !on_device(b, s, n) ? -1 : slot_of(b, s, n);
			if (slot_a < 0 && slot_b < 0)
				continue;
			config_section_text(s, n, section, sizeof(section));
			if (slot_a < 0 || slot_b < 0) {
				snprintf(name, size, "[%s]", section);
				return true;
			}
			key = diff_keys(a, b, s, slot_a, slot_b, flags);
			if (key) {
				snprintf(name, size, "[%s] %s", section, key);
				return true;
			}
		}
	return false;
}

bool
config_device_diff(const struct nonic_config *a, const struct nonic_config *b, char *name, size_t n)
{
	return diff(a, b, KEY_DEVICE, name, n);
}

bool
config_diff(const struct nonic_config *a, const struct nonic_config *b, char *name, size_t n)
{
	const struct config_pair *p, *q;
	unsigned int i;

	if (diff(a, b, 0, name, n))
		return true;
	for (i = 0; i < a->nb_pairs || i < b->nb_pairs; i++) {
		p = i < a->nb_pairs ? &a->pairs[i] : &b->pairs[i];
		q = i < b->nb_pairs ? &b->pairs[i] : &a->pairs[i];
		if (i >= a->nb_pairs || i >= b->nb_pairs || strcmp(p->section, q->section) != 0 ||
				strcmp(p->key, q->key) != 0 || strcmp(p->value, q->value) != 0) {
			snprintf(name, n, "[%s] %s", p->section, p->key);
			return true;
		}
	}
	return false;
}

/* ---- the reference page ---- */

static void
reference_key(const struct config_key *k, const struct config_out *out)
{
	char line[2048], accepted[256], def[128], *p;

	config_value_accepted(k, accepted, sizeof(accepted));
	for (p = accepted; *p; p++)
		if (*p == '|')
			*p = '/';
	if (k->def)
		snprintf(def, sizeof(def), "`%s`", k->def);
	else
		snprintf(def, sizeof(def), "%s", k->def_note ? k->def_note : "not set");
	snprintf(line, sizeof(line), "| `%s` | %s | %s | %s | %s | %s%s%s%s%s |", k->name, accepted, def,
		k->flags & KEY_DEVICE ? "device" : "process",
		k->flags & KEY_OURS ? "nonic" : k->flags & KEY_V2 ? "F-Stack 2.0" : "F-Stack", k->help,
		k->flags & KEY_CLAMP ? " A value outside is limited, with a warning." : "",
		k->flags & KEY_NO_EFFECT ? " Accepted for F-Stack's files, without effect." : "",
		k->alias ? " Also written: " : "", k->alias ? k->alias : "");
	out->line(out->ctx, line);
}

void
config_reference(const struct config_out *out)
{
	static const char *const head[] = {
		"# Keys of config.ini",
		"",
		"Generated from the table of keys in `keys.c` (`nonic check-config --reference`); a test compares the two.",
		"",
		"- The syntax is F-Stack's: `[section]`, `key=value`; a line that begins with `;` or `#` is a comment, and so is",
		"  what stands behind a blank and `;`. Sections stand in any order.",
		"- A value that is not accepted stops the start, with one message that names file, line, key, value and what is",
		"  accepted. An unknown section or key is a warning with the nearest known name, an error with `--strict`.",
		"- A key that is given twice: the later one wins, with a warning.",
		"- Side: *device* keys are what the primary has made of the file; a reload that changes one is refused. *process*",
		"  keys belong to each worker.",
		NULL,
	};
	const struct config_key *k;
	enum key_section s;
	char line[512];
	int i;

	for (i = 0; head[i]; i++)
		out->line(out->ctx, head[i]);
	for (s = 0; s < SECT_COUNT; s++) {
		out->line(out->ctx, "");
		snprintf(line, sizeof(line), "## [%s%s]", config_sections[s].name, config_sections[s].indexed ? "N" : "");
		out->line(out->ctx, line);
		out->line(out->ctx, "");
		if (config_sections[s].indexed)
			snprintf(line, sizeof(line), "%s N is %u..%u.", config_sections[s].help, config_sections[s].min,
				config_sections[s].max);
		else
			snprintf(line, sizeof(line), "%s", config_sections[s].help);
		out->line(out->ctx, line);
		if (s == SECT_SYSCTL)
			continue;
		out->line(out->ctx, "");
		out->line(out->ctx, "| Key | Accepted | Default | Side | Since | Meaning |");
		out->line(out->ctx, "|---|---|---|---|---|---|");
		for (k = config_keys; k < config_keys + config_nb_keys; k++)
			if (k->section == s)
				reference_key(k, out);
	}
}
