/* SPDX-License-Identifier: BSD-3-Clause */
/* Time, sysctl, threads, traffic, routes and raw frames of the ff_* API. */
#include "api_priv.h"

#include <string.h>

int
ff_gettimeofday(struct timeval *tv, void *tz)
{
	struct ff_instance *in = ff_instance_current();
	uint64_t ns;

	(void)tz;
	if (in == NULL)
		return api_ret(-ENXIO);
	if (tv == NULL)
		return 0;
	ns = shim_wall_ns(in->shim);
	tv->tv_sec = (time_t)(ns / 1000000000);
	tv->tv_usec = (suseconds_t)(ns % 1000000000 / 1000);
	return 0;
}

int
ff_sysctl(const int *name, u_int namelen, void *oldp, size_t *oldlenp, const void *newp, size_t newlen)
{
	struct stack *st = api_stack();

	return st == NULL ? -1 : api_ret(sock_sysctl(st, name, namelen, oldp, oldlenp, newp, newlen));
}

struct thread_start {
	struct ff_instance *in;
	struct shim *shim;
	void *(*fn)(void *);
	void *arg;
};

static void *
thread_main(void *arg)
{
	struct thread_start t = *(struct thread_start *)arg;

	shim_free(t.shim, arg);
	ff_instance_set(t.in);
	return t.fn(t.arg);
}

int
ff_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start_routine)(void *), void *arg)
{
	struct ff_instance *in = ff_instance_current();
	struct thread_start *t;
	int rc;

	if (in == NULL)
		return ENXIO; /* as pthread_create: the number itself */
	t = shim_malloc(in->shim, sizeof(*t));
	if (t == NULL)
		return ENOMEM;
	*t = (struct thread_start){ in, in->shim, start_routine, arg };
	rc = pthread_create(thread, attr, thread_main, t);
	if (rc != 0)
		shim_free(in->shim, t);
	return rc;
}

int
ff_pthread_join(pthread_t thread, void **retval)
{
	return pthread_join(thread, retval);
}

void
ff_get_traffic(void *buffer)
{
	struct ff_instance *in = ff_instance_current();
	uint64_t v[6] = { 0 };

	if (in != NULL && in->worker != NULL)
		worker_traffic(in->worker, v);
	if (buffer != NULL)
		memcpy(buffer, v, sizeof(v));
}

int
ff_dpdk_raw_packet_send(void *data, int total, uint16_t port_id)
{
	struct ff_instance *in = ff_instance_current();

	if (in == NULL || in->worker == NULL)
		return api_ret(-ENXIO);
	if (data == NULL || total <= 0)
		return api_ret(-EINVAL);
	return api_ret(worker_raw_send(in->worker, port_id, data, (size_t)total));
}

/* An address of a route request. -EINVAL, -EAFNOSUPPORT. */
static int
route_addr(const struct linux_sockaddr *sa, int *family, union ip_addr *out)
{
	struct sockaddr_in sin;
	struct sockaddr_in6 sin6;

	if (sa == NULL)
		return -EINVAL;
	if (sa->sa_family == AF_INET) {
		memcpy(&sin, sa, sizeof(sin));
		*family = ADDR_INET;
		*out = ip_addr_v4(sin.sin_addr.s_addr);
		return 0;
	}
	if (sa->sa_family != AF_INET6 && sa->sa_family != AF_INET6_FREEBSD)
		return -EAFNOSUPPORT;
	memcpy(&sin6, sa, sizeof(sin6));
	*family = ADDR_INET6;
	*out = ip_addr_v6(&sin6.sin6_addr);
	return 0;
}

/* Length of a contiguous mask of n bytes, or -EINVAL. */
static int
mask_len(const uint8_t *m, int n)
{
	int len = 0, i;

	while (len < n * 8 && (m[len / 8] & (0x80 >> len % 8)))
		len++;
	for (i = len; i < n * 8; i++) {
		if (m[i / 8] & (0x80 >> i % 8))
			return -EINVAL;
	}
	return len;
}

int
ff_route_ctl(enum FF_ROUTE_CTL req, enum FF_ROUTE_FLAG flag, struct linux_sockaddr *dst,
	struct linux_sockaddr *gw, struct linux_sockaddr *netmask)
{
	struct stack *st = api_stack();
	union ip_addr to, via, mask;
	int family, f2, rc, len;

	if (st == NULL)
		return -1;
	rc = route_addr(dst, &family, &to);
	if (rc != 0)
		return api_ret(rc);
	len = family == ADDR_INET ? 32 : 128;
	if (flag != FF_RTF_HOST) {
		rc = route_addr(netmask, &f2, &mask);
		if (rc == 0)
			rc = f2 != family ? -EINVAL : mask_len(mask.v6, len / 8);
		if (rc < 0)
			return api_ret(rc);
		len = rc;
	}
	if (req == FF_ROUTE_DEL)
		return api_ret(stack_route_del(st, family, &to, (uint8_t)len));
	rc = route_addr(gw, &f2, &via);
	if (rc == 0 && (f2 != family || (req != FF_ROUTE_ADD && req != FF_ROUTE_CHANGE)))
		rc = -EINVAL;
	if (rc == 0 && req == FF_ROUTE_CHANGE)
		rc = stack_route_del(st, family, &to, (uint8_t)len);
	if (rc == 0)
		rc = stack_route_add(st, family, &to, (uint8_t)len, &via, NULL);
	return api_ret(rc);
}
