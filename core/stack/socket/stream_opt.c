/* SPDX-License-Identifier: BSD-3-Clause */
/* getsockopt and setsockopt of streams: Linux's names, ranges and struct tcp_info over TCP's own. */
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>

#include "socket_priv.h"

#define CC_NAME_MAX 16       /* Linux's TCP_CA_NAME_MAX */
#define LINGER2_MAX_S 120    /* Linux's TCP_FIN_TIMEOUT_MAX */
#define DEFER_MAX_S 65535
#define MSS_MIN 88           /* Linux's TCP_MIN_MSS */
#define MSS_MAX 32767
#define ECN_BITS 3           /* of the traffic class: not the caller's on a stream */

/* Linux's numbers; its own headers name states and phases as tcp.h does. */
enum linux_tcp {
	L_NODELAY = 1, L_MAXSEG, L_CORK, L_KEEPIDLE, L_KEEPINTVL, L_KEEPCNT, L_SYNCNT, L_LINGER2, L_DEFER_ACCEPT, L_INFO = 11,
	L_QUICKACK, L_CONGESTION, L_USER_TIMEOUT = 18, L_NOTSENT_LOWAT = 25,
};
enum { INFO_TIMESTAMPS = 1, INFO_SACK = 2, INFO_WSCALE = 4, INFO_ECN = 8 };

/* One int option of IPPROTO_TCP: what it is called inside, the range, and ms in one of its units (1: not a time). */
struct int_opt {
	uint8_t name, opt;
	bool flag;
	int32_t low, high, unit;
};

static const struct int_opt int_opts[] = {
	{ L_NODELAY, TCP_OPT_NODELAY, true, 0, 1, 1 },
	{ L_CORK, TCP_OPT_CORK, true, 0, 1, 1 },
	{ L_QUICKACK, TCP_OPT_QUICKACK, true, 0, 1, 1 },
	{ L_KEEPIDLE, TCP_OPT_KEEPIDLE, false, 1, 32767, 1000 },
	{ L_KEEPINTVL, TCP_OPT_KEEPINTVL, false, 1, 32767, 1000 },
	{ L_KEEPCNT, TCP_OPT_KEEPCNT, false, 1, 127, 1 },
	{ L_SYNCNT, TCP_OPT_SYNCNT, false, 1, 127, 1 },
	{ L_USER_TIMEOUT, TCP_OPT_USER_TIMEOUT, false, 0, INT_MAX, 1 },
	{ L_NOTSENT_LOWAT, TCP_OPT_NOTSENT_LOWAT, false, INT_MIN, INT_MAX, 1 },
	{ L_MAXSEG, TCP_OPT_MAXSEG, false, 0, MSS_MAX, 1 },
	{ L_DEFER_ACCEPT, TCP_OPT_DEFER_ACCEPT, false, INT_MIN, INT_MAX, 1000 },
	{ L_LINGER2, TCP_OPT_LINGER2, false, INT_MIN, INT_MAX, 1000 },
};

static const struct int_opt *
int_opt_find(int name)
{
	unsigned int i;

	for (i = 0; i < sizeof(int_opts) / sizeof(int_opts[0]); i++) {
		if (int_opts[i].name == name)
			return &int_opts[i];
	}
	return NULL;
}

static int
set_congestion(struct stack *s, struct stream *st, const void *val, socklen_t len)
{
	char name[CC_NAME_MAX] = "";

	if ((int)len < 1)
		return -EINVAL;
	if (val == NULL)
		return -EFAULT;
	memcpy(name, val, len < sizeof(name) - 1 ? len : sizeof(name) - 1);
	if (strcmp(name, "reno") == 0) /* what Linux calls it */
		return tcp_congestion_set(s, st->p, "newreno");
	return tcp_congestion_set(s, st->p, name);
}

