/* SPDX-License-Identifier: BSD-3-Clause */
/* bed bench udp: UDP echo through our stack beside lwIP's, same shape of wire, rounds taken in turn in one process. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define PEERS 4
#define ROUNDS 9

extern const struct bench_udp_peer bench_udp_nonic[2];

static const unsigned int sizes[] = { 18, 64, 1000 };
static const unsigned int batches[] = { 1, 32 };

struct row {
	unsigned int size, batch;
	double ns[PEERS];        /* median of the rounds */
	double ratio[PEERS];     /* median over the rounds of peer / nonic, pair by pair */
};

static int
load_peers(const char *self, const struct bench_udp_peer *peer[PEERS])
{
	char path[4096];
	const char *slash = strrchr(self, '/');
	const struct bench_udp_peer *lwip;
	void *h;

	snprintf(path, sizeof(path), "%.*s/libbench_lwip.so", slash ? (int)(slash - self) : 1, slash ? self : ".");
	h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	lwip = h ? dlsym(h, "bench_udp_lwip") : NULL;
	if (lwip == NULL) {
		fprintf(stderr, "bench udp: %s\n", dlerror());
		return -1;
	}
	peer[0] = &bench_udp_nonic[0];
	peer[1] = &bench_udp_nonic[1];
	peer[2] = &lwip[0];
	peer[3] = &lwip[1];
	return 0;
}

static int
measure(const struct bench_udp_peer *peer[PEERS], struct row *r, unsigned int n)
{
	double ns[PEERS][ROUNDS], ratio[PEERS][ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		for (int p = 0; p < PEERS; p++) {
			ns[p][round] = peer[p]->echo(r->size, r->batch, n);
			if (ns[p][round] < 0) {
				fprintf(stderr, "bench udp: %s lost a datagram at %u bytes\n", peer[p]->name, r->size);
				return -1;
			}
			ratio[p][round] = ns[p][round] / ns[0][round];
		}
	}
	for (int p = 0; p < PEERS; p++) {
		r->ns[p] = bench_median(ns[p], ROUNDS);
		r->ratio[p] = bench_median(ratio[p], ROUNDS);
	}
	return 0;
}

static void
print_row(const struct bench_udp_peer *peer[PEERS], const struct row *r, int json, int first)
{
	if (json) {
		printf("%s{\"bytes\":%u,\"in_flight\":%u", first ? "" : ",", r->size, r->batch);
		for (int p = 0; p < PEERS; p++)
			printf(",\"%s\":{\"ns\":%.1f,\"ratio\":%.2f}", peer[p]->name, r->ns[p], r->ratio[p]);
		printf("}");
		return;
	}
	printf("%5u B x%-2u", r->size, r->batch);
	for (int p = 0; p < PEERS; p++)
		printf("  %10.0f ns %5.2fx", r->ns[p], r->ratio[p]);
	printf("\n");
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	const struct bench_udp_peer *peer[PEERS];
	int json = argc > 1 && strcmp(argv[1], "--json") == 0, first = 1;

	if (argc > 1 && !json) {
		fprintf(stderr, "usage: bench_udp [--json]\n");
		return 2;
	}
	if (load_peers(argv[0], peer) < 0)
		return 1;
	for (int p = 0; p < PEERS; p++)
		if (peer[p]->open() < 0 || peer[p]->echo(18, 1, 1000) < 0) /* addresses are resolved in these */
			return 1;
	if (json)
		printf("{\"unit\":\"ns of CPU an echo, both ends\",\"rounds\":%d,\"rows\":[", ROUNDS);
	else
		printf("UDP echo, both ends on one core, median of %d rounds; Nx: time over nonic's, pair by pair\n"
		       "%10s  %17s  %17s  %17s  %17s\n", ROUNDS, "", peer[0]->name, peer[1]->name, peer[2]->name, peer[3]->name);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		for (size_t b = 0; b < sizeof(batches) / sizeof(*batches); b++) {
			struct row r = { .size = sizes[s], .batch = batches[b] };

			if (measure(peer, &r, 64000) < 0)
				return 1;
			print_row(peer, &r, json, first);
			first = 0;
		}
	}
	if (json)
		printf("]}\n");
	for (int p = 0; p < PEERS; p++)
		peer[p]->close();
	return 0;
}
