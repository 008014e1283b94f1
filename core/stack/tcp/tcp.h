/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP (RFC 9293) of one stack: what sockets, IP and the tools see of it (STK-3). Connections are found in one keyed open-addressed
 * table, listeners in another; half-open ones live in a bounded syncache with SYN cookies behind it (RFC 4987). A connection's
 * control block is allocated when it opens and freed when nothing refers to it any more; nothing is allocated per segment but buffers.
 *
 * One thread. Time is the stack's (stack_poll). No call blocks. Sequence arithmetic is modulo 2^32 throughout.
 */
#ifndef NONIC_STACK_TCP_TCP_H
#define NONIC_STACK_TCP_TCP_H

#include <sys/uio.h>

#include "../ip/ip.h"

#define TCP_HLEN 20
#define TCP_OPT_MAX 40
#define TCP_BACKLOG_MAX 4096   /* a larger backlog is cut to it; 0 means 1 */
#define TCP_SNDBUF_DEFAULT 32768   /* FreeBSD's net.inet.tcp.sendspace; grows up to TCP_BUF_AUTO_MAX unless SO_SNDBUF was set */
#define TCP_RCVBUF_DEFAULT 65536   /* FreeBSD's net.inet.tcp.recvspace: the first window is 65535; grows likewise */
#define TCP_BUF_AUTO_MAX (2 << 20) /* FreeBSD's sendbuf_max and recvbuf_max: window scale 6 */
#define TCP_BUF_MAX (1u << 30)     /* what SO_SNDBUF and SO_RCVBUF may ask for */

struct socket;
struct tcp_state;
struct tcp_pcb;

/* RFC 9293 3.3.2; the numbers are FreeBSD's TCPS_x. */
enum tcp_fsm {
	TCP_CLOSED,
	TCP_LISTEN,
	TCP_SYN_SENT,
	TCP_SYN_RCVD,
	TCP_ESTABLISHED,
	TCP_CLOSE_WAIT,
	TCP_FIN_WAIT_1,
	TCP_CLOSING,
	TCP_LAST_ACK,
	TCP_FIN_WAIT_2,
	TCP_TIME_WAIT,
};
const char *tcp_fsm_name(enum tcp_fsm st); /* "ESTABLISHED"; "?" out of range */

/* 0, -ENOMEM. */
int tcp_state_init(struct stack *s);
/* Every pcb has been closed by its socket; what lingers (TIME-WAIT, orphans, half-open) is freed without a word on the wire. */
void tcp_state_release(struct stack *s);

/* A segment for us (from ip4/ip6 input); takes m. Data that has no socket gets RFC 9293 3.10.7.1's answer. */
void tcp_input(struct stack *s, const struct ip_rx *rx, struct rte_mbuf *m);
/* An ICMP error about a segment of ours: believed only if its sequence number is in flight (RFC 5927). */
void tcp_error(struct stack *s, const struct ip_error *e);

/* ---- For sockets. Functions return >= 0 or a negative Linux errno. ---- */

/*
 * A fresh control block of so, CLOSED and unbound; domain is ADDR_INET or ADDR_INET6, what the socket was made as. NULL: no memory. It belongs to so
 * until tcp_close, which must be called once.
 */
struct tcp_pcb *tcp_new(struct stack *s, struct socket *so, uint8_t domain);
/* As udp_bind: 0, -EADDRINUSE, -EADDRNOTAVAIL, -EINVAL (bound already), -EACCES never, -ENOMEM. SO_REUSEADDR: a local port in TIME-WAIT never hinders. */
int tcp_bind(struct stack *s, struct tcp_pcb *p, int family, const union ip_addr *addr, uint16_t port_be, struct netif *nif);
/*
 * Passive open; binds when it must. A second call changes the backlog. Several listeners with SO_REUSEPORT on one address share new
 * connections by a keyed hash of the flow. 0, -EADDRINUSE, -EINVAL (connected), -ENOMEM.
 */
