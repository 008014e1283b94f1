/* SPDX-License-Identifier: BSD-3-Clause */
/* The door over DPDK: EAL, log, zones, rings. */
#include "eal.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_memzone.h>
#include <rte_version.h>
#include <stdio.h>

#include "../shim.h"

#if RTE_VERSION < RTE_VERSION_NUM(22, 11, 0, 0)
#error "needs DPDK 22.11 or newer"
#endif

#define SHARED_NAME "nonic_shim"

_Static_assert(SHIM_NAME_MAX <= RTE_MEMPOOL_NAMESIZE, "a name of ours must fit a mempool");
_Static_assert(SHIM_NAME_MAX <= RTE_RING_NAMESIZE, "a name of ours must fit a ring");
_Static_assert(SHIM_HEADROOM == RTE_PKTMBUF_HEADROOM, "headroom");
_Static_assert((int)SHIM_LOG_EMERG == RTE_LOG_EMERG && (int)SHIM_LOG_DEBUG == RTE_LOG_DEBUG,
	"log levels");

RTE_LOG_REGISTER(nonic_logtype, nonic, INFO)

int
dpdk_err(void)
{
	switch (rte_errno) {
	case 0:
	case ENOSPC:
		return -ENOMEM;
	case E_RTE_SECONDARY:
	case E_RTE_NO_CONFIG:
		return -EPERM;
	default:
		return -rte_errno;
	}
}

void
dpdk_vlog(struct shim *s, int level, const char *fmt, va_list ap)
{
	char line[512];

	(void)s;
	vsnprintf(line, sizeof(line), fmt, ap);
	rte_log((uint32_t)level, (uint32_t)nonic_logtype, "%s\n", line);
}

/* ---- zones ---- */

int
dpdk_zone_reserve(const char *name, size_t size, void **addr)
{
	const struct rte_memzone *mz;
	int rc = size == 0 ? -EINVAL : sys_name_check(name);

	if (rc != 0)
		return rc;
	mz = rte_memzone_reserve_aligned(name, size, SOCKET_ID_ANY, 0, RTE_CACHE_LINE_SIZE);
	if (mz == NULL)
		return dpdk_err();
	memset(mz->addr, 0, mz->len);
	*addr = mz->addr;
	return 0;
}

int
dpdk_zone_lookup(const char *name, void **addr, size_t *size)
{
	const struct rte_memzone *mz = rte_memzone_lookup(name);

	if (mz == NULL)
		return -ENOENT;
	*addr = mz->addr;
	if (size != NULL)
		*size = mz->len;
	return 0;
}

int
dpdk_zone_free(const char *name)
{
	const struct rte_memzone *mz = rte_memzone_lookup(name);

	if (mz == NULL)
		return -ENOENT;
	return rte_memzone_free(mz);
}

/* ---- rings ---- */

int
dpdk_ring_create(struct shim *s, const char *name, unsigned int count, unsigned int flags, struct rte_ring **out)
{
	unsigned int f = RING_F_SC_DEQ, i;
	int rc = sys_name_check(name);
	struct rte_ring *none;

	/* rte_ring_create takes 0 for a power of two. */
	if (count == 0 || (flags != SHIM_RING_SP_SC && flags != SHIM_RING_MP_SC))
		return -EINVAL;
	if (rc != 0)
		return rc;
	if (flags == SHIM_RING_SP_SC)
		f |= RING_F_SP_ENQ;
	*out = rte_ring_create(name, count, SOCKET_ID_ANY, f);
	if (*out == NULL)
		return dpdk_err();
	for (i = 0; i < DPDK_RINGS; i++) {
		none = NULL;
		if (s->shared->ring[i] != NULL || !__atomic_compare_exchange_n(&s->shared->ring[i], &none, *out, false,
		    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&s->shared->ring_zone[i], (*out)->memzone, __ATOMIC_RELEASE);
		return 0;
	}
	rte_ring_free(*out);
	return -ENOMEM;
}

void
dpdk_ring_free(struct shim *s, struct rte_ring *r)
{
	unsigned int i;

	for (i = 0; i < DPDK_RINGS; i++)
		if (s->shared->ring[i] == r) {
			r->memzone = s->shared->ring_zone[i]; /* it may have been overwritten */
			__atomic_store_n(&s->shared->ring_zone[i], NULL, __ATOMIC_RELAXED);
			__atomic_store_n(&s->shared->ring[i], NULL, __ATOMIC_RELEASE);
		}
	rte_ring_free(r);
}

/* ---- life ---- */

/* The zone of facts: the primary's EAL makes it, the others find it. */
static int
shared_attach(struct dpdk_shared **out, bool *first)
{
	void *addr;
	int rc = dpdk_zone_lookup(SHARED_NAME, &addr, NULL);

	*first = rc == -ENOENT;
	if (rc == -ENOENT)
		rc = dpdk_zone_reserve(SHARED_NAME, sizeof(struct dpdk_shared), &addr);
	if (rc == -EEXIST) /* another thread's door was faster */
		rc = dpdk_zone_lookup(SHARED_NAME, &addr, NULL);
	if (rc == 0)
		*out = addr;
	return rc;
}

int
shim_dpdk_door(enum shim_role role, unsigned int proc_id, struct shim **out)
{
	struct shim *s;
	bool first;
	int rc;

	if (role == SHIM_ROLE_PRIMARY && rte_eal_process_type() != RTE_PROC_PRIMARY)
		return -EPERM;
	s = sys_malloc(sizeof(*s));
	if (s == NULL)
		return -ENOMEM;
	rc = shared_attach(&s->shared, &first);
	if (rc == 0)
		rc = dpdk_pools_attach(s, first);
	if (rc != 0) {
		free(s);
		return rc;
	}
	s->role = role;
	s->self = sys_self(proc_id);
	s->now_ns = sys_clock_ns();
	*out = s;
	return 0;
}

int
shim_dpdk_open(int argc, char **argv, enum shim_role role, unsigned int proc_id, struct shim **out)
{
	int rc;

	if (rte_eal_init(argc, argv) < 0)
		return dpdk_err();
	rc = shim_dpdk_door(role, proc_id, out);
	if (rc != 0) {
		rte_eal_cleanup();
		return rc;
	}
	(*out)->owns_eal = true;
	sys_timer_slack();
	return 0;
}

void
shim_dpdk_close(struct shim *s)
{
	uint16_t port;

	if (s == NULL)
		return;
	if (s->owns_eal) {
		if (rte_eal_process_type() == RTE_PROC_PRIMARY) {
			RTE_ETH_FOREACH_DEV(port) {
				rte_eth_dev_stop(port);
				rte_eth_dev_close(port);
			}
			dpdk_zone_free(SHARED_NAME);
		}
		rte_eal_cleanup();
	}
	free(s);
}
