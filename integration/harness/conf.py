# SPDX-License-Identifier: BSD-3-Clause
"""Configuration files of the tests: one place for what they have in common."""

V4, V4_PEER = "192.0.2.2", "192.0.2.1"
V6, V6_PEER = "2001:db8::2", "2001:db8::1"
TAP = "nonic0"

PORT = """addr=192.0.2.2
netmask=255.255.255.0
broadcast=192.0.2.255
gateway=192.0.2.1
addr6=2001:db8::2
prefix_len=64
"""


def config(vdev, dpdk="", port=PORT, port_more="", more="", mask="1"):
    """One port over one virtual device; dpdk, port_more: further lines of those sections; more: further sections."""
    return ("[dpdk]\nlcore_mask=%s\nchannel=4\npromiscuous=1\nnuma_on=0\nport_list=0\nnb_vdev=1\nfile_prefix=@PREFIX@\n"
            "idle_sleep=20\npkt_tx_delay=0\nlog_level=5\n%s[vdev0]\n%s\n[port0]\n%s%s%s" %
            (mask, dpdk, vdev, port, port_more, more))


def tap(**kw):
    return config("driver=net_tap\nargs=iface=%s,mac=fixed" % TAP, **kw)
