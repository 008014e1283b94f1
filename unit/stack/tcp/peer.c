/* SPDX-License-Identifier: BSD-3-Clause */
/* The tests' end of TCP connections: raw segments out and in, and the holders of control blocks. */
#include "peer.h"

#include <stdlib.h>

void __wrap_socket_tcp_event(struct stack *s, struct socket *so, uint32_t ev);

/* Sockets are not part of these tests: a control block's owner is an app. */
void
__wrap_socket_tcp_event(struct stack *s, struct socket *so, uint32_t ev)
{
	(void)s;
	assert_non_null(so);
	((struct app *)(void *)so)->events |= ev;
}

union ip_addr
world_us(const struct world *w)
{
	return w->family == ADDR_INET ? fx_a4("10.0.0.1") : fx_a6("2001:db8::1");
}

union ip_addr
world_peer(const struct world *w)
{
	return w->family == ADDR_INET ? fx_a4("10.0.0.2") : fx_a6("2001:db8::2");
}

struct world *
world_new(int family, const struct fx_opts *o)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->f = fx_new(o);
	w->s = w->f->s;
	w->family = family;
	w->mss = family == ADDR_INET ? 1460 : 1440;
	fx_know_peer(w->f);
	return w;
}

void
world_free(struct world *w)
{
	for (unsigned int i = 0; i < APPS; i++)
		if (w->app[i].p != NULL)
			app_close(w, &w->app[i]);
	fx_free(w->f);
	free(w);
}

int
tcp4_setup(void **state)
{
	*state = world_new(ADDR_INET, NULL);
	return 0;
}

int
tcp6_setup(void **state)
{
	*state = world_new(ADDR_INET6, NULL);
	return 0;
}

int
tcp_teardown(void **state)
{
	world_free(*state);
	return 0;
}

void
world_wait(struct world *w, uint64_t ms)
{
	fx_advance(w->f, ms * FX_MS);
}

void
world_quiet(struct world *w)
{
	struct seg s;

	if (world_get(w, &s))
		fail_msg("unexpected segment: flags %#x, %u bytes", s.flags, s.len);
}

void
world_quiet_for(struct world *w, uint64_t ms)
{
	world_wait(w, ms);
	world_quiet(w);
}

/* ---- applications ---------------------------------------------------------------------------- */

static struct app *
app_slot(struct world *w)
{
	for (unsigned int i = 0; i < APPS; i++)
		if (w->app[i].p == NULL) {
			w->app[i].events = 0;
			return &w->app[i];
		}
	fail_msg("too many applications");
	return NULL;
}

static struct socket *
token(struct app *a)
{
	return (struct socket *)(void *)a;
}

struct app *
app_new(struct world *w)
{
	struct app *a = app_slot(w);

	a->p = tcp_new(w->s, token(a), (uint8_t)w->family);
	assert_non_null(a->p);
	return a;
}

struct app *
app_listen(struct world *w, uint16_t port, int backlog)
{
	struct app *a = app_new(w);
	union ip_addr us = world_us(w);

	assert_int_equal(tcp_bind(w->s, a->p, w->family, &us, htons(port), NULL), 0);
	assert_int_equal(tcp_listen(w->s, a->p, backlog), 0);
	return a;
}

struct app *
app_connect(struct world *w, uint16_t port)
{
	struct app *a = app_new(w);
	union ip_addr to = world_peer(w);

	assert_int_equal(tcp_connect(w->s, a->p, w->family, &to, htons(port), NULL), -EINPROGRESS);
	return a;
}

struct app *
app_accept(struct world *w, struct app *listener)
{
	struct tcp_pcb *p = tcp_accept(w->s, listener->p);
	struct app *a;

	if (p == NULL)
		return NULL;
	a = app_slot(w);
	a->p = p;
	tcp_attach(p, token(a));
	return a;
}

