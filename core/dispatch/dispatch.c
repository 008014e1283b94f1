/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The decision for a burst: classify all, hash all, look all up in the flow map and the peer's table, then decide one
 * by one.
 */
#include "dispatch.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#define BURST 64u
#define MAP_ROOM 8192u
#define MAP_MAX (1u << 20)
#define AHEAD 4u /* frames whose header is on its way while another one is read */

/* What the peer's state word makes of UDP flows that are not the owner's own. */
enum rule {
	RULE_LOCAL,      /* nothing is the peer's */
	RULE_TABLE,      /* what it publishes and is active */
	RULE_ALL,        /* it does not publish: everything */
};

struct burst {
	struct flow_info info[BURST];
	/* frames that have a key, by number of the look-up */
	const struct flow_key *key[BURST];
	uint64_t hash[BURST];
	uint8_t number[BURST];       /* of a frame's look-up */
	uint64_t mine;               /* bits by look-up: in the flow map */
	uint64_t active, aged;       /* in the peer's table */
	uint64_t waiting;            /* bits by frame: fragments without an owner so far */
	bool plain;                  /* UDP packets only: frame i is look-up i */
	enum rule rule;
	uint32_t now_ms;
	unsigned int nb_held;
	struct rte_mbuf **held;
	uint8_t *held_to;
};

int
dispatch_create(struct dispatcher *d, struct shim *s, const struct siphash_key *secret)
{
	int rc;

	memset(d, 0, sizeof(*d));
	d->shim = s;
	d->secret = *secret;
	rc = flow_map_create(s, MAP_ROOM, MAP_MAX, secret, &d->map);
	if (rc == 0)
		rc = frag_owners_create(s, secret, &d->frags);
	if (rc < 0)
		dispatch_destroy(d);
	return rc;
}

void
dispatch_destroy(struct dispatcher *d)
{
	flow_map_destroy(d->map);
	frag_owners_destroy(d->frags);
	d->map = NULL;
	d->frags = NULL;
}

void
dispatch_open(struct dispatcher *d, const struct pub *peer, uint32_t wid)
{
	d->peer = *peer;
	d->wid = wid;
	d->began = false;
	memset(&d->st, 0, sizeof(d->st));
	flow_map_clear(d->map);
	frag_owners_forget(d->frags);
}

unsigned int
dispatch_close(struct dispatcher *d, struct rte_mbuf **held, unsigned int n)
{
	d->wid = 0;
	d->peer.t = NULL;
	flow_map_clear(d->map); /* here too: opening has to be quick */
	return frag_owner_expire(d->frags, 0, true, held, n);
}

uint64_t
dispatch_next(const struct dispatcher *d)
{
	return frag_owner_next(d->frags);
}

/* ---- one flow --------------------------------------------------------------------------------- */

static enum rule
rule_of(const struct dispatcher *d)
{
	enum pub_state state;
	uint32_t wid;

	if (d->wid == 0 || !d->peer_alive || d->peer.t == NULL)
		return RULE_LOCAL;
	state = pub_state_get(&d->peer, &wid);
	if (state == PUB_NONE)
		return RULE_ALL;
	return state == PUB_PUBLISHING && wid == d->wid ? RULE_TABLE : RULE_LOCAL;
}

enum dispatch_to
dispatch_udp(const struct dispatcher *d, uint64_t hash, uint32_t now_ms)
{
	switch (rule_of(d)) {
	case RULE_ALL:
		return DISPATCH_PEER;
	case RULE_TABLE:
		return pub_lookup(&d->peer, hash, now_ms) ? DISPATCH_PEER : DISPATCH_LOCAL;
	default:
		return DISPATCH_LOCAL;
	}
}

static inline bool
bit(uint64_t bits, unsigned int i)
{
	return bits >> i & 1;
}

/* A flow is the owner's from here on, whatever the peer sends of it later. */
static void
learn(struct dispatcher *d, const struct burst *b, unsigned int look)
{
	int rc = flow_map_full(d->map) ? -ENOSPC : flow_map_insert(d->map, b->key[look], b->hash[look]);

	if (rc < 0)
		d->st.learn_full++;
	else if (rc == 0 && bit(b->active | b->aged, look))
		d->st.taken_over++;
}

/* The owner of a flow: flow map, then the protocol's own rule. */
static inline enum dispatch_to
owner(const struct burst *b, unsigned int look)
{
	if (bit(b->mine, look))
		return DISPATCH_LOCAL;
	if (b->key[look]->proto == IPPROTO_TCP)
		return DISPATCH_LOCAL; /* whoever has the connection: an old worker's end in a reload */
	return b->rule == RULE_ALL || (b->rule == RULE_TABLE && bit(b->active, look)) ? DISPATCH_PEER : DISPATCH_LOCAL;
}

