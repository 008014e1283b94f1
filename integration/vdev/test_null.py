#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""net_null hands up frames of zeros without end: every one is dropped and counted, and the tools stay responsive.

TST-2, STK-9, CFG-8
"""
import time

from vdev import PORT4, Bed, check, conf, main


def test(build):
    with Bed(build) as bed:
        bed.config(conf.config("driver=net_null\nargs=size=64", port=PORT4))
        bed.primary()
        free = bed.status()["primary"]["pool_free"]
        worker = bed.serve()
        time.sleep(0.3)
        begin = time.monotonic()
        st = bed.status()["workers"][0]
        bed.cli("ifconfig")
        bed.cli("arp")
        check(time.monotonic() - begin < 8, "the tools took %.1f s" % (time.monotonic() - begin))
        check(st["rx_packets"] > 1000, "received %d" % st["rx_packets"])
        dropped = sum(st["drops"].values())
        check(abs(dropped - st["rx_packets"]) <= 64, "%d received, %d dropped: %s" % (st["rx_packets"], dropped,
                                                                                      st["drops"]))
        worker.terminate()
        check(worker.wait(5) == 0, "the worker's exit code")
        time.sleep(0.05)
        now = bed.status()["primary"]["pool_free"]
        check(now == free, "pool: %d were free, now %d" % (free, now))
        bed.stop()


main(test)
