/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The peer: lwIP's raw API (Debian's liblwip), client and server joined by an in-memory wire, one thread; built as
 * udp_lwip.c is.
 *
 * lwIP is one stack a process. So that each side searches its own control blocks only, as two stacks would, the lists
 * of them are changed when the side is (use). Time is virtual: TCP's two timers are called when it has come to that.
 *
 * A segment stays with its sender until it is acknowledged, and lwIP's input turns the header's fields round in place:
 * so a wire has to copy. The first one copies what is short, and of long frames the headers only: the receiver gets
 * the sender's own payload, and has let go of it before it acknowledges it. The second one copies all, as lwIP's usual
 * drivers do.
 */
#include <stdio.h>
#include <string.h>

#include <lwip/init.h>
#include <lwip/netif.h>
#include <lwip/pbuf.h>
#include <lwip/priv/tcp_priv.h>
#include <lwip/tcp.h>
#include <netif/etharp.h>

#include "bench_tcp.h"

#define SERVER_PORT 7
#define CLIENT 0
#define SERVER 1
#define HEADERS 54   /* Ethernet, IP, TCP without options */
#define BY_REFERENCE 256 /* frames from this length on: below, copying costs less than a second pbuf */

struct wire {
	struct pbuf *q[BENCH_WIRE];
	unsigned int head, tail;
};

struct side {
	struct tcp_pcb *active, *tw, *bound;
	struct tcp_pcb_listen *listen;
	u32_t ticks;
	uint64_t timer_at;
	bool slow;           /* the timer's next call is for both */
};

struct conn {
	struct tcp_pcb *pcb;
	unsigned int id;
	bool known;          /* a server's: id is */
	uint64_t sent, rcvd;
};

enum mode { MODE_OPENING, MODE_REQUEST, MODE_BULK, MODE_CLIENT_FIRST, MODE_SERVER_FIRST };

/* One pair of stacks. */
struct pair {
	bool by_reference;
	struct side side[2];
	struct wire wire[2]; /* by the side that sends */
	uint64_t now;
	struct conn *conn, *peer;
	unsigned int nb_conns, nb_peers;
	enum mode mode;
	bool check, failed;
	unsigned int served;
	uint64_t up, closed, answers, sunk;
};

static struct {
	struct netif nif[2];
	ip_addr_t server_ip;
	struct pair *pair;
	int side, is_open;
	struct bench_payload payload;
	struct bench_turns turns;
} g;

/* ---- two stacks of one ------------------------------------------------------------------------- */

static void
use(struct pair *p, int side)
{
	struct side *s;

	if (g.pair == p && g.side == side)
		return;
	if (g.pair != NULL) {
		s = &g.pair->side[g.side];
		s->active = tcp_active_pcbs;
		s->tw = tcp_tw_pcbs;
		s->bound = tcp_bound_pcbs;
		s->listen = tcp_listen_pcbs.listen_pcbs;
		s->ticks = tcp_ticks;
	}
	s = &p->side[side];
	tcp_active_pcbs = s->active;
	tcp_tw_pcbs = s->tw;
	tcp_bound_pcbs = s->bound;
	tcp_listen_pcbs.listen_pcbs = s->listen;
	tcp_ticks = s->ticks;
	g.pair = p;
	g.side = side;
}

static void
tick(struct pair *p)
{
	struct side *s = &p->side[g.side];

	if (p->now < s->timer_at)
		return;
	s->timer_at = p->now + TCP_TMR_INTERVAL * 1000000ull;
	tcp_fasttmr();
	s->slow = !s->slow;
	if (s->slow)
		tcp_slowtmr();
}

/* What arrives at the other end when p is sent. NULL: no memory. */
static struct pbuf *
cross(const struct pbuf *p, bool by_reference)
{
	struct pbuf *c, *body;

	if (!by_reference || p->next != NULL || p->len < BY_REFERENCE) {
		c = pbuf_alloc(PBUF_RAW, p->tot_len, PBUF_RAM);
		if (c != NULL)
			pbuf_copy(c, p);
		return c;
	}
	c = pbuf_alloc(PBUF_RAW, HEADERS, PBUF_RAM);
	body = pbuf_alloc(PBUF_RAW, p->len - HEADERS, PBUF_REF);
	if (c == NULL || body == NULL)
		return NULL;
	memcpy(c->payload, p->payload, HEADERS);
	body->payload = (char *)p->payload + HEADERS;
	pbuf_cat(c, body);
	return c;
}

