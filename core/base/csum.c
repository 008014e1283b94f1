/* SPDX-License-Identifier: BSD-3-Clause */
/* The Internet checksum: wide adds over flat bytes, byte-swapped partial sums over chains. */
#include "csum.h"

#include <string.h>

#include "../../shim/buf.h"
#include "bytes.h"

typedef uint64_t csum_vec __attribute__((vector_size(16)));

static inline uint64_t
add_carry(uint64_t a, uint64_t b)
{
	a += b;
	return a + (a < b);
}

static inline uint64_t
load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/*
 * 64 bytes a round. The 32-bit halves are summed in 64-bit lanes, which can not overflow below 2^32
 * rounds, so that no carry has to be carried inside the loop.
 */
static uint64_t
sum_blocks(uint64_t sum, const uint8_t *p, size_t blocks)
{
	const csum_vec low = { 0xffffffff, 0xffffffff };
	csum_vec a = { 0, 0 }, b = { 0, 0 }, v[4];

	for (; blocks > 0; blocks--, p += 64) {
		memcpy(v, p, 64);
		a += (v[0] & low) + (v[1] & low);
		b += (v[0] >> 32) + (v[1] >> 32);
		a += (v[2] & low) + (v[3] & low);
		b += (v[2] >> 32) + (v[3] >> 32);
	}
	a += b;
	return add_carry(sum, add_carry(a[0], a[1]));
}

uint64_t
csum_add(uint64_t sum, const void *data, size_t n)
{
	const uint8_t *p = data;
	uint64_t tail = 0;

	if (n >= 64) {
		size_t blocks = n / 64;

		sum = sum_blocks(sum, p, blocks);
		p += blocks * 64;
		n -= blocks * 64;
	}
	for (; n >= 16; n -= 16, p += 16) {
		sum = add_carry(sum, load64(p));
		sum = add_carry(sum, load64(p + 8));
	}
	if (n & 8) {
		sum = add_carry(sum, load64(p));
		p += 8;
	}
	/* Pieces at even offsets need no shift: a 16-bit word weighs the same in every place of the sum. */
	if (n & 4) {
		uint32_t v;

		memcpy(&v, p, sizeof(v));
		tail += v;
		p += 4;
	}
	if (n & 2) {
		uint16_t v;

		memcpy(&v, p, sizeof(v));
		tail += v;
		p += 2;
	}
	if (n & 1)
		tail += *p; /* the byte that is missing counts as zero (RFC 1071) */
	return add_carry(sum, tail);
}

uint64_t
csum_add_chain(uint64_t sum, const struct rte_mbuf *m, uint32_t off, uint32_t len)
{
	bool odd = false;

	while (m != NULL && off >= shim_buf_seg_len(m)) {
		off -= shim_buf_seg_len(m);
		m = m->next;
	}
	while (m != NULL && len > 0) {
		uint32_t n = shim_buf_seg_len(m) - off;
		const uint8_t *p = rte_pktmbuf_mtod_offset(m, const uint8_t *, off);

		if (n > len)
			n = len;
		if (odd) /* bytes of this part stand in the other half of their 16-bit words */
			sum = add_carry(sum, be16(csum_fold(csum_add(0, p, n))));
		else
			sum = csum_add(sum, p, n);
		odd ^= n & 1;
		len -= n;
		off = 0;
		m = m->next;
	}
	return sum;
}