int tcp_listen(struct stack *s, struct tcp_pcb *p, int backlog);
/*
 * Active open: the SYN is queued, -EINPROGRESS. Later calls: -EALREADY while it goes on, -EISCONN after it; the outcome is in tcp_take_error and an event.
 * -EADDRNOTAVAIL, -EHOSTUNREACH, -ENETUNREACH, -EAGAIN (no port), -EADDRINUSE (the tuple lives), -EINVAL (port 0, listening), -ENOBUFS, -ENOMEM.
 */
int tcp_connect(struct stack *s, struct tcp_pcb *p, int family, const union ip_addr *dst, uint16_t port_be, struct netif *nif);
/*
 * The oldest established connection of a listener, its control block to be given a socket with tcp_attach (or tcp_close). NULL: none. Connections that were reset
 * while they waited come too, in TCP_CLOSED: accept answers ECONNABORTED for them, as on FreeBSD.
 */
struct tcp_pcb *tcp_accept(struct stack *s, struct tcp_pcb *listener);
void tcp_attach(struct tcp_pcb *p, struct socket *so);
/*
 * so forgets p: normal close (FIN after what is queued; RFC 1122 4.2.2.13: RST when received data is unread) or, with abort, RST at once
 * (SO_LINGER with time 0). p is gone for the caller; it lives on as an orphan as long as the protocol needs it (FIN-WAIT-2 of an orphan at most
 * 60 s, FreeBSD's finwait2_timeout). A listener's unaccepted connections are reset.
 */
void tcp_close(struct stack *s, struct tcp_pcb *p, bool abort);
/* how: SHUT_x. 0, -ENOTCONN. Any stops a listener (a socket's: not SHUT_WR). After SHUT_RD data is acked and thrown away: README. */
int tcp_shutdown(struct stack *s, struct tcp_pcb *p, int how);

enum tcp_io_flags {
	TCP_IO_PEEK = 1 << 0,     /* leave it in the buffer */
	TCP_IO_DISCARD = 1 << 1,  /* MSG_TRUNC: count, do not copy */
	TCP_IO_MORE = 1 << 2,     /* MSG_MORE: hold back a partial segment for up to 200 ms */
	TCP_IO_EOR = 1 << 3,      /* push */
};
/*
 * Copies what there is room for out of iov (n pieces) into the send buffer and sends what the windows allow. The bytes taken (> 0, 0 only for an empty iov);
 * -EAGAIN (no room, or not yet connected), -EPIPE (shut down or closed by us), -ECONNRESET and other pending errors (once), -ENOTCONN, -ENOBUFS
 * (no buffer and nothing taken).
 */
ssize_t tcp_write(struct stack *s, struct tcp_pcb *p, const struct iovec *iov, int n, unsigned int flags);
/* The same without copying: all of chain m (its bytes) or, when there is not room for all of it, -EAGAIN. Takes m only on success. Its buffers may be shared. */
int tcp_write_chain(struct stack *s, struct tcp_pcb *p, struct rte_mbuf *m, unsigned int flags);
/* Copies received bytes in order; 0: end of stream. -EAGAIN, -ENOTCONN, a pending error (once, after the data). Sends window updates. */
ssize_t tcp_read(struct stack *s, struct tcp_pcb *p, const struct iovec *iov, int n, unsigned int flags);
/* The same without copying: up to max bytes (whole buffers; at least one) as a chain in *out, the caller's. Bytes, 0 at the end with *out NULL; -EAGAIN ... */
ssize_t tcp_read_chain(struct stack *s, struct tcp_pcb *p, uint32_t max, struct rte_mbuf **out);

/*
 * EPOLLx bits (Linux values) of a control block with a socket: IN (data >= the low-water mark, end of stream, a connection to accept), RDHUP, OUT (room >= the low-water
 * mark, or writing would fail at once), ERR, HUP (both directions over, or never opened), as Linux's tcp_poll.
 */
