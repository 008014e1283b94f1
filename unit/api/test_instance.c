/* SPDX-License-Identifier: BSD-3-Clause */
/* Instances that own primary and worker: opening, running, dispatcher, MTU, tearing down. */
#include <arpa/inet.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include "core/api/api_priv.h"
#include "core/api/include/ff_epoll.h"
#include "unit/runtime/fixture.h"

#define SYSCTL "[freebsd.sysctl]\nnet.inet.udp.recvspace=100000\nnet.inet.ip.portrange.first=0\nkern.none=1\n"

static _Thread_local unsigned int loops, seen, last_tci;
static _Thread_local int answer;

static int
loop(void *arg)
{
	loops++;
	if (loops == *(unsigned int *)arg)
		ff_stop_run();
	return 0;
}

static struct rt *
bed(struct ff_instance **in)
{
	struct rt *rt = rt_new(RT_DPDK RT_PORT SYSCTL);

	assert_int_equal(ff_instance_open(rt->s, &rt->cfg, in), 0);
	ff_instance_set(*in);
	return rt;
}

static void
end(struct rt *rt, struct ff_instance *in)
{
	assert_ptr_equal(ff_instance_close(in), rt->s);
	rt_free(rt);
}

/* STK-5 */
static void
one_process_is_primary_and_worker(void **state)
{
	struct ff_instance *in;
	struct rt *rt = bed(&in);
	unsigned int n = 50;
	uint8_t f[128];
	uint64_t t[6];
	int fd, v;
	socklen_t len = sizeof(v);

	(void)state;
	assert_int_equal(ff_global_cfg.dpdk.nb_ports, 1);
	assert_int_equal(ff_global_cfg.dpdk.idle_sleep, 10);
	fd = ff_socket(AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(ff_getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &v, &len), 0);
	assert_int_equal(v, 100000); /* [freebsd.sysctl] */
	assert_true(mock_messages(rt->s, SHIM_LOG_WARNING) >= 1); /* 0 is no port */
	assert_int_equal(mock_inject(rt->s, 0, 0, f, rt_arp_request(f, "192.0.2.2", "192.0.2.9")), 0);
	loops = 0;
	ff_instance_run(in, loop, &n);
	assert_int_equal(loops, 50);
	assert_true(mock_tx_waiting(rt->s, 0, 0) > 0);
	ff_get_traffic(t);
	assert_int_equal(t[0], 1);
	assert_true(t[2] >= 1);
	end(rt, in);
}

static int
plain(void *data, uint16_t *len, uint16_t queue, uint16_t nb)
{
	(void)data;
	(void)len;
	assert_int_equal(queue, 0);
	assert_int_equal(nb, 1);
	seen++;
	return answer;
}

static int
with_context(void *data, uint16_t *len, uint16_t queue, uint16_t nb, struct ff_dispatcher_context c)
{
	last_tci = c.vlan.vlan_tci;
	assert_int_equal(c.vlan.stripped, 0);
	return plain(data, len, queue, nb) + 0;
}

/* STK-5 */
static void
dispatcher_sees_frames_first(void **state)
{
	struct ff_instance *in;
	struct rt *rt;
	uint8_t f[128];
	size_t n = rt_arp_request(f, "192.0.2.2", "192.0.2.9");

	(void)state;
	ff_regist_packet_dispatcher(plain); /* before there is an instance */
	rt = bed(&in);
	worker_turn(in->worker);
	while (mock_collect_bytes(rt->s, 0, 0, f + 64, 64) > 0)
		;
	seen = 0;
	answer = FF_DISPATCH_ERROR;
	n = rt_arp_request(f, "192.0.2.2", "192.0.2.9");
	assert_int_equal(mock_inject(rt->s, 0, 0, f, n), 0);
	worker_turn(in->worker);
	assert_int_equal(seen, 1);
	assert_int_equal(mock_tx_waiting(rt->s, 0, 0), 0); /* nobody answered it */
	ff_regist_packet_dispatcher(NULL);
	ff_regist_packet_dispatcher_context(with_context);
	answer = FF_DISPATCH_RESPONSE;
	assert_int_equal(mock_inject(rt->s, 0, 0, f, n), 0);
	worker_turn(in->worker);
	worker_turn(in->worker);
	assert_int_equal(seen, 2);
	assert_int_equal(last_tci, 0);
	assert_int_equal(mock_collect_bytes(rt->s, 0, 0, f + 64, 64), n); /* the frame itself */
	ff_regist_packet_dispatcher_context(NULL);
	assert_int_equal(mock_inject(rt->s, 0, 0, f, n), 0);
	worker_turn(in->worker);
	assert_int_equal(seen, 2);
	/* raw frames */
	assert_int_equal(ff_dpdk_raw_packet_send(f, 60, 0), 0);
	assert_int_equal(ff_dpdk_raw_packet_send(f, 0, 0), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ff_dpdk_raw_packet_send(NULL, 60, 0), -1);
	assert_int_equal(ff_dpdk_raw_packet_send(f, 60, 9), -1);
	assert_int_equal(errno, ENODEV);
	end(rt, in);
}

