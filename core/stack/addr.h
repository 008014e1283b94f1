/* SPDX-License-Identifier: BSD-3-Clause */
/* IP addresses as they stand in packets (network order), one type for both families. */
#ifndef NONIC_STACK_ADDR_H
#define NONIC_STACK_ADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ADDR_INET 4  /* the family numbers used inside: the IP version */
#define ADDR_INET6 6

/* 16 bytes; an IPv4 address uses v4 and the other 12 bytes are zero, so whole values compare equal. */
union ip_addr {
	uint32_t v4; /* network order */
	uint8_t v6[16];
	uint32_t w[4];
	uint64_t q[2];
};

static inline union ip_addr
ip_addr_v4(uint32_t be)
{
	union ip_addr a = { .q = { 0, 0 } };

	a.v4 = be;
	return a;
}

static inline union ip_addr
ip_addr_v6(const void *bytes)
{
	union ip_addr a;

	memcpy(a.v6, bytes, 16);
	return a;
}

static inline bool
ip_addr_eq(const union ip_addr *a, const union ip_addr *b)
{
	return a->q[0] == b->q[0] && a->q[1] == b->q[1];
}

static inline bool
ip_addr_any(const union ip_addr *a)
{
	return (a->q[0] | a->q[1]) == 0;
}

static inline bool
ip4_multicast(uint32_t be)
{
	return (be & 0xf0) == 0xe0;
}

static inline bool
ip4_loopback(uint32_t be)
{
	return (be & 0xff) == 127;
}

static inline bool
ip6_multicast(const union ip_addr *a)
{
	return a->v6[0] == 0xff;
}

static inline bool
ip6_link_local(const union ip_addr *a)
{
	return a->v6[0] == 0xfe && (a->v6[1] & 0xc0) == 0x80;
}

static inline bool
ip6_loopback(const union ip_addr *a)
{
	static const uint8_t one[16] = { [15] = 1 };

	return memcmp(a->v6, one, 16) == 0;
}

static inline bool
ip6_v4_mapped(const union ip_addr *a)
{
	return a->q[0] == 0 && a->w[2] == 0xffff0000u; /* ::ffff:0:0/96, little-endian load */
}

#endif