uint32_t tcp_ready(const struct tcp_pcb *p);
/* The pending error as a negative errno, cleared; 0: none. tcp_error_peek leaves it. */
int tcp_take_error(struct tcp_pcb *p);
int tcp_error_peek(const struct tcp_pcb *p);

uint32_t tcp_readable(const struct tcp_pcb *p);  /* bytes in order and unread; a listener: connections to accept */
bool tcp_at_eof(const struct tcp_pcb *p);        /* the peer's FIN was received, or reading is shut down */
uint32_t tcp_writable(const struct tcp_pcb *p);  /* bytes of room in the send buffer */
uint32_t tcp_unacked(const struct tcp_pcb *p);   /* bytes in the send buffer (SIOCOUTQ) */
uint32_t tcp_unsent(const struct tcp_pcb *p);    /* of them never sent (SIOCOUTQNSD) */
enum tcp_fsm tcp_fsm_of(const struct tcp_pcb *p);

struct tcp_addr {
	union ip_addr addr;
	uint16_t port_be;
	uint8_t family;       /* of the addresses in use: ADDR_INET also for v4-mapped ones; 0: none yet */
	struct netif *nif;    /* scope of a link-local address, or NULL */
};
void tcp_local(const struct tcp_pcb *p, struct tcp_addr *out);
int tcp_remote(const struct tcp_pcb *p, struct tcp_addr *out); /* 0, -ENOTCONN */

/* Socket and TCP options, by names of our own; socket/ translates numbers and structs. Times in ms. */
enum tcp_opt {
	TCP_OPT_NODELAY, TCP_OPT_CORK, TCP_OPT_MAXSEG, TCP_OPT_KEEPALIVE, TCP_OPT_KEEPIDLE, TCP_OPT_KEEPINTVL, TCP_OPT_KEEPCNT,
	TCP_OPT_USER_TIMEOUT, TCP_OPT_QUICKACK, TCP_OPT_DEFER_ACCEPT, TCP_OPT_SYNCNT, TCP_OPT_LINGER2,
	TCP_OPT_SNDBUF, TCP_OPT_RCVBUF, TCP_OPT_SNDLOWAT, TCP_OPT_RCVLOWAT, TCP_OPT_NOTSENT_LOWAT,
	TCP_OPT_REUSEADDR, TCP_OPT_REUSEPORT, TCP_OPT_V6ONLY, TCP_OPT_TOS, TCP_OPT_TTL,
	TCP_OPT_NOPT,        /* no options but MSS on the SYN (FreeBSD's TCP_NOOPT) */
	TCP_OPT_COUNT,
};
/* 0, -EINVAL (range), -EISCONN where it is too late, -EOPNOTSUPP. Connections inherit their listener's. */
int tcp_opt_set(struct stack *s, struct tcp_pcb *p, enum tcp_opt o, int64_t v);
int64_t tcp_opt_get(const struct tcp_pcb *p, enum tcp_opt o);
/* "newreno", "cubic" (TCP_CONGESTION). -ENOENT. */
int tcp_congestion_set(struct stack *s, struct tcp_pcb *p, const char *name);
const char *tcp_congestion_get(const struct tcp_pcb *p);

