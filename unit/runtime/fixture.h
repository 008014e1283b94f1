/* SPDX-License-Identifier: BSD-3-Clause */
/* A mock door for the primary, further ones for workers and tools, and a configuration from text. */
#ifndef NONIC_UNIT_RUNTIME_FIXTURE_H
#define NONIC_UNIT_RUNTIME_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/config/config.h"
#include "core/runtime/primary.h"
#include "core/runtime/worker.h"
#include "core/runtime/worker_priv.h"
#include "shim/host/mock/mock.h"

#define RT_DPDK "[dpdk]\nlcore_mask=1\nport_list=0\nidle_sleep=10\npkt_tx_delay=0\n"
#define RT_PORT "[port0]\naddr=192.0.2.2\nnetmask=255.255.255.0\nbroadcast=192.0.2.255\ngateway=192.0.2.1\n"
#define RT_PORT6 "addr6=2001:db8::2\nprefix_len=64\ngateway6=2001:db8::1\n"
#define RT_NO_DAD "[freebsd.sysctl]\nnet.inet6.ip6.dad_count=0\n"

struct rt {
	struct shim *s;          /* the primary's */
	struct shim *ws[4];      /* workers' */
	struct shim *tool;
	struct nonic_config cfg;
	struct primary *p;
	struct worker *w[4];
	unsigned int loops;      /* of the application */
};

/* Reads the configuration; it must be good. */
void rt_config(struct nonic_config *cfg, const char *text);
/* Door and configuration only. */
struct rt *rt_new(const char *text);
/* And the primary, and n workers from the first proc_id on. */
struct rt *rt_bed(const char *text, unsigned int n);
int rt_worker(struct rt *rt, unsigned int i, unsigned int proc_id);
/* The door of worker i's process, made when there is none. */
struct shim *rt_door(struct rt *rt, unsigned int i, unsigned int proc_id);
/* Worker i's process dies as it stands: its private memory goes, what it shared stays as it is. */
void rt_kill(struct rt *rt, unsigned int i);
/* Ends workers and primary, checks that everything came back, frees. */
void rt_free(struct rt *rt);
/* One turn of every worker and of the primary, ms later. */
void rt_turn(struct rt *rt, unsigned int ms);
/* Frames for port 0 of the mock, addressed to it (dst NULL), from 02:..:99. */
size_t rt_arp_request(uint8_t *f, const char *target, const char *sender);
size_t rt_ping(uint8_t *f, const char *dst, const char *src, uint16_t seq);

#endif
