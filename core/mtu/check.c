/* SPDX-License-Identifier: BSD-3-Clause */
/* MTU arithmetic: buffer sizing, what a port can carry, whether the three views agree (MTU-1, MTU-2, MTU-3). */
#include "mtu.h"

#include <errno.h>
#include <stdio.h>

int
mtu_data_room(enum mtu_mode mode, uint16_t max_mtu, uint16_t *room)
{
	uint32_t need = SHIM_HEADROOM + mtu_frame_len(max_mtu);

	if (mode != MTU_MODE_LARGE) {
		*room = MTU_DATA_ROOM_DEFAULT;
		return 0;
	}
	need = (need + MTU_DATA_ROOM_ALIGN - 1) & ~(uint32_t)(MTU_DATA_ROOM_ALIGN - 1);
	if (need > UINT16_MAX)
		return -ERANGE;
	*room = (uint16_t)need;
	return 0;
}

int
mtu_check_request(enum mtu_mode mode, uint16_t max_mtu, uint32_t mtu, char *why, size_t n)
{
	if (mode == MTU_MODE_OFF && mtu > MTU_DEFAULT) {
		snprintf(why, n, "MTU %u is above 1500, and MTU support is off (mtu_enable=0)", mtu);
		return -EINVAL;
	}
	if (mtu >= MTU_MIN && (mode == MTU_MODE_OFF || mtu <= max_mtu))
		return 0;
	snprintf(why, n, "MTU %u is out of range: %u..%u", mtu, MTU_MIN, mode == MTU_MODE_OFF ? MTU_DEFAULT : max_mtu);
	return -EINVAL;
}

/* Usable bytes of a buffer. */
static uint32_t
buffer_len(uint16_t data_room)
{
	return data_room > SHIM_HEADROOM ? (uint32_t)(data_room - SHIM_HEADROOM) : 0;
}

/* A whole frame in one buffer, and the port able to fill so much of it. */
static int
check_buffer(const struct shim_port_info *info, uint16_t mtu, uint16_t data_room, char *why, size_t n)
{
	uint32_t frame = mtu_frame_len(mtu);

	if (frame > buffer_len(data_room)) {
		snprintf(why, n, "a frame of MTU %u has %u bytes, a buffer holds %u", mtu, frame, buffer_len(data_room));
		return -EMSGSIZE;
	}
	if (frame > info->max_rx_bufsize) {
		snprintf(why, n, "a frame of MTU %u has %u bytes, port driver %s fills at most %u of a buffer", mtu, frame,
			info->driver, info->max_rx_bufsize);
		return -EMSGSIZE;
	}
	return 0;
}

int
mtu_check_port(const struct shim_port_info *info, enum mtu_mode mode, uint16_t mtu, uint16_t data_room,
	char *why, size_t n)
{
	if (mtu < info->min_mtu || mtu > info->max_mtu) {
		snprintf(why, n, "MTU %u is out of the range of port driver %s: %u..%u", mtu, info->driver, info->min_mtu,
			info->max_mtu);
		return -ERANGE;
	}
	if ((uint32_t)mtu + MTU_PORT_OVERHEAD > info->max_rx_pktlen) {
		snprintf(why, n, "a frame of MTU %u has %u bytes, port driver %s receives at most %u", mtu,
			mtu + MTU_PORT_OVERHEAD, info->driver, info->max_rx_pktlen);
		return -EMSGSIZE;
	}
	if (buffer_len(data_room) < info->min_rx_bufsize) {
		snprintf(why, n, "a buffer holds %u bytes, port driver %s needs at least %u", buffer_len(data_room),
			info->driver, info->min_rx_bufsize);
		return -EMSGSIZE;
	}
	if (mode != MTU_MODE_SCATTER)
		return check_buffer(info, mtu, data_room, why, n);
	if (!(info->rx_offloads & SHIM_RX_SCATTER) || !(info->tx_offloads & SHIM_TX_MULTI_SEGS)) {
		snprintf(why, n, "mbuf_mode=scatter needs RX_SCATTER and TX_MULTI_SEGS, port driver %s lacks %s", info->driver,
			!(info->rx_offloads & SHIM_RX_SCATTER) ? "RX_SCATTER" : "TX_MULTI_SEGS");
		return -ENOTSUP;
	}
	return 0;
}

int
mtu_check_views(uint16_t if_mtu, uint16_t port_mtu, uint16_t data_room, enum mtu_mode mode, char *why, size_t n)
{
	if (if_mtu != port_mtu) {
		snprintf(why, n, "the interface's MTU is %u, the port's is %u", if_mtu, port_mtu);
		return -EINVAL;
	}
	if (mode == MTU_MODE_OFF && port_mtu > MTU_DEFAULT) {
		snprintf(why, n, "the port's MTU is %u, and MTU support is off (mtu_enable=0): at most 1500", port_mtu);
		return -EINVAL;
	}
	if (buffer_len(data_room) == 0 || (mode != MTU_MODE_SCATTER && mtu_frame_len(port_mtu) > buffer_len(data_room))) {
		snprintf(why, n, "a frame of the port's MTU %u has %u bytes, a buffer holds %u", port_mtu,
			mtu_frame_len(port_mtu), buffer_len(data_room));
		return -EINVAL;
	}
	return 0;
}

int
mtu_errno(int neg)
{
	switch (-neg) {
	case 0:
	case EBUSY:
	case ENODEV:
	case ENOMEM:
	case EPERM:
	case ETIMEDOUT:
		return -neg;
	case EINVAL:
	case EMSGSIZE:
	case ERANGE:
		return EINVAL;
	case ENOSYS:
	case ENOTSUP:
		return EOPNOTSUPP;
	default:
		return EIO;
	}
}
