/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of TCP: control blocks, tables, segments. Included by core/stack/tcp only, and by tests that look inside. */
#ifndef NONIC_STACK_TCP_PRIV_H
#define NONIC_STACK_TCP_PRIV_H

#include <sys/epoll.h>

#include "../priv.h"
#include "recovery.h"
#include "tcp.h"

#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_PSH 0x08
#define TCP_ACK 0x10
#define TCP_URG 0x20
#define TCP_ECE 0x40
#define TCP_CWR 0x80

#define TCP_CSUM_OFF 16
#define TCP_WSCALE_MAX 14
#define TCP_MSS_MIN 64         /* a peer's smaller MSS is taken for it (checklist 24) */
#define TCP_MSS_DEFAULT4 536   /* RFC 9293 3.7.1 */
#define TCP_MSS_DEFAULT6 1220
#define TCP_SACK_MAX 4
#define TCP_TS_LEN 12          /* two NOPs and the option */
#define TCP_PAWS_MS (24u * 24 * 3600 * 1000) /* RFC 7323 5.5 */

/* ---- received segments (option.c) -------------------------------------------------------------- */

struct tcp_opts {
	bool ts, sack_ok, wscale, mss; /* present */
	uint8_t shift, nb_sack;
	uint16_t mss_val;
	uint32_t tsval, tsecr;
	struct { uint32_t start, end; } sack[TCP_SACK_MAX];
};

struct tcp_seg {
	const struct ip_rx *rx;
	uint16_t sport_be, dport_be;
	uint32_t seq, ack;
	uint32_t wnd;          /* as in the header, not scaled */
	uint32_t len;          /* payload bytes */
	uint8_t flags;
	struct tcp_opts o;
};

/* What a segment takes of the sequence space. */
static inline uint32_t
tcp_seg_space(const struct tcp_seg *g)
{
	return g->len + ((g->flags & TCP_SYN) != 0) + ((g->flags & TCP_FIN) != 0);
}

/* n bytes of options. Malformed ones end the parse; what came before counts. SYN says whether MSS, scale and permission count. */
void tcp_opts_parse(const uint8_t *b, uint32_t n, bool syn, struct tcp_opts *o);

/* ---- tables (table.c) -------------------------------------------------------------------------- */

enum tcp_kind { TCP_KIND_PCB, TCP_KIND_TW };

/* What is in the connection table begins with this: a control block or a TIME-WAIT entry. Network order. */
struct tcp_key {
	union ip_addr local, remote;
	uint16_t lport_be, rport_be;
	uint8_t family;        /* of the addresses in use */
	uint8_t kind;          /* enum tcp_kind */
	uint16_t scope;        /* interface of a link-local address, or 0 */
};

/* Open-addressed, linear probing; a power of two, at most three quarters full unless there is no memory to double it. */
struct tcp_slot {
	uint64_t hash;
	void *obj;             /* NULL: free */
};
struct tcp_table {
	struct tcp_slot *v;
	uint32_t mask, count;
};

/* Everything that has one local port; exists while anything does. */
struct tcp_port {
	uint16_t port_be;
	struct list owners;    /* bound without a peer, and listeners: pcb.on_port, oldest first */
	struct list conns;     /* with a peer: pcb.on_port */
};

/* Memory in pieces of one size, taken in chunks that are given back when the stack goes. */
struct tcp_slab {
	void *free;            /* linked by their first word */
	void *chunks;
	uint32_t size, used;
};

int tcp_table_init(struct stack *s, struct tcp_table *t, uint32_t size);
void tcp_table_release(struct stack *s, struct tcp_table *t);
/* 0, -ENOMEM (full and can not grow). */
int tcp_table_add(struct stack *s, struct tcp_table *t, uint64_t hash, void *obj);
void tcp_table_del(struct tcp_table *t, uint64_t hash, const void *obj);
void *tcp_slab_get(struct stack *s, struct tcp_slab *sl); /* zeroed; NULL: no memory */
void tcp_slab_put(struct tcp_slab *sl, void *p);
void tcp_slab_release(struct stack *s, struct tcp_slab *sl);