static void
app_end(struct world *w, struct app *a, bool abort)
{
	struct tcp_pcb *p = a->p;

	assert_non_null(p);
	a->p = NULL;
	tcp_close(w->s, p, abort);
}

void
app_close(struct world *w, struct app *a)
{
	app_end(w, a, false);
}

void
app_abort(struct world *w, struct app *a)
{
	app_end(w, a, true);
}

ssize_t
app_write_buf(struct world *w, struct app *a, const void *b, uint32_t n, unsigned int flags)
{
	struct iovec v = { (void *)(uintptr_t)b, n };

	return tcp_write(w->s, a->p, &v, 1, flags);
}

ssize_t
app_write(struct world *w, struct app *a, uint32_t n)
{
	uint8_t *b = malloc(n + 1);
	ssize_t r;

	assert_non_null(b);
	for (uint32_t i = 0; i < n; i++)
		b[i] = (uint8_t)(i * 7 + (i >> 8));
	r = app_write_buf(w, a, b, n, 0);
	free(b);
	return r;
}

ssize_t
app_read(struct world *w, struct app *a, void *b, uint32_t n)
{
	struct iovec v = { b, n };

	return tcp_read(w->s, a->p, &v, 1, 0);
}

uint32_t
app_drain(struct world *w, struct app *a)
{
	uint8_t b[4096];
	uint32_t sum = 0;
	ssize_t n;

	while ((n = app_read(w, a, b, sizeof(b))) > 0)
		sum += (uint32_t)n;
	return sum;
}

void
app_opt(struct world *w, struct app *a, enum tcp_opt o, int64_t v)
{
	assert_int_equal(tcp_opt_set(w->s, a->p, o, v), 0);
}

void
knob(struct world *w, enum tcp_knob k, int64_t v)
{
	assert_int_equal(tcp_knob_set(w->s, k, v), 0);
}

uint64_t
events(const struct world *w, enum tcp_event e)
{
	return tcp_events(w->s, e);
}

enum tcp_fsm
fsm(const struct app *a)
{
	return tcp_fsm_of(a->p);
}

/* ---- segments -------------------------------------------------------------------------------- */

static uint32_t
tcp_pseudo(const struct world *w, const union ip_addr *src, const union ip_addr *dst, uint32_t n)
{
	uint32_t bytes = w->family == ADDR_INET ? 4 : 16;

	return (uint32_t)fx_sum(0, src->v6, bytes) + fx_sum(0, dst->v6, bytes) + 6 + n;
}

void
peer_init(struct world *w, struct peer *p, uint16_t port, uint16_t lport, uint32_t iss)
{
	memset(p, 0, sizeof(*p));
	p->w = w;
	p->port = port;
	p->lport = lport;
	p->iss = iss;
	p->nxt = 1;
	p->win = 65535;
}

void
peer_send_abs(struct peer *p, const struct seg *s)
{
	struct world *w = p->w;
	union ip_addr src = world_peer(w), dst = world_us(w);
	uint32_t hlen = 20u + s->nopts, n = hlen + s->len;
	uint8_t b[FX_FRAME_MAX];

	assert_true(s->nopts % 4 == 0 && s->nopts <= 40 && s->len <= SEG_DATA_MAX);
	put_be16(b, p->port);
	put_be16(b + 2, p->lport);
	put_be32(b + 4, s->seq);
	put_be32(b + 8, s->ack);
	b[12] = (uint8_t)(hlen / 4 << 4);
	b[13] = s->flags;
	put_be16(b + 14, s->win);
	put_be16(b + 16, 0);
	put_be16(b + 18, s->urg);
	memcpy(b + 20, s->opts, s->nopts);
	if (s->len > 0)
		memcpy(b + hlen, s->data, s->len);
	put_be16(b + 16, (uint16_t)~fx_sum(tcp_pseudo(w, &src, &dst, n), b, n));
	if (w->family == ADDR_INET)
		fx_rx_ip4(w->f, &(struct fx_ip4){ .proto = 6, .tos = s->tos }, b, n);
	else
		fx_rx_ip6(w->f, &(struct fx_ip6){ .next = 6, .tc = s->tos }, b, n);
}

