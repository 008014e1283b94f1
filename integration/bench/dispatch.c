/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bed bench dispatch: what a window and the record before it cost, beside rte_hash with the same keys in the same
 * process, in turns.
 *
 *   record     pub_record of a flow that is in the table,     rte_hash_add_key_data of a key that is there
 *              and the pub_flush that comes after it
 *   published  dispatch_burst of 32 frames, flows that the    rte_hash_lookup_bulk of 32 keys, all of them hits
 *              peer serves: flow map misses, table hits
 *   learned    the same, flows in the flow map                the same
 *   unknown    the same, flows that are nowhere (the map is   the same, all of them misses
 *              full, so that they stay unknown)
 *   first      the same, each flow's first packet: learned    rte_hash_lookup_bulk, then rte_hash_add_key of each
 *
 * The dispatcher's time begins with frames (their headers are read, the keys made and hashed), rte_hash's with keys
 * that are made already. rte_hash is used as it comes: its default hash function (CRC32), 40-byte keys, one writer,
 * no flags, as many entries as the publish table has. Flow map and table hold as many flows as rte_hash, and look-ups
 * are of flows chosen at random.
 */
#include <getopt.h>
#include <rte_cycles.h>
#include <rte_hash.h>
#include <rte_memory.h>
#include <stdio.h>
#include <string.h>

#include "core/dispatch/dispatch.h"
#include "shim/dpdk/eal.h"
#include "shim/shim.h"

#include "bench.h"

#define BURST 32u
#define CHUNK 512u       /* frames prepared, then decided, burst by burst */
#define ROUNDS_MAX 99
#define PEER 1u          /* sets of flows: the peer's, */
#define OWN 2u           /* the owner's, */
#define NOBODY 3u        /* nobody's */
#define NOW_MS 50000u
#define WID 3u

enum row_kind { RECORD, PUBLISHED, LEARNED, UNKNOWN, FIRST, KINDS };

static const char *const kind_name[] = { "record", "published", "learned", "unknown", "first" };

struct bench {
	struct shim *shim;
	struct shim_pool *pool;
	struct rte_mbuf *m[CHUNK];
	struct flow_key key[CHUNK];
	const void *keys[CHUNK];
	uint64_t seed;
	int family;
	uint32_t flows, entries;
	struct siphash_key secret;
	struct pub_table *table;
	struct pub writer, reader;
	struct dispatcher disp;
	struct rte_hash *hash;
	uint64_t wrong;          /* answers that were not what the row is about */
	uint32_t first_ours, first_theirs;
};

static uint64_t
rnd(struct bench *b)
{
	b->seed ^= b->seed << 13;
	b->seed ^= b->seed >> 7;
	b->seed ^= b->seed << 17;
	return b->seed;
}

/* Flow n of a set. */
static void
flow(const struct bench *b, uint32_t set, uint32_t n, struct flow_key *k)
{
	union ip_addr remote = ip_addr_v4(set | n * 2654435761u << 8), local = ip_addr_v4(0x0100000a);

	if (b->family == ADDR_INET6) {
		remote = (union ip_addr){ .w = { 0xb80d0120, set, n * 2654435761u, n } };
		local = (union ip_addr){ .w = { 0xb80d0120, 0, 0, 0x01000000 } };
	}
	flow_key_make(k, b->family, 17, &remote, (uint16_t)(n >> 8 | n << 12), &local, 0x3500);
}

static void
frame(const struct flow_key *k, struct rte_mbuf *m)
{
	uint8_t *d = shim_buf_data(m), *l4;

	memset(d, 0, 80);
	d[0] = 2;
	if (k->family == ADDR_INET) {
		d[12] = 0x08;
		d[14] = 0x45;
		d[17] = 46;
		d[23] = 17;
		memcpy(d + 26, k->remote, 4);
		memcpy(d + 30, k->local, 4);
		l4 = d + 34;
	} else {
		d[12] = 0x86;
		d[13] = 0xdd;
		d[14] = 0x60;
		d[19] = 26;
		d[20] = 17;
		memcpy(d + 22, k->remote, 16);
		memcpy(d + 38, k->local, 16);
		l4 = d + 54;
	}
	memcpy(l4, &k->rport_be, 2);
	memcpy(l4 + 2, &k->lport_be, 2);
	l4[5] = 26;
}

/* ---- a table of each kind ---------------------------------------------------------------------- */