/* A packet or first fragment with its ports; the way is counted, and a local flow learned. */
static inline enum dispatch_to
packet(struct dispatcher *d, const struct burst *b, unsigned int look)
{
	enum dispatch_to to = owner(b, look);

	if (to == DISPATCH_PEER) {
		d->st.forwarded++;
		d->st.without_peer_table += b->rule == RULE_ALL;
	} else if (b->key[look]->proto == IPPROTO_UDP) {
		d->st.kept++;
		if (!bit(b->mine, look))
			learn(d, b, look);
	}
	return to;
}

static enum dispatch_to
both(struct dispatcher *d)
{
	if (d->wid == 0 || !d->peer_alive)
		return DISPATCH_LOCAL;
	d->st.cloned++;
	return DISPATCH_BOTH;
}

/* ---- fragments -------------------------------------------------------------------------------- */

static enum dispatch_to
fragment_way(struct dispatcher *d, enum frag_owner_to to)
{
	if (to == FRAG_LOCAL || !d->peer_alive)
		return DISPATCH_LOCAL;
	d->st.forwarded++;
	return DISPATCH_PEER;
}

static void
let_go(struct dispatcher *d, struct burst *b, const struct flow_frag *key, enum frag_owner_to to)
{
	unsigned int n = frag_owner_release(d->frags, key, b->held + b->nb_held, FRAG_HELD - b->nb_held);

	while (n-- > 0)
		b->held_to[b->nb_held++] = (uint8_t)fragment_way(d, to);
}

static enum dispatch_to
first_fragment(struct dispatcher *d, struct burst *b, unsigned int i)
{
	const struct flow_info *f = &b->info[i];
	enum frag_owner_to known = frag_owner_get(d->frags, &f->frag, b->now_ms);
	enum dispatch_to to = DISPATCH_LOCAL;

	if (known != FRAG_UNKNOWN)
		return fragment_way(d, known);
	if (f->key_valid)
		to = packet(d, b, b->number[i]);
	known = to == DISPATCH_PEER ? FRAG_PEER : FRAG_LOCAL;
	frag_owner_set(d->frags, &f->frag, known, b->now_ms);
	let_go(d, b, &f->frag, known);
	return to;
}

/* A fragment that nobody waits for any more. */
static enum dispatch_to
orphan(struct dispatcher *d, uint32_t now_ms)
{
	return now_ms - d->began_ms <= FRAG_OWNER_MS ? both(d) : DISPATCH_LOCAL;
}

static void
time_passes(struct dispatcher *d, struct burst *b, uint64_t now_ns)
{
	unsigned int n;

	if (frag_owner_next(d->frags) > now_ns)
		return;
	n = frag_owner_expire(d->frags, now_ns, false, b->held + b->nb_held, FRAG_HELD - b->nb_held);
	while (n-- > 0)
		b->held_to[b->nb_held++] = (uint8_t)orphan(d, b->now_ms);
}

/* Fragments of the burst whose first one was not known when they were met: it may have come behind them. */
static void
settle_waiting(struct dispatcher *d, struct burst *b, struct rte_mbuf *const *m, uint8_t *to, uint64_t now_ns)
{
	for (uint64_t w = b->waiting; w != 0; w &= w - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(w);
		const struct flow_frag *key = &b->info[i].frag;
		enum frag_owner_to known = frag_owner_get(d->frags, key, b->now_ms);

		if (known != FRAG_UNKNOWN) {
			to[i] = (uint8_t)fragment_way(d, known);
		} else if (frag_owner_hold(d->frags, key, m[i], now_ns)) {
			to[i] = DISPATCH_HELD;
			d->st.held++;
		} else {
			to[i] = (uint8_t)orphan(d, b->now_ms);
		}
	}
}

static enum dispatch_to
later_fragment(struct dispatcher *d, struct burst *b, unsigned int i)
{
	enum frag_owner_to known = frag_owner_get(d->frags, &b->info[i].frag, b->now_ms);

	if (!d->peer_alive)
		return DISPATCH_LOCAL;
	if (known != FRAG_UNKNOWN)
		return fragment_way(d, known);
	b->waiting |= 1ull << i;
	return DISPATCH_HELD;
}

/* ---- the burst -------------------------------------------------------------------------------- */

