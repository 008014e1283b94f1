/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP (RFC 826) and IPv4 address conflicts (RFC 5227). */
#include "../priv.h"

#define ARP_LEN 28
#define ARP_REQUEST 1
#define ARP_REPLY 2

static const uint8_t broadcast[ETH_ALEN] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
static const uint8_t nobody[ETH_ALEN];

/* The fields of an Ethernet/IPv4 ARP packet that vary; addresses as they stand in the packet. */
struct arp {
	uint16_t op;
	uint8_t smac[ETH_ALEN], tmac[ETH_ALEN];
	uint32_t sip, tip;
};

static void
arp_send(struct stack *s, struct netif *nif, const struct arp *a, const uint8_t dst[ETH_ALEN])
{
	static const uint8_t fixed[6] = { 0, 1, 0x08, 0x00, ETH_ALEN, 4 };
	struct rte_mbuf *m = stack_buf(s);
	uint8_t *p;

	if (m == NULL)
		return;
	p = shim_buf_append(m, ARP_LEN);
	if (p == NULL) {
		stack_drop(s, nif, STACK_DROP_NO_BUFFER, m);
		return;
	}
	memcpy(p, fixed, sizeof(fixed));
	put_be16(p + 6, a->op);
	memcpy(p + 8, a->smac, ETH_ALEN);
	memcpy(p + 14, &a->sip, 4);
	memcpy(p + 18, a->tmac, ETH_ALEN);
	memcpy(p + 24, &a->tip, 4);
	eth_output(s, nif, m, dst, ETHERTYPE_ARP);
}

void
arp_announce(struct stack *s, struct netif *nif, uint32_t addr_be)
{
	struct arp a = { .op = ARP_REQUEST, .sip = addr_be, .tip = addr_be };

	memcpy(a.smac, nif->cfg.mac, ETH_ALEN);
	arp_send(s, nif, &a, broadcast);
}

/* Our address on nif whose prefix has addr, or NULL. */
static const struct netif_addr4 *
covering(const struct netif *nif, uint32_t addr)
{
	for (unsigned int i = 0; i < nif->nb_addr4; i++)
		if (((nif->addr4[i].addr ^ addr) & nif->addr4[i].mask) == 0)
			return &nif->addr4[i];
	return NULL;
}

void
arp_solicit(struct stack *s, struct neigh *n, bool unicast)
{
	struct netif *nif = n->nif;
	const struct netif_addr4 *own = covering(nif, n->addr.v4);
	struct arp a = { .op = ARP_REQUEST, .tip = n->addr.v4 };

	if (own == NULL && nif->nb_addr4 > 0)
		own = &nif->addr4[0];
	if (own == NULL)
		return; /* nobody to answer to */
	a.sip = own->addr;
	memcpy(a.smac, nif->cfg.mac, ETH_ALEN);
	if (unicast)
		memcpy(a.tmac, n->mac, ETH_ALEN);
	arp_send(s, nif, &a, unicast ? n->mac : broadcast);
}

/* Copies the fields out of m; false: not a whole Ethernet/IPv4 ARP packet. */
static bool
arp_parse(const struct rte_mbuf *m, struct arp *a)
{
	static const uint8_t fixed[6] = { 0, 1, 0x08, 0x00, ETH_ALEN, 4 };
	uint8_t buf[ARP_LEN];
	const uint8_t *p = shim_buf_read(m, 0, ARP_LEN, buf);

	if (p == NULL || memcmp(p, fixed, sizeof(fixed)) != 0)
		return false;
	a->op = get_be16(p + 6);
	memcpy(a->smac, p + 8, ETH_ALEN);
	memcpy(&a->sip, p + 14, 4);
	memcpy(a->tmac, p + 18, ETH_ALEN);
	memcpy(&a->tip, p + 24, 4);
	return a->op == ARP_REQUEST || a->op == ARP_REPLY;
}

/* Could a station with these addresses exist? sip 0 is a probe (RFC 5227 2.1.1). */
static bool
sender_ok(const struct netif *nif, const struct arp *a)
{
	if ((a->smac[0] & 1) != 0 || memcmp(a->smac, nobody, ETH_ALEN) == 0)
		return false;
	if (memcmp(a->smac, nif->cfg.mac, ETH_ALEN) == 0)
		return false; /* our own packet, come back */
	return !ip4_multicast(a->sip) && !ip4_loopback(a->sip) && a->sip != UINT32_MAX &&
		(a->sip == 0 || (a->sip & 0xff) != 0);
}

/* RFC 5227 2.4 (b): say whose it is, but do not fight about it. */
static void
defend(struct stack *s, struct netif *nif, struct netif_addr4 *own)
{
	if (own->conflict < UINT8_MAX)
		own->conflict++;
	if (s->now_ns < own->defend_ns)
		return;
	own->defend_ns = s->now_ns + ARP_DEFEND_NS;
	shim_log(s->shim, SHIM_LOG_WARNING, "%s: another station uses our address %u.%u.%u.%u",
		nif->cfg.name, own->addr & 0xff, own->addr >> 8 & 0xff, own->addr >> 16 & 0xff,
		own->addr >> 24);
	arp_announce(s, nif, own->addr);
}

static void
answer(struct stack *s, struct netif *nif, const struct arp *q)
{
	struct arp a = { .op = ARP_REPLY, .sip = q->tip, .tip = q->sip };

	memcpy(a.smac, nif->cfg.mac, ETH_ALEN);
	memcpy(a.tmac, q->smac, ETH_ALEN);
	arp_send(s, nif, &a, q->smac);
}

/* What the sender says about itself. To an entry that exists it is news; only a question to us makes one. */
static void
learn(struct stack *s, struct netif *nif, const struct arp *a, bool for_us)
{
	union ip_addr addr = ip_addr_v4(a->sip);
	struct neigh *n = neigh_lookup(s, nif, ADDR_INET, &addr);

	if (n == NULL && for_us && a->op == ARP_REQUEST && covering(nif, a->sip) != NULL)
		n = neigh_get(s, nif, ADDR_INET, &addr);
	if (n != NULL)
		neigh_update(s, n, a->smac, for_us && a->op == ARP_REPLY, true);
}

void
arp_input(struct stack *s, struct netif *nif, struct rte_mbuf *m)
{
	struct netif_addr4 *own;
	struct arp a;
	bool for_us;

	if (!arp_parse(m, &a)) {
		stack_drop(s, nif, STACK_DROP_ARP_MALFORMED, m);
		return;
	}
	if (!sender_ok(nif, &a)) {
		stack_drop(s, nif, STACK_DROP_ARP_SPOOF, m);
		return;
	}
	own = a.sip != 0 ? netif_find4(nif, a.sip) : NULL;
	if (own != NULL) {
		stack_drop(s, nif, STACK_DROP_ARP_SPOOF, m);
		defend(s, nif, own);
		return;
	}
	shim_buf_free(s->shim, m);
	for_us = netif_find4(nif, a.tip) != NULL;
	if (a.sip != 0)
		learn(s, nif, &a, for_us);
	if (for_us && a.op == ARP_REQUEST)
		answer(s, nif, &a);
}