static int
hash_make(struct bench *b, uint32_t set, uint32_t flows)
{
	struct rte_hash_parameters p = { .name = "bench", .entries = b->entries, .key_len = sizeof(struct flow_key) };

	rte_hash_free(b->hash);
	b->hash = rte_hash_create(&p);
	if (b->hash == NULL)
		return -1;
	for (uint32_t i = 0; i < flows; i++) {
		struct flow_key k;

		flow(b, set, i, &k);
		if (rte_hash_add_key_data(b->hash, &k, NULL) < 0)
			return -1;
	}
	return 0;
}

static int
map_make(struct bench *b, uint32_t flows)
{
	flow_map_destroy(b->disp.map);
	b->disp.map = NULL;
	if (flow_map_create(b->shim, b->flows, b->flows, &b->secret, &b->disp.map) < 0)
		return -1;
	for (uint32_t i = 0; i < flows; i++) {
		struct flow_key k;

		flow(b, OWN, i, &k);
		if (flow_map_insert(b->disp.map, &k, flow_hash(&b->secret, &k)) != 0)
			return -1;
	}
	return 0;
}

static int
tables_make(struct bench *b)
{
	size_t size = pub_table_size(b->entries);
	void *addr;

	if (shim_zone_reserve(b->shim, "bench_pub", size, &addr) < 0)
		return -1;
	b->table = addr;
	if (pub_table_init(b->shim, b->table, b->entries, 1) < 0 ||
			pub_attach(&b->writer, b->shim, b->table, size, 1, &b->secret, 10000) < 0 ||
			pub_attach(&b->reader, b->shim, b->table, size, 1, &b->secret, 10000) < 0 ||
			dispatch_create(&b->disp, b->shim, &b->secret) < 0)
		return -1;
	pub_writer_begin(&b->writer, 1);
	for (uint32_t i = 0; i < b->flows; i++) {
		struct flow_key k;

		flow(b, PEER, i, &k);
		pub_record(&b->writer, &k, NOW_MS);
	}
	pub_state_set(&b->writer, PUB_PUBLISHING, WID);
	dispatch_open(&b->disp, &b->reader, WID);
	b->disp.peer_alive = true;
	return map_make(b, b->flows);
}

static void
tables_free(struct bench *b)
{
	rte_hash_free(b->hash);
	b->hash = NULL;
	dispatch_destroy(&b->disp);
	shim_zone_free(b->shim, "bench_pub");
}

/* ---- one chunk of work -------------------------------------------------------------------------- */

static void
prepare(struct bench *b, enum row_kind kind)
{
	uint32_t set = kind == LEARNED ? OWN : kind == UNKNOWN || kind == FIRST ? NOBODY : PEER;

	for (unsigned int i = 0; i < CHUNK; i++) {
		uint32_t n = kind == FIRST ? b->first_ours + i : (uint32_t)(rnd(b) % b->flows);

		flow(b, set, n, &b->key[i]);
		frame(&b->key[i], b->m[i]);
		b->keys[i] = &b->key[i];
	}
}

static uint64_t
ours(struct bench *b, enum row_kind kind)
{
	uint8_t want = kind == PUBLISHED ? DISPATCH_PEER : DISPATCH_LOCAL, to[CHUNK], held_to[FRAG_HELD];
	struct rte_mbuf *held[FRAG_HELD];
	uint64_t t = rte_rdtsc_precise();

	if (kind == RECORD) {
		uint32_t now = NOW_MS + (uint32_t)(b->seed & 1023);

		for (unsigned int i = 0; i < CHUNK; i++)
			pub_record(&b->writer, &b->key[i], now);
		pub_flush(&b->writer);
		return rte_rdtsc_precise() - t;
	}
	for (unsigned int i = 0; i < CHUNK; i += BURST)
		dispatch_burst(&b->disp, b->m + i, BURST, NOW_MS, NOW_MS * 1000000ull, to + i, held, held_to);
	t = rte_rdtsc_precise() - t;
	for (unsigned int i = 0; i < CHUNK; i++)
		b->wrong += to[i] != want;
	return t;
}