static int
set_tcp(struct stack *s, struct stream *st, int name, const void *val, socklen_t len)
{
	const struct int_opt *o = int_opt_find(name);
	int64_t v64;
	int v, err;

	if (name == L_CONGESTION)
		return set_congestion(s, st, val, len);
	if (o == NULL)
		return -ENOPROTOOPT;
	err = opt_int(val, len, false, &v);
	if (err != 0)
		return err;
	if (o->flag)
		v = v != 0;
	if (v < o->low || v > o->high || (name == L_MAXSEG && v != 0 && v < MSS_MIN))
		return -EINVAL;
	v64 = name == L_NOTSENT_LOWAT ? (int64_t)(uint32_t)v : v;
	if (name == L_DEFER_ACCEPT) {
		v64 = v < 0 ? 0 : v > DEFER_MAX_S ? DEFER_MAX_S : v;
		st->defer_s = (uint16_t)v64;
	}
	if (name == L_LINGER2 && v < 0)
		return tcp_opt_set(s, st->p, TCP_OPT_LINGER2, 1); /* at once, nearly: 0 is the default */
	if (name == L_LINGER2 && v > LINGER2_MAX_S)
		v64 = LINGER2_MAX_S;
	return tcp_opt_set(s, st->p, o->opt, v64 * o->unit);
}

static int
set_buffer(struct stack *s, struct stream *st, enum tcp_opt o, int v)
{
	int err = tcp_opt_set(s, st->p, o, opt_buffer_size(s, v));

	if (err == 0)
		*(o == TCP_OPT_SNDBUF ? &st->sndbuf_set : &st->rcvbuf_set) = true;
	return err;
}

/* As Linux reads it: negative is as much as can be. */
static int64_t
low_water(int v)
{
	return v < 0 || v > (int)TCP_BUF_MAX ? (int)TCP_BUF_MAX : v == 0 ? 1 : v;
}

static int
set_socket(struct stack *s, struct stream *st, int name, const void *val, socklen_t len)
{
	int v, err;

	switch (name) {
	case SO_RCVTIMEO: return opt_timeout(&st->rcvtimeo, val, len);
	case SO_SNDTIMEO: return opt_timeout(&st->sndtimeo, val, len);
	case SO_LINGER: return opt_linger(&st->linger, val, len);
	}
	err = opt_int(val, len, false, &v);
	if (err != 0)
		return err;
	switch (name) {
	case SO_DEBUG: st->debug = v != 0; return 0;
	case SO_DONTROUTE: st->dontroute = v != 0; return 0;
	case SO_BROADCAST: st->broadcast = v != 0; return 0;
	case SO_OOBINLINE: st->oobinline = v != 0; return 0;
	case SO_REUSEADDR: return tcp_opt_set(s, st->p, TCP_OPT_REUSEADDR, v != 0);
	case SO_REUSEPORT: return tcp_opt_set(s, st->p, TCP_OPT_REUSEPORT, v != 0);
	case SO_KEEPALIVE: return tcp_opt_set(s, st->p, TCP_OPT_KEEPALIVE, v != 0);
	case SO_SNDBUF: return set_buffer(s, st, TCP_OPT_SNDBUF, v);
	case SO_RCVBUF: return set_buffer(s, st, TCP_OPT_RCVBUF, v);
	case SO_RCVLOWAT: return tcp_opt_set(s, st->p, TCP_OPT_RCVLOWAT, low_water(v));
	case SO_SNDLOWAT: return tcp_opt_set(s, st->p, TCP_OPT_SNDLOWAT, low_water(v));
	}
	return -ENOPROTOOPT;
}

static int
set_mtu_discover(struct stream *st, int v)
{
	if (v < IP_PMTUDISC_DONT || v > IP_PMTUDISC_PROBE)
		return -EINVAL;
	st->mtu_discover = (uint8_t)v;
	return 0;
}

/* -1 is the default, 0 inside. */
static int
set_ttl(struct stack *s, struct stream *st, int v, int lowest)
{
	if (v < -1 || v > 255 || (v != -1 && v < lowest))
		return -EINVAL;
	return tcp_opt_set(s, st->p, TCP_OPT_TTL, v == -1 ? 0 : v);
}