static int
mtu_set(int fd, int mtu)
{
	struct ifreq r = { .ifr_mtu = mtu };

	strcpy(r.ifr_name, "f-stack-0");
	return ff_ioctl(fd, SIOCSIFMTU, &r);
}

/* MTU-4 */
static void
mtu_of_a_primary_is_the_ports_too(void **state)
{
	struct ff_instance *in;
	struct rt *rt = bed(&in);
	uint16_t mtu;
	int fd = ff_socket(AF_INET, SOCK_DGRAM, 0);

	(void)state;
	assert_int_equal(mtu_set(fd, 1400), 0);
	assert_int_equal(shim_port_mtu_get(rt->s, 0, &mtu), 0);
	assert_int_equal(mtu, 1400);
	assert_int_equal(worker_netif(in->worker, 0)->mtu, 1400);
	mock_fail(rt->s, MOCK_OP_port_mtu_set, 1, EIO);
	assert_int_equal(mtu_set(fd, 1300), -1);
	assert_int_equal(worker_netif(in->worker, 0)->mtu, 1400);
	end(rt, in);
}

/* MTU-4 */
static void
mtu_of_a_worker_is_its_own_view(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 1);
	struct ff_instance_config c = { .shim = rt->ws[0], .worker = rt->w[0], .cfg = &rt->cfg };
	struct ff_instance *in;
	uint16_t mtu;
	int fd;

	(void)state;
	assert_int_equal(ff_instance_new(&c, &in), 0);
	ff_instance_set(in);
	fd = ff_socket(AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(mtu_set(fd, 1400), 0);
	assert_int_equal(worker_netif(rt->w[0], 0)->mtu, 1400);
	assert_int_equal(shim_port_mtu_get(rt->s, 0, &mtu), 0);
	assert_int_equal(mtu, 1500); /* the port is the primary's */
	assert_int_equal(mtu_set(fd, 1501), -1);
	assert_int_equal(errno, EINVAL);
	mock_fail(rt->s, MOCK_OP_port_mtu_get, 1, EIO);
	assert_int_equal(mtu_set(fd, 1450), -1);
	ff_close(fd);
	ff_instance_free(in);
	rt_free(rt);
}

/* STK-5 */
static void
open_fails_clean(void **state)
{
	struct ff_instance *in;
	unsigned int i;
	bool done = false;

	(void)state;
	for (i = 1; !done; i++) {
		struct rt *rt = rt_new(RT_DPDK RT_PORT); /* a configured port's pool goes with its door */
		int rc;

		mock_fail_malloc_at(rt->s, i);
		rc = ff_instance_open(rt->s, &rt->cfg, &in);
		mock_script_clear(rt->s);
		done = rc == 0;
		if (done) {
			assert_ptr_equal(ff_instance_close(in), rt->s);
		} else {
			assert_int_equal(rc, -ENOMEM);
			assert_int_equal(mock_mallocs_out(rt->s), 0);
			assert_int_equal(rt->cfg.nb_ports, 1); /* still the caller's */
		}
		rt_free(rt);
	}
	assert_true(i > 6);
}

#define SLIM "[dpdk]\nlcore_mask=3\nport_list=0\nidle_sleep=10\npkt_tx_delay=0\nprimary_slim=1\n"
#define TWO "[dpdk]\nlcore_mask=3\nport_list=0\nidle_sleep=10\npkt_tx_delay=0\n"

/* While the primary sleeps, the worker of another process turns; it leaves when it is asked to. */
struct beside {
	struct rt *rt;
	unsigned int sleeps, stop_at;
};

static void
turn_beside(struct shim *s, enum mock_op op, void *arg)
{
	struct beside *b = arg;
	struct rt *rt = b->rt;

	(void)op;
	if (++b->sleeps == b->stop_at)
		ff_stop_run();
	if (rt->w[0] == NULL)
		return;
	worker_turn(rt->w[0]);
	if (!worker_stopped(rt->w[0]))
		return;
	worker_destroy(rt->w[0]);
	rt->w[0] = NULL;
	mock_proc_set(s, shim_self(rt->ws[0]), false);
}

/* A worker in a process of its own, under the instance's configuration. */
static void
worker_beside(struct rt *rt, struct ff_instance *in, struct beside *b, unsigned int stop_at)
{
	struct worker_config wc = { .cfg = in->cfg, .proc_id = 1 };

	wc.shim = rt->ws[0] = mock_shim_attach(rt->s, SHIM_ROLE_WORKER, 1);
	assert_int_equal(worker_create(&wc, &rt->w[0]), 0);
	*b = (struct beside){ rt, 0, stop_at };
	mock_hook(rt->s, MOCK_OP_sleep_ns, turn_beside, b);
}

