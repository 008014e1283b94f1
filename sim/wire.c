/* SPDX-License-Identifier: BSD-3-Clause */
/* Wires: the fault model between two ends, frames under way, captures (SIM-2). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "priv.h"

/* A frame under way: an event's argument. */
struct flying {
	struct sim_wire *wire;
	int side;             /* where it came from */
	uint32_t flip, len;
	uint8_t bytes[];
};

struct sim_wire *
sim_wire_add(struct sim_world *w, struct sim_end *a, struct sim_end *b, const struct fault_params *ab,
	const struct fault_params *ba)
{
	static const struct fault_params perfect;
	struct sim_wire *wire = calloc(1, sizeof(*wire));

	if (wire == NULL)
		return NULL;
	wire->world = w;
	wire->id = ++w->next_wire;
	wire->end[0] = a;
	wire->end[1] = b;
	fault_init(&wire->fault[0], ab != NULL ? ab : &perfect, w->o.seed, (uint64_t)wire->id << 9 | 4);
	fault_init(&wire->fault[1], ba != NULL ? ba : &perfect, w->o.seed, (uint64_t)wire->id << 9 | 5);
	for (int i = 0; i < 2; i++) {
		wire->end[i]->wire = wire;
		wire->end[i]->side = i;
	}
	TAILQ_INSERT_TAIL(&w->wires, wire, link);
	return wire;
}

static void
capture(struct sim_wire *wire, int which, const uint8_t *frame, uint32_t len)
{
	struct sim_world *w = wire->world;

	if (wire->pcap[which] != NULL)
		sim_pcap_write(wire->pcap[which], w->now_ns, frame, len);
	if (w->pcap[which] != NULL)
		sim_pcap_write(w->pcap[which], w->now_ns, frame, len);
}

static void
arrive(void *arg, uint64_t now_ns)
{
	struct flying *f = arg;
	struct sim_wire *wire = f->wire;
	struct sim_world *w = wire->world;
	struct sim_end *to = wire->end[1 - f->side];

	(void)now_ns;
	w->in_flight--;
	fault_flip(f->bytes, f->len, f->flip);
	/* the bytes are in the hash since they were sent; which bit was inverted is news */
	sim_trace(w, SIM_EV_ARRIVE, wire->id << 1 | (uint32_t)f->side, &f->flip, sizeof(f->flip));
	sim_trace_text(w, SIM_EV_ARRIVE, to->name, "%u bytes%s", f->len, f->flip != FAULT_NO_FLIP ? " corrupted" : "");
	capture(wire, 1, f->bytes, f->len);
	to->receive(to, f->bytes, f->len);
	free(f);
}

static void
vanish(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	free(arg);
}

static void
fly(struct sim_wire *wire, int side, const uint8_t *frame, uint32_t len, const struct fault_delivery *d)
{
	struct flying *f = malloc(sizeof(*f) + len);

	if (f == NULL) {
		sim_fail(wire->world, "out of memory");
		return;
	}
	*f = (struct flying){ .wire = wire, .side = side, .flip = d->flip_bit, .len = len };
	memcpy(f->bytes, frame, len);
	wire->world->in_flight++;
	if (sim_queue_add(&wire->world->queue, d->at_ns, arrive, vanish, f) != NULL)
		return;
	wire->world->in_flight--;
	free(f);
	sim_fail(wire->world, "out of memory");
}

void
sim_send(struct sim_end *e, const uint8_t *frame, uint32_t len)
{
	struct fault_delivery d[FAULT_MAX_COPIES];
	struct sim_wire *wire = e->wire;
	enum fault_verdict v;
	struct sim_world *w;
	unsigned int n;
	uint32_t who;

	if (wire == NULL)
		return;
	w = wire->world;
	who = wire->id << 1 | (uint32_t)e->side;
	w->frames++;
	sim_trace(w, SIM_EV_SEND, who, frame, len);
	capture(wire, 0, frame, len);
	if (wire->cut) {
		sim_trace_text(w, SIM_EV_LOSE, e->name, "%u bytes, the wire is cut", len);
		return;
	}
	v = fault_frame(&wire->fault[e->side], w->now_ns, frame, len, d, &n);
	if (v != FAULT_DELIVER) {
		sim_trace(w, SIM_EV_LOSE, who, NULL, 0);
		sim_trace_text(w, SIM_EV_LOSE, e->name, "%u bytes, %s", len, fault_verdict_name(v));
		return;
	}
	sim_trace_text(w, SIM_EV_SEND, e->name, "%u bytes, %u %s, first in %" PRIu64 " ns", len, n,
		n == 1 ? "copy" : "copies", d[0].at_ns - w->now_ns);
	for (unsigned int i = 0; i < n; i++)
		fly(wire, e->side, frame, len, &d[i]);
}

static void
port_end_receive(struct sim_end *e, const uint8_t *frame, uint32_t len)
{
	const struct sim_port *p = e->ctx;

	((struct sim_host *)p->machine->env->ctx)->world->touched = p->machine->env->ctx;
	sim_port_receive(e->ctx, frame, len);
}

struct sim_end *
sim_port_end(struct sim_host *h, struct sim_port *p)
{
	struct sim_owned_end *o;

	if (p->wire != NULL)
		return p->wire;
	o = calloc(1, sizeof(*o));
	if (o == NULL)
		return NULL;
	snprintf(o->name, sizeof(o->name), "%s.%u", h->machine->name, p->index);
	o->end = (struct sim_end){ .receive = port_end_receive, .ctx = p, .name = o->name };
	p->wire = &o->end;
	TAILQ_INSERT_TAIL(&h->world->ends, o, link);
	return &o->end;
}

void
sim_port_frame(void *ctx, struct sim_port *p, uint16_t queue, const uint8_t *frame, uint32_t len)
{
	(void)ctx;
	(void)queue;
	if (p->wire != NULL)
		sim_send(p->wire, frame, len);
}

struct fault *
sim_wire_fault(struct sim_wire *wire, int side)
{
	return &wire->fault[side];
}

void
sim_wire_cut(struct sim_wire *wire, bool cut)
{
	wire->cut = cut;
	sim_trace(wire->world, SIM_EV_CUT, wire->id, &cut, sizeof(cut));
	sim_trace_text(wire->world, SIM_EV_CUT, wire->end[0]->name, "%s", cut ? "cut" : "mended");
}

int
sim_wire_pcap(struct sim_wire *wire, const char *file, bool arrived)
{
	char why[256];

	if (wire->pcap[arrived] != NULL)
		return -EEXIST;
	return sim_pcap_open(file, &wire->pcap[arrived], why, sizeof(why));
}

void
sim_wires_release(struct sim_world *w)
{
	struct sim_owned_end *o;
	struct sim_wire *wire;

	while ((wire = TAILQ_FIRST(&w->wires)) != NULL) {
		TAILQ_REMOVE(&w->wires, wire, link);
		if (sim_pcap_close(wire->pcap[0]) + sim_pcap_close(wire->pcap[1]) != 0)
			sim_fail(w, "a wire's pcap file could not be written");
		free(wire);
	}
	while ((o = TAILQ_FIRST(&w->ends)) != NULL) {
		TAILQ_REMOVE(&w->ends, o, link);
		free(o);
	}
}
