/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The peer: lwIP's raw API (Debian's liblwip), two netifs with Ethernet and ARP joined by an in-memory wire, one
 * thread. Built as a module of its own, because lwIP's global names (udp_input, ip4_input) are also ours.
 *
 * Two wires: by reference (the receiver gets the sender's pbuf: what a buffer ring costs), and by copy (what
 * lwIP's usual drivers do). PBUF_POOL is never used: the package's pool elements are smaller than it believes.
 */
#include <stdio.h>
#include <string.h>

#include <lwip/init.h>
#include <lwip/netif.h>
#include <lwip/pbuf.h>
#include <lwip/timeouts.h>
#include <lwip/udp.h>
#include <netif/etharp.h>

#include "bench.h"

#define WIRE 4096
#define BURST 32

struct wire {
	struct pbuf *q[WIRE];
	unsigned int head, tail;
	struct netif *to;
};

static struct {
	struct netif a, b;
	struct wire ab, ba;
	struct udp_pcb *server, *client;
	ip_addr_t ip_b;
	uint64_t received, polls;
	int by_reference, is_open;
} g;

static err_t
link_output(struct netif *nif, struct pbuf *p)
{
	struct wire *w = nif == &g.a ? &g.ab : &g.ba;
	struct pbuf *c = p;

	if (w->head - w->tail == WIRE)
		return ERR_MEM;
	if (g.by_reference) {
		pbuf_ref(p);
	} else {
		c = pbuf_alloc(PBUF_RAW, p->tot_len, PBUF_RAM);
		if (c == NULL)
			return ERR_MEM;
		pbuf_copy(c, p);
	}
	w->q[w->head++ % WIRE] = c;
	return ERR_OK;
}

static err_t
netif_setup(struct netif *nif)
{
	nif->mtu = 1500;
	nif->name[0] = 'b';
	nif->name[1] = nif == &g.a ? 'a' : 'b';
	nif->flags |= NETIF_FLAG_LINK_UP | NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET;
	nif->hwaddr_len = 6;
	memset(nif->hwaddr, 0, 6);
	nif->hwaddr[0] = 2;
	nif->hwaddr[5] = nif == &g.a ? 1 : 2;
	nif->output = etharp_output;
	nif->linkoutput = link_output;
	return ERR_OK;
}

static void
drain(struct wire *w)
{
	for (int i = 0; i < BURST && w->tail != w->head; i++) {
		struct pbuf *p = w->q[w->tail++ % WIRE];

		if (w->to->input(p, w->to) != ERR_OK)
			pbuf_free(p);
	}
}

static void
turn(void)
{
	drain(&g.ab);
	drain(&g.ba);
	if ((++g.polls & 1023) == 0)
		sys_check_timeouts();
}

static void
server_recv(void *arg, struct udp_pcb *u, struct pbuf *p, const ip_addr_t *ip, u16_t port)
{
	(void)arg;
	udp_sendto(u, p, ip, port);
	pbuf_free(p);
}

static void
client_recv(void *arg, struct udp_pcb *u, struct pbuf *p, const ip_addr_t *ip, u16_t port)
{
	(void)arg;
	(void)u;
	(void)ip;
	(void)port;
	g.received++;
	pbuf_free(p);
}

static int
lwip_open(void)
{
	ip4_addr_t a, b, mask, none;
	ip_addr_t ip_a;

	if (g.is_open)
		return 0;
	lwip_init();
	IP4_ADDR(&a, 198, 18, 0, 1);
	IP4_ADDR(&b, 198, 18, 0, 2);
	IP4_ADDR(&mask, 255, 255, 255, 0);
	IP4_ADDR(&none, 0, 0, 0, 0);
	ip_addr_copy_from_ip4(ip_a, a);
	ip_addr_copy_from_ip4(g.ip_b, b);
	if (netif_add(&g.a, &a, &mask, &none, NULL, netif_setup, netif_input) == NULL ||
	    netif_add(&g.b, &b, &mask, &none, NULL, netif_setup, netif_input) == NULL) {
		fprintf(stderr, "lwip: netif_add failed\n");
		return -1;
	}
	g.ab.to = &g.b;
	g.ba.to = &g.a;
	netif_set_up(&g.a);
	netif_set_up(&g.b);
	g.server = udp_new();
	g.client = udp_new();
	if (g.server == NULL || g.client == NULL || udp_bind(g.server, &g.ip_b, 7) != ERR_OK ||
	    udp_bind(g.client, &ip_a, 7777) != ERR_OK) {
		fprintf(stderr, "lwip: no UDP sockets\n");
		return -1;
	}
	udp_bind_netif(g.server, &g.b);
	udp_bind_netif(g.client, &g.a);
	udp_recv(g.server, server_recv, NULL);
	udp_recv(g.client, client_recv, NULL);
	g.is_open = 1;
	return 0;
}

static double
echo(unsigned int size, unsigned int batch, unsigned int n)
{
	uint64_t t0 = bench_cpu_ns();

	g.received = 0;
	for (unsigned int i = 0; i < n; i += batch) {
		for (unsigned int k = 0; k < batch; k++) {
			struct pbuf *p = pbuf_alloc(PBUF_TRANSPORT, (u16_t)size, PBUF_RAM);

			if (p == NULL)
				return -1;
			udp_sendto(g.client, p, &g.ip_b, 7);
			pbuf_free(p);
		}
		for (unsigned int idle = 0; g.received < i + batch; idle++) {
			if (idle > 100000)
				return -1;
			turn();
		}
	}
	return (double)(bench_cpu_ns() - t0) / n;
}

static double
echo_reference(unsigned int size, unsigned int batch, unsigned int n)
{
	g.by_reference = 1;
	return echo(size, batch, n);
}

static double
echo_copy(unsigned int size, unsigned int batch, unsigned int n)
{
	g.by_reference = 0;
	return echo(size, batch, n);
}

static void
lwip_close(void)
{
}

extern const struct bench_udp_peer bench_udp_lwip[2];
const struct bench_udp_peer bench_udp_lwip[2] = {
	{ "lwip", lwip_open, echo_reference, lwip_close },
	{ "lwip, copying wire", lwip_open, echo_copy, lwip_close },
};