/* What is known of a connection (for TCP_INFO in either layout, netstat, packet scripts). Times in us, sizes in bytes. */
struct tcp_facts {
	enum tcp_fsm fsm;
	enum { TCP_CA_OPEN, TCP_CA_DISORDER, TCP_CA_CWR, TCP_CA_RECOVERY, TCP_CA_LOSS } ca; /* Linux's numbers */
	bool ts, sack, wscale, ecn;
	uint8_t snd_wscale, rcv_wscale, retransmits, probes, backoff;
	uint32_t rto_us, ato_us, srtt_us, rttvar_us, min_rtt_us, rcv_rtt_us;
	uint32_t snd_mss, rcv_mss, adv_mss, pmtu;
	uint32_t unacked, sacked, lost, retrans; /* segments */
	uint32_t cwnd, ssthresh, snd_wnd, rcv_wnd, rcv_space;
	uint32_t snd_una, snd_nxt, rcv_nxt, iss, irs;
	uint32_t total_retrans, dsack_dups, reord_seen, rcv_ooopack, rexmit_timeouts;
	uint64_t bytes_acked, bytes_received, bytes_sent, bytes_retrans, segs_out, segs_in;
	uint64_t last_data_sent_us, last_data_recv_us, last_ack_recv_us; /* ago */
	uint32_t notsent;
};
void tcp_facts(const struct stack *s, const struct tcp_pcb *p, struct tcp_facts *out);

/* Calls fn for every connection and listener (netstat), TIME-WAIT and half-open ones included with so NULL. fn must not change anything. */
struct tcp_entry {
	enum tcp_fsm fsm;
	struct tcp_addr local, remote;
	uint32_t recv_q, send_q; /* a listener: connections waiting, backlog */
	const struct tcp_pcb *pcb; /* NULL: half-open or TIME-WAIT */
};
void tcp_each(const struct stack *s, void (*fn)(void *ctx, const struct tcp_entry *e), void *ctx);
/* Would a segment from remote to local find a connection, a half-open or a listener? (DSP-8) */
bool tcp_has_receiver(struct stack *s, int family, const union ip_addr *local, uint16_t lport_be, const union ip_addr *remote, uint16_t rport_be);

/* Knobs of an instance (sysctl names in socket/sysctl.c). Range checked: -EINVAL. */
enum tcp_knob {
	TCP_KNOB_SENDSPACE, TCP_KNOB_RECVSPACE, TCP_KNOB_SENDBUF_MAX, TCP_KNOB_RECVBUF_MAX, TCP_KNOB_SENDBUF_AUTO, TCP_KNOB_RECVBUF_AUTO,
	TCP_KNOB_CUBIC,           /* 1: new connections use CUBIC (default), 0: NewReno */
	TCP_KNOB_SACK, TCP_KNOB_TIMESTAMPS, TCP_KNOB_WSCALE, /* rfc1323 apart; default 1 */
	TCP_KNOB_ECN,             /* 0 off, 1 ask and accept, 2 accept only (FreeBSD's default) */
	TCP_KNOB_INITCWND,        /* segments, default 10 (RFC 6928: at most 14600 bytes) */
	TCP_KNOB_DELACK,          /* ms, default 40 as FreeBSD; 0: acknowledge at once */
	TCP_KNOB_MSL,             /* ms, default 30000 */
	TCP_KNOB_RTO_MIN,         /* ms, default 30 as FreeBSD (RFC 6298 asks 1 s; reasons in the README) */
	TCP_KNOB_RTO_INITIAL,     /* ms, 1000 */
	TCP_KNOB_KEEPIDLE, TCP_KNOB_KEEPINTVL, TCP_KNOB_KEEPCNT, TCP_KNOB_ALWAYS_KEEPALIVE,
	TCP_KNOB_SYNCOOKIES,      /* 0 off, 1 when the syncache is full (default), 2 always */
	TCP_KNOB_SYNCACHE,        /* entries, default 15360 */
	TCP_KNOB_BLACKHOLE,       /* 1: no RST for closed ports */
	TCP_KNOB_FINWAIT2,        /* ms, 60000 */
	TCP_KNOB_MAX_TIMEWAIT,
	TCP_KNOB_SOMAXCONN,       /* 128 on FreeBSD; ours TCP_BACKLOG_MAX */
	TCP_KNOB_LINUX_OPTS,      /* 1: option order, window scale and RTO of Linux (packet scripts) */
	TCP_KNOB_COUNT,
};
int tcp_knob_set(struct stack *s, enum tcp_knob k, int64_t v);
int64_t tcp_knob_get(const struct stack *s, enum tcp_knob k);

