#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An MTU that is changed while traffic runs; refusals. (net_tap carries 1504 at most: jumbo frames are in vdev/.)

MTU-1, MTU-3, MTU-4, MTU-6
"""
import threading
import time

from kernel import check, conf, main, net, tap_bed

BOTH = (conf.V4, conf.V6)


def mtus(bed):
    """Of the interface and of the port."""
    return bed.cli_json("ifconfig")["interfaces"][0]["mtu"], bed.status()["ports"][0]["mtu"]


def traffic(stop, errors):
    n = 0
    while not stop.is_set():
        try:
            net.udp_exchange(BOTH[n % 2], 7, 200, sizes=(8, 1000), seed=n)
        except Exception as e:  # of another thread: handed over, raised there
            errors.append(e)
            return
        n += 1
        time.sleep(0.05)


def change(bed):
    """Down and up again while traffic runs; then every answer has to fit."""
    bed.cli("ifconfig", "f-stack-0", "mtu", "1300")
    now = mtus(bed)
    check(now == (1300, 1300), "after 1300: %s" % (now,))
    check({r["mtu"] for r in bed.cli_json("route")["routes"]} == {1300}, "the routes do not follow")
    # one worker's view only, and never past the port's
    bed.cli("ifconfig", "-p", "0", "f-stack-0", "mtu", "1280")
    now = mtus(bed)
    check(now == (1280, 1300), "software view alone: %s" % (now,))
    code, _, err = bed.cli("ifconfig", "-p", "0", "f-stack-0", "mtu", "1301", ok=False)
    check(code == 1 and "1301" in err and "1300" in err, "over the port's MTU: %s" % err)
    bed.cli("ifconfig", "f-stack-0", "mtu", "1500")


def refused(bed):
    for bad, rc, words in (("1501", 1, "mtu_enable=1"), ("60", 2, "68 to 65535"), ("x", 2, "'x'")):
        code, _, err = bed.cli("ifconfig", "f-stack-0", "mtu", bad, ok=False)
        check(code == rc and words in err, "MTU %s: %s" % (bad, err))
    now = mtus(bed)
    check(now == (1500, 1500), "not the MTU of before the refusals: %s" % (now,))


def test(build):
    with tap_bed(build, conf.tap()) as bed:
        net.ping(conf.V4, 1)
        stop, errors = threading.Event(), []
        t = threading.Thread(target=traffic, args=(stop, errors))
        t.start()
        try:
            change(bed)
        finally:
            stop.set()
            t.join()
        if errors:
            raise errors[0]
        for addr in BOTH:
            net.ping(addr, 2, 8000)
            net.ping(addr, 2, 1400, extra=("-M", "do"))
        refused(bed)
        bed.stop()


main(test)