uint64_t tcp_hash(const struct tcp_state *t, int family, const union ip_addr *local, uint16_t lport_be,
	const union ip_addr *remote, uint16_t rport_be);
/* The control block or TIME-WAIT entry of a flow, or NULL. nif: where the packet came in, NULL: any. */
struct tcp_key *tcp_conn_find(const struct stack *s, int family, const union ip_addr *local, uint16_t lport_be,
	const union ip_addr *remote, uint16_t rport_be, const struct netif *nif);
struct tcp_pcb *tcp_listener_find(const struct stack *s, int family, const union ip_addr *local, uint16_t lport_be,
	const union ip_addr *remote, uint16_t rport_be, const struct netif *nif);
struct tcp_port *tcp_port_find(const struct stack *s, uint16_t port_be);
/* p->key has its local port (and, for a connection, everything): joins its port and, as a connection, the table. -ENOMEM. */
int tcp_port_join(struct stack *s, struct tcp_pcb *p);
void tcp_port_leave(struct stack *s, struct tcp_pcb *p);
/* A bound p has got a peer, or lost it. */
void tcp_port_move(struct stack *s, struct tcp_pcb *p);
int tcp_conn_join(struct stack *s, struct tcp_pcb *p);
void tcp_conn_leave(struct stack *s, struct tcp_pcb *p);
/* An ephemeral port for p's key (remote set or any): 0, -EADDRINUSE. */
int tcp_port_draw(struct stack *s, const struct tcp_pcb *p, uint16_t *port_be);
/* May p (local address set) own port? */
bool tcp_port_usable(const struct stack *s, const struct tcp_pcb *p, uint16_t port_be);

/* ---- control blocks ---------------------------------------------------------------------------- */

enum tcp_timer {
	TCP_T_REXMT,   /* RTO, TLP, RACK reordering: what the recovery says */
	TCP_T_PERSIST,
	TCP_T_DELACK,
	TCP_T_KEEP,
	TCP_T_STATE,   /* connection establishment, FIN-WAIT-2 */
	TCP_T_PUSH,    /* a partial segment was held back (CORK, MSG_MORE) */
	TCP_T_COUNT,
};

/* A list of segments of buffers, linked by next, each counted for itself. */
struct tcp_queue {
	struct rte_mbuf *head, *tail;
	uint32_t bytes, bufs;
};

/* A listener's half: allocated by listen. */
struct tcp_listener {
	struct list ready;     /* established, unaccepted: pcb.on_accept, oldest first */
	uint32_t nb_ready, nb_half;
	uint32_t backlog;
};

