/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP's bytes: lists of buffer segments to send and to be read, and chains that came out of order. */
#include "tcp_priv.h"

#define COPY_SMALL 512   /* a received segment up to this is copied behind the one before when that has room */
#define OOO_CHAINS_MAX 4096
#define GAP_OFF 64       /* second cache line of the headroom, as sockets do */

/* Facts of a chain that came out of order, in its first buffer's headroom, as struct dgram's are. */
struct tcp_gap {
	struct rte_mbuf *next; /* chain */
	struct rte_mbuf *head, *last; /* this chain's first and last segment */
	uint32_t seq, len;
	uint16_t bufs;
	bool fin;
};
_Static_assert(sizeof(struct tcp_gap) <= SHIM_HEADROOM - GAP_OFF, "fits the headroom");

static struct tcp_gap *
gap_of(const struct rte_mbuf *m)
{
	return (struct tcp_gap *)((char *)m->buf_addr + GAP_OFF);
}

static void
free_one(struct stack *s, struct rte_mbuf *m)
{
	m->next = NULL;
	m->nb_segs = 1;
	shim_buf_free(s->shim, m);
}

void
tcp_queue_free(struct stack *s, struct tcp_queue *q)
{
	tcp_queue_drop(s, q, q->bytes);
}

void
tcp_queue_put(struct stack *s, struct tcp_queue *q, struct rte_mbuf *m)
{
	struct rte_mbuf *next;

	for (; m != NULL; m = next) {
		next = m->next;
		if (m->data_len == 0) {
			free_one(s, m);
			continue;
		}
		m->next = NULL;
		m->nb_segs = 1;
		m->pkt_len = m->data_len;
		if (q->head == NULL)
			q->head = m;
		else
			q->tail->next = m;
		q->tail = m;
		q->bytes += m->data_len;
		q->bufs++;
	}
}

void
tcp_queue_drop(struct stack *s, struct tcp_queue *q, uint32_t n)
{
	q->bytes -= n;
	while (q->head != NULL && n >= q->head->data_len) {
		struct rte_mbuf *m = q->head;

		n -= m->data_len;
		q->head = m->next;
		q->bufs--;
		free_one(s, m);
	}
	if (q->head == NULL) {
		q->tail = NULL;
	} else if (n != 0) {
		q->head->data_off += (uint16_t)n;
		q->head->data_len -= (uint16_t)n;
		q->head->pkt_len = q->head->data_len;
	}
}

void
tcp_queue_copy(const struct rte_mbuf *m, uint32_t off, uint32_t n, uint8_t *dst)
{
	while (off != 0 && off >= m->data_len) {
		off -= m->data_len;
		m = m->next;
	}
	for (; n != 0; m = m->next) {
		uint32_t k = m->data_len - off < n ? m->data_len - off : n;

		memcpy(dst, shim_buf_data_off(m, const uint8_t *, off), k);
		dst += k;
		n -= k;
		off = 0;
	}
}

static bool
is_ours(const struct rte_mbuf *m)
{
	return RTE_MBUF_DIRECT(m) && rte_mbuf_refcnt_read(m) == 1;
}

void
tcp_rcv_append(struct stack *s, struct tcp_pcb *p, struct rte_mbuf *m)
{
	struct rte_mbuf *last = p->rq.tail;
	uint32_t n = shim_buf_len(m);

	p->bytes_received += n;
	if (unlikely(p->rd_shut)) { /* acknowledged like any other, but nobody will read it */
		shim_buf_free(s->shim, m);
		return;
	}
	if (n <= COPY_SMALL && last != NULL && is_ours(last) && rte_pktmbuf_tailroom(last) >= n) {
		if (n != 0)
			tcp_queue_copy(m, 0, n, shim_buf_data_off(last, uint8_t *, last->data_len));
		last->data_len += (uint16_t)n;
		last->pkt_len = last->data_len;
		p->rq.bytes += n;
		shim_buf_free(s->shim, m);
		return;
	}
	tcp_queue_put(s, &p->rq, m);
}

/* ---- out of order ------------------------------------------------------------------------------ */

static void
gap_unlink(struct tcp_pcb *p, struct rte_mbuf **at)
{
	struct rte_mbuf *m = *at;
	const struct tcp_gap *g = gap_of(m);

	*at = g->next;
	p->ooo_bytes -= g->len;
	p->ooo_bufs -= g->bufs;
	p->ooo_n--;
}

void
tcp_ooo_free(struct stack *s, struct tcp_pcb *p)
{
	while (p->ooo != NULL) {
		struct rte_mbuf *m = p->ooo;

		gap_unlink(p, &p->ooo);
		shim_buf_free(s->shim, m);
	}
}

/* The window bounds the bytes; this bounds what buffers they are in: as many as would hold the window, and some. */
static bool
ooo_full(const struct tcp_pcb *p, unsigned int more)
{
	return p->ooo_n >= OOO_CHAINS_MAX || p->ooo_bufs + more > 64 + p->rcv_buf / 512 || p->ooo_bufs + more > UINT16_MAX;
}

