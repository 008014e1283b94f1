/* SPDX-License-Identifier: BSD-3-Clause */
/* bed bench tcp: our TCP beside lwIP's, same wire, same payload, rounds taken in turn in one process. */
#include <dlfcn.h>
#include <stdio.h>

#include "tcp_nonic.h"

#define PEERS 5
#define ROUNDS 9
#define LWIP_IDLE 10000 /* lwIP's client has 16,384 ports, and each new connection looks at all others */

enum kind { REQUESTS, BULK, CONNECTS };

struct row {
	enum kind kind;
	unsigned int conns;
	bool server_first;
};

static const struct row rows[] = {
	{ REQUESTS, 1, false }, { REQUESTS, 32, false }, { REQUESTS, 1000, false },
	{ BULK, 1, false }, { BULK, 8, false },
	{ CONNECTS, 1, false }, { CONNECTS, 1, true },
};

static const unsigned int in_rows[] = { [REQUESTS] = BENCH_REQUESTS, [BULK] = BENCH_BULK, [CONNECTS] = BENCH_CONNECTS };

/* What is measured of one implementation in one row. */
struct result {
	double ns, ratio, cycles;
};

static struct {
	const struct bench_tcp_peer *peer[PEERS];
	double (*lwip_idle)(unsigned int n);
	bool json, smoke;
	unsigned int rounds, requests, segments, connects, time_wait, idle;
} b = { .rounds = ROUNDS, .requests = 24000, .segments = 16000, .connects = 512, .time_wait = 10000, .idle = 100000 };

static int
load_peers(const char *self)
{
	char path[4096];
	const char *slash = strrchr(self, '/');
	const struct bench_tcp_peer *lwip;
	void *h;

	snprintf(path, sizeof(path), "%.*s/libbench_lwip.so", slash ? (int)(slash - self) : 1, slash ? self : ".");
	h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	lwip = h ? dlsym(h, "bench_tcp_lwip") : NULL;
	*(void **)&b.lwip_idle = h ? dlsym(h, "bench_tcp_lwip_idle") : NULL;
	if (lwip == NULL || b.lwip_idle == NULL) {
		fprintf(stderr, "bench tcp: %s\n", dlerror());
		return -1;
	}
	for (int p = 0; p < 3; p++)
		b.peer[p] = &bench_tcp_nonic[p];
	for (int p = 3; p < PEERS; p++)
		b.peer[p] = &lwip[p - 3];
	return 0;
}

/* ---- a row ------------------------------------------------------------------------------------- */

/* One round; for connections, what it left in TIME-WAIT beyond what shall be there is forgotten untimed. */
static double
round_of(const struct bench_tcp_peer *p, const struct row *r, bool check, double *cycles)
{
	double ns;

	*cycles = 0;
	switch (r->kind) {
	case REQUESTS:
		return p->request(p->ctx, check ? r->conns * 4 : b.requests, check, cycles);
	case BULK:
		return p->bulk(p->ctx, check ? r->conns * 400 : b.segments, check);
	case CONNECTS:
		ns = p->churn(p->ctx, b.connects, r->server_first);
		return p->settle(p->ctx, b.time_wait) < 0 ? -1 : ns;
	}
	return -1;
}

/* Untimed: connections, a round in which every byte is checked, or as many in TIME-WAIT as there shall be. */
static int
prepare(const struct bench_tcp_peer *p, const struct row *r)
{
	double ignored;
	int tries = 0;

	if (p->connect(p->ctx, r->conns) < 0)
		return -1;
	if (r->kind != CONNECTS)
		return round_of(p, r, true, &ignored) < 0 || round_of(p, r, false, &ignored) < 0 ? -1 : 0;
	p->settle(p->ctx, b.time_wait);
	while (p->settle(p->ctx, b.time_wait) < (long)b.time_wait)
		if (p->churn(p->ctx, b.connects, r->server_first) < 0 || ++tries > 64)
			return -1;
	return 0;
}

static int
measure(const struct row *r, struct result out[PEERS])
{
	static double ns[PEERS][ROUNDS], ratio[PEERS][ROUNDS], cycles[PEERS][ROUNDS];
	int p, err = 0;

	for (p = 0; p < PEERS && err == 0; p++)
		if (b.peer[p]->rows & in_rows[r->kind])
			err = prepare(b.peer[p], r);
	for (unsigned int i = 0; i < b.rounds && err == 0; i++) {
		for (p = 0; p < PEERS && err == 0; p++) {
			if (!(b.peer[p]->rows & in_rows[r->kind]))
				continue;
			ns[p][i] = round_of(b.peer[p], r, false, &cycles[p][i]);
			ratio[p][i] = ns[p][i] / ns[0][i];
			err = ns[p][i] < 0 ? -1 : 0;
		}
	}
	if (err < 0) {
		fprintf(stderr, "bench tcp: %s failed\n", b.peer[p > 0 ? p - 1 : 0]->name);
		return -1;
	}
	for (p = 0; p < PEERS; p++) {
		if (!(b.peer[p]->rows & in_rows[r->kind]))
			continue;
		out[p].ns = bench_median(ns[p], (int)b.rounds);
		out[p].ratio = bench_median(ratio[p], (int)b.rounds);
		out[p].cycles = bench_median(cycles[p], (int)b.rounds);
		if (b.peer[p]->disconnect(b.peer[p]->ctx) < 0)
			return -1;
	}
	return 0;
}

/* ---- what is printed --------------------------------------------------------------------------- */

