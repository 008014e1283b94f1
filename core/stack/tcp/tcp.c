/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP's control blocks: made, bound, opened, accepted, closed, freed. */
#include <errno.h>
#include <sys/socket.h>

#include "../udp/udp_priv.h"
#include "tcp_priv.h"

static void *
rec_alloc(void *ctx, size_t n)
{
	return shim_malloc(((struct stack *)ctx)->shim, n);
}

static void
rec_free(void *ctx, void *p)
{
	shim_free(((struct stack *)ctx)->shim, p);
}

int
tcp_state_init(struct stack *s)
{
	struct tcp_state *t = shim_malloc(s->shim, sizeof(*t));
	struct rec_mem mem = { rec_alloc, rec_free, s };
	const struct stack_secrets *k = &s->cfg.secrets;

	if (t == NULL)
		return -ENOMEM;
	s->tcp = t;
	t->key = (struct siphash_key){ k->table[0], k->table[1] };
	t->isn_key = (struct siphash_key){ k->isn[0], k->isn[1] };
	t->cookie_key = (struct siphash_key){ k->cookie[0], k->cookie[1] };
	t->ts_key = (struct siphash_key){ k->ts[0], k->ts[1] };
	t->port_key = (struct siphash_key){ k->port[0], k->port[1] };
	t->slab_tw.size = sizeof(struct tcp_tw);
	t->slab_half.size = sizeof(struct tcp_half);
	list_init(&t->tw);
	timer_init(&t->tw_timer, tcp_tw_on_timer, s);
	for (unsigned int i = 0; i < TCP_SC_BUCKETS; i++)
		list_init(&t->half[i]);
	rec_pool_init(&t->rec, NULL, &mem);
	tcp_knobs_init(s);
	if (tcp_table_init(s, &t->conns, 256) != 0 || tcp_table_init(s, &t->ports, 64) != 0) {
		tcp_state_release(s);
		return -ENOMEM;
	}
	return 0;
}

void
tcp_state_release(struct stack *s)
{
	struct tcp_state *t = s->tcp;

	if (t == NULL)
		return;
	for (uint32_t i = 0; t->conns.v != NULL && i <= t->conns.mask;) {
		struct tcp_key *k = t->conns.v[i].obj;

		if (k == NULL) {
			i++;
		} else if (k->kind == TCP_KIND_TW) { /* another one may move here: look again */
			tcp_tw_free(s, (struct tcp_tw *)k);
		} else {
			((struct tcp_pcb *)k)->so = NULL;
			((struct tcp_pcb *)k)->in_accept = false;
			tcp_done(s, (struct tcp_pcb *)k, 0);
		}
	}
	tcp_reap(s);
	tcp_half_flush(s, NULL);
	tcp_table_release(s, &t->conns);
	tcp_table_release(s, &t->ports);
	tcp_slab_release(s, &t->slab_tw);
	tcp_slab_release(s, &t->slab_half);
	rec_pool_release(&t->rec);
	timer_cancel(&s->wheel, &t->tw_timer);
	shim_free(s->shim, t);
	s->tcp = NULL;
}

/* ---- made and freed ---------------------------------------------------------------------------- */

