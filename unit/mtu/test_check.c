/* SPDX-License-Identifier: BSD-3-Clause */
/* MTU arithmetic: buffer sizes, what a port can carry, the three views, errno. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "core/mtu/mtu.h"

/* MTU-2, MTU-3 */
static void
data_room_of_max_mtu(void **state)
{
	static const struct {
		uint16_t max_mtu, room;
	} ok[] = { { 68, 256 }, { 1500, 1664 }, { 1510, 1664 }, { 1511, 1728 }, { 9000, 9216 }, { 9216, 9408 }, { 65318, 65472 } };
	uint16_t room;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ok) / sizeof(ok[0]); i++) {
		assert_int_equal(mtu_data_room(MTU_MODE_LARGE, ok[i].max_mtu, &room), 0);
		assert_int_equal(room, ok[i].room);
		assert_true(mtu_frame_len(ok[i].max_mtu) <= (uint32_t)room - SHIM_HEADROOM);
		assert_int_equal(mtu_data_room(MTU_MODE_OFF, ok[i].max_mtu, &room), 0);
		assert_int_equal(room, 2176);
		assert_int_equal(mtu_data_room(MTU_MODE_SCATTER, ok[i].max_mtu, &room), 0);
		assert_int_equal(room, 2176);
	}
	assert_int_equal(ok[6].max_mtu, MTU_LARGE_MAX);
	room = 7;
	assert_int_equal(mtu_data_room(MTU_MODE_LARGE, 65319, &room), -ERANGE);
	assert_int_equal(mtu_data_room(MTU_MODE_LARGE, 65535, &room), -ERANGE);
	assert_int_equal(room, 7);
	assert_int_equal(mtu_data_room(MTU_MODE_SCATTER, 65535, &room), 0);
}

