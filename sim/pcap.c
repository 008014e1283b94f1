/* SPDX-License-Identifier: BSD-3-Clause */
/* pcap files with virtual time; see pcap.h. */
#include "pcap.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define SNAPLEN 262144

struct sim_pcap {
	pcap_t *dead;
	pcap_dumper_t *dumper;
};

int
sim_pcap_open(const char *file, struct sim_pcap **out, char *why, size_t n)
{
	struct sim_pcap *p = calloc(1, sizeof(*p));

	*out = NULL;
	if (p == NULL)
		return -ENOMEM;
	p->dead = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, SNAPLEN, PCAP_TSTAMP_PRECISION_NANO);
	if (p->dead == NULL) {
		free(p);
		return -ENOMEM;
	}
	p->dumper = pcap_dump_open(p->dead, file);
	if (p->dumper == NULL) {
		snprintf(why, n, "%s", pcap_geterr(p->dead));
		pcap_close(p->dead);
		free(p);
		return -EIO;
	}
	*out = p;
	return 0;
}

void
sim_pcap_write(struct sim_pcap *p, uint64_t now_ns, const uint8_t *frame, uint32_t len)
{
	struct pcap_pkthdr h = {
		.ts = { .tv_sec = (time_t)(now_ns / 1000000000u), .tv_usec = (suseconds_t)(now_ns % 1000000000u) },
		.caplen = len < SNAPLEN ? len : SNAPLEN,
		.len = len,
	};

	pcap_dump((u_char *)p->dumper, &h, frame);
}

int
sim_pcap_close(struct sim_pcap *p)
{
	bool bad;

	if (p == NULL)
		return 0;
	bad = pcap_dump_flush(p->dumper) != 0 || ferror(pcap_dump_file(p->dumper));
	pcap_dump_close(p->dumper);
	pcap_close(p->dead);
	free(p);
	return bad ? -EIO : 0;
}
