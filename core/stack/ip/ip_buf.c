/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffer chains as IP needs them: headers made contiguous, cut, put in front, flattened. */
#include "../priv.h"

static bool
is_ours(const struct rte_mbuf *m)
{
	return RTE_MBUF_DIRECT(m) && rte_mbuf_refcnt_read(m) == 1;
}

void
ip_cut_head(struct rte_mbuf *m, uint32_t n)
{
	struct rte_mbuf *seg;

	m->pkt_len -= n;
	for (seg = m; seg != NULL && n > 0; seg = seg->next) {
		uint16_t k = n < seg->data_len ? (uint16_t)n : seg->data_len;

		seg->data_off += k;
		seg->data_len -= k;
		n -= k;
	}
}

struct rte_mbuf *
ip_strip(struct stack *s, struct rte_mbuf *m, uint32_t n)
{
	struct rte_mbuf *next;

	ip_cut_head(m, n);
	while (unlikely(m->data_len == 0) && (next = m->next) != NULL) {
		next->pkt_len = m->pkt_len;
		next->nb_segs = m->nb_segs - 1;
		m->next = NULL;
		m->nb_segs = 1;
		m->pkt_len = 0;
		shim_buf_free(s->shim, m);
		m = next;
	}
	return m;
}

void
ip_trim(struct stack *s, struct rte_mbuf *m, uint32_t len)
{
	struct rte_mbuf *seg = m;
	uint32_t left = len;
	uint16_t segs = 1;

	m->pkt_len = len;
	while (left > seg->data_len && seg->next != NULL) {
		left -= seg->data_len;
		seg = seg->next;
		segs++;
	}
	seg->data_len = (uint16_t)left;
	if (seg->next != NULL) {
		/* The rest is a chain of its own from here on. */
		seg->next->nb_segs = m->nb_segs - segs;
		seg->next->pkt_len = 0;
		shim_buf_free(s->shim, seg->next);
		seg->next = NULL;
	}
	m->nb_segs = segs;
}

/* Frees the empty segments that follow m's first. */
static void
drop_empty(struct stack *s, struct rte_mbuf *m)
{
	struct rte_mbuf *seg;

	while ((seg = m->next) != NULL && seg->data_len == 0) {
		m->next = seg->next;
		m->nb_segs--;
		seg->next = NULL;
		seg->nb_segs = 1;
		seg->pkt_len = 0;
		shim_buf_free(s->shim, seg);
	}
}

/* Copies n bytes from off of the chain to dst; the chain is long enough. */
static void
copy_out(const struct rte_mbuf *m, uint32_t off, uint32_t n, uint8_t *dst)
{
	for (; n > 0; m = m->next) {
		uint32_t k;

		if (off >= m->data_len) {
			off -= m->data_len;
			continue;
		}
		k = m->data_len - off < n ? m->data_len - off : n;
		memcpy(dst, shim_buf_data_off(m, const uint8_t *, off), k);
		dst += k;
		n -= k;
		off = 0;
	}
}

/* A new first segment with the first n bytes of m, m's remaining ones behind it. */
static struct rte_mbuf *
new_head(struct stack *s, struct rte_mbuf *m, uint32_t n)
{
	struct rte_mbuf *h = stack_buf(s);
	uint8_t *p = NULL;

	if (h != NULL && (p = shim_buf_append(h, (uint16_t)n)) == NULL)
		stack_count(s, STACK_DROP_NO_BUFFER);
	if (p == NULL) {
		shim_buf_free(s->shim, h);
		shim_buf_free(s->shim, m);
		return NULL;
	}
	copy_out(m, 0, n, p);
	h->ol_flags = m->ol_flags & ~IP_MEMORY_FLAGS;
	h->tx_offload = m->tx_offload;
	h->packet_type = m->packet_type;
	h->vlan_tci = m->vlan_tci;
	h->port = m->port;
	h->hash = m->hash;
	ip_cut_head(m, n);
	h->next = m;
	h->nb_segs = m->nb_segs + 1;
	h->pkt_len = n + m->pkt_len;
	drop_empty(s, h);
	return h;
}

struct rte_mbuf *
ip_pullup(struct stack *s, struct rte_mbuf *m, uint32_t n, bool write)
{
	uint32_t more;

	if (m->data_len >= n && (!write || is_ours(m)))
		return m;
	/* When all n bytes are there but shared, copying only them is right too. */
	if (m->data_len >= n || !is_ours(m) || rte_pktmbuf_tailroom(m) < n - m->data_len)
		return new_head(s, m, n);
	more = n - m->data_len;
	copy_out(m->next, 0, more, shim_buf_data_off(m, uint8_t *, m->data_len));
	m->next->pkt_len = 0; /* of no meaning in a later segment, but ip_cut_head counts it */
	ip_cut_head(m->next, more);
	m->next->pkt_len = 0;
	m->data_len += (uint16_t)more;
	drop_empty(s, m);
	return m;
}

struct rte_mbuf *
ip_prepend(struct stack *s, struct rte_mbuf *m, uint16_t n)
{
	struct rte_mbuf *h;

	/* The link header follows: it wants its room too, or it would need one more buffer. */
	if (likely(is_ours(m) && shim_buf_headroom(m) >= n + ETH_HLEN + 4)) {
		shim_buf_prepend(m, n);
		return m;
	}
	h = new_head(s, m, 0);
	if (h == NULL)
		return NULL;
	h->data_off -= n;
	h->data_len = n;
	h->pkt_len += n;
	return h;
}

struct rte_mbuf *
ip_flatten(struct stack *s, const struct netif *nif, struct rte_mbuf *m)
{
	uint32_t len = shim_buf_len(m);
	struct rte_mbuf *one;
	uint8_t *p = NULL;

	if (likely(m->nb_segs == 1) || (nif->cfg.tx_offloads & SHIM_TX_MULTI_SEGS) != 0)
		return m;
	one = stack_buf(s);
	if (one != NULL && len <= UINT16_MAX)
		p = shim_buf_append(one, (uint16_t)len);
	if (one != NULL && p == NULL)
		stack_count(s, STACK_DROP_NO_BUFFER);
	if (p == NULL) {
		shim_buf_free(s->shim, one);
		shim_buf_free(s->shim, m);
		return NULL;
	}
	copy_out(m, 0, len, p);
	one->ol_flags = m->ol_flags & ~IP_MEMORY_FLAGS;
	one->tx_offload = m->tx_offload;
	shim_buf_free(s->shim, m);
	return one;
}
