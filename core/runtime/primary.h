/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slim primary: owns ports, pools, zones and rings, and no protocol stack. Device calls happen here and
 * nowhere else. It must outlive its workers.
 */
#ifndef NONIC_RUNTIME_PRIMARY_H
#define NONIC_RUNTIME_PRIMARY_H

#include "../config/config.h"
#include "../mtu/mtu.h"
#include "ctl.h"

struct primary;

/*
 * Makes the pool (sized from queues, descriptors and rings; data room by mtu_data_room), checks and configures every port of the
 * configuration (offloads, RSS, MTU before start with read-back: MTU-1, MTU-3), starts it, makes the directory zone (magic, layout
 * version, boot id, device digest: CFG-6, secrets) and one control block per worker. Everything is undone on failure; the reason is logged once.
 * 0, -EINVAL, -ENODEV (fewer ports than configured), -ENOMEM, -ENOTSUP, -ERANGE, -EIO.
 */
int primary_setup(struct shim *s, const struct nonic_config *cfg, struct primary **out);
void primary_teardown(struct primary *p);
/* One turn: now, control words (mtu, stop), worker liveness. Returns what it did; 0: idle. */
unsigned int primary_turn(struct primary *p);
/* Turns with sleeps of primary_slim_idle_sleep until *stop or a stop order. */
void primary_run(struct primary *p, const volatile int *stop);
bool primary_stopped(const struct primary *p);

#endif