static int
set_ip(struct stack *s, struct stream *st, int name, const void *val, socklen_t len)
{
	int v, err = opt_int(val, len, true, &v);

	if (err != 0)
		return err;
	switch (name) {
	case IP_TOS: return tcp_opt_set(s, st->p, TCP_OPT_TOS, v & 0xff & ~ECN_BITS);
	case IP_TTL: return set_ttl(s, st, v, 1);
	case IP_MTU_DISCOVER: return set_mtu_discover(st, v);
	case IP_BIND_ADDRESS_NO_PORT: st->bind_no_port = v != 0; return 0;
	}
	return -ENOPROTOOPT;
}

static int
set_v6only(struct stack *s, struct stream *st, bool on)
{
	struct tcp_addr a;
	int err;

	tcp_local(st->p, &a);
	if (a.port_be != 0)
		return -EINVAL;
	err = tcp_opt_set(s, st->p, TCP_OPT_V6ONLY, on);
	if (err == 0)
		st->v6only = on;
	return err;
}

static int
set_ip6(struct stack *s, struct stream *st, int name, const void *val, socklen_t len)
{
	int v, err = opt_int(val, len, false, &v);

	if (st->domain != ADDR_INET6)
		return -ENOPROTOOPT;
	if (err != 0)
		return err;
	switch (name) {
	case IPV6_V6ONLY: return set_v6only(s, st, v != 0);
	case IPV6_UNICAST_HOPS: return set_ttl(s, st, v, 0);
	case IPV6_TCLASS:
		if (v < -1 || v > 255)
			return -EINVAL;
		return tcp_opt_set(s, st->p, TCP_OPT_TOS, v == -1 ? 0 : v & ~ECN_BITS);
	case IPV6_MTU_DISCOVER: return set_mtu_discover(st, v);
	}
	return -ENOPROTOOPT;
}

int
stream_setsockopt(struct stack *s, struct stream *st, int level, int name, const void *val, socklen_t len)
{
	switch (level) {
	case SOL_SOCKET: return set_socket(s, st, name, val, len);
	case IPPROTO_TCP: return set_tcp(s, st, name, val, len);
	case IPPROTO_IP: return set_ip(s, st, name, val, len);
	case IPPROTO_IPV6: return set_ip6(s, st, name, val, len);
	}
	return -ENOPROTOOPT;
}

/* ---- reading ---- */

/* struct tcp_info as Linux's programs know it, with the fields of version 5.4; later ones were added behind. */
struct linux_tcp_info {
	uint8_t state, ca_state, retransmits, probes, backoff, options, wscale, limited;
	uint32_t rto, ato, snd_mss, rcv_mss, unacked, sacked, lost, retrans, fackets;
	uint32_t last_data_sent, last_ack_sent, last_data_recv, last_ack_recv;
	uint32_t pmtu, rcv_ssthresh, rtt, rttvar, snd_ssthresh, snd_cwnd, advmss, reordering, rcv_rtt, rcv_space;
	uint32_t total_retrans;
	uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
	uint32_t segs_out, segs_in, notsent_bytes, min_rtt, data_segs_in, data_segs_out;
	uint64_t delivery_rate, busy_time, rwnd_limited, sndbuf_limited;
	uint32_t delivered, delivered_ce;
	uint64_t bytes_sent, bytes_retrans;
	uint32_t dsack_dups, reord_seen, rcv_ooopack, snd_wnd;
};
_Static_assert(sizeof(struct linux_tcp_info) == 232, "Linux 5.4's");

/* Linux's number of a state. */
static uint8_t
linux_state(enum tcp_fsm st)
{
	static const uint8_t number[] = { [TCP_ESTABLISHED] = 1, [TCP_SYN_SENT] = 2, [TCP_SYN_RCVD] = 3,
		[TCP_FIN_WAIT_1] = 4, [TCP_FIN_WAIT_2] = 5, [TCP_TIME_WAIT] = 6, [TCP_CLOSED] = 7, [TCP_CLOSE_WAIT] = 8,
		[TCP_LAST_ACK] = 9, [TCP_LISTEN] = 10, [TCP_CLOSING] = 11 };

	return number[st];
}

/* Segments that n bytes make. */
static uint32_t
in_segments(uint32_t n, uint32_t mss)
{
	return mss == 0 ? n : (n + mss - 1) / mss;
}

