#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""virtio_user against a vhost-user peer that carries the frames to a veth, with the Linux kernel behind it; jumbo frames, and
the MTU raised from 1500 to 9000 while it runs.

TST-2, CFG-8, MTU-1, MTU-2, MTU-4, MTU-5, MTU-6
"""
import ctypes
import fcntl
import os
import socket
import struct

from vdev import Bed, check, conf, harness, main, net, peer, run

SIOCETHTOOL, ETHTOOL_STXCSUM = 0x8946, 0x17
WHOLE = ("-M", "do")  # never in fragments


def checksums_in_software(name):
    """veth would hand over half-made checksums."""
    value = ctypes.create_string_buffer(struct.pack("II", ETHTOOL_STXCSUM, 0))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, SIOCETHTOOL, struct.pack("16sP", name.encode(), ctypes.addressof(value)))


def wire(bed, build):
    """A veth whose far end is the peer's second port; its first is the vhost-user server."""
    run(["ip", "link", "add", conf.TAP, "mtu", "9000", "type", "veth", "peer", "name", "far", "mtu", "9000"])
    checksums_in_software(conf.TAP)
    harness.tap_up(conf.TAP, conf.V4_PEER + "/24", conf.V6_PEER + "/64")
    run(["ip", "link", "set", "far", "up"])
    bed.start("peer", [peer(build), "forward", "--in-memory", "--no-pci", "--no-telemetry", "-l", "0", "--log-level=4",
                       "--vdev=net_vhost0,iface=%s/vhost.sock" % bed.dir,
                       "--vdev=net_pcap0,rx_iface_in=far,tx_iface=far"], "peer ready")


def test(build):
    with Bed(build) as bed:
        harness.own_netns()
        bed.config(conf.config("path=@DIR@/vhost.sock\nqueue_size=256", dpdk="mtu_enable=1\nmax_mtu=9000\n"))
        wire(bed, build)
        bed.primary()
        bed.serve()
        net.ping_until(conf.V6)
        for addr in (conf.V4, conf.V6):
            net.ping(addr, 3)
            net.udp_exchange(addr, 7, 2000)
        bed.cli("ifconfig", "f-stack-0", "mtu", "9000")
        for addr in (conf.V4, conf.V6):
            before = bed.status()["workers"][0]["tx_packets"]
            net.ping(addr, 3, 8500, extra=WHOLE)
            net.udp_exchange(addr, 7, 200, sizes=(8900,), window=8)
            sent = bed.status()["workers"][0]["tx_packets"] - before
            check(203 <= sent < 203 + 20, "%d frames for 203 answers of one frame each" % sent)
        st = bed.status()
        check(st["ports"][0]["mtu"] == 9000, "ports: %s" % st["ports"])
        check({r["mtu"] for r in bed.cli_json("route")["routes"]} == {9000}, "routes do not follow")
        check(not os.path.exists(os.path.join(bed.dir, "core")), "something dumped core")
        bed.stop()


main(test)