/* Events, counted per stack: X(identifier, text); names are the identifiers in lower case, texts FreeBSD's netstat -s ones where it has them. */
#define TCP_EVENTS(X) \
	X(CONN_ATTEMPT, "connections initiated") \
	X(CONN_ACCEPT, "connections accepted") \
	X(CONN_ESTAB, "connections established") \
	X(CONN_CLOSED, "connections closed") \
	X(CONN_RESET_IN, "connections reset by the peer") \
	X(CONN_RESET_OUT, "resets sent") \
	X(CONN_FAILED, "connection attempts that failed") \
	X(CONN_TIMEOUT, "connections dropped by retransmission timeout") \
	X(CONN_USER_TIMEOUT, "connections dropped by user timeout") \
	X(KEEP_PROBE, "keepalive probes sent") \
	X(KEEP_DROP, "connections dropped by keepalive") \
	X(PERSIST_PROBE, "window probes sent") \
	X(SEGS_IN, "segments received") \
	X(SEGS_OUT, "segments sent") \
	X(FAST_PATH_ACK, "header predictions: acknowledgements") \
	X(FAST_PATH_DATA, "header predictions: data") \
	X(RETRANS, "segments retransmitted") \
	X(RTO, "retransmission timeouts") \
	X(RTO_SPURIOUS, "timeouts found to be spurious and undone") \
	X(FAST_RECOVERY, "recoveries entered on duplicate acknowledgements or RACK") \
	X(TLP_PROBE, "tail loss probes sent") \
	X(TLP_RECOVERED, "losses repaired by a tail loss probe") \
	X(RACK_LOST, "segments marked lost by time") \
	X(SACK_RENEGED, "peer reneged on selective acknowledgements") \
	X(DSACK_IN, "duplicates reported by the peer") \
	X(ECN_CE, "segments received with congestion experienced") \
	X(ECN_ECE, "congestion echoed by the peer") \
	X(DELACK, "delayed acknowledgements sent") \
	X(ACK_DUP, "duplicate acknowledgements received") \
	X(OOO, "segments received out of order") \
	X(DUP, "segments received that were wholly old") \
	X(CHALLENGE_ACK, "challenge acknowledgements sent") \
	X(CHALLENGE_LIMIT, "challenge acknowledgements not sent: rate limit") \
	X(SYNCACHE_ADD, "half-open connections made") \
	X(SYNCACHE_FULL, "half-open connections refused or replaced: table full") \
	X(SYNCACHE_TIMEOUT, "half-open connections that timed out") \
	X(COOKIE_SENT, "SYN cookies sent") \
	X(COOKIE_GOOD, "SYN cookies accepted") \
	X(COOKIE_BAD, "SYN cookies refused") \
	X(LISTEN_OVERFLOW, "connections not accepted: backlog full") \
	X(TIMEWAIT_REUSED, "TIME-WAIT connections replaced by a new one") \
	X(TIMEWAIT_EARLY, "TIME-WAIT connections ended early: too many") \
	X(PMTU_LOWERED, "segments resent smaller after a too-big message") \
	X(NO_BUFFER, "segments not sent: no buffer")
enum tcp_event {
#define X(id, text) TCP_EV_##id,
	TCP_EVENTS(X)
#undef X
	TCP_EV_COUNT
};
uint64_t tcp_events(const struct stack *s, enum tcp_event e);
const char *tcp_event_name(enum tcp_event e); /* "conn_attempt" */
const char *tcp_event_text(enum tcp_event e);

/*
 * From tcp to sockets, implemented in socket/stream.c: something that tcp_ready tells of has changed on so; events are the EPOLLx bits that may be new. It may not call back into
 * tcp for the same connection, only note and wake.
 */
void socket_tcp_event(struct stack *s, struct socket *so, uint32_t events);

#endif