struct tcp_pcb {
	struct tcp_key key;    /* first: what the table finds */
	uint8_t fsm;           /* enum tcp_fsm */
	uint8_t domain;        /* ADDR_INET, ADDR_INET6: what the socket was made as */
	uint8_t err;           /* pending error, positive */
	uint8_t soft_err;      /* what the network said while it was opening: told when that times out */
	uint8_t ttl, tos;
	uint8_t snd_scale, rcv_scale;
	uint8_t probes;        /* of the window, since it closed */
	uint8_t tries;         /* retransmission timeouts since the last progress */
	uint8_t keeps;         /* keepalive probes unanswered */
	bool bound : 1, addr_locked : 1, port_locked : 1, in_table : 1, in_accept : 1, dead : 1, orphan : 1;
	bool v6only : 1, reuseaddr : 1, reuseport : 1;
	bool nodelay : 1, cork : 1, keepalive : 1, quickack : 1, nopt : 1;
	bool sndbuf_set : 1, rcvbuf_set : 1;
	bool ts : 1, sack : 1, ecn : 1;
	bool ask_wscale : 1;   /* wscale is offered, or was agreed */
	bool ack_now : 1;      /* an acknowledgement is due at once */
	bool fin_queued : 1, fin_sent : 1; /* the stream ends at snd_end */
	bool fin_rcvd : 1, rd_shut : 1;
	bool more : 1;         /* the last write said MSG_MORE */
	bool probe_out : 1;    /* a window probe's byte is out at snd_nxt */
	bool ecn_echo : 1, cwr_due : 1; /* RFC 3168: CE was seen; our CWR is due */
	bool ecn_try : 1;      /* the SYN asks for ECN */
	bool msg_eor : 1;      /* push what is queued */
	bool opened : 1;       /* a peer was connected to, at some time */
	bool active : 1;       /* opened by connect */
	bool defer : 1;        /* TCP_DEFER_ACCEPT */
	struct socket *so;     /* NULL: unaccepted, or an orphan */
	struct tcp_listener *lst; /* of a listener */
	struct tcp_pcb *parent;   /* the listener whose queue it waits in */
	struct list on_port, on_accept;
	struct tcp_pcb *dead_next;
	struct stack *stack;
	struct ip_path path;   /* nif NULL: to be looked up */
	struct timer timer;    /* fires for the earliest of due[] */
	uint32_t due[TCP_T_COUNT]; /* wheel ticks; 0: off */

	/* sending: [snd_una, snd_una + sq.bytes) is the buffer; SYN and FIN count outside it */
	uint32_t iss, snd_una, snd_nxt, snd_wnd, snd_wl1, snd_wl2, max_wnd;
	uint32_t snd_buf;      /* limit in bytes */
	struct tcp_queue sq;
	struct rte_mbuf *cur;  /* where snd_nxt's byte is, or NULL: unknown */
	uint32_t cur_seq;      /* its first byte */
	uint16_t mss;          /* payload of a full segment, options taken off */
	uint16_t peer_mss;     /* as said, or the default */
	uint16_t user_mss;     /* TCP_MAXSEG; 0: none */
	uint16_t adv_mss;
	uint16_t rcv_mss;      /* largest segment received */

	/* receiving */
	uint32_t irs, rcv_nxt, rcv_adv, rcv_buf, last_ack_sent, ack_seq2; /* ack_seq2: rcv_nxt of the last ack sent for data */
	struct tcp_queue rq;
	struct rte_mbuf *ooo;  /* chains by sequence, linked in their headroom */
	uint32_t ooo_bytes;
	uint16_t ooo_bufs, ooo_n;
	uint32_t ooo_recent[TCP_SACK_MAX]; /* bytes in the blocks reported last, the latest first */
	uint32_t dsack_start, dsack_end; /* equal: none */
	uint32_t ts_recent, ts_recent_ms, ts_off;
	uint32_t tune_ms, tune_bytes; /* read since then, for the buffer's size */
	uint32_t chal_ms;      /* the challenge budget's second */
	uint8_t chal_left;
	uint8_t keepcnt, syncnt, cc_cubic;
	uint32_t rcvlowat, sndlowat, notsent_lowat;
	uint32_t keepidle_ms, keepintvl_ms, user_timeout_ms, linger2_ms;
	uint32_t idle_ms;      /* last segment from the peer */
	uint32_t stall_ms;     /* unacknowledged without progress since; for R2 and the user timeout */

	/* facts */
	uint32_t sent_ms, recv_ms, acked_ms;
	uint32_t segs_in, segs_out, nb_ooo;
	uint64_t bytes_acked, bytes_received, bytes_sent, bytes_retrans;
	struct rec rec;        /* RTT, congestion, what is in flight */
};

/* TIME-WAIT (RFC 9293 3.10.7.8): what is needed to answer and to be reused (RFC 6191). */
struct tcp_tw {
	struct tcp_key key;
	struct list age;       /* all of them, the one that ends first at the head */
	uint64_t ends_ns;
	uint32_t snd_nxt, rcv_nxt, ts_recent, ts_off;
	uint16_t wnd;          /* as it stood in our last segment */
	bool ts;
	uint8_t tos, ttl;
};

