/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes frames with virtual timestamps (ns) to a pcap file: libpcap, Ethernet, nanosecond magic. */
#ifndef NONIC_SIM_PCAP_H
#define NONIC_SIM_PCAP_H

#include <stddef.h>
#include <stdint.h>

struct sim_pcap;

/* 0; -ENOMEM, or -EIO with a sentence in why (size n). */
int sim_pcap_open(const char *file, struct sim_pcap **out, char *why, size_t n);
void sim_pcap_write(struct sim_pcap *p, uint64_t now_ns, const uint8_t *frame, uint32_t len);
/* 0, or -EIO when anything could not be written. p may be NULL. */
int sim_pcap_close(struct sim_pcap *p);

#endif
