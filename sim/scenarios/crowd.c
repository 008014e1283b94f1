/* SPDX-License-Identifier: BSD-3-Clause */
/* A hundred hosts on a switch. */
#include <stdio.h>

#include "../../core/base/bytes.h"
#include "../switch.h"
#include "all.h"

#define HOSTS 100u

struct crowd_host {
	struct crowd *crowd;
	struct peer peer;
	struct udp_server server;
	struct udp_client client;
	char name[16];
};

struct crowd {
	struct crowd_host host[HOSTS];
	struct sim_switch *sw;
	unsigned int next;
};

static int
host_init(struct peer *p, void *arg)
{
	struct crowd_host *h = arg;
	int rc = udp_server_init(&h->server, p->stack);

	return rc != 0 ? rc : udp_client_init(&h->client, p->stack);
}

static void
host_turn(struct peer *p, uint64_t now_ns, void *arg)
{
	struct crowd_host *h = arg;

	udp_server_turn(&h->server, p->stack);
	peer_client_turn(p, now_ns, &h->client);
}

static bool
host_build(struct sim_world *w, struct crowd *s, unsigned int i)
{
	struct prng *r = sim_rng(w);
	struct crowd_host *h = &s->host[i];
	const struct fault_params f = { .delay_ns = prng_range(r, 1000, 1000000), .jitter_ns = 10000 };
	/* everybody asks somebody else */
	unsigned int whom = (i + 1 + (unsigned int)prng_below(r, HOSTS - 1)) % HOSTS;
	struct peer_conf pc = { .name = h->name, .addr4_be = be32(0x0a000001u + i), .init = host_init, .turn = host_turn,
		.arg = h };
	struct udp_client_conf cc = { .server4_be = be32(0x0a000001u + whom), .seed = prng_next(r), .n = 10, .window = 2,
		.min_len = 8, .max_len = 1400, .gap_ns = 10 * MS, .timeout_ns = SEC, .start_ns = 2 * SEC + i * MS };
	struct sim_end *e;

	snprintf(h->name, sizeof(h->name), "host%u", i);
	addr6_of((uint8_t)(i + 1), pc.addr6);
	addr6_of((uint8_t)(whom + 1), cc.server6);
	if (udp_client_prepare(&h->client, &cc) != 0 || peer_add(w, &h->peer, &pc) != 0)
		return false;
	e = sim_switch_end(s->sw, h->peer.port->conf.mac);
	return e != NULL && sim_wire_add(w, peer_end(&h->peer), e, &f, &f) != NULL;
}

static bool
all_done(void *arg)
{
	struct crowd *s = arg;

	/* what is done stays done: look on from the first that was not */
	while (s->next < HOSTS && (udp_client_done(&s->host[s->next].client) ||
		s->host[s->next].client.wrong[0] != '\0'))
		s->next++;
	return s->next == HOSTS;
}

static void
many_hosts(struct sim_world *w, void *state)
{
	struct crowd *s = state;

	s->sw = sim_switch_create("switch");
	for (unsigned int i = 0; i < HOSTS; i++)
		if (!sim_check(w, s->sw != NULL && host_build(w, s, i), "host %u could not be made", i))
			return;
	sim_run_until(w, all_done, s, 120 * SEC);
	for (unsigned int i = 0; i < HOSTS; i++)
		if (!client_check(w, &s->host[i].client, s->host[i].name))
			return;
	if (sim_check(w, sim_switch_forwarded(s->sw) > 0 && sim_switch_flooded(s->sw) > 0, "an idle switch"))
		sim_finish(w);
}

static void
many_release(void *state)
{
	struct crowd *s = state;

	for (unsigned int i = 0; i < HOSTS; i++)
		udp_client_release(&s->host[i].client);
	sim_switch_destroy(s->sw);
}

const struct sim_scenario scenario_many_hosts = {
	.name = "many-hosts",
	.description = "a hundred hosts on one switch, each asking another one over both families",
	.state_size = sizeof(struct crowd),
	.run = many_hosts,
	.release = many_release,
};
