#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ping, fragments, UDP, DNS, closed ports between the Linux kernel and a worker, with the tools running beside it.

STK-2, STK-9, TST-1, TST-2
"""
import threading

from kernel import check, conf, main, net, tap_bed

DATAGRAMS = 10000


def tools(bed, stop, errors, counts):
    """status, arp, route, ifconfig in turn while traffic runs: each must answer."""
    try:
        while not stop.is_set():
            st = bed.status()
            check(st["workers"][0]["alive"], "status: the worker is not alive")
            check(st["ports"][0]["driver"] == "net_tap", "status: ports %s" % st["ports"])
            arp = bed.cli_json("arp")["neighbours"]
            check({conf.V4_PEER, conf.V6_PEER} <= {n["address"] for n in arp}, "arp: %s" % arp)
            routes = bed.cli_json("route")["routes"]
            check(any(r["prefix_len"] == 24 and r["mtu"] == 1500 for r in routes), "route: %s" % routes)
            ifs = bed.cli_json("ifconfig")["interfaces"]
            check(conf.V4 in [a["address"] for a in ifs[0]["addresses"]], "ifconfig: %s" % ifs)
            counts.append(1)
    except Exception as e:  # of another thread: handed over, raised there
        errors.append(e)


def test(build):
    with tap_bed(build, conf.tap()) as bed:
        for addr in (conf.V4, conf.V6):
            net.ping(addr, 5)
            net.ping(addr, 5, 8000)
        net.udp_exchange(conf.V4, 7, 20, sizes=(8000,))  # the neighbour entries are there before the tools look
        net.udp_exchange(conf.V6, 7, 20, sizes=(8000,))
        stop, errors, counts = threading.Event(), [], []
        t = threading.Thread(target=tools, args=(bed, stop, errors, counts))
        t.start()
        try:
            for addr in (conf.V4, conf.V6):
                net.udp_exchange(addr, 7, DATAGRAMS)
                net.dns_check(addr)
                net.udp_refused(addr, 9)
        finally:
            stop.set()
            t.join()
        if errors:
            raise errors[0]
        check(counts, "the tools never got through")
        st = bed.status()["workers"][0]
        check(st["rx_packets"] > 2 * DATAGRAMS and st["tx_packets"] > 2 * DATAGRAMS, "counters: %s" % st)
        check(st["drops"].get("udp_no_port", 0) == 2, "drops by reason: %s" % st["drops"])
        bed.stop()


main(test)