static uint64_t
theirs(struct bench *b, enum row_kind kind)
{
	int32_t pos[CHUNK];
	uint64_t t = rte_rdtsc_precise();

	if (kind == RECORD) {
		for (unsigned int i = 0; i < CHUNK; i++)
			b->wrong += rte_hash_add_key_data(b->hash, &b->key[i], (void *)(uintptr_t)(NOW_MS + i)) != 0;
		return rte_rdtsc_precise() - t;
	}
	for (unsigned int i = 0; i < CHUNK; i += BURST) {
		rte_hash_lookup_bulk(b->hash, b->keys + i, BURST, pos + i);
		for (unsigned int j = 0; kind == FIRST && j < BURST; j++)
			rte_hash_add_key(b->hash, b->keys[i + j]);
	}
	t = rte_rdtsc_precise() - t;
	for (unsigned int i = 0; i < CHUNK; i++)
		b->wrong += (pos[i] < 0) != (kind == UNKNOWN || kind == FIRST);
	return t;
}

/* ---- rows --------------------------------------------------------------------------------------- */

struct row {
	enum row_kind kind;
	double ours_ns, theirs_ns, ratio;
};

/*
 * Median of the chunks' times: what interrupts one of them does not count. Chunks in turns, ours first in every other
 * one.
 */
static void
round_of(struct bench *b, enum row_kind kind, unsigned int chunks, double ns[2])
{
	static double t[2][4096];

	for (unsigned int c = 0; c < chunks; c++) {
		prepare(b, kind);
		if (c & 1)
			t[1][c] = (double)theirs(b, kind);
		t[0][c] = (double)ours(b, kind);
		if (!(c & 1))
			t[1][c] = (double)theirs(b, kind);
		b->first_ours += kind == FIRST ? CHUNK : 0;
	}
	for (int i = 0; i < 2; i++)
		ns[i] = bench_median(t[i], (int)chunks) * 1e9 / (double)rte_get_tsc_hz() / CHUNK;
}

static int
measure(struct bench *b, struct row *r, int rounds)
{
	double ns[2][ROUNDS_MAX], ratio[ROUNDS_MAX];
	unsigned int chunks = r->kind == FIRST ? b->flows / 2 / CHUNK / (unsigned int)rounds : 128;
	uint32_t set = r->kind == LEARNED ? OWN : PEER;

	uint32_t known = r->kind == FIRST ? b->flows / 2 : b->flows;

	if (hash_make(b, set, known) < 0 || map_make(b, known) < 0) {
		fprintf(stderr, "bench dispatch: no room for %u flows in %s\n", known,
			b->hash == NULL ? "rte_hash" : "the flow map");
		return -1;
	}
	b->wrong = 0;
	b->first_ours = 0;
	if (chunks == 0)
		chunks = 1;
	for (int i = 0; i < rounds; i++) {
		double t[2];

		round_of(b, r->kind, chunks, t);
		ns[0][i] = t[0];
		ns[1][i] = t[1];
		ratio[i] = t[0] / t[1];
	}
	r->ours_ns = bench_median(ns[0], rounds);
	r->theirs_ns = bench_median(ns[1], rounds);
	r->ratio = bench_median(ratio, rounds);
	if (b->wrong > (uint64_t)rounds * chunks * CHUNK / 1000) { /* a table half full has no slot for a few in a million */
		fprintf(stderr, "bench dispatch: %s: %llu wrong answers\n", kind_name[r->kind], (unsigned long long)b->wrong);
		return -1;
	}
	return 0;
}

static void
print_row(const struct bench *b, const struct row *r, bool json, bool first)
{
	const char *peer = r->kind == RECORD ? "add_key_data" : r->kind == FIRST ? "lookup_bulk+add_key" : "lookup_bulk";
	double goal = r->kind == RECORD ? 0.5 : 1.0;
	int ip = b->family;

	if (json)
		printf("%s{\"what\":\"%s\",\"flows\":%u,\"ip\":%d,\"ns\":%.2f,\"rte_hash\":\"%s\",\"rte_hash_ns\":%.2f,"
			"\"ratio\":%.3f", first ? "" : ",", kind_name[r->kind], b->flows, ip, r->ours_ns, peer, r->theirs_ns,
			r->ratio);
	else
		printf("%-10s %8u IPv%d %8.1f ns %8.1f ns  %5.2fx", kind_name[r->kind], b->flows, ip, r->ours_ns,
			r->theirs_ns, r->ratio);
	if (r->kind == FIRST)
		printf(json ? "}" : "       -  %s\n", peer);
	else if (json)
		printf(",\"goal\":%.1f}", goal);
	else
		printf("  %.1fx %s  %s\n", goal, r->ratio <= goal ? "   " : "(!)", peer);
	fflush(stdout);
}

