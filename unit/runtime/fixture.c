/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime's tests stand on this. */
#include "fixture.h"

#include <arpa/inet.h>

void
rt_config(struct nonic_config *cfg, const char *text)
{
	struct config_messages msgs;
	int rc = config_load_mem("test.ini", text, strlen(text), 0, cfg, &msgs);

	for (unsigned int i = 0; rc != 0 && i < msgs.n; i++)
		print_error("%s\n", msgs.m[i].text);
	config_messages_free(&msgs);
	assert_int_equal(rc, 0);
}

struct rt *
rt_new(const char *text)
{
	struct rt *rt = test_calloc(1, sizeof(*rt));

	rt->s = mock_shim_new();
	rt->tool = mock_shim_attach(rt->s, SHIM_ROLE_OBSERVER, 60);
	rt_config(&rt->cfg, text);
	return rt;
}

static int
loop(void *arg)
{
	((struct rt *)arg)->loops++;
	return 0;
}

/* ---- a process that dies leaves what it has ---- */

/* Private memory of each worker's process, so that it can go when the process has died in the middle of everything. */
static struct {
	const struct shim *s;
	struct shim_ops ops;
	const struct shim_ops *mock;
	void *block[4096];
} priv[4];

static unsigned int
priv_of(const struct shim *s)
{
	unsigned int i = 0;

	while (i < 3 && priv[i].s != s)
		i++;
	return i;
}

static void *
priv_malloc(struct shim *s, size_t n)
{
	unsigned int i = priv_of(s), k = 0;
	void *p = priv[i].mock->malloc(s, n);

	while (p != NULL && priv[i].block[k] != NULL)
		k++;
	assert_true(k < 4095);
	if (p != NULL)
		priv[i].block[k] = p;
	return p;
}

static void
priv_free(struct shim *s, void *p)
{
	unsigned int i = priv_of(s), k;

	for (k = 0; p != NULL && k < 4096; k++)
		if (priv[i].block[k] == p)
			priv[i].block[k] = NULL;
	priv[i].mock->free(s, p);
}

static void
priv_begin(struct shim *s, unsigned int i)
{
	memset(&priv[i], 0, sizeof(priv[i]));
	priv[i].s = s;
	priv[i].mock = s->ops;
	priv[i].ops = *s->ops;
	priv[i].ops.malloc = priv_malloc;
	priv[i].ops.free = priv_free;
	s->ops = &priv[i].ops;
}

struct shim *
rt_door(struct rt *rt, unsigned int i, unsigned int proc_id)
{
	if (rt->ws[i] == NULL) {
		rt->ws[i] = mock_shim_attach(rt->s, SHIM_ROLE_WORKER, proc_id);
		priv_begin(rt->ws[i], i);
	}
	return rt->ws[i];
}

void
rt_kill(struct rt *rt, unsigned int i)
{
	mock_proc_set(rt->s, shim_self(rt->ws[i]), false);
	for (unsigned int k = 0; k < 4096; k++)
		if (priv[i].block[k] != NULL)
			priv[i].mock->free(rt->ws[i], priv[i].block[k]);
	rt->ws[i]->ops = priv[i].mock;
	rt->w[i] = NULL;
}

int
rt_worker(struct rt *rt, unsigned int i, unsigned int proc_id)
{
	struct worker_config wc = { .cfg = &rt->cfg, .proc_id = proc_id, .loop = loop, .loop_arg = rt };

	wc.shim = rt_door(rt, i, proc_id);
	return worker_create(&wc, &rt->w[i]);
}

struct rt *
rt_bed(const char *text, unsigned int n)
{
	struct rt *rt = rt_new(text);

	assert_int_equal(primary_setup(rt->s, &rt->cfg, &rt->p), 0);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(rt_worker(rt, i, rt->cfg.primary_slim + i), 0);
	return rt;
}

void
rt_free(struct rt *rt)
{
	unsigned int leaks = 0;

	mock_script_clear(rt->s);
	for (unsigned int i = 0; i < 4; i++)
		worker_destroy(rt->w[i]);
	primary_teardown(rt->p);
	assert_int_equal(rt->s->role_violations, 0);
	for (unsigned int i = 0; i < 4; i++) {
		if (rt->ws[i] == NULL)
			continue;
		assert_int_equal(rt->ws[i]->role_violations, 0);
		leaks += mock_shim_free(rt->ws[i]);
	}
	leaks += mock_shim_free(rt->tool);
	for (unsigned int q = 0; q < 4; q++)
		while (mock_tx_waiting(rt->s, 0, q) > 0)
			mock_collect_bytes(rt->s, 0, q, &(uint8_t[4]){ 0 }, 4);
	leaks += mock_shim_free(rt->s);
	config_free(&rt->cfg);
	test_free(rt);
	assert_int_equal(leaks, 0);
}

void
rt_turn(struct rt *rt, unsigned int ms)
{
	mock_advance_ns(rt->s, ms * 1000000ull);
	for (unsigned int i = 0; i < 4; i++)
		if (rt->w[i] != NULL)
			worker_turn(rt->w[i]);
	if (rt->p != NULL)
		primary_turn(rt->p);
}

static size_t
ether(uint8_t *f, uint8_t first, uint16_t type)
{
	static const uint8_t mac[] = { 0x02, 0, 0, 0, 0, 0x01 };
	static const uint8_t peer[] = { 0x02, 0, 0, 0, 0, 0x99 };

	memcpy(f, mac, 6);
	if (first == 0xff)
		memset(f, 0xff, 6);
	memcpy(f + 6, peer, 6);
	f[12] = type >> 8;
	f[13] = type & 0xff;
	return 14;
}

size_t
rt_arp_request(uint8_t *f, const char *target, const char *sender)
{
	static const uint8_t head[] = { 0, 1, 8, 0, 6, 4, 0, 1 };
	size_t n = ether(f, 0xff, 0x0806);

	memset(f + n, 0, 46);
	memcpy(f + n, head, 8);
	memcpy(f + n + 8, f + 6, 6);
	inet_pton(AF_INET, sender, f + n + 14);
	inet_pton(AF_INET, target, f + n + 24);
	return n + 46;
}

static uint16_t
sum(const uint8_t *p, size_t n)
{
	uint32_t s = 0;

	for (size_t i = 0; i < n; i += 2)
		s += p[i] << 8 | (i + 1 < n ? p[i + 1] : 0);
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return ~s;
}

size_t
rt_ping(uint8_t *f, const char *dst, const char *src, uint16_t seq)
{
	size_t n = ether(f, 0, 0x0800);
	uint8_t *ip = f + n, *icmp = ip + 20;
	uint16_t c;

	memset(ip, 0, 46);
	ip[0] = 0x45;
	ip[3] = 46;
	ip[5] = seq;
	ip[8] = 64;
	ip[9] = 1;
	inet_pton(AF_INET, src, ip + 12);
	inet_pton(AF_INET, dst, ip + 16);
	c = sum(ip, 20);
	ip[10] = c >> 8;
	ip[11] = c & 0xff;
	icmp[0] = 8;
	icmp[6] = seq >> 8;
	icmp[7] = seq & 0xff;
	c = sum(icmp, 26);
	icmp[2] = c >> 8;
	icmp[3] = c & 0xff;
	return n + 46;
}
