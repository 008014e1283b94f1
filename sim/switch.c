/* SPDX-License-Identifier: BSD-3-Clause */
/* The switch; see switch.h. */
#include "switch.h"

#include <stdlib.h>
#include <string.h>

struct switch_end {
	struct sim_end end;
	struct sim_switch *sw;
	uint8_t mac[6];
	bool known;
};

struct sim_switch {
	const char *name;
	struct switch_end **end;
	unsigned int n;
	uint64_t forwarded, flooded;
};

struct sim_switch *
sim_switch_create(const char *name)
{
	struct sim_switch *s = calloc(1, sizeof(*s));

	if (s != NULL)
		s->name = name;
	return s;
}

void
sim_switch_destroy(struct sim_switch *s)
{
	if (s == NULL)
		return;
	for (unsigned int i = 0; i < s->n; i++)
		free(s->end[i]);
	free(s->end);
	free(s);
}

static void
receive(struct sim_end *e, const uint8_t *frame, uint32_t len)
{
	struct switch_end *from = e->ctx;
	struct sim_switch *s = from->sw;

	if (len < 14)
		return;
	for (unsigned int i = 0; (frame[0] & 1) == 0 && i < s->n; i++)
		if (s->end[i]->known && memcmp(s->end[i]->mac, frame, 6) == 0) {
			s->forwarded++;
			if (s->end[i] != from)
				sim_send(&s->end[i]->end, frame, len);
			return;
		}
	s->flooded++;
	for (unsigned int i = 0; i < s->n; i++)
		if (s->end[i] != from)
			sim_send(&s->end[i]->end, frame, len);
}

struct sim_end *
sim_switch_end(struct sim_switch *s, const uint8_t mac[6])
{
	struct switch_end **all = realloc(s->end, (s->n + 1) * sizeof(struct switch_end *));
	struct switch_end *e;

	if (all == NULL)
		return NULL;
	s->end = all;
	e = calloc(1, sizeof(*e));
	if (e == NULL)
		return NULL;
	e->sw = s;
	e->end = (struct sim_end){ .receive = receive, .ctx = e, .name = s->name };
	if (mac != NULL) {
		memcpy(e->mac, mac, 6);
		e->known = true;
	}
	s->end[s->n++] = e;
	return &e->end;
}

uint64_t
sim_switch_forwarded(const struct sim_switch *s)
{
	return s->forwarded;
}

uint64_t
sim_switch_flooded(const struct sim_switch *s)
{
	return s->flooded;
}
