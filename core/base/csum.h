/* SPDX-License-Identifier: BSD-3-Clause */
/* The Internet checksum (RFC 1071, RFC 1624), over flat bytes and over buffer chains. */
#ifndef NONIC_BASE_CSUM_H
#define NONIC_BASE_CSUM_H

#include <stddef.h>
#include <stdint.h>

struct rte_mbuf;

/* Adds n bytes to a running 64-bit one's complement sum (native byte order; start with 0). */
uint64_t csum_add(uint64_t sum, const void *data, size_t n);
/* The same over len bytes of a chain from offset off; the chain is at least off + len long. */
uint64_t csum_add_chain(uint64_t sum, const struct rte_mbuf *m, uint32_t off, uint32_t len);
/* Folds the sum to the 16 bits as they stand in memory, not complemented. */
static inline uint16_t
csum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}
/* The value for a header's checksum field (as it stands in memory). */
static inline uint16_t
csum_finish(uint64_t sum)
{
	return (uint16_t)~csum_fold(sum);
}
/* Pseudo-header sums; addresses as they stand in memory, len the upper layer's length in host order. */
uint64_t csum_pseudo4(uint32_t src_be, uint32_t dst_be, uint8_t proto, uint16_t len);
uint64_t csum_pseudo6(const uint8_t src[16], const uint8_t dst[16], uint8_t proto, uint32_t len);

#endif