/* Cuts m to what is not there yet, [*seq, *seq + len). false: nothing is left. Chains that m covers whole go. */
static bool
ooo_cut(struct stack *s, struct tcp_pcb *p, struct rte_mbuf ***at, uint32_t *seq, bool *fin, struct rte_mbuf **m)
{
	uint32_t len = shim_buf_len(*m), end = *seq + len;
	struct rte_mbuf **i = *at;

	for (; *i != NULL; i = &gap_of(*i)->next) {
		const struct tcp_gap *g = gap_of(*i);

		if (seq_lt(*seq, g->seq))
			break;
		if (seq_lt(*seq, g->seq + g->len) || (*seq == g->seq && len == 0)) {
			uint32_t over = g->seq + g->len - *seq;

			p->dsack_start = *seq;
			p->dsack_end = over >= len ? end : *seq + over;
			if (over >= len && !(*fin && !g->fin && g->seq + g->len == end))
				return false;
			if (over >= len)
				over = len;
			*m = ip_strip(s, *m, over);
			*seq += over;
			len -= over;
		}
	}
	*at = i;
	while (*i != NULL && seq_le(gap_of(*i)->seq + gap_of(*i)->len, end) && !(gap_of(*i)->fin && !*fin) && len != 0) {
		struct rte_mbuf *old = *i;

		gap_unlink(p, i);
		shim_buf_free(s->shim, old);
	}
	if (*i != NULL && seq_lt(gap_of(*i)->seq, end)) {
		ip_trim(s, *m, gap_of(*i)->seq - *seq);
		*fin = false;
	}
	return true;
}

/* Chain m, of gap g, goes to the end of the chain before it, which it follows without a gap: there are as many chains as holes. */
static void
gap_join(struct tcp_gap *prev, const struct tcp_gap *g)
{
	prev->last->next = g->head;
	prev->last = g->last;
	prev->head->nb_segs += g->bufs;
	prev->head->pkt_len += g->len;
	prev->len += g->len;
	prev->bufs += g->bufs;
	prev->fin = g->fin;
	prev->next = g->next;
}

/* The chain at *at is new: joins it with its neighbours. */
static void
gap_close(struct tcp_pcb *p, struct rte_mbuf **at)
{
	struct tcp_gap *g = gap_of(*at), *prev;

	if (at != &p->ooo) {
		prev = (struct tcp_gap *)((char *)at - offsetof(struct tcp_gap, next));
		if (prev->seq + prev->len == g->seq && !prev->fin) {
			gap_join(prev, g);
			p->ooo_n--;
			g = prev;
		}
	}
	if (g->next != NULL && g->seq + g->len == gap_of(g->next)->seq && !g->fin) {
		gap_join(g, gap_of(g->next));
		p->ooo_n--;
	}
}

bool
tcp_ooo_add(struct stack *s, struct tcp_pcb *p, uint32_t seq, bool fin, struct rte_mbuf *m)
{
	struct rte_mbuf **at = &p->ooo;
	struct tcp_gap *g;

	memmove(p->ooo_recent + 1, p->ooo_recent, sizeof(p->ooo_recent) - sizeof(p->ooo_recent[0]));
	p->ooo_recent[0] = seq;
	if (!ooo_cut(s, p, &at, &seq, &fin, &m)) {
		shim_buf_free(s->shim, m);
		return true;
	}
	if (ooo_full(p, m->nb_segs)) {
		shim_buf_free(s->shim, m);
		return false;
	}
	g = gap_of(m);
	*g = (struct tcp_gap){ *at, m, rte_pktmbuf_lastseg(m), seq, shim_buf_len(m), m->nb_segs, fin };
	*at = m;
	p->ooo_bytes += g->len;
	p->ooo_bufs += g->bufs;
	p->ooo_n++;
	gap_close(p, at);
	return true;
}

bool
tcp_ooo_take(struct stack *s, struct tcp_pcb *p)
{
	while (p->ooo != NULL && seq_le(gap_of(p->ooo)->seq, p->rcv_nxt)) {
		struct rte_mbuf *m = p->ooo;
		uint32_t len = gap_of(m)->len, old = p->rcv_nxt - gap_of(m)->seq;
		bool fin = gap_of(m)->fin;

		gap_unlink(p, &p->ooo);
		if (old > len || (old == len && !fin)) {
			shim_buf_free(s->shim, m);
			continue;
		}
		m = ip_strip(s, m, old);
		p->rcv_nxt += len - old;
		tcp_rcv_append(s, p, m);
		if (fin)
			return true;
	}
	return false;
}

/* The block that begins with chain m: adjacent chains are one. Returns the chain behind it. */
static struct rte_mbuf *
block_at(const struct rte_mbuf *m, uint32_t *start, uint32_t *end)
{
	*start = gap_of(m)->seq;
	*end = *start + gap_of(m)->len;
	for (m = gap_of(m)->next; m != NULL && gap_of(m)->seq == *end; m = gap_of(m)->next)
		*end += gap_of(m)->len;
	return (struct rte_mbuf *)m;
}

static bool
is_in(uint32_t start, uint32_t (*out)[2], unsigned int n)
{
	while (n-- > 0)
		if (out[n][0] == start)
			return true;
	return false;
}

/* RFC 2018 4: first the block that the latest segment is in, then those that were reported last, then any. */
unsigned int
tcp_ooo_blocks(struct tcp_pcb *p, unsigned int max, uint32_t (*out)[2])
{
	uint32_t start, end;
	unsigned int n = 0;

	for (unsigned int i = 0; i <= TCP_SACK_MAX; i++) {
		for (const struct rte_mbuf *m = p->ooo; m != NULL && n < max;) {
			m = block_at(m, &start, &end);
			if (start == end || is_in(start, out, n)) /* a FIN alone */
				continue;
			if (i < TCP_SACK_MAX && !(seq_le(start, p->ooo_recent[i]) && seq_lt(p->ooo_recent[i], end)))
				continue;
			out[n][0] = start;
			out[n++][1] = end;
		}
	}
	for (unsigned int i = 0; i < n; i++)
		p->ooo_recent[i] = out[i][0];
	return n;
}
