/* SPDX-License-Identifier: BSD-3-Clause */
/* Instances that own primary and worker: opening, running, dispatcher, MTU, tearing down. */
#include <arpa/inet.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include "core/api/api_priv.h"
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_process_is_primary_and_worker), cmocka_unit_test(dispatcher_sees_frames_first),
		cmocka_unit_test(mtu_of_a_primary_is_the_ports_too), cmocka_unit_test(mtu_of_a_worker_is_its_own_view),
		cmocka_unit_test(open_fails_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
