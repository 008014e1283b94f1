/* SPDX-License-Identifier: BSD-3-Clause */
/* The DNS-shaped responder. */
#include "dns.h"

#include <string.h>

#define HEADER 12
#define NAME_MAX_LEN 255   /* RFC 1035 2.3.4 */
#define FLAG_QR 0x80
#define FLAG_AA 0x04
#define FLAG_RD 0x01
#define RCODE_FORMERR 1
#define RCODE_NOTIMP 4
#define TYPE_A 1
#define TYPE_TXT 16
#define TYPE_AAAA 28
#define CLASS_IN 1
#define CLASS_ANY 255
#define TTL 60

static void
put16(uint8_t *p, unsigned int v)
{
	p[0] = v >> 8;
	p[1] = v & 0xff;
}

static unsigned int
get16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

/* Length of the question's name from off, its end included, or 0: malformed. A question has nothing before it that a
 * compression pointer could point at, so a pointer is malformed too. */
static size_t
name_len(const uint8_t *q, size_t n, size_t off)
{
	size_t at = off;

	for (;;) {
		if (at >= n || q[at] > 63)
			return 0;
		if (q[at] == 0)
			return at + 1 - off <= NAME_MAX_LEN ? at + 1 - off : 0;
		at += 1 + q[at];
	}
}

/* The record's data of a type; NULL: there is none. */
static const uint8_t *
record(unsigned int type, size_t *len)
{
	static const uint8_t a[] = { 192, 0, 2, 53 };
	static const uint8_t aaaa[] = { 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x53 };
	static const uint8_t txt[] = { 5, 'n', 'o', 'n', 'i', 'c' };

	switch (type) {
	case TYPE_A:
		*len = sizeof(a);
		return a;
	case TYPE_AAAA:
		*len = sizeof(aaaa);
		return aaaa;
	case TYPE_TXT:
		*len = sizeof(txt);
		return txt;
	default:
		return NULL;
	}
}

/* The header alone: id, opcode and RD of the query, and the code. */
static size_t
refuse(const uint8_t *q, uint8_t *out, unsigned int rcode)
{
	memset(out, 0, HEADER);
	memcpy(out, q, 2);
	out[2] = FLAG_QR | (q[2] & 0x79); /* opcode and RD */
	out[3] = rcode;
	return HEADER;
}

size_t
dns_answer(const uint8_t *query, size_t n, uint8_t *out)
{
	const uint8_t *data = NULL;
	unsigned int type, class;
	size_t name, len = 0, at;

	if (n < HEADER || (query[2] & FLAG_QR))
		return 0;
	if ((query[2] >> 3 & 0xf) != 0)
		return refuse(query, out, RCODE_NOTIMP);
	name = name_len(query, n, HEADER);
	if (get16(query + 4) != 1 || get16(query + 6) != 0 || name == 0 || n - HEADER - name < 4)
		return refuse(query, out, RCODE_FORMERR);
	type = get16(query + HEADER + name);
	class = get16(query + HEADER + name + 2);
	at = HEADER + name + 4;
	memset(out, 0, HEADER);
	memcpy(out + HEADER, query + HEADER, name + 4);
	memcpy(out, query, 2);
	out[2] = FLAG_QR | FLAG_AA | (query[2] & FLAG_RD);
	put16(out + 4, 1);
	if (class == CLASS_IN || class == CLASS_ANY)
		data = record(type, &len);
	if (data == NULL)
		return at;
	put16(out + 6, 1);
	put16(out + at, 0xc000 | HEADER); /* the question's name */
	put16(out + at + 2, type);
	put16(out + at + 4, CLASS_IN);
	put16(out + at + 6, 0);
	put16(out + at + 8, TTL);
	put16(out + at + 10, len);
	memcpy(out + at + 12, data, len);
	return at + 12 + len;
}