#define TCP_SC_BUCKETS 512
#define TCP_SC_PER_BUCKET 30 /* FreeBSD's bucketlimit */
#define TCP_COOKIE_TICK_SHIFT 36 /* 68.7 s */

/* A half-open connection. */
struct tcp_half {
	struct tcp_key key;    /* kind unused */
	struct list bucket;
	struct timer timer;
	struct stack *stack;
	struct tcp_pcb *listener;
	uint64_t sent_ns;
	uint32_t iss, irs, ts_recent, ts_off, wnd;
	uint16_t peer_mss;
	uint8_t shift, tries;
	bool ts, sack, wscale, ecn;
	uint8_t tos;
};

struct tcp_state {
	struct siphash_key key, isn_key, cookie_key, ts_key, port_key;
	struct tcp_table conns, ports;
	struct tcp_slab slab_tw, slab_half;
	struct list tw;        /* oldest first; all live equally long unless MSL was changed */
	uint32_t nb_tw, nb_half;
	struct timer tw_timer;
	struct list half[TCP_SC_BUCKETS];
	uint16_t half_n[TCP_SC_BUCKETS];
	uint64_t cookies_until_ns; /* an ACK may be a cookie's until then */
	struct tcp_pcb *dead;  /* to be freed when the present call ends */
	uint64_t next_ephemeral;
	int64_t knob[TCP_KNOB_COUNT];
	uint64_t events[TCP_EV_COUNT];
	struct rec_pool rec;
};

static inline void
tcp_count(struct stack *s, enum tcp_event e)
{
	s->tcp->events[e]++;
}

static inline uint32_t
tcp_ms(const struct stack *s)
{
	return (uint32_t)(s->now_ns / 1000000);
}

static inline int64_t
tcp_knob(const struct stack *s, enum tcp_knob k)
{
	return s->tcp->knob[k];
}

/* One past the last byte that is queued to be sent; where the FIN is, when there is one. */
static inline uint32_t
tcp_snd_end(const struct tcp_pcb *p)
{
	return p->snd_una + (p->fsm == TCP_SYN_SENT || p->fsm == TCP_SYN_RCVD) + p->sq.bytes;
}

static inline bool
tcp_synchronized(const struct tcp_pcb *p)
{
	return p->fsm >= TCP_ESTABLISHED && p->fsm != TCP_TIME_WAIT;
}

static inline uint32_t
tcp_rcv_wnd(const struct tcp_pcb *p)
{
	return seq_lt(p->rcv_nxt, p->rcv_adv) ? p->rcv_adv - p->rcv_nxt : 0;
}

static inline void
tcp_notify(struct stack *s, struct tcp_pcb *p, uint32_t events)
{
	if (p->so != NULL)
		socket_tcp_event(s, p->so, events);
}

/* tcp.c */
struct tcp_pcb *tcp_pcb_new(struct stack *s, uint8_t domain);
/* Ends a connection: out of every table, nothing on the wire; err (positive) is for its socket. It is freed at tcp_reap when nobody has it. */
void tcp_done(struct stack *s, struct tcp_pcb *p, int err);
/* Frees what tcp_done and tcp_close left: the last thing every entry does. */
void tcp_reap(struct stack *s);
void tcp_established(struct stack *s, struct tcp_pcb *p);
/* An attempt to connect is taken back: p is bound or not, as before. */
void tcp_unconnect(struct stack *s, struct tcp_pcb *p);
/* The options a connection takes from its listener. */
void tcp_inherit(struct tcp_pcb *p, const struct tcp_pcb *from);
/* Addresses known: initial sequence number and timestamp offset (RFC 6528, RFC 7323 5.4). */
uint32_t tcp_isn(const struct stack *s, const struct tcp_key *k);
uint32_t tcp_ts_offset(const struct stack *s, const struct tcp_key *k);