static int
all_rows(struct bench *b, bool json, int rounds)
{
	static const uint32_t flows[] = { 1u << 14, 1u << 20 };
	static const int families[] = { ADDR_INET, ADDR_INET6 };
	bool first = true;

	for (unsigned int f = 0; f < 2; f++)
		for (unsigned int v = 0; v < 2; v++) {
			b->flows = flows[f];
			b->entries = 2 * flows[f];
			b->family = families[v];
			if (tables_make(b) < 0) {
				fprintf(stderr, "bench dispatch: no room for %u flows in the table\n", b->flows);
				return -1;
			}
			for (int k = 0; k < KINDS; k++) {
				struct row r = { .kind = (enum row_kind)k };

				if (measure(b, &r, rounds) < 0)
					return -1;
				print_row(b, &r, json, first);
				first = false;
			}
			tables_free(b);
		}
	return 0;
}

/* 1: on hugepages, 0: without (all tables' memory is of 4 KB pages then), -1. */
static int
open_door(struct bench *b)
{
	static char huge[] = "bench_dispatch --in-memory --no-pci -m 700 --log-level error --no-telemetry";
	static char small[] = "bench_dispatch --no-shconf --no-pci --no-huge -m 700 --log-level error --no-telemetry";
	FILE *f = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "r");
	char *argv[16];
	int pages = 0, argc = 0;

	if (f != NULL) {
		if (fscanf(f, "%d", &pages) != 1)
			pages = 0;
		fclose(f);
	}
	for (char *w = strtok(pages >= 400 ? huge : small, " "); w != NULL; w = strtok(NULL, " "))
		argv[argc++] = w;
	return shim_dpdk_open(argc, argv, SHIM_ROLE_PRIMARY, 0, &b->shim) < 0 ? -1 : pages >= 400;
}

static int
usage(FILE *f, int rc)
{
	fputs("usage: bench_dispatch [--json] [--rounds N]\n\n"
		"ns of one record and of one frame's decision in bursts of 32, beside rte_hash with the same keys, in turns\n"
		"in one process; the ratio (nonic over rte_hash, median over N rounds, 9 by default) is what counts. (!)\n"
		"marks a goal missed.\n",
		f);
	return rc;
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' }, { "rounds", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 },
	};
	static struct bench b = { .seed = 88172645463325252ull, .secret = { 0x0123456789abcdefull, 0xfedcba9876543210ull } };
	int c, rounds = 9, huge, rc;
	bool json = false;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == 'j')
			json = true;
		else if (c == 'r')
			rounds = atoi(optarg);
		else
			return c == 'h' ? usage(stdout, 0) : usage(stderr, 2);
	}
	if (optind < argc || rounds < 1 || rounds > ROUNDS_MAX)
		return usage(stderr, 2);
	huge = open_door(&b);
	if (huge < 0 || shim_pool_create(b.shim, "bench", CHUNK + 64, 256, &b.pool) < 0 ||
			shim_buf_alloc_bulk(b.shim, b.pool, b.m, CHUNK) < 0) {
		fprintf(stderr, "bench dispatch: the EAL does not start\n");
		return 1;
	}
	for (unsigned int i = 0; i < CHUNK; i++)
		(void)shim_buf_append(b.m[i], 80);
	if (json)
		printf("{\"unit\":\"ns a frame or record\",\"burst\":%u,\"rounds\":%d,\"hugepages\":%s,"
			"\"hash\":\"rte_hash default, CRC32, 40-byte keys\",\"rows\":[", BURST, rounds,
			huge ? "true" : "false");
	else
		printf("Dispatcher and publish table beside rte_hash (default hash, 40-byte keys), bursts of %u, %s,\n"
			"median of %d rounds\n%-10s %8s %4s %11s %11s  %6s  goal\n", BURST,
			huge ? "hugepages" : "4 KB pages", rounds, "", "flows", "", "nonic", "rte_hash", "ratio");
	rc = all_rows(&b, json, rounds) == 0 ? 0 : 1;
	if (json)
		printf("]}\n");
	shim_buf_free_bulk(b.shim, b.m, CHUNK);
	shim_dpdk_close(b.shim);
	return rc;
}