/* CFG-4: primary_slim */
static void
slim_primary_turns_without_the_loop(void **state)
{
	struct rt *rt = rt_new(SLIM RT_PORT SYSCTL);
	struct ff_instance *in;
	struct beside b;
	unsigned int never = 0;
	uint64_t t[6], zero[6] = { 0 };
	uint8_t f[60] = { 0 };

	(void)state;
	assert_int_equal(ff_instance_open(rt->s, &rt->cfg, &in), 0); /* no process id: 0 */
	ff_instance_set(in);
	assert_null(in->worker);
	assert_non_null(in->primary);
	assert_int_equal(ff_socket(AF_INET, SOCK_DGRAM, 0), -1);
	assert_int_equal(errno, ENXIO);
	errno = 0;
	assert_int_equal(ff_epoll_create(1), -1);
	assert_int_equal(errno, ENXIO);
	assert_int_equal(ff_dpdk_raw_packet_send(f, 60, 0), -1);
	assert_int_equal(errno, ENXIO);
	assert_int_equal(ff_fdisused(0), 0);
	ff_get_traffic(t);
	assert_memory_equal(t, zero, sizeof(t));
	ff_regist_packet_dispatcher(plain); /* kept, without anything to dispatch */
	ff_regist_packet_dispatcher(NULL);
	assert_int_equal(ff_global_cfg.dpdk.nb_ports, 1);
	worker_beside(rt, in, &b, 40);
	loops = 0;
	ff_instance_run(in, loop, &never);
	assert_int_equal(loops, 0);
	assert_in_range(b.sleeps, 41, 60);
	assert_null(rt->w[0]); /* asked to leave, and waited for */
	assert_true(primary_stopped(in->primary));
	end(rt, in);
}

/* CFG-4: primary_slim */
static void
slim_roles_that_do_not_fit_say_what_to_do(void **state)
{
	struct rt *rt = rt_new(SLIM RT_PORT);
	struct ff_instance *in;

	(void)state;
	rt->cfg.proc_id = 1;
	assert_int_equal(ff_instance_open(rt->s, &rt->cfg, &in), -EINVAL);
	assert_non_null(strstr(mock_last_message(rt->s), "process 1 is a worker: start it with --proc-type=secondary"));
	rt->cfg.proc_id = 0;
	assert_int_equal(ff_instance_open(rt->tool, &rt->cfg, &in), -EINVAL); /* not the primary's door */
	assert_non_null(strstr(mock_last_message(rt->s), "process 0 is the primary: start it with --proc-type=primary"));
	assert_non_null(strstr(mock_last_message(rt->s), "the 1 worker with --proc-type=secondary --proc-id=1"));
	assert_int_equal(rt->cfg.nb_ports, 1); /* still the caller's */
	rt->ws[0] = mock_shim_attach(rt->s, SHIM_ROLE_WORKER, 1);
	rt->cfg.proc_id = 1;
	assert_int_equal(ff_instance_open(rt->ws[0], &rt->cfg, &in), -ENOENT); /* right, but there is no primary */
	assert_non_null(strstr(mock_last_message(rt->s), "no primary"));
	rt_free(rt);
}

static void
a_primary_that_ends_waits_for_the_other_workers(void **state)
{
	struct rt *rt = rt_new(TWO RT_PORT);
	struct ff_instance *in;
	struct beside b;
	unsigned int n = 20;

	(void)state;
	assert_int_equal(ff_instance_open(rt->s, &rt->cfg, &in), 0);
	ff_instance_set(in);
	worker_beside(rt, in, &b, UINT32_MAX);
	loops = 0;
	ff_instance_run(in, loop, &n);
	assert_int_equal(loops, 20);
	assert_non_null(rt->w[0]);
	mock_hook(rt->s, MOCK_OP_sleep_ns, turn_beside, &b);
	assert_ptr_equal(ff_instance_close(in), rt->s);
	assert_null(rt->w[0]);
	assert_int_equal(mock_messages(rt->s, SHIM_LOG_ERR), 0);
	rt_free(rt);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_process_is_primary_and_worker), cmocka_unit_test(dispatcher_sees_frames_first),
		cmocka_unit_test(mtu_of_a_primary_is_the_ports_too), cmocka_unit_test(mtu_of_a_worker_is_its_own_view),
		cmocka_unit_test(open_fails_clean), cmocka_unit_test(slim_primary_turns_without_the_loop),
		cmocka_unit_test(slim_roles_that_do_not_fit_say_what_to_do),
		cmocka_unit_test(a_primary_that_ends_waits_for_the_other_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