static enum dispatch_to
decide(struct dispatcher *d, struct burst *b, unsigned int i)
{
	const struct flow_info *f = &b->info[i];
	enum dispatch_to to = DISPATCH_LOCAL;

	switch (f->kind) {
	case FLOW_PACKET:
		return packet(d, b, b->number[i]);
	case FLOW_FIRST_FRAG:
		return first_fragment(d, b, i);
	case FLOW_LATER_FRAG:
		return later_fragment(d, b, i);
	case FLOW_ERROR:
		if (f->key_valid)
			to = owner(b, b->number[i]);
		d->st.forwarded += to == DISPATCH_PEER;
		d->st.without_peer_table += to == DISPATCH_PEER && b->rule == RULE_ALL;
		return to;
	case FLOW_NEIGHBOUR:
	case FLOW_TOO_BIG:
		return both(d);
	default:
		return DISPATCH_LOCAL;
	}
}

static unsigned int
classify(struct burst *b, struct rte_mbuf *const *m, unsigned int n)
{
	unsigned int nb = 0, udp = 0;

	for (unsigned int i = 0; i < AHEAD && i < n; i++)
		__builtin_prefetch(shim_buf_data(m[i]));
	for (unsigned int i = 0; i < n; i++) {
		struct flow_info *f = &b->info[i];

		if (i + AHEAD < n)
			__builtin_prefetch(shim_buf_data(m[i + AHEAD]));
		flow_classify(m[i], f);
		b->number[i] = (uint8_t)nb;
		b->key[nb] = &f->key;
		nb += f->key_valid;
		udp += f->kind == FLOW_PACKET && f->key.proto == IPPROTO_UDP;
	}
	b->plain = udp == n;
	return nb;
}

static inline uint64_t
first_bits(unsigned int n)
{
	return n == 64 ? UINT64_MAX : (1ull << n) - 1;
}

/* Asks flow map and table, the latter only for what the former does not have. */
static void
look_up(struct dispatcher *d, struct burst *b, unsigned int looks)
{
	uint64_t ask, hash[BURST], active, aged;
	unsigned int n = 0;

	flow_hash_bulk(&d->secret, b->key, b->hash, looks);
	b->mine = flow_map_lookup_bulk(d->map, b->key, b->hash, looks);
	b->rule = rule_of(d);
	b->active = b->aged = 0;
	ask = ~b->mine & first_bits(looks);
	if (b->mine == 0) {
		b->active = pub_lookup_bulk(&d->peer, b->hash, looks, b->now_ms, &b->aged);
		return;
	}
	if (ask == 0)
		return;
	for (uint64_t w = ask; w != 0; w &= w - 1)
		hash[n++] = b->hash[__builtin_ctzll(w)];
	active = pub_lookup_bulk(&d->peer, hash, n, b->now_ms, &aged);
	for (; ask != 0; ask &= ask - 1, active >>= 1, aged >>= 1) {
		b->active |= (active & 1) << __builtin_ctzll(ask);
		b->aged |= (aged & 1) << __builtin_ctzll(ask);
	}
}

/* n UDP packets and nothing else: what packet() says of each, for all at once. */
static void
decide_plain(struct dispatcher *d, const struct burst *b, unsigned int n, uint8_t *to)
{
	uint64_t all = first_bits(n), peer, fresh;
	unsigned int nb;

	peer = ~b->mine & (b->rule == RULE_ALL ? all : b->rule == RULE_TABLE ? b->active : 0);
	nb = (unsigned int)__builtin_popcountll(peer);
	d->st.forwarded += nb;
	d->st.without_peer_table += b->rule == RULE_ALL ? nb : 0;
	d->st.kept += n - nb;
	for (unsigned int i = 0; i < n; i++)
		to[i] = bit(peer, i) ? DISPATCH_PEER : DISPATCH_LOCAL;
	for (fresh = all & ~b->mine & ~peer; fresh != 0; fresh &= fresh - 1)
		learn(d, b, (unsigned int)__builtin_ctzll(fresh));
}

unsigned int
dispatch_burst(struct dispatcher *d, struct rte_mbuf *const *m, unsigned int n, uint32_t now_ms, uint64_t now_ns,
	uint8_t *to, struct rte_mbuf **out_held, uint8_t *held_to)
{
	struct burst b;

	b.nb_held = 0;
	b.held = out_held;
	b.held_to = held_to;
	b.waiting = 0;
	b.now_ms = now_ms;
	if (d->wid == 0) {
		if (n > 0)
			memset(to, DISPATCH_LOCAL, n);
		time_passes(d, &b, now_ns);
		return b.nb_held;
	}
	if (!d->began) {
		d->began = true;
		d->began_ms = now_ms;
	}
	look_up(d, &b, classify(&b, m, n));
	if (b.plain)
		decide_plain(d, &b, n, to);
	for (unsigned int i = 0; i < n && !b.plain; i++)
		to[i] = (uint8_t)decide(d, &b, i);
	time_passes(d, &b, now_ns);
	settle_waiting(d, &b, m, to, now_ns);
	return b.nb_held;
}