static void
fill_info(const struct stack *s, const struct stream *st, struct linux_tcp_info *i)
{
	struct tcp_facts f = { .fsm = TCP_CLOSED };

	tcp_facts(s, st->p, &f);
	*i = (struct linux_tcp_info){
		.state = linux_state(f.fsm), .ca_state = (uint8_t)f.ca, .retransmits = f.retransmits, .probes = f.probes,
		.backoff = f.backoff, .wscale = (uint8_t)((f.snd_wscale & 15) | f.rcv_wscale << 4),
		.options = (uint8_t)((f.ts ? INFO_TIMESTAMPS : 0) | (f.sack ? INFO_SACK : 0) |
			(f.wscale ? INFO_WSCALE : 0) | (f.ecn ? INFO_ECN : 0)),
		.rto = f.rto_us, .ato = f.ato_us, .snd_mss = f.snd_mss, .rcv_mss = f.rcv_mss, .unacked = f.unacked,
		.sacked = f.sacked, .lost = f.lost, .retrans = f.retrans, .pmtu = f.pmtu, .rtt = f.srtt_us,
		.rttvar = f.rttvar_us, .snd_cwnd = in_segments(f.cwnd, f.snd_mss),
		.snd_ssthresh = in_segments(f.ssthresh, f.snd_mss), .rcv_ssthresh = f.rcv_wnd, .advmss = f.adv_mss,
		.reordering = 3, .rcv_rtt = f.rcv_rtt_us, .rcv_space = f.rcv_space, .total_retrans = f.total_retrans,
		.last_data_sent = (uint32_t)(f.last_data_sent_us / 1000),
		.last_data_recv = (uint32_t)(f.last_data_recv_us / 1000),
		.last_ack_recv = (uint32_t)(f.last_ack_recv_us / 1000),
		.max_pacing_rate = UINT64_MAX, .bytes_acked = f.bytes_acked, .bytes_received = f.bytes_received,
		.segs_out = (uint32_t)f.segs_out, .segs_in = (uint32_t)f.segs_in, .notsent_bytes = f.notsent,
		.min_rtt = f.min_rtt_us, .bytes_sent = f.bytes_sent, .bytes_retrans = f.bytes_retrans,
		.dsack_dups = f.dsack_dups, .reord_seen = f.reord_seen, .rcv_ooopack = f.rcv_ooopack, .snd_wnd = f.snd_wnd,
	};
	if (f.fsm == TCP_LISTEN) { /* Linux's: how many wait, of how many */
		i->unacked = tcp_readable(st->p);
		i->sacked = f.unacked;
	}
}

static int
get_tcp(const struct stack *s, const struct stream *st, int name, void *val, socklen_t *len)
{
	const struct int_opt *o = int_opt_find(name);
	char cc[CC_NAME_MAX] = "";
	struct linux_tcp_info info;
	const char *algorithm;
	int64_t v64;
	int v;

	if (name == L_INFO) {
		fill_info(s, st, &info);
		return opt_put(val, len, &info, sizeof(info));
	}
	if (name == L_CONGESTION) {
		algorithm = tcp_congestion_get(st->p);
		memcpy(cc, algorithm, strnlen(algorithm, sizeof(cc) - 1));
		return opt_put(val, len, cc, sizeof(cc));
	}
	if (o == NULL)
		return -ENOPROTOOPT;
	v64 = tcp_opt_get(st->p, o->opt);
	if (name == L_LINGER2)
		v64 = v64 == 0 ? tcp_knob_get(s, TCP_KNOB_FINWAIT2) : v64 < o->unit ? -o->unit : v64;
	v = name == L_DEFER_ACCEPT ? st->defer_s : (int)(v64 / o->unit);
	return opt_put(val, len, &v, sizeof(v));
}