/* knob.c */
void tcp_knobs_init(struct stack *s);

/* buffer.c: queues of bytes */
void tcp_queue_free(struct stack *s, struct tcp_queue *q);
/* Takes chain m's segments to the end of q. */
void tcp_queue_put(struct stack *s, struct tcp_queue *q, struct rte_mbuf *m);
/* Forgets the first n bytes of q. */
void tcp_queue_drop(struct stack *s, struct tcp_queue *q, uint32_t n);
/* Copies n bytes from off of the list that starts at m; off and n may end where the list does. */
void tcp_queue_copy(const struct rte_mbuf *m, uint32_t off, uint32_t n, uint8_t *dst);
/* Received in order: m is payload. Small ones are copied together; after SHUT_RD it is thrown away. */
void tcp_rcv_append(struct stack *s, struct tcp_pcb *p, struct rte_mbuf *m);
/* Received out of order, seq being m's first byte, within the window: kept. false: dropped (limit). Takes m. */
bool tcp_ooo_add(struct stack *s, struct tcp_pcb *p, uint32_t seq, bool fin, struct rte_mbuf *m);
/* Moves to the receive queue what now follows rcv_nxt. true: with a FIN at its end (rcv_nxt is before it). */
bool tcp_ooo_take(struct stack *s, struct tcp_pcb *p);
void tcp_ooo_free(struct stack *s, struct tcp_pcb *p);
/* Up to max blocks for a SACK option, the most recent first. */
unsigned int tcp_ooo_blocks(struct tcp_pcb *p, unsigned int max, uint32_t (*out)[2]);

/* output.c */
/* Sends what may be sent now, an acknowledgement if one is due. */
void tcp_output(struct stack *s, struct tcp_pcb *p);
/* force: what Nagle, CORK or the window's smallness holds back goes too. */
void tcp_push(struct stack *s, struct tcp_pcb *p, bool force);
/* A byte that the peer must answer: the next one to send or the FIN (data), or one it has already. Moves nothing. */
void tcp_probe(struct stack *s, struct tcp_pcb *p, bool data);
/*
 * One segment with len bytes of the send buffer from seq; SYN and FIN go where they belong in sequence. 0, -ENOBUFS, -EHOSTUNREACH,
 * -EMSGSIZE (the path shrank: mss is less now). Tells the recovery (rec_sent) when it takes sequence space.
 */
int tcp_transmit(struct stack *s, struct tcp_pcb *p, uint32_t seq, uint32_t len, uint8_t flags);
/* An acknowledgement without data, now. */
void tcp_send_ack(struct stack *s, struct tcp_pcb *p);
/* RFC 5961: the same, at a limited rate. */
void tcp_challenge(struct stack *s, struct tcp_pcb *p);
/* RST at snd_nxt. */
void tcp_send_rst(struct stack *s, struct tcp_pcb *p);
/* What the window that the next segment tells would be, in bytes; never left of what was told. */
uint32_t tcp_window(struct stack *s, const struct tcp_pcb *p);
/* The application has read: is it time to tell? */
void tcp_window_update(struct stack *s, struct tcp_pcb *p);
/* Path, peer or options have changed what a full segment is. */
void tcp_mss_update(struct stack *s, struct tcp_pcb *p);
/* Looks the path up when the one kept is not valid. 0 or ip_path_lookup's. */
int tcp_path(struct stack *s, struct tcp_pcb *p);
/* What we say in our SYN: the link's MTU less the fixed headers (RFC 6691). */
uint16_t tcp_adv_mss(const struct ip_path *path);

