/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slim primary: owns ports, pools, zones and rings, and no protocol stack. Device calls happen here and
 * nowhere else (SHM-2's role model). It must outlive its workers.
 */
#ifndef NONIC_RUNTIME_PRIMARY_H
#define NONIC_RUNTIME_PRIMARY_H

#include "../config/config.h"
#include "../mtu/mtu.h"
#include "ctl.h"

#define PRIMARY_PARK_MS 500u     /* how long a poller may take to obey a park order (MTU-5) */
#define PRIMARY_DRAIN_MS 100u    /* how long a port may take to send what it has */
#define PRIMARY_STOP_MS 5000u    /* how long workers may take to leave */
#define PRIMARY_LIVENESS_MS 100u /* how often workers are looked at */

struct primary;

/*
 * Makes the pool (sized from queues, descriptors and rings; data room by mtu_data_room), checks and configures every
 * port of the configuration (offloads, RSS, MTU before start with read-back: MTU-1, MTU-3), starts it, makes the
 * directory zone (magic, layout version, boot id, device digest: CFG-6, secrets) and one control block per worker.
 * Everything is undone on failure; the reason is logged once. cfg outlives the primary.
 * 0; -EINVAL (configuration against port: queues, lcores), -ENODEV (fewer ports than configured), -ENOMEM, -ENOTSUP,
 * -ERANGE, -EMSGSIZE (MTU), -EIO (entropy; the MTU read back is another one), -EEXIST (a directory is there already),
 * or what a port call returned.
 */
int primary_setup(struct shim *s, const struct nonic_config *cfg, struct primary **out);
/* Stops the ports and gives everything back, but for a pool that a port was configured with: a stopped port may hold buffers
 * of it, so it ends with the door. p may be NULL. */
void primary_teardown(struct primary *p);
/* One turn: now, control words (mtu, stop), worker liveness. Returns what it did; 0: idle. */
unsigned int primary_turn(struct primary *p);
/*
 * Turns with sleeps of primary_slim_idle_sleep until *stop (may be NULL) or a stop order; then the workers are asked to
 * leave and waited for, at most PRIMARY_STOP_MS.
 */
void primary_run(struct primary *p, const volatile int *stop);
/* Begins to stop: the workers are asked to leave; primary_stopped is true when all have left or the time is up. */
void primary_stop(struct primary *p);
bool primary_stopped(const struct primary *p);

/*
 * Changes the MTU of a running port (MTU-4, MTU-5): workers are parked by their control words for it if the port asks for
 * that. why (size n) receives a sentence when the result is not MTU_CHANGED.
 */
enum mtu_result primary_mtu_set(struct primary *p, uint16_t port, uint16_t mtu, int *err, char *why, size_t n);

#endif
