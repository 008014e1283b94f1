/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of config and its fuzzer: a growing text as a sink of lines, and comparison of whole structs. */
#ifndef NONIC_UNIT_CONFIG_TEXT_H
#define NONIC_UNIT_CONFIG_TEXT_H

#include <stdlib.h>
#include <string.h>

#include "core/config/config.h"

struct text {
	char *p;
	size_t n, cap;
};

static inline void
text_line(void *ctx, const char *line)
{
	struct text *t = ctx;
	size_t len = strlen(line);
	char *grown;

	if (t->n + len + 2 > t->cap) {
		t->cap = 2 * (t->n + len + 2);
		grown = realloc(t->p, t->cap);
		if (!grown)
			abort();
		t->p = grown;
	}
	memcpy(t->p + t->n, line, len);
	t->n += len;
	t->p[t->n++] = '\n';
	t->p[t->n] = '\0';
}

static inline void
text_of(struct text *t, const struct nonic_config *cfg)
{
	struct config_out out = { text_line, t };

	memset(t, 0, sizeof(*t));
	config_print(cfg, &out);
}

static inline void
text_free(struct text *t)
{
	free(t->p);
}

static inline bool
same_string(char **a, char **b)
{
	bool same = *a && *b ? strcmp(*a, *b) == 0 : *a == *b;

	*a = *b = NULL;
	return same;
}

/* Member for member, strings by their text; the file's name and the lines of pairs apart. */
static inline bool
config_same(const struct nonic_config *pa, const struct nonic_config *pb)
{
	struct nonic_config *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
	bool same = a && b;
	unsigned int i;

	if (!same)
		abort();
	memcpy(a, pa, sizeof(*a));
	memcpy(b, pb, sizeof(*b));
	a->file = b->file = NULL;
	same &= same_string(&a->base_virtaddr, &b->base_virtaddr) && same_string(&a->file_prefix, &b->file_prefix);
	same &= same_string(&a->allow, &b->allow) && same_string(&a->extra_eal_args, &b->extra_eal_args);
	same &= same_string(&a->log_prefix, &b->log_prefix) && same_string(&a->pcap.savepath, &b->pcap.savepath);
	same &= same_string(&a->rss_check.rss_tbl, &b->rss_check.rss_tbl);
	same &= same_string(&a->kni.tcp_port, &b->kni.tcp_port) && same_string(&a->kni.udp_port, &b->kni.udp_port);
	for (i = 0; i < CONFIG_MAX_PORTS; i++)
		same &= same_string(&a->port[i].ipfw_pr, &b->port[i].ipfw_pr);
	for (i = 0; i < CONFIG_MAX_VLANS; i++)
		same &= same_string(&a->vlan[i].ipfw_pr, &b->vlan[i].ipfw_pr);
	for (i = 0; i < CONFIG_MAX_VDEVS; i++)
		same &= same_string(&a->vdev[i].path, &b->vdev[i].path) && same_string(&a->vdev[i].args, &b->vdev[i].args) &&
			same_string(&a->vdev[i].mac, &b->vdev[i].mac) && same_string(&a->vdev[i].iface, &b->vdev[i].iface);
	for (i = 0; i < CONFIG_MAX_BONDS; i++)
		same &= same_string(&a->bond[i].slave, &b->bond[i].slave) &&
			same_string(&a->bond[i].primary, &b->bond[i].primary) &&
			same_string(&a->bond[i].mac, &b->bond[i].mac) &&
			same_string(&a->bond[i].xmit_policy, &b->bond[i].xmit_policy);
	for (i = 0; same && i < a->nb_pairs && a->nb_pairs == b->nb_pairs; i++)
		same = strcmp(a->pairs[i].key, b->pairs[i].key) == 0 && strcmp(a->pairs[i].value, b->pairs[i].value) == 0 &&
			strcmp(a->pairs[i].section, b->pairs[i].section) == 0;
	a->pairs = b->pairs = NULL;
	same &= memcmp(a, b, sizeof(*a)) == 0;
	free(a);
	free(b);
	return same;
}

#endif