/* reply.c: segments without a control block */
struct tcp_bare {
	const struct tcp_key *key;
	const struct ip_path *path; /* NULL: looked up */
	uint32_t seq, ack;
	uint16_t wnd;
	uint8_t flags, tos, ttl;
	const uint8_t *opts;
	uint32_t opts_len;     /* a multiple of 4 */
};
void tcp_send_bare(struct stack *s, const struct tcp_bare *b);
void tcp_key_of(const struct tcp_seg *g, struct tcp_key *k);
/* RFC 9293 3.10.7.1: the reset that a segment without a connection gets. */
void tcp_reset_for(struct stack *s, const struct tcp_seg *g);
uint32_t tcp_emit_ts(uint8_t *b, uint32_t val, uint32_t ecr);
struct tcp_syn_opts {
	uint16_t mss;
	uint8_t shift;
	bool wscale, sack, ts, linux_order, reply;
	uint32_t tsval, tsecr;
};
/* Options of a SYN, in FreeBSD's order or Linux's; returns the bytes, a multiple of 4, <= 40. */
uint32_t tcp_emit_syn(uint8_t *b, const struct tcp_syn_opts *o);

/* input.c, state.c */
void tcp_conn_input(struct stack *s, struct tcp_pcb *p, struct tcp_seg *g, struct rte_mbuf *m);
void tcp_syn_sent_input(struct stack *s, struct tcp_pcb *p, struct tcp_seg *g, struct rte_mbuf *m);
/* Acknowledgement, data and FIN of an acceptable segment; takes m. */
void tcp_segment_text(struct stack *s, struct tcp_pcb *p, struct tcp_seg *g, struct rte_mbuf *m);
/* g's ACK field on a synchronized connection. false: the segment is not to be looked at further. */
bool tcp_ack_input(struct stack *s, struct tcp_pcb *p, const struct tcp_seg *g);
/* TIME-WAIT of p, whose control block leaves the table. */
void tcp_enter_time_wait(struct stack *s, struct tcp_pcb *p);

/* timewait.c */
/* false: not taken; the segment opens a new connection (RFC 6191): tw is gone. */
bool tcp_tw_input(struct stack *s, struct tcp_tw *tw, const struct tcp_seg *g);
int tcp_tw_add(struct stack *s, struct tcp_pcb *p);
void tcp_tw_free(struct stack *s, struct tcp_tw *tw);
void tcp_tw_on_timer(struct timer *t, void *arg, uint64_t now_ns);

/* syncache.c */
/* A SYN for listener l. */
void tcp_half_syn(struct stack *s, struct tcp_pcb *l, const struct tcp_seg *g);
/*
 * Anything else for l: an ACK may complete a half-open connection or be a cookie. The new connection, which is to look at the
 * segment further, or NULL.
 */
struct tcp_pcb *tcp_half_ack(struct stack *s, struct tcp_pcb *l, const struct tcp_seg *g);
bool tcp_half_find(const struct stack *s, int family, const union ip_addr *local, uint16_t lport_be, const union ip_addr *remote,
	uint16_t rport_be);
/* Every half-open connection of l (NULL: of all) goes, silently. */
void tcp_half_flush(struct stack *s, const struct tcp_pcb *l);
void tcp_half_error(struct stack *s, const struct ip_error *e, uint16_t lport_be, uint16_t rport_be, uint32_t seq);
/* cookie.c */
uint32_t tcp_cookie_make(const struct stack *s, const struct tcp_half *h, uint32_t *tsval);
/* Does g's ACK carry a cookie of ours? Fills h. */
bool tcp_cookie_check(const struct stack *s, const struct tcp_seg *g, struct tcp_half *h);

/* timer.c */
void tcp_timer_set(struct stack *s, struct tcp_pcb *p, enum tcp_timer t, uint64_t after_ns);
void tcp_timer_stop(struct tcp_pcb *p, enum tcp_timer t);
static inline bool
tcp_timer_on(const struct tcp_pcb *p, enum tcp_timer t)
{
	return p->due[t] != 0;
}
void tcp_timer_fire(struct timer *t, void *arg, uint64_t now_ns);
/* (Re)starts the keepalive clock after a sign of life. */
void tcp_keep_restart(struct stack *s, struct tcp_pcb *p);

#endif
