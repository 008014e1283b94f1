/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recording ([pcap] of the configuration): the frames a worker receives and sends go to ten files in turn,
 * SAVEPATH/cpu<lcore>_<0..9>.pcap, F-Stack's names. Without enable=1 there is no recorder and callers test one pointer.
 */
#ifndef NONIC_RUNTIME_PCAP_H
#define NONIC_RUNTIME_PCAP_H

#include "../../shim/shim.h"
#include "../config/config.h"

#define CAPTURE_FILES 10u
#define CAPTURE_BURST 32u /* frames of one call */

struct capture;

/*
 * Opens file 0, which loses what it held: cpuLCORE_0.pcap, of a generation of side 1 cpuLCORE-1_0.pcap, since both record at once. cfg outlives the recorder. *out is NULL when cfg does not ask for recording.
 * 0, -ENOMEM, -ENAMETOOLONG, or the errno of opening the file; failures are logged with the file's name.
 */
int capture_open(struct shim *s, const struct nonic_config *cfg, unsigned int proc_id, unsigned int side, struct capture **out);
/* Writes out what is buffered and frees. c may be NULL. */
void capture_close(struct capture *c);

/*
 * Copies the first snaplen bytes of n (at most CAPTURE_BURST) frames and stamps them with the wall clock; the copies
 * of the call before are forgotten. A VLAN tag that the port has stripped, or is going to insert, is put in. The copy is
 * made before a burst is sent, because a sent buffer is the port's.
 */
void capture_stage(struct capture *c, struct rte_mbuf *const *m, unsigned int n);
/*
 * Writes the first n of the staged frames. A frame that would take the file past savelen begins the next one. The first
 * failure to write is logged and ends the recording; traffic goes on.
 */
void capture_commit(struct capture *c, unsigned int n);
/* Hands what is buffered to the system. */
void capture_flush(struct capture *c);

#endif