static err_t
link_output(struct netif *nif, struct pbuf *p)
{
	struct wire *w;
	struct pbuf *c;

	if (g.pair == NULL) /* the interface announces itself; there is no wire then */
		return ERR_OK;
	w = &g.pair->wire[nif == &g.nif[CLIENT] ? CLIENT : SERVER];
	if (w->head - w->tail == BENCH_WIRE)
		return ERR_MEM;
	c = cross(p, g.pair->by_reference);
	if (c == NULL)
		return ERR_MEM;
	w->q[w->head++ % BENCH_WIRE] = c;
	return ERR_OK;
}

static err_t
netif_setup(struct netif *nif)
{
	bool client = nif == &g.nif[CLIENT];

	nif->mtu = 1488;
	nif->name[0] = 'b';
	nif->name[1] = client ? 'a' : 'b';
	nif->flags |= NETIF_FLAG_LINK_UP | NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET;
	nif->hwaddr_len = 6;
	memset(nif->hwaddr, 0, 6);
	nif->hwaddr[0] = 2;
	nif->hwaddr[5] = client ? 1 : 2;
	nif->output = etharp_output;
	nif->linkoutput = link_output;
	return ERR_OK;
}

/* Takes what the other side has sent. */
static void
drain(struct pair *p)
{
	struct wire *w = &p->wire[!g.side];
	struct netif *nif = &g.nif[g.side];

	for (int i = 0; i < BENCH_BURST && w->tail != w->head; i++) {
		struct pbuf *b = w->q[w->tail++ % BENCH_WIRE];

		if (nif->input(b, nif) != ERR_OK)
			pbuf_free(b);
	}
}

static void
turn(struct pair *p)
{
	unsigned int served = p->served;
	uint64_t t0;

	p->now += BENCH_STEP_NS;
	use(p, CLIENT);
	tick(p);
	t0 = __rdtsc();
	use(p, SERVER);
	tick(p);
	drain(p);
	bench_turns_add(&g.turns, __rdtsc() - t0, p->served - served);
	use(p, CLIENT);
	drain(p);
}

static int
turn_until(struct pair *p, const uint64_t *count, uint64_t want)
{
	for (unsigned int i = 0; *count < want; i++) {
		if (i > BENCH_STUCK || p->failed) {
			fprintf(stderr, "lwip: stuck at %llu of %llu%s\n", (unsigned long long)*count, (unsigned long long)want,
				p->failed ? ": a call failed or data was wrong" : "");
			return -1;
		}
		turn(p);
	}
	return 0;
}

/* ---- what the applications do: callbacks ------------------------------------------------------- */

static void
verify(struct pair *p, const struct pbuf *b, uint64_t at, unsigned int id)
{
	for (; p->check && b != NULL; at += b->len, b = b->next)
		if (memcmp(b->payload, bench_at(&g.payload, at, id), b->len) != 0)
			p->failed = true;
}

static void
on_error(void *arg, err_t err)
{
	(void)arg;
	(void)err;
	g.pair->failed = true;
}

static void
finish(struct pair *p, struct tcp_pcb *pcb)
{
	tcp_err(pcb, NULL);
	if (tcp_close(pcb) != ERR_OK)
		p->failed = true;
	p->closed++;
}

static err_t
server_recv(void *arg, struct tcp_pcb *pcb, struct pbuf *b, err_t err)
{
	struct pair *p = g.pair;
	struct conn *c = arg;

	(void)err;
	if (b == NULL) {
		if (p->mode == MODE_CLIENT_FIRST)
			finish(p, pcb);
		return ERR_OK;
	}
	if (p->mode == MODE_REQUEST) {
		p->served += b->tot_len / BENCH_REQUEST;
		for (const struct pbuf *i = b; i != NULL; i = i->next)
			if (tcp_write(pcb, i->payload, i->len, TCP_WRITE_FLAG_COPY) != ERR_OK)
				p->failed = true;
	} else {
		if (p->check && !c->known) {
			const struct pbuf *first = b->len != 0 ? b : b->next; /* what held the headers is empty */

			c->id = *(const uint8_t *)first->payload;
			c->known = true;
		}
		verify(p, b, c->rcvd, c->id);
		c->rcvd += b->tot_len;
		p->sunk += b->tot_len;
	}
	tcp_recved(pcb, b->tot_len);
	pbuf_free(b);
	return ERR_OK;
}

