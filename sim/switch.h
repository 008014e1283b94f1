/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch that does not learn: a frame for a station it was told of goes to that station's end, every other frame to
 * all ends but the one it came from. No delay of its own; the wires have theirs.
 */
#ifndef NONIC_SIM_SWITCH_H
#define NONIC_SIM_SWITCH_H

#include "world.h"

struct sim_switch;

/* NULL when out of memory. Lives as long as its wires are used; sim_switch_destroy after sim_world_destroy. */
struct sim_switch *sim_switch_create(const char *name);
void sim_switch_destroy(struct sim_switch *s);
/* One more end, to be wired; NULL when out of memory. mac: the station behind it, or NULL. */
struct sim_end *sim_switch_end(struct sim_switch *s, const uint8_t mac[6]);
/* Frames forwarded to one end, and flooded. */
uint64_t sim_switch_forwarded(const struct sim_switch *s);
uint64_t sim_switch_flooded(const struct sim_switch *s);

#endif