static void
print_json(const struct row *r, const struct result v[PEERS])
{
	static const char *const names[] = { "request", "bulk", "connect" };

	printf("{\"row\":\"%s\",\"connections\":%u", names[r->kind], r->conns);
	if (r->kind == CONNECTS)
		printf(",\"time_wait\":%u,\"closes_first\":\"%s\"", b.time_wait, r->server_first ? "server" : "client");
	for (int p = 0; p < PEERS; p++) {
		if (!(b.peer[p]->rows & in_rows[r->kind]))
			continue;
		printf(",\"%s\":{\"ns\":%.1f,\"per_second\":%.0f,\"ratio\":%.2f", b.peer[p]->name, v[p].ns, 1e9 / v[p].ns, v[p].ratio);
		if (r->kind == REQUESTS)
			printf(",\"serving_cycles\":%.0f", v[p].cycles);
		printf("}");
	}
	printf("},");
}

static void
print_text(const struct row *r, const struct result v[PEERS])
{
	if (r->kind == REQUESTS)
		printf("request and answer of %u B, %u connection%s\n", BENCH_REQUEST, r->conns, r->conns == 1 ? "" : "s");
	else if (r->kind == BULK)
		printf("segments of %u B one way, %u connection%s\n", BENCH_MSS, r->conns, r->conns == 1 ? "" : "s");
	else
		printf("connect and close, %s first, %u in TIME-WAIT there\n", r->server_first ? "server" : "client", b.time_wait);
	for (int p = 0; p < PEERS; p++) {
		if (!(b.peer[p]->rows & in_rows[r->kind]))
			continue;
		printf("  %-28s %8.0f ns  %10.0f/s  %6.2fx", b.peer[p]->name, v[p].ns, 1e9 / v[p].ns, v[p].ratio);
		if (r->kind == REQUESTS)
			printf("  %6.0f cycles on the serving side", v[p].cycles);
		if (r->kind == BULK)
			printf("  %6.2f Gbit/s", BENCH_MSS * 8 / v[p].ns);
		printf("\n");
	}
	fflush(stdout);
}

static int
idle_row(void)
{
	struct bench_idle i;
	unsigned int n = b.idle < LWIP_IDLE ? b.idle : LWIP_IDLE;
	double lwip;

	if (bench_tcp_nonic_idle(b.idle, &i) < 0)
		return -1;
	lwip = b.lwip_idle(n);
	if (lwip < 0)
		return -1;
	if (b.json) {
		printf("{\"row\":\"idle\",\"connections\":%u,\"nonic\":{\"bytes\":%.0f,\"gib_of_a_million\":%.3f,\"control_block\":%zu,"
			"\"socket\":%zu,\"slot\":%zu,\"epoll_entry\":%zu},\"lwip\":{\"connections\":%u,\"bytes\":%.0f}}", i.n, i.bytes,
			i.bytes * 1e6 / (1 << 30), i.control, i.socket, i.slot, i.watch, n, lwip);
		return 0;
	}
	printf("idle connections, bytes of the process for one end\n");
	printf("  %-28s %8.0f B of %u; a million: %.2f GiB%s\n", "nonic", i.bytes, i.n, i.bytes * 1e6 / (1 << 30),
		i.n < 1000000 ? " (extrapolated)" : "");
	printf("  %-28s %8zu B control block, %zu B socket, %zu B a place in the table; not counted: %zu B an epoll entry\n",
		"of these", i.control, i.socket, i.slot, i.watch);
	printf("  %-28s %8.0f B of %u\n", "lwip", lwip, n);
	return 0;
}

static int
usage(FILE *f)
{
	fprintf(f, "usage: bench_tcp [--json] [--idle N] [--smoke]\n"
		"  --idle N  idle connections whose memory is measured (default 100000; 1000000 takes about 3 GiB)\n"
		"  --smoke   one short round of everything: does it work? The figures say nothing.\n");
	return f == stderr ? 2 : 0;
}

/* 0: go on; else what to end with, plus one. */
static int
options(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *end = NULL;

		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return usage(stdout) + 1;
		if (strcmp(argv[i], "--json") == 0) {
			b.json = true;
		} else if (strcmp(argv[i], "--smoke") == 0) {
			b.smoke = true;
		} else if (strcmp(argv[i], "--idle") == 0 && i + 1 < argc) {
			unsigned long n = strtoul(argv[++i], &end, 10);

			if (*end != 0 || n < 1 || n > 2000000)
				return usage(stderr) + 1;
			b.idle = (unsigned int)n;
		} else {
			return usage(stderr) + 1;
		}
	}
	if (b.smoke) {
		b.rounds = 1;
		b.requests = 2000;
		b.segments = 2000;
		b.connects = 128;
		b.time_wait = 300;
		b.idle = 1000;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct result v[PEERS];
	double load[3] = { 0, 0, 0 };
	int end = options(argc, argv);

	if (end != 0)
		return end - 1;
	if (load_peers(argv[0]) < 0)
		return 1;
	for (int p = 0; p < PEERS; p++)
		if (b.peer[p]->open(b.peer[p]->ctx) < 0)
			return 1;
	getloadavg(load, 3);
	if (b.json)
		printf("{\"unit\":\"ns of CPU, both ends\",\"rounds\":%u,\"load\":[%.2f,%.2f,%.2f],\"rows\":[", b.rounds, load[0],
			load[1], load[2]);
	else
		printf("TCP, both ends on one core, median of %u rounds; load of the machine %.1f %.1f %.1f\n"
			"Nx: time over nonic's, pair by pair\n", b.rounds, load[0], load[1], load[2]);
	fflush(stdout);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (measure(&rows[i], v) < 0)
			return 1;
		if (b.json)
			print_json(&rows[i], v);
		else
			print_text(&rows[i], v);
	}
	if (idle_row() < 0)
		return 1;
	if (b.json)
		printf("]}\n");
	for (int p = 0; p < PEERS; p++)
		b.peer[p]->close(b.peer[p]->ctx);
	return 0;
}