static err_t
client_recv(void *arg, struct tcp_pcb *pcb, struct pbuf *b, err_t err)
{
	struct pair *p = g.pair;
	struct conn *c = arg;

	(void)err;
	if (b == NULL) {
		if (p->mode == MODE_SERVER_FIRST)
			finish(p, pcb);
		return ERR_OK;
	}
	verify(p, b, c->rcvd, c->id);
	c->rcvd += b->tot_len;
	p->answers += b->tot_len;
	tcp_recved(pcb, b->tot_len);
	pbuf_free(b);
	return ERR_OK;
}

static err_t
on_accept(void *arg, struct tcp_pcb *pcb, err_t err)
{
	struct pair *p = g.pair;

	(void)arg;
	if (pcb == NULL || err != ERR_OK) {
		p->failed = true;
		return ERR_VAL;
	}
	if (p->mode == MODE_SERVER_FIRST)
		return tcp_close(pcb);
	tcp_nagle_disable(pcb);
	tcp_recv(pcb, server_recv);
	tcp_err(pcb, on_error);
	if (p->mode == MODE_OPENING)
		tcp_arg(pcb, &p->peer[p->nb_peers++]);
	return ERR_OK;
}

static err_t
on_connected(void *arg, struct tcp_pcb *pcb, err_t err)
{
	struct pair *p = g.pair;

	(void)arg;
	(void)err;
	p->up++;
	if (p->mode == MODE_CLIENT_FIRST) {
		tcp_err(pcb, NULL);
		return tcp_close(pcb);
	}
	return ERR_OK;
}

/* ---- the rows ---------------------------------------------------------------------------------- */

static int
lwip_open(void *ctx)
{
	ip4_addr_t a, b, mask, none;

	(void)ctx;
	if (g.is_open)
		return 0;
	lwip_init();
	IP4_ADDR(&a, 198, 18, 0, 1);
	IP4_ADDR(&b, 198, 18, 0, 2);
	IP4_ADDR(&mask, 255, 255, 255, 0);
	IP4_ADDR(&none, 0, 0, 0, 0);
	ip_addr_copy_from_ip4(g.server_ip, b);
	if (netif_add(&g.nif[CLIENT], &a, &mask, &none, NULL, netif_setup, netif_input) == NULL ||
	    netif_add(&g.nif[SERVER], &b, &mask, &none, NULL, netif_setup, netif_input) == NULL) {
		fprintf(stderr, "lwip: netif_add failed\n");
		return -1;
	}
	netif_set_up(&g.nif[CLIENT]);
	netif_set_up(&g.nif[SERVER]);
	bench_payload_init(&g.payload);
	g.is_open = 1;
	return 0;
}

static struct tcp_pcb *
begin(struct pair *p, struct conn *c)
{
	struct tcp_pcb *pcb;

	use(p, CLIENT);
	pcb = tcp_new();
	if (pcb == NULL)
		return NULL;
	tcp_bind_netif(pcb, &g.nif[CLIENT]);
	tcp_nagle_disable(pcb);
	tcp_arg(pcb, c);
	tcp_recv(pcb, client_recv);
	tcp_err(pcb, on_error);
	return tcp_connect(pcb, &g.server_ip, SERVER_PORT, on_connected) == ERR_OK ? pcb : NULL;
}

static int
listen_on(struct pair *p)
{
	struct tcp_pcb *pcb;

	use(p, SERVER);
	pcb = tcp_new();
	if (pcb == NULL || tcp_bind(pcb, &g.server_ip, SERVER_PORT) != ERR_OK)
		return -1;
	tcp_bind_netif(pcb, &g.nif[SERVER]);
	pcb = tcp_listen(pcb);
	if (pcb == NULL)
		return -1;
	tcp_accept(pcb, on_accept);
	return 0;
}