void
peer_raw(struct peer *p, uint8_t flags, uint32_t seq, uint32_t ack, uint32_t n)
{
	struct seg s = { .flags = flags, .seq = p->iss + seq, .win = p->win, .len = n };
	uint8_t data[SEG_DATA_MAX];

	assert_true(n <= SEG_DATA_MAX);
	for (uint32_t i = 0; i < n; i++)
		data[i] = (uint8_t)((seq + i) * 11 + ((seq + i) >> 8));
	s.data = data;
	if ((flags & A) != 0)
		s.ack = p->irs + ack;
	if (p->ts) {
		memcpy(s.opts, "\x01\x01\x08\x0a", 4);
		put_be32(s.opts + 4, p->tsval);
		put_be32(s.opts + 8, p->tsecr);
		s.nopts = 12;
	}
	peer_send_abs(p, &s);
}

void
peer_data(struct peer *p, uint32_t n)
{
	peer_raw(p, P | A, p->nxt, p->acked, n);
	p->nxt += n;
}

void
peer_ack(struct peer *p, uint32_t ack)
{
	p->acked = ack;
	peer_raw(p, A, p->nxt, ack, 0);
}

void
peer_syn(struct peer *p, uint8_t flags, const void *opts, uint8_t nopts)
{
	struct seg s = { .flags = flags, .seq = p->iss, .win = p->win, .nopts = nopts };

	if ((flags & A) != 0)
		s.ack = p->irs + 1;
	memcpy(s.opts, opts, nopts);
	peer_send_abs(p, &s);
}

static void
read_options(struct seg *s)
{
	const uint8_t *o = s->opts;

	s->wscale = -1;
	for (uint32_t i = 0; i < s->nopts && o[i] != 0;) {
		if (o[i] == 1) {
			i++;
			continue;
		}
		assert_true(i + 1u < s->nopts && o[i + 1] >= 2 && i + o[i + 1] <= s->nopts);
		if (o[i] == 2 && o[i + 1] == 4)
			s->mss = get_be16(o + i + 2);
		if (o[i] == 3 && o[i + 1] == 3)
			s->wscale = o[i + 2];
		if (o[i] == 4 && o[i + 1] == 2)
			s->sackok = true;
		if (o[i] == 8 && o[i + 1] == 10) {
			s->ts = true;
			s->tsval = get_be32(o + i + 2);
			s->tsecr = get_be32(o + i + 6);
		}
		for (uint32_t k = 2; o[i] == 5 && k + 8 <= o[i + 1]; k += 8, s->nsack++) {
			s->sack[s->nsack][0] = get_be32(o + i + k);
			s->sack[s->nsack][1] = get_be32(o + i + k + 4);
		}
		i += o[i + 1];
	}
}

static void
read_segment(const struct world *w, const struct fx_pkt *k, struct seg *s)
{
	const uint8_t *h = k->l4;
	union ip_addr us = world_us(w), peer = world_peer(w);
	uint32_t hlen;

	assert_int_equal(k->family, w->family);
	assert_true(ip_addr_eq(&k->src, &us) && ip_addr_eq(&k->dst, &peer));
	assert_true(k->l4_len >= 20);
	if ((k->ol_flags & RTE_MBUF_F_TX_L4_MASK) == 0)
		assert_int_equal(fx_sum(tcp_pseudo(w, &us, &peer, k->l4_len), h, k->l4_len), 0xffff);
	if (w->family == ADDR_INET)
		assert_true((k->frag & 0x3fff) == 0); /* TCP is never fragmented here */
	memset(s, 0, offsetof(struct seg, buf));
	memset(&s->mss, 0, sizeof(*s) - offsetof(struct seg, mss));
	hlen = (h[12] >> 4) * 4u;
	assert_true(hlen >= 20 && hlen <= k->l4_len);
	s->sport = get_be16(h);
	s->dport = get_be16(h + 2);
	s->seq = get_be32(h + 4);
	s->ack = get_be32(h + 8);
	s->flags = h[13];
	s->win = get_be16(h + 14);
	s->urg = get_be16(h + 18);
	s->nopts = (uint8_t)(hlen - 20);
	memcpy(s->opts, h + 20, s->nopts);
	s->len = k->l4_len - hlen;
	assert_true(s->len <= SEG_DATA_MAX);
	memcpy(s->buf, h + hlen, s->len);
	s->data = s->buf;
	s->tos = k->tos;
	read_options(s);
}

