/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections of a script: what its relative numbers mean on the wire, and back. Sequence numbers count from the first
 * SYN of each side, time
 * stamps of the stack are known by the values that the script gives them.
 */
#ifndef NONIC_SIM_PACKETDRILL_FLOW_H
#define NONIC_SIM_PACKETDRILL_FLOW_H

#include "script.h"

#define FLOW_TS_MAX 64

struct pd_flow {
	struct pd_flow *next;
	enum pd_proto proto;
	uint16_t lport, rport;            /* on the wire: the stack's port, the other one */
	uint16_t script_lport;            /* what the script calls lport, once it has said a number; 0: not yet */
	bool local_known, remote_known;   /* the first SYN of that side, or what stands for it, was seen */
	bool local_made_up;               /* a script acknowledged what was never sent: our choice stands until there is a SYN */
	uint32_t local_isn, remote_isn;   /* on the wire; a script's 0 */
	uint32_t remote_script_isn;       /* what the script wrote in the first SYN */
	uint32_t last_seq;                /* of the latest segment sent by the stack, on the wire */
	/* time stamps of the stack: the latest script values and what they were on the wire */
	unsigned int nts, ts_at;
	struct {
		uint32_t script, live;
	} ts[FLOW_TS_MAX];
	/* pace of the stack's stamps (tcp_ts_tick_usecs) */
	bool ts_paced;
	uint32_t ts_first;                /* the script's */
	uint64_t ts_first_ns;
};

/* Chooses what is not fixed: the remote's initial sequence number. */
void flow_init(struct pd_flow *f, enum pd_proto proto, uint16_t lport, uint16_t rport, uint32_t isn);

/* *live: p, an inbound packet of the script, with ports and numbers of the wire. Learns from the first SYN. */
void flow_to_wire(struct pd_flow *f, const struct pd_packet *p, struct pd_packet *live);
/*
 * *script: live, sent by the stack, with the numbers of the script; time stamps stay as they are (flow_ts).
 * Learns from SYNs.
 */
void flow_to_script(struct pd_flow *f, const struct pd_packet *live, struct pd_packet *script);
/* The script calls the stack's stamp `live` `script`. */
void flow_ts_learn(struct pd_flow *f, uint32_t script, uint32_t live);
/* What an inbound echo `script` is on the wire. */
uint32_t flow_ts_echo(const struct pd_flow *f, uint32_t script);

#endif