/* MTU-3 */
static void
small_mtus_need_no_support_and_large_ones_do(void **state)
{
	char why[160];

	(void)state;
	assert_int_equal(mtu_check_request(MTU_MODE_OFF, 9000, 68, why, sizeof(why)), 0);
	assert_int_equal(mtu_check_request(MTU_MODE_OFF, 9000, 1500, why, sizeof(why)), 0);
	assert_int_equal(mtu_check_request(MTU_MODE_OFF, 9000, 1501, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "MTU 1501 is above 1500, and MTU support is off (mtu_enable=0)");
	assert_int_equal(mtu_check_request(MTU_MODE_OFF, 9000, 67, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "MTU 67 is out of range: 68..1500");
	assert_int_equal(mtu_check_request(MTU_MODE_LARGE, 9000, 9000, NULL, 0), 0);
	assert_int_equal(mtu_check_request(MTU_MODE_LARGE, 9000, 9001, NULL, 0), -EINVAL);
	assert_int_equal(mtu_check_request(MTU_MODE_SCATTER, 65535, 65535, why, sizeof(why)), 0);
	assert_int_equal(mtu_check_request(MTU_MODE_SCATTER, 65535, 65536, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "MTU 65536 is out of range: 68..65535");
}

static const struct shim_port_info able = { .driver = "x", .min_mtu = 68, .max_mtu = 9216, .max_rx_bufsize = 16384,
	.max_rx_pktlen = 9234, .min_rx_bufsize = 64, .rx_offloads = SHIM_RX_SCATTER, .tx_offloads = SHIM_TX_MULTI_SEGS };

/* MTU-2 */
static void
each_limit_of_a_port(void **state)
{
	struct shim_port_info p = able;
	char why[160];

	(void)state;
	assert_int_equal(mtu_check_port(&p, MTU_MODE_LARGE, 9000, 9216, why, sizeof(why)), 0);
	assert_int_equal(mtu_check_port(&p, MTU_MODE_LARGE, 9216, 9408, why, sizeof(why)), 0);
	assert_int_equal(mtu_check_port(&p, MTU_MODE_LARGE, 67, 9216, why, sizeof(why)), -ERANGE);
	assert_string_equal(why, "MTU 67 is out of the range of port driver x: 68..9216");
	assert_int_equal(mtu_check_port(&p, MTU_MODE_LARGE, 9217, 9408, why, sizeof(why)), -ERANGE);
	p.max_rx_pktlen = 9017;
	assert_int_equal(mtu_check_port(&p, MTU_MODE_LARGE, 9000, 9216, why, sizeof(why)), -EMSGSIZE);
	assert_string_equal(why, "a frame of MTU 9000 has 9018 bytes, port driver x receives at most 9017");
	p = able;
	assert_int_equal(mtu_check_port(&p, MTU_MODE_LARGE, 9000, 9153, why, sizeof(why)), -EMSGSIZE);
	assert_string_equal(why, "a frame of MTU 9000 has 9026 bytes, a buffer holds 9025");
	p.max_rx_bufsize = 9025;
	assert_int_equal(mtu_check_port(&p, MTU_MODE_LARGE, 9000, 9216, why, sizeof(why)), -EMSGSIZE);
	assert_string_equal(why, "a frame of MTU 9000 has 9026 bytes, port driver x fills at most 9025 of a buffer");
	assert_int_equal(mtu_check_port(&p, MTU_MODE_SCATTER, 9000, 2176, why, sizeof(why)), 0);
	p.min_rx_bufsize = 2049;
	assert_int_equal(mtu_check_port(&p, MTU_MODE_SCATTER, 9000, 2176, why, sizeof(why)), -EMSGSIZE);
	assert_string_equal(why, "a buffer holds 2048 bytes, port driver x needs at least 2049");
	assert_int_equal(mtu_check_port(&p, MTU_MODE_SCATTER, 9000, 100, why, sizeof(why)), -EMSGSIZE);
	assert_string_equal(why, "a buffer holds 0 bytes, port driver x needs at least 2049");
}

/* MTU-2 */
static void
scatter_needs_both_offloads(void **state)
{
	struct shim_port_info p = able;
	char why[160];

	(void)state;
	p.rx_offloads = 0;
	assert_int_equal(mtu_check_port(&p, MTU_MODE_SCATTER, 9000, 2176, why, sizeof(why)), -ENOTSUP);
	assert_string_equal(why, "mbuf_mode=scatter needs RX_SCATTER and TX_MULTI_SEGS, port driver x lacks RX_SCATTER");
	p = able;
	p.tx_offloads = 0;
	assert_int_equal(mtu_check_port(&p, MTU_MODE_SCATTER, 1500, 2176, why, sizeof(why)), -ENOTSUP);
	assert_string_equal(why, "mbuf_mode=scatter needs RX_SCATTER and TX_MULTI_SEGS, port driver x lacks TX_MULTI_SEGS");
	assert_int_equal(mtu_check_port(&p, MTU_MODE_LARGE, 1500, 2176, why, sizeof(why)), 0);
}

/* MTU-3: as before there was MTU support, on ports that just take a plain frame (net_af_packet says 1518). */
static void
off_mode_is_what_it_was(void **state)
{
	struct shim_port_info p = able;
	char why[160];

	(void)state;
	p.max_rx_pktlen = 1518;
	p.max_mtu = UINT16_MAX;
	p.rx_offloads = p.tx_offloads = 0;
	assert_int_equal(mtu_check_port(&p, MTU_MODE_OFF, 1500, 2176, why, sizeof(why)), 0);
	assert_int_equal(mtu_check_port(&p, MTU_MODE_OFF, 1501, 2176, why, sizeof(why)), -EMSGSIZE);
}

/* MTU-1 */
static void
three_views_agree_or_not(void **state)
{
	char why[160];

	(void)state;
	assert_int_equal(mtu_check_views(9000, 9000, 9216, MTU_MODE_LARGE, why, sizeof(why)), 0);
	assert_int_equal(mtu_check_views(1500, 1500, 2176, MTU_MODE_OFF, why, sizeof(why)), 0);
	assert_int_equal(mtu_check_views(9000, 9000, 2176, MTU_MODE_SCATTER, why, sizeof(why)), 0);
	assert_int_equal(mtu_check_views(9000, 1500, 9216, MTU_MODE_LARGE, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "the interface's MTU is 9000, the port's is 1500");
	assert_int_equal(mtu_check_views(9000, 9000, 2176, MTU_MODE_LARGE, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "a frame of the port's MTU 9000 has 9026 bytes, a buffer holds 2048");
	assert_int_equal(mtu_check_views(1501, 1501, 2176, MTU_MODE_OFF, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "the port's MTU is 1501, and MTU support is off (mtu_enable=0): at most 1500");
	assert_int_equal(mtu_check_views(1500, 1500, 128, MTU_MODE_SCATTER, why, sizeof(why)), -EINVAL);
}

/* MTU-7 */
static void
errno_is_mapped_in_one_place(void **state)
{
	static const int map[][2] = {
		{ 0, 0 }, { EBUSY, EBUSY }, { ENODEV, ENODEV }, { ENOMEM, ENOMEM }, { EPERM, EPERM }, { ETIMEDOUT, ETIMEDOUT },
		{ EINVAL, EINVAL }, { ERANGE, EINVAL }, { EMSGSIZE, EINVAL }, { ENOTSUP, EOPNOTSUPP }, { ENOSYS, EOPNOTSUPP },
		{ EIO, EIO }, { EAGAIN, EIO }, { -1, EIO },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		assert_int_equal(mtu_errno(-map[i][0]), map[i][1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_room_of_max_mtu),
		cmocka_unit_test(small_mtus_need_no_support_and_large_ones_do),
		cmocka_unit_test(each_limit_of_a_port),
		cmocka_unit_test(scatter_needs_both_offloads),
		cmocka_unit_test(off_mode_is_what_it_was),
		cmocka_unit_test(three_views_agree_or_not),
		cmocka_unit_test(errno_is_mapped_in_one_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