bool
world_get(struct world *w, struct seg *s)
{
	struct fx_pkt *k = malloc(sizeof(*k));
	bool found = false;

	assert_non_null(k);
	while (!found && fx_pop(w->f, k)) {
		if (k->family == 0 || k->proto != 6)
			continue;
		read_segment(w, k, s);
		found = true;
	}
	free(k);
	return found;
}

void
peer_expect(struct peer *p, uint8_t flags, uint32_t seq, uint32_t n, uint32_t ack, struct seg *s)
{
	if (!world_get(p->w, s))
		fail_msg("no segment; expected flags %#x seq %u", flags, seq);
	assert_int_equal(s->sport, p->lport);
	assert_int_equal(s->dport, p->port);
	if ((s->flags & S) != 0)
		p->irs = s->seq;
	s->seq -= p->irs;
	if ((s->flags & A) != 0)
		s->ack -= p->iss;
	if (((s->flags ^ flags) & ~P) != 0 || s->seq != seq || s->len != n || ((flags & A) != 0 && s->ack != ack))
		fail_msg("flags %#x seq %u len %u ack %u; expected flags %#x seq %u len %u ack %u", s->flags, s->seq, s->len, s->ack,
			flags, seq, n, ack);
	if (s->ts)
		p->tsecr = s->tsval;
}

void
peer_see(struct peer *p, uint8_t flags, uint32_t seq, uint32_t n, uint32_t ack)
{
	struct seg s;

	peer_expect(p, flags, seq, n, ack, &s);
}

struct app *
peer_open(struct peer *p, struct app *listener, const void *opts, uint8_t nopts)
{
	struct app *a;
	struct seg s;

	peer_syn(p, S, opts, nopts);
	peer_expect(p, S | A, 0, 0, 1, &s);
	p->ts = s.ts;
	p->tsval = 800;
	world_wait(p->w, 100);
	peer_ack(p, 1);
	a = app_accept(p->w, listener);
	assert_non_null(a);
	assert_int_equal(fsm(a), TCP_ESTABLISHED);
	return a;
}

static struct app *
open_with(struct world *w, struct peer *p, const void *opts, uint8_t nopts)
{
	struct app *l = app_listen(w, 80, 1), *a;

	peer_init(w, p, 4000, 80, 1000);
	a = peer_open(p, l, opts, nopts);
	app_close(w, l);
	world_quiet(w);
	return a;
}

struct app *
open_plain(struct world *w, struct peer *p)
{
	return open_with(w, p, MSS_1000, LEN(MSS_1000));
}

struct app *
open_sack(struct world *w, struct peer *p)
{
	return open_with(w, p, MSS_1000_SACK, LEN(MSS_1000_SACK));
}

struct app *
open_active(struct world *w, struct peer *p)
{
	struct app *a = app_connect(w, 4000);
	struct tcp_addr us;

	tcp_local(a->p, &us);
	peer_init(w, p, 4000, ntohs(us.port_be), 1000);
	peer_see(p, S, 0, 0, 0);
	world_wait(w, 100);
	peer_syn(p, S | A, MSS_1000, LEN(MSS_1000));
	p->acked = 1;
	peer_see(p, A, 1, 0, 1);
	assert_int_equal(fsm(a), TCP_ESTABLISHED);
	return a;
}