static int
get_socket(struct stream *st, int name, int *v)
{
	switch (name) {
	case SO_DEBUG: *v = st->debug; return 0;
	case SO_DONTROUTE: *v = st->dontroute; return 0;
	case SO_BROADCAST: *v = st->broadcast; return 0;
	case SO_OOBINLINE: *v = st->oobinline; return 0;
	case SO_REUSEADDR: *v = (int)tcp_opt_get(st->p, TCP_OPT_REUSEADDR); return 0;
	case SO_REUSEPORT: *v = (int)tcp_opt_get(st->p, TCP_OPT_REUSEPORT); return 0;
	case SO_KEEPALIVE: *v = (int)tcp_opt_get(st->p, TCP_OPT_KEEPALIVE); return 0;
	case SO_SNDBUF: *v = (int)tcp_opt_get(st->p, TCP_OPT_SNDBUF); return 0;
	case SO_RCVBUF: *v = (int)tcp_opt_get(st->p, TCP_OPT_RCVBUF); return 0;
	case SO_RCVLOWAT: *v = (int)tcp_opt_get(st->p, TCP_OPT_RCVLOWAT); return 0;
	case SO_SNDLOWAT: *v = (int)tcp_opt_get(st->p, TCP_OPT_SNDLOWAT); return 0;
	case SO_TYPE: *v = SOCK_STREAM; return 0;
	case SO_ERROR: *v = -tcp_take_error(st->p); return 0;
	case SO_ACCEPTCONN: *v = tcp_fsm_of(st->p) == TCP_LISTEN; return 0;
	case SO_PROTOCOL: *v = IPPROTO_TCP; return 0;
	case SO_DOMAIN: *v = st->domain == ADDR_INET ? AF_INET : AF_INET6; return 0;
	}
	return -ENOPROTOOPT;
}

static int
get_mtu(const struct stack *s, const struct stream *st, int *v)
{
	struct tcp_facts f = { .pmtu = 0 };

	tcp_facts(s, st->p, &f);
	if (f.fsm == TCP_CLOSED || f.fsm == TCP_LISTEN)
		return -ENOTCONN;
	*v = (int)f.pmtu;
	return 0;
}

static int
get_ttl(const struct stream *st, int *v)
{
	*v = (int)tcp_opt_get(st->p, TCP_OPT_TTL);
	if (*v == 0)
		*v = IP4_TTL_DEFAULT;
	return 0;
}

static int
get_ip(const struct stack *s, const struct stream *st, int name, int *v)
{
	switch (name) {
	case IP_TOS: *v = (int)tcp_opt_get(st->p, TCP_OPT_TOS); return 0;
	case IP_TTL: return get_ttl(st, v);
	case IP_MTU_DISCOVER: *v = st->mtu_discover; return 0;
	case IP_BIND_ADDRESS_NO_PORT: *v = st->bind_no_port; return 0;
	case IP_MTU: return get_mtu(s, st, v);
	}
	return -ENOPROTOOPT;
}

static int
get_ip6(const struct stack *s, const struct stream *st, int name, int *v)
{
	if (st->domain != ADDR_INET6)
		return -ENOPROTOOPT;
	switch (name) {
	case IPV6_V6ONLY: *v = st->v6only; return 0;
	case IPV6_UNICAST_HOPS: return get_ttl(st, v);
	case IPV6_TCLASS: *v = (int)tcp_opt_get(st->p, TCP_OPT_TOS); return 0;
	case IPV6_MTU_DISCOVER: *v = st->mtu_discover; return 0;
	case IPV6_MTU: return get_mtu(s, st, v);
	}
	return -ENOPROTOOPT;
}

int
stream_getsockopt(struct stack *s, struct stream *st, int level, int name, void *val, socklen_t *len)
{
	int v = 0, err = -ENOPROTOOPT;

	switch (level) {
	case SOL_SOCKET:
		switch (name) {
		case SO_LINGER: return opt_put(val, len, &st->linger, sizeof(st->linger));
		case SO_RCVTIMEO: return opt_put(val, len, &st->rcvtimeo, sizeof(st->rcvtimeo));
		case SO_SNDTIMEO: return opt_put(val, len, &st->sndtimeo, sizeof(st->sndtimeo));
		}
		err = get_socket(st, name, &v);
		break;
	case IPPROTO_TCP:
		return get_tcp(s, st, name, val, len);
	case IPPROTO_IP:
		err = get_ip(s, st, name, &v);
		break;
	case IPPROTO_IPV6:
		err = get_ip6(s, st, name, &v);
		break;
	}
	return err != 0 ? err : opt_put(val, len, &v, sizeof(v));
}
