/* SPDX-License-Identifier: BSD-3-Clause */
/* Byte order and unaligned access. "be" values are in network order in memory. */
#ifndef NONIC_BASE_BYTES_H
#define NONIC_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "nonic is written for little-endian machines"
#endif

#define htobe16c(x) ((uint16_t)((((x) & 0xffu) << 8) | (((x) >> 8) & 0xffu))) /* constants */

static inline uint16_t
be16(uint16_t v)
{
	return __builtin_bswap16(v);
}

static inline uint32_t
be32(uint32_t v)
{
	return __builtin_bswap32(v);
}

/* Host-order value of n big-endian bytes at p, any alignment. */
static inline uint16_t
get_be16(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap16(v);
}

static inline uint32_t
get_be32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap32(v);
}

static inline void
put_be16(void *p, uint16_t v)
{
	v = __builtin_bswap16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void
put_be32(void *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, sizeof(v));
}

#endif
