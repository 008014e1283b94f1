/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow keys: what a received frame is to the dispatcher, and what a stack knows. */
#include "flow.h"

#include <netinet/in.h>
#include <string.h>

#include "../base/bytes.h"
#include "../stack/link/eth.h"

#define IP4_HLEN 20u
#define IP6_HLEN 40u
#define IP6_EXT_MAX 8
#define L4_NEED 8u       /* ports and what every header of UDP and TCP has at least in a first fragment */
#define TCP_HLEN 20u

_Static_assert(offsetof(struct flow_key, rport_be) == 32 && offsetof(struct flow_key, lport_be) == 34 &&
	offsetof(struct flow_key, proto) == 36 && offsetof(struct flow_key, family) == 37, "the key's last word");
_Static_assert(sizeof(struct flow_frag) == 40, "compared as bytes");

static inline uint32_t
word(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void
put64(struct flow_key *k, unsigned int i, uint64_t v)
{
	memcpy((uint8_t *)k + 8 * i, &v, sizeof(v));
}

static inline bool
has_ports(uint8_t proto)
{
	return proto == IPPROTO_UDP || proto == IPPROTO_TCP;
}

/* ports: both as they stand in memory, the remote one first. */
static inline void
key_put(struct flow_key *k, int family, uint8_t proto, const union ip_addr *remote, const union ip_addr *local,
	uint32_t ports)
{
	memcpy(k->remote, remote, 16);
	memcpy(k->local, local, 16);
	k->rport_be = (uint16_t)ports;
	k->lport_be = (uint16_t)(ports >> 16);
	k->proto = proto;
	k->family = (uint8_t)family;
	k->zero = 0;
}

void
flow_key_make(struct flow_key *k, int family, uint8_t proto, const union ip_addr *remote, uint16_t rport_be,
	const union ip_addr *local, uint16_t lport_be)
{
	key_put(k, family, proto, remote, local, rport_be | (uint32_t)lport_be << 16);
}

/* ---- IPv6 headers ----------------------------------------------------------------------------- */

struct walk {
	uint32_t at;             /* of the upper layer */
	uint32_t id;             /* of the first fragment header */
	uint8_t proto;
	bool fragment, later;    /* part of a fragmented datagram; not its first part */
	bool found;              /* the upper layer's first byte is where `at` says, in a packet that has it */
};

/* n bytes from an IPv6 header on, n >= IP6_HLEN. Walks the headers that the stack walks. */
static void
walk6(const uint8_t *p, uint32_t n, struct walk *w)
{
	memset(w, 0, sizeof(*w));
	w->proto = p[6];
	w->at = IP6_HLEN;
	for (int i = 0; i <= IP6_EXT_MAX; i++) {
		const uint8_t *h = p + w->at;

		switch (w->proto) {
		case IPPROTO_HOPOPTS:
		case IPPROTO_ROUTING:
		case IPPROTO_DSTOPTS:
			if (w->at + 8 > n)
				return;
			w->at += (h[1] + 1u) * 8;
			break;
		case IPPROTO_FRAGMENT:
			if (w->at + 8 > n)
				return;
			if (!w->fragment) {
				w->id = get_be32(h + 4);
				w->fragment = (get_be16(h + 2) & 0xfff9) != 0; /* else it is whole (RFC 6946) */
			}
			if ((get_be16(h + 2) & 0xfff8) != 0) {
				w->later = true;
				return;
			}
			w->at += 8;
			break;
		default:
			w->found = w->at <= n;
			return;
		}
		w->proto = h[0];
	}
}

/* ---- ICMP errors ------------------------------------------------------------------------------ */

/*
 * The key of a packet that we sent, quoted in n bytes at p: its source is this host. Eight bytes behind the IP header
 * are all that a router needs to send back (RFC 792, RFC 1812 4.3.2.3).
 */
static bool
quoted_key(const uint8_t *p, uint32_t n, int family, struct flow_key *k)
{
	union ip_addr src, dst;
	uint32_t at, ports;
	uint8_t proto;

	if (family == ADDR_INET) {
		if (n < IP4_HLEN || p[0] >> 4 != 4 || (get_be16(p + 6) & 0x1fff) != 0)
			return false;
		at = (p[0] & 15u) * 4;
		proto = p[9];
		if (at < IP4_HLEN)
			return false;
		src = ip_addr_v4(word(p + 12));
		dst = ip_addr_v4(word(p + 16));
	} else {
		struct walk w;

		if (n < IP6_HLEN || p[0] >> 4 != 6)
			return false;
		walk6(p, n, &w);
		if (!w.found)
			return false;
		at = w.at;
		proto = w.proto;
		src = ip_addr_v6(p + 8);
		dst = ip_addr_v6(p + 24);
	}
	if (!has_ports(proto) || at + L4_NEED > n)
		return false;
	ports = word(p + at);
	key_put(k, family, proto, &dst, &src, ports >> 16 | ports << 16);
	return true;
}

static void
icmp4(const uint8_t *p, uint32_t n, struct flow_info *out)
{
	if (n < 8)
		return;
	switch (p[0]) {
	case 3:  /* unreachable; code 4: too big */
	case 4:  /* source quench */
	case 5:  /* redirect */
	case 11: /* time exceeded */
	case 12: /* parameter problem */
		out->kind = p[0] == 3 && p[1] == 4 ? FLOW_TOO_BIG : FLOW_ERROR;
		out->key_valid = quoted_key(p + 8, n - 8, ADDR_INET, &out->key);
	}
}

static void
icmp6(const uint8_t *p, uint32_t n, struct flow_info *out)
{
	if (n < 8 || p[0] < 1 || p[0] > 4)
		return;
	out->kind = p[0] == 2 ? FLOW_TOO_BIG : FLOW_ERROR;
	out->key_valid = quoted_key(p + 8, n - 8, ADDR_INET6, &out->key);
}

/* ---- packets ---------------------------------------------------------------------------------- */

static inline void
packet_ports(const uint8_t *l4, uint32_t n, uint8_t proto, struct flow_info *out)
{
	if (n < (proto == IPPROTO_TCP ? TCP_HLEN : L4_NEED))
		return;
	out->kind = FLOW_PACKET;
	out->key_valid = true;
	if (proto == IPPROTO_TCP)
		out->tcp_flags = l4[13];
}

static void
fragment4(const uint8_t *p, struct flow_frag *f)
{
	union ip_addr src = ip_addr_v4(word(p + 12)), dst = ip_addr_v4(word(p + 16));

	memcpy(f->src, &src, 16);
	memcpy(f->dst, &dst, 16);
	f->id = get_be16(p + 4);
	f->proto = p[9];
	f->family = ADDR_INET;
	f->zero = 0;
}

static inline void
classify4(const uint8_t *p, uint32_t n, bool group, struct flow_info *out)
{
	union ip_addr src, dst;
	uint32_t hlen, total;
	uint16_t frag;
	uint8_t proto;

	if (n < IP4_HLEN || p[0] >> 4 != 4)
		return;
	hlen = (p[0] & 15u) * 4;
	total = get_be16(p + 2);
	if (n > total)
		n = total; /* the rest is padding */
	if (hlen < IP4_HLEN || n < hlen)
		return;
	dst = ip_addr_v4(word(p + 16));
	if (group || ip4_multicast(dst.v4) || dst.v4 == 0xffffffffu) {
		out->kind = FLOW_GROUP;
		return;
	}
	src = ip_addr_v4(word(p + 12));
	proto = p[9];
	frag = get_be16(p + 6) & 0x3fff;
	if (__builtin_expect(has_ports(proto) && (frag & 0x1fff) == 0 && n >= hlen + L4_NEED, 1)) {
		key_put(&out->key, ADDR_INET, proto, &src, &dst, word(p + hlen));
		out->key_valid = true;
	}
	if (__builtin_expect(frag != 0, 0)) {
		out->kind = (frag & 0x1fff) == 0 ? FLOW_FIRST_FRAG : FLOW_LATER_FRAG;
		fragment4(p, &out->frag);
	} else if (out->key_valid) {
		out->key_valid = false;
		packet_ports(p + hlen, n - hlen, proto, out);
	} else if (proto == IPPROTO_ICMP) {
		icmp4(p + hlen, n - hlen, out);
	}
}

static void
fragment6(const uint8_t *p, uint32_t id, struct flow_frag *f)
{
	memcpy(f->src, p + 8, 16);
	memcpy(f->dst, p + 24, 16);
	f->id = id;
	f->proto = 0;
	f->family = ADDR_INET6;
	f->zero = 0;
}

static void
classify6(const uint8_t *p, uint32_t n, bool group, struct flow_info *out)
{
	union ip_addr src, dst;
	uint32_t total;
	struct walk w;

	if (n < IP6_HLEN || p[0] >> 4 != 6)
		return;
	total = IP6_HLEN + get_be16(p + 4);
	if (n > total)
		n = total;
	src = ip_addr_v6(p + 8);
	dst = ip_addr_v6(p + 24);
	walk6(p, n, &w);
	if (w.found && w.proto == IPPROTO_ICMPV6 && !w.fragment && w.at < n && p[w.at] >= 133 && p[w.at] <= 137) {
		out->kind = FLOW_NEIGHBOUR;
		return;
	}
	if (group || ip6_multicast(&dst)) {
		out->kind = FLOW_GROUP;
		return;
	}
	if (w.found && has_ports(w.proto) && n >= w.at + L4_NEED) {
		key_put(&out->key, ADDR_INET6, w.proto, &src, &dst, word(p + w.at));
		out->key_valid = true;
	}
	if (w.fragment) {
		out->kind = w.later ? FLOW_LATER_FRAG : FLOW_FIRST_FRAG;
		fragment6(p, w.id, &out->frag);
	} else if (out->key_valid) {
		out->key_valid = false;
		packet_ports(p + w.at, n - w.at, w.proto, out);
	} else if (w.found && w.proto == IPPROTO_ICMPV6) {
		icmp6(p + w.at, n - w.at, out);
	}
}

/*
 * The plain UDP packet over IPv4: no tag, no options, no fragment, not for a group. False: it is not quite that, and
 * *out has not changed.
 */
static inline bool
plain4(const uint8_t *d, uint32_t n, struct flow_info *out)
{
	const uint8_t *p = d + ETH_HLEN;
	uint32_t total, src, dst, ports, tail;

	if (n < ETH_HLEN + IP4_HLEN + L4_NEED)
		return false;
	memcpy(&tail, d + 12, sizeof(tail));
	/* type and version; then flags, offset, TTL and protocol, of which the TTL may be anything and the DF bit too */
	if ((tail & 0x00ffffff) != 0x00450008 || (word(p + 6) & 0xff00ffbf) != 0x11000000 || (d[0] & 1) != 0)
		return false;
	total = get_be16(p + 2);
	src = word(p + 12);
	dst = word(p + 16);
	ports = word(p + IP4_HLEN);
	if (total < IP4_HLEN + L4_NEED || ip4_multicast(dst) || dst == 0xffffffffu)
		return false;
	out->kind = FLOW_PACKET;
	out->tcp_flags = 0;
	out->key_valid = true;
	/* whole words: they are read as such, and soon */
	put64(&out->key, 0, src);
	put64(&out->key, 1, 0);
	put64(&out->key, 2, dst);
	put64(&out->key, 3, 0);
	put64(&out->key, 4, ports | (uint64_t)IPPROTO_UDP << 32 | (uint64_t)ADDR_INET << 40);
	return true;
}

void
flow_classify(const struct rte_mbuf *m, struct flow_info *out)
{
	const uint8_t *d = shim_buf_data(m);
	uint32_t n = shim_buf_seg_len(m), at = ETH_HLEN;
	uint16_t type;

	if (plain4(d, n, out))
		return;
	out->kind = FLOW_OTHER;
	out->tcp_flags = 0;
	out->key_valid = false;
	if (n < ETH_HLEN)
		return;
	type = get_be16(d + 12);
	if (type == ETHERTYPE_VLAN) {
		if (n < ETH_HLEN + 4)
			return;
		type = get_be16(d + 16);
		at += 4;
	}
	if (type == ETHERTYPE_IP4)
		classify4(d + at, n - at, d[0] & 1, out);
	else if (type == ETHERTYPE_IP6)
		classify6(d + at, n - at, d[0] & 1, out);
	else if (type == ETHERTYPE_ARP)
		out->kind = FLOW_NEIGHBOUR;
}
