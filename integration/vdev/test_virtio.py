#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""virtio_user against a vhost-user peer that carries the frames to a veth, with the Linux kernel behind it; jumbo frames, and
the MTU raised from 1500 to 9000 while it runs.

TST-2, CFG-8, MTU-1, MTU-2, MTU-4, MTU-5, MTU-6
"""
import os

from vdev import Bed, check, conf, harness, main, net, vhost_wire

WHOLE = ("-M", "do")  # never in fragments


def test(build):
    with Bed(build) as bed:
        harness.own_netns()
        bed.config(conf.config("path=@DIR@/vhost.sock\nqueue_size=256", dpdk="mtu_enable=1\nmax_mtu=9000\n"))
        vhost_wire(bed, build)
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