static int
open_conns(struct pair *p, unsigned int n)
{
	if (listen_on(p) < 0)
		return -1;
	for (unsigned int i = 0, k; i < n; i = k) { /* the first one alone: addresses are resolved by it */
		k = i == 0 ? 1 : i + BENCH_BATCH < n ? i + BENCH_BATCH : n;
		for (unsigned int j = i; j < k; j++) {
			p->conn[j].id = j;
			p->conn[j].pcb = begin(p, &p->conn[j]);
			if (p->conn[j].pcb == NULL) {
				fprintf(stderr, "lwip: connect failed\n");
				return -1;
			}
		}
		if (turn_until(p, &p->up, k) < 0)
			return -1;
		turn(p); /* the acknowledgement that the server waits for */
	}
	return p->nb_peers == n && !p->failed ? 0 : -1;
}

static int
conns_alloc(struct pair *p, unsigned int n)
{
	p->mode = MODE_OPENING;
	p->up = p->sunk = 0;
	p->failed = p->check = false;
	p->nb_conns = n;
	p->nb_peers = 0;
	p->conn = malloc(n * sizeof(p->conn[0]));
	p->peer = malloc(n * sizeof(p->peer[0]));
	if (p->conn == NULL || p->peer == NULL)
		return -1;
	memset(p->conn, 0, n * sizeof(p->conn[0])); /* touched, whether or not the allocator had it clean */
	memset(p->peer, 0, n * sizeof(p->peer[0]));
	return 0;
}

static int
lwip_connect(void *ctx, unsigned int n)
{
	struct pair *p = ctx;

	return conns_alloc(p, n) < 0 ? -1 : open_conns(p, n);
}

static int
lwip_disconnect(void *ctx)
{
	struct pair *p = ctx;

	for (int side = CLIENT; side <= SERVER; side++) {
		use(p, side);
		while (tcp_active_pcbs != NULL) {
			tcp_err(tcp_active_pcbs, NULL);
			tcp_abort(tcp_active_pcbs);
		}
		while (tcp_tw_pcbs != NULL)
			tcp_abort(tcp_tw_pcbs);
		while (tcp_listen_pcbs.listen_pcbs != NULL)
			tcp_close(tcp_listen_pcbs.pcbs);
	}
	for (int side = CLIENT; side <= SERVER; side++)
		for (struct wire *w = &p->wire[side]; w->tail != w->head;)
			pbuf_free(w->q[w->tail++ % BENCH_WIRE]);
	free(p->conn);
	free(p->peer);
	p->conn = p->peer = NULL;
	return 0;
}

static int
send_bytes(struct conn *c, u16_t n)
{
	if (tcp_write(c->pcb, bench_at(&g.payload, c->sent, c->id), n, TCP_WRITE_FLAG_COPY) != ERR_OK)
		return -1;
	c->sent += n;
	return tcp_output(c->pcb) == ERR_OK ? 0 : -1;
}

static double
lwip_request(void *ctx, unsigned int n, bool check, double *cycles)
{
	struct pair *p = ctx;
	uint64_t t0;

	p->mode = MODE_REQUEST;
	p->check = check;
	p->answers = 0;
	g.turns.n = 0;
	t0 = bench_cpu_ns();
	for (unsigned int done = 0; done < n; done += p->nb_conns) {
		use(p, CLIENT);
		for (unsigned int i = 0; i < p->nb_conns; i++)
			if (send_bytes(&p->conn[i], BENCH_REQUEST) < 0)
				p->failed = true;
		if (turn_until(p, &p->answers, (uint64_t)(done + p->nb_conns) * BENCH_REQUEST) < 0)
			return -1;
	}
	t0 = bench_cpu_ns() - t0;
	*cycles = bench_turns_mean(&g.turns);
	return (double)t0 / (double)(p->answers / BENCH_REQUEST);
}

