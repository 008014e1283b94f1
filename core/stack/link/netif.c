/* SPDX-License-Identifier: BSD-3-Clause */
/* Interfaces: the batch of frames on their way out, and whose address is whose. */
#include "netif.h"

#include "../priv.h"

void
netif_flush(struct netif *nif)
{
	unsigned int n = nif->tx_n, taken;
	struct stack *s = nif->stack;

	if (n == 0)
		return;
	taken = nif->cfg.tx(nif->cfg.tx_ctx, nif->tx, n);
	nif->tx_n = 0;
	for (; taken < n; taken++)
		stack_drop(s, nif, STACK_DROP_TX_FULL, nif->tx[taken]);
}

void
netif_transmit(struct netif *nif, struct rte_mbuf *m)
{
	struct netif *out = nif->cfg.parent != NULL ? nif->cfg.parent : nif;

	if ((nif->flags & out->flags & NETIF_UP) == 0) {
		stack_drop(nif->stack, nif, STACK_DROP_IF_DOWN, m);
		return;
	}
	nif->stats.tx_packets++;
	nif->stats.tx_bytes += shim_buf_len(m);
	if (out != nif) {
		out->stats.tx_packets++;
		out->stats.tx_bytes += shim_buf_len(m);
	}
	out->tx[out->tx_n++] = m;
	if (out->tx_n == NETIF_TX_BATCH)
		netif_flush(out);
}

void
netif_release(struct netif *nif)
{
	struct stack *s = nif->stack;

	for (unsigned int i = 0; i < nif->tx_n; i++)
		shim_buf_free(s->shim, nif->tx[i]);
	nif->tx_n = 0;
	timer_cancel(&s->wheel, &nif->rs_timer);
	for (unsigned int i = 0; i < NETIF_MAX_ADDR6; i++)
		timer_cancel(&s->wheel, &nif->addr6[i].timer);
	nif->flags &= ~(uint32_t)NETIF_UP;
}

struct netif_addr4 *
netif_find4(struct netif *nif, uint32_t addr_be)
{
	for (unsigned int i = 0; i < nif->nb_addr4; i++)
		if (nif->addr4[i].addr == addr_be)
			return &nif->addr4[i];
	return NULL;
}

struct netif_addr6 *
netif_find6(struct netif *nif, const union ip_addr *addr)
{
	for (unsigned int i = 0; i < nif->nb_addr6; i++)
		if (nif->addr6[i].state != ADDR6_FREE && ip_addr_eq(&nif->addr6[i].addr, addr))
			return &nif->addr6[i];
	return NULL;
}

bool
stack_owns4(const struct stack *s, uint32_t addr_be)
{
	for (unsigned int i = 0; i < s->nb_ifs; i++)
		if (netif_find4(s->ifs[i], addr_be) != NULL)
			return true;
	return false;
}

bool
stack_owns6(const struct stack *s, const union ip_addr *addr)
{
	for (unsigned int i = 0; i < s->nb_ifs; i++) {
		const struct netif_addr6 *a = netif_find6(s->ifs[i], addr);

		if (a != NULL && (a->state == ADDR6_PREFERRED || a->state == ADDR6_DEPRECATED))
			return true;
	}
	return false;
}