struct tcp_pcb *
tcp_pcb_new(struct stack *s, uint8_t domain)
{
	struct tcp_pcb *p = shim_malloc(s->shim, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->stack = s;
	p->domain = p->key.family = domain;
	p->snd_buf = (uint32_t)tcp_knob(s, TCP_KNOB_SENDSPACE);
	p->rcv_buf = (uint32_t)tcp_knob(s, TCP_KNOB_RECVSPACE);
	p->keepidle_ms = (uint32_t)tcp_knob(s, TCP_KNOB_KEEPIDLE);
	p->keepintvl_ms = (uint32_t)tcp_knob(s, TCP_KNOB_KEEPINTVL);
	p->keepcnt = (uint8_t)tcp_knob(s, TCP_KNOB_KEEPCNT);
	p->cc_cubic = tcp_knob(s, TCP_KNOB_CUBIC) != 0;
	p->rcvlowat = 1;
	p->sndlowat = 2048;
	list_init(&p->on_port);
	list_init(&p->on_accept);
	timer_init(&p->timer, tcp_timer_fire, p);
	return p;
}

struct tcp_pcb *
tcp_new(struct stack *s, struct socket *so, uint8_t domain)
{
	struct tcp_pcb *p = tcp_pcb_new(s, domain);

	if (p != NULL)
		p->so = so;
	return p;
}

void
tcp_inherit(struct tcp_pcb *p, const struct tcp_pcb *from)
{
	p->ttl = from->ttl;
	p->tos = from->tos;
	p->v6only = from->v6only;
	p->reuseaddr = from->reuseaddr;
	p->reuseport = from->reuseport;
	p->nodelay = from->nodelay;
	p->cork = from->cork;
	p->keepalive = from->keepalive;
	p->quickack = from->quickack;
	p->sndbuf_set = from->sndbuf_set;
	p->rcvbuf_set = from->rcvbuf_set;
	p->snd_buf = from->snd_buf;
	p->rcv_buf = from->rcv_buf;
	p->user_mss = from->user_mss;
	p->keepidle_ms = from->keepidle_ms;
	p->keepintvl_ms = from->keepintvl_ms;
	p->keepcnt = from->keepcnt;
	p->syncnt = from->syncnt;
	p->user_timeout_ms = from->user_timeout_ms;
	p->linger2_ms = from->linger2_ms;
	p->rcvlowat = from->rcvlowat;
	p->sndlowat = from->sndlowat;
	p->notsent_lowat = from->notsent_lowat;
	p->cc_cubic = from->cc_cubic;
}

/* To be freed when the present call is over: callers up the stack may still look at it. */
static void
bury(struct stack *s, struct tcp_pcb *p)
{
	if (p->dead)
		return;
	p->dead = true;
	p->dead_next = s->tcp->dead;
	s->tcp->dead = p;
}

void
tcp_reap(struct stack *s)
{
	while (s->tcp->dead != NULL) {
		struct tcp_pcb *p = s->tcp->dead;

		s->tcp->dead = p->dead_next;
		tcp_port_leave(s, p);
		tcp_queue_free(s, &p->rq);
		shim_free(s->shim, p->lst);
		shim_free(s->shim, p);
	}
}

void
tcp_done(struct stack *s, struct tcp_pcb *p, int err)
{
	bool was_open = p->fsm != TCP_CLOSED;

	if (was_open && p->fsm != TCP_LISTEN && p->opened)
		tcp_count(s, TCP_EV_CONN_CLOSED);
	p->fsm = TCP_CLOSED;
	if (err != 0)
		p->err = (uint8_t)err;
	tcp_conn_leave(s, p);
	tcp_port_leave(s, p);
	for (unsigned int t = 0; t < TCP_T_COUNT; t++)
		tcp_timer_stop(p, t);
	timer_cancel(&s->wheel, &p->timer);
	if (p->rec.pool != NULL)
		rec_release(&p->rec);
	tcp_queue_free(s, &p->sq);
	p->cur = NULL;
	tcp_ooo_free(s, p);
	if (p->so == NULL && !p->in_accept)
		bury(s, p);
	else if (was_open)
		tcp_notify(s, p, EPOLLIN | EPOLLOUT | EPOLLHUP | EPOLLRDHUP | (err != 0 ? EPOLLERR : 0));
}

uint32_t
tcp_isn(const struct stack *s, const struct tcp_key *k)
{
	struct {
		union ip_addr l, r;
		uint64_t ports;
	} in = { k->local, k->remote, k->lport_be | (uint64_t)k->rport_be << 16 };

	return (uint32_t)(s->now_ns / 4000) + (uint32_t)siphash(&s->tcp->isn_key, &in, sizeof(in));
}

uint32_t
tcp_ts_offset(const struct stack *s, const struct tcp_key *k)
{
	struct {
		union ip_addr l, r;
		uint64_t ports;
	} in = { k->local, k->remote, k->lport_be | (uint64_t)k->rport_be << 16 };

	return (uint32_t)siphash(&s->tcp->ts_key, &in, sizeof(in));
}

/* ---- bind, listen, connect --------------------------------------------------------------------- */

static bool
addr_ours(struct stack *s, int family, const union ip_addr *a)
{
	if (ip_addr_any(a))
		return true;
	if (family == ADDR_INET)
		return ip4_loopback(a->v4) || stack_owns4(s, a->v4);
	return ip6_loopback(a) || stack_owns6(s, a);
}

int
tcp_bind(struct stack *s, struct tcp_pcb *p, int family, const union ip_addr *addr, uint16_t port_be, struct netif *nif)
{
	struct tcp_key old = p->key;
	int err = 0;

	if (p->bound || p->fsm != TCP_CLOSED)
		return -EINVAL;
	if (!addr_ours(s, family, addr))
		return -EADDRNOTAVAIL;
	p->key.family = (uint8_t)family;
	p->key.local = *addr;
	p->key.remote = (union ip_addr){ .q = { 0, 0 } };
	p->key.rport_be = 0;
	p->key.scope = family == ADDR_INET6 && ip6_link_local(addr) && nif != NULL ? (uint16_t)nif->index : 0;
	if (port_be == 0)
		err = tcp_port_draw(s, p, &port_be);
	else if (!tcp_port_usable(s, p, port_be))
		err = -EADDRINUSE;
	p->key.lport_be = port_be;
	if (err == 0)
		err = tcp_port_join(s, p);
	if (err != 0) {
		p->key = old;
		return err;
	}
	p->bound = true;
	p->addr_locked = !ip_addr_any(addr);
	p->port_locked = true;
	return 0;
}

/* The window scale to offer: what the largest buffer needs. */
static uint8_t
choose_scale(const struct stack *s, const struct tcp_pcb *p)
{
	uint32_t most = (uint32_t)tcp_knob(s, TCP_KNOB_RECVBUF_MAX);
	uint8_t n = 0;

	if (tcp_knob(s, TCP_KNOB_LINUX_OPTS) != 0)
		return 8;
	if (p->rcv_buf > most)
		most = p->rcv_buf;
	while (n < TCP_WSCALE_MAX && 65535u << n < most)
		n++;
	return n;
}

int
tcp_listen(struct stack *s, struct tcp_pcb *p, int backlog)
{
	static const union ip_addr any;
	uint32_t n = backlog < 1 ? 1 : (uint32_t)backlog;
	int err;

	if (n > (uint64_t)tcp_knob(s, TCP_KNOB_SOMAXCONN))
		n = (uint32_t)tcp_knob(s, TCP_KNOB_SOMAXCONN);
	if (p->fsm == TCP_LISTEN) {
		p->lst->backlog = n;
		return 0;
	}
	if (p->fsm != TCP_CLOSED)
		return -EINVAL;
	if (!p->bound) {
		err = tcp_bind(s, p, p->domain, &any, 0, NULL);
		if (err != 0)
			return err;
	} else if (!tcp_port_usable(s, p, p->key.lport_be)) {
		return -EADDRINUSE;
	}
	p->lst = shim_malloc(s->shim, sizeof(*p->lst));
	if (p->lst == NULL)
		return -ENOMEM;
	list_init(&p->lst->ready);
	p->lst->backlog = n;
	p->rcv_scale = choose_scale(s, p);
	p->fsm = TCP_LISTEN;
	return 0;
}

/* Where to, where from: path, addresses and port of a connection to be. p is as before when it fails. */
static int
connect_addr(struct stack *s, struct tcp_pcb *p, int family, const union ip_addr *dst, uint16_t port_be, struct netif *nif)
{
	union ip_addr to = *dst;
	struct tcp_key old = p->key;
	struct ip_path path;
	int err = 0;

	if (ip_addr_any(&to))
		err = udp_this_host(s, family, &to);
	if (err == 0 && p->addr_locked && p->key.family != family)
		err = -ENETUNREACH;
	if (nif == NULL && p->key.scope != 0)
		nif = stack_if_by_index(s, p->key.scope);
	if (err == 0)
		err = ip_path_lookup(s, family, &to, p->addr_locked ? &p->key.local : NULL, nif, &path);
	if (err == 0 && (path.flags & (IP_PATH_MULTICAST | IP_PATH_BROADCAST)) != 0)
		err = -ENETUNREACH;
	if (err != 0)
		return err;
	p->key.family = (uint8_t)family;
	p->key.local = path.src;
	p->key.remote = to;
	p->key.rport_be = port_be;
	p->key.scope = family == ADDR_INET6 && ip6_link_local(&to) ? (uint16_t)path.nif->index : 0;
	if (!p->bound) {
		err = tcp_port_draw(s, p, &p->key.lport_be) == 0 ? tcp_port_join(s, p) : -EAGAIN;
	} else if (tcp_conn_find(s, family, &path.src, p->key.lport_be, &to, port_be, NULL) != NULL) {
		err = -EADDRINUSE;
	} else {
		tcp_port_move(s, p);
	}
	if (err == 0) {
		err = tcp_conn_join(s, p);
		if (err != 0 && !p->bound)
			tcp_port_leave(s, p);
	}
	if (err != 0) {
		p->key = old;
		if (p->bound && !list_empty(&p->on_port))
			tcp_port_move(s, p);
		return err;
	}
	p->path = path;
	return 0;
}

void
tcp_unconnect(struct stack *s, struct tcp_pcb *p)
{
	static const union ip_addr none;

	p->key.remote = none;
	p->key.rport_be = 0;
	if (!p->addr_locked)
		p->key.local = none;
	if (!p->bound) {
		tcp_port_leave(s, p);
		p->key.lport_be = 0;
		p->key.family = p->domain;
		p->key.scope = 0;
	} else if (!list_empty(&p->on_port)) {
		tcp_port_move(s, p);
	} else if (tcp_port_join(s, p) != 0) {
		p->bound = p->addr_locked = false;
		p->key.lport_be = 0;
	}
	p->opened = p->active = p->fin_queued = p->fin_sent = p->fin_rcvd = p->rd_shut = false;
	p->err = p->soft_err = 0;
}

int
tcp_connect(struct stack *s, struct tcp_pcb *p, int family, const union ip_addr *dst, uint16_t port_be, struct netif *nif)
{
	int err;

	if (p->fsm == TCP_SYN_SENT || p->fsm == TCP_SYN_RCVD)
		return -EALREADY;
	if (p->fsm == TCP_LISTEN || port_be == 0)
		return -EINVAL;
	if (p->fsm != TCP_CLOSED || (p->opened && p->err == 0 && p->fin_rcvd))
		return -EISCONN;
	if (p->opened) /* an attempt that failed took its port along */
		tcp_unconnect(s, p);
	err = connect_addr(s, p, family, dst, port_be, nif);
	if (err != 0)
		return err;
	p->opened = p->active = true;
	p->ask_wscale = !p->nopt && tcp_knob(s, TCP_KNOB_WSCALE) != 0;
	p->sack = !p->nopt && tcp_knob(s, TCP_KNOB_SACK) != 0;
	p->ts = !p->nopt && tcp_knob(s, TCP_KNOB_TIMESTAMPS) != 0;
	p->ecn_try = tcp_knob(s, TCP_KNOB_ECN) == 1;
	p->rcv_scale = p->ask_wscale ? choose_scale(s, p) : 0;
	p->iss = tcp_isn(s, &p->key);
	p->ts_off = tcp_ts_offset(s, &p->key);
	p->snd_una = p->snd_nxt = p->iss;
	p->rcv_nxt = p->rcv_adv = 0;
	p->peer_mss = family == ADDR_INET ? TCP_MSS_DEFAULT4 : TCP_MSS_DEFAULT6;
	p->stall_ms = tcp_ms(s);
	tcp_mss_update(s, p);
	rec_init(&p->rec, &s->tcp->rec, p->cc_cubic ? &cc_cubic : &cc_newreno, p->iss, p->mss);
	p->fsm = TCP_SYN_SENT;
	tcp_count(s, TCP_EV_CONN_ATTEMPT);
	if (tcp_transmit(s, p, p->iss, 0, TCP_SYN) == -ENOBUFS && p->snd_nxt == p->iss) {
		p->fsm = TCP_CLOSED;
		tcp_conn_leave(s, p);
		rec_release(&p->rec);
		tcp_unconnect(s, p);
		return -ENOBUFS;
	}
	tcp_output(s, p);
	return -EINPROGRESS;
}

/* ---- accepted ---------------------------------------------------------------------------------- */

struct tcp_pcb *
tcp_accept(struct stack *s, struct tcp_pcb *listener)
{
	struct list *n;
	struct tcp_pcb *p;

	(void)s;
	if (listener->fsm != TCP_LISTEN)
		return NULL;
	n = list_pop(&listener->lst->ready);
	if (n == NULL)
		return NULL;
	listener->lst->nb_ready--;
	p = list_entry(n, struct tcp_pcb, on_accept);
	p->in_accept = false;
	p->parent = NULL;
	return p;
}

void
tcp_attach(struct tcp_pcb *p, struct socket *so)
{
	p->so = so;
}

/* ---- closed ------------------------------------------------------------------------------------ */

/* An application that closes or shuts down writing: the state and the FIN (RFC 9293 3.10.4). */
static void
queue_fin(struct stack *s, struct tcp_pcb *p)
{
	if (p->fin_queued)
		return;
	p->fin_queued = true;
	p->more = false;
	if (p->fsm == TCP_ESTABLISHED)
		p->fsm = TCP_FIN_WAIT_1;
	else if (p->fsm == TCP_CLOSE_WAIT)
		p->fsm = TCP_LAST_ACK;
	tcp_output(s, p);
}

static void
listener_stop(struct stack *s, struct tcp_pcb *p)
{
	struct list *n;

	tcp_half_flush(s, p);
	while ((n = list_pop(&p->lst->ready)) != NULL) {
		struct tcp_pcb *c = list_entry(n, struct tcp_pcb, on_accept);

		c->in_accept = false;
		c->parent = NULL;
		if (tcp_synchronized(c))
			tcp_send_rst(s, c);
		tcp_done(s, c, 0);
		if (!c->dead)
			bury(s, c);
	}
	shim_free(s->shim, p->lst);
	p->lst = NULL;
	p->fsm = TCP_CLOSED;
}

void
tcp_close(struct stack *s, struct tcp_pcb *p, bool abort)
{
	bool unread = p->rq.bytes != 0;

	p->so = NULL;
	p->orphan = true;
	tcp_queue_free(s, &p->rq);
	switch (p->fsm) {
	case TCP_LISTEN:
		listener_stop(s, p);
		tcp_done(s, p, 0);
		break;
	case TCP_CLOSED:
	case TCP_SYN_SENT:
	case TCP_TIME_WAIT:
		tcp_done(s, p, 0);
		break;
	case TCP_CLOSING:
	case TCP_LAST_ACK:
		if (abort)
			tcp_done(s, p, 0);
		break;
	default:
		if (abort || unread) { /* RFC 1122 4.2.2.13 */
			tcp_send_rst(s, p);
			tcp_done(s, p, 0);
			break;
		}
		if (p->fsm == TCP_FIN_WAIT_2)
			tcp_timer_set(s, p, TCP_T_STATE,
				(p->linger2_ms != 0 ? p->linger2_ms : (uint64_t)tcp_knob(s, TCP_KNOB_FINWAIT2)) * 1000000);
		queue_fin(s, p);
	}
	tcp_reap(s);
}

int
tcp_shutdown(struct stack *s, struct tcp_pcb *p, int how)
{
	if (p->fsm == TCP_LISTEN) {
		listener_stop(s, p);
		tcp_notify(s, p, EPOLLIN | EPOLLHUP);
		tcp_reap(s);
		return 0;
	}
	if (p->fsm == TCP_CLOSED || p->fsm == TCP_SYN_SENT)
		return -ENOTCONN;
	if (how == SHUT_RD || how == SHUT_RDWR) {
		p->rd_shut = true;
		tcp_queue_free(s, &p->rq);
		tcp_window_update(s, p); /* a peer that a full buffer had stopped goes on */
		tcp_notify(s, p, EPOLLIN | EPOLLRDHUP);
	}
	if (how == SHUT_WR || how == SHUT_RDWR)
		queue_fin(s, p);
	tcp_reap(s);
	return 0;
}

/* ---- errors from the network (RFC 5927, RFC 1122 4.2.3.9) --------------------------------------- */

void
tcp_error(struct stack *s, const struct ip_error *e)
{
	uint16_t lport, rport;
	uint32_t seq;
	struct tcp_key *k;
	struct tcp_pcb *p;

	if (e->l4_len < 8)
		return;
	memcpy(&lport, e->l4, 2);
	memcpy(&rport, e->l4 + 2, 2);
	seq = get_be32(e->l4 + 4);
	k = tcp_conn_find(s, e->family, &e->src, lport, &e->dst, rport, NULL);
	if (k == NULL) {
		tcp_half_error(s, e, lport, rport, seq);
		return;
	}
	p = (struct tcp_pcb *)k;
	if (k->kind != TCP_KIND_PCB || !seq_le(p->snd_una, seq) || !seq_lt(seq, p->snd_nxt))
		return;
	if (e->err == EMSGSIZE) {
		if (e->mtu != 0 && pmtu_learn(s, e->family, &e->dst, e->mtu)) {
			p->path.nif = NULL;
			if (tcp_path(s, p) == 0)
				tcp_output(s, p);
		}
	} else if (p->fsm == TCP_SYN_SENT && e->hard) {
		tcp_count(s, TCP_EV_CONN_FAILED);
		tcp_done(s, p, e->err);
	} else if (p->fsm == TCP_SYN_SENT || p->fsm == TCP_SYN_RCVD) {
		p->soft_err = (uint8_t)e->err; /* told when the attempt times out */
	}
	tcp_reap(s);
}