/* Fills the send buffer, whole segments at a time. */
static void
fill(struct pair *p, struct conn *c, uint64_t upto)
{
	while (tcp_sndbuf(c->pcb) >= BENCH_ROOM && c->sent < upto) {
		uint32_t room = tcp_sndbuf(c->pcb), n = room < BENCH_CHUNK ? room / BENCH_MSS * BENCH_MSS : BENCH_CHUNK;

		if (n > upto - c->sent)
			n = (uint32_t)(upto - c->sent);
		if (send_bytes(c, (u16_t)n) < 0) {
			p->failed = true;
			return;
		}
	}
}

static double
lwip_bulk(void *ctx, unsigned int n, bool check)
{
	struct pair *p = ctx;
	uint64_t each = (uint64_t)(n / p->nb_conns) * BENCH_MSS, goal = p->sunk + each * p->nb_conns;
	uint64_t upto = p->conn[0].sent + each, t0;

	p->mode = MODE_BULK;
	p->check = check;
	t0 = bench_cpu_ns();
	for (unsigned int turns = 0; p->sunk < goal; turns++) {
		if (turns > BENCH_STUCK || p->failed) {
			fprintf(stderr, "lwip: bulk: stuck, refused or wrong data\n");
			return -1;
		}
		use(p, CLIENT);
		for (unsigned int i = 0; i < p->nb_conns; i++)
			fill(p, &p->conn[i], upto);
		turn(p);
	}
	return (double)(bench_cpu_ns() - t0) / (double)(each / BENCH_MSS * p->nb_conns);
}

static double
lwip_churn(void *ctx, unsigned int n, bool server_first)
{
	struct pair *p = ctx;
	uint64_t t0;

	p->mode = server_first ? MODE_SERVER_FIRST : MODE_CLIENT_FIRST;
	p->closed = 0;
	t0 = bench_cpu_ns();
	for (unsigned int done = 0; done < n; done += BENCH_BATCH) {
		for (unsigned int i = 0; i < BENCH_BATCH; i++) {
			if (begin(p, NULL) == NULL) {
				fprintf(stderr, "lwip: connect failed\n");
				return -1;
			}
		}
		if (turn_until(p, &p->closed, done + BENCH_BATCH) < 0)
			return -1;
		turn(p); /* the last acknowledgement */
	}
	return (double)(bench_cpu_ns() - t0) / (double)p->closed;
}

static long
lwip_settle(void *ctx, unsigned int most)
{
	struct pair *p = ctx;
	long n, max = 0;

	for (int side = CLIENT; side <= SERVER; side++) {
		struct tcp_pcb *last = NULL; /* the oldest that stays: new ones come in at the head */

		use(p, side);
		n = 0;
		for (struct tcp_pcb *i = tcp_tw_pcbs; i != NULL && n < (long)most; i = i->next, n++)
			last = i;
		while (last != NULL && last->next != NULL)
			tcp_abort(last->next);
		max = n > max ? n : max;
	}
	return max;
}

static void
lwip_close(void *ctx)
{
	(void)ctx;
}

static struct pair pairs[2] = { { .by_reference = true }, { .by_reference = false } };

/* Bytes that one end of n idle connections takes; < 0: failed. */
extern double bench_tcp_lwip_idle(unsigned int n);
double
bench_tcp_lwip_idle(unsigned int n)
{
	struct pair *p = &pairs[0];
	uint64_t rss;
	double bytes;

	if (lwip_open(NULL) < 0 || conns_alloc(p, n) < 0)
		return -1;
	rss = bench_rss();
	if (open_conns(p, n) < 0)
		return -1;
	bytes = ((double)bench_rss() - (double)rss) / n / 2;
	lwip_disconnect(p);
	return bytes;
}

#define PEER(title, i, where) \
	{ title, where, &pairs[i], lwip_open, lwip_connect, lwip_disconnect, lwip_request, lwip_bulk, lwip_churn, lwip_settle, \
	  lwip_close }
extern const struct bench_tcp_peer bench_tcp_lwip[2];
const struct bench_tcp_peer bench_tcp_lwip[2] = {
	PEER("lwip", 0, BENCH_REQUESTS | BENCH_BULK | BENCH_CONNECTS),
	PEER("lwip, copying wire", 1, BENCH_BULK),
};
