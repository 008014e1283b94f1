#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ARP and neighbour discovery, asked by the kernel and asked by the worker; a static route added and taken back.

STK-2
"""
import socket
import time

from kernel import check, conf, main, net, run, tap_bed

ETH_P_ALL = 3


MAC = "02:64:74:61:70:30"  # what net_tap makes of mac=fixed


def kernel_knows():
    """The kernel has been told the worker's address, so it does not ask, and the worker can not learn from that."""
    for addr in (conf.V4, conf.V6):
        run(["ip", "neigh", "replace", addr, "lladdr", MAC, "dev", conf.TAP, "nud", "permanent"])


def kernel_learns():
    for flag, addr in (("-4", conf.V4), ("-6", conf.V6)):
        run(["ip", "neigh", "del", addr, "dev", conf.TAP])
        net.ping(addr, 2)
        _, out, _ = run(["ip", flag, "neigh", "show", addr, "dev", conf.TAP])
        check(MAC in out, "the kernel has learned '%s' for %s" % (out, addr))


def captured(s, seconds, wanted):
    """Frames until wanted(frame) is true."""
    s.settimeout(0.2)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            frame = s.recv(2048)
        except TimeoutError:
            continue
        if wanted(frame):
            return True
    return False


def asks_arp(frame):
    return frame[12:14] == b"\x08\x06" and frame[20:22] == b"\0\1" and frame[38:42] == socket.inet_aton(conf.V4_PEER)


def asks_nd(frame):
    return (frame[12:14] == b"\x86\xdd" and frame[20] == 58 and frame[54] == 135 and
            frame[62:78] == socket.inet_pton(socket.AF_INET6, conf.V6_PEER))


def test(build):
    with tap_bed(build, conf.tap(), worker=False) as bed:
        kernel_knows()
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)) as s:
            s.bind((conf.TAP, 0))
            bed.serve()
            net.ping(conf.V4, 2)
            check(captured(s, 3, asks_arp), "the worker did not ask for %s" % conf.V4_PEER)
            net.ping_until(conf.V6)
            check(captured(s, 3, asks_nd), "the worker did not ask for %s" % conf.V6_PEER)
        kernel_learns()
        have = {n["address"]: n for n in bed.cli_json("arp")["neighbours"]}
        check(have[conf.V4_PEER]["mac"] == "02:6e:6f:6e:00:01", "arp: %s" % have)
        check(have[conf.V6_PEER]["mac"] == "02:6e:6f:6e:00:01", "arp: %s" % have)
        bed.cli("route", "add", "198.51.100.0/24", "via", conf.V4_PEER)
        bed.cli("route", "add", "2001:db8:1::/48", "via", conf.V6_PEER, "dev", "f-stack-0")
        code, _, err = bed.cli("route", "add", "203.0.113.0/24", "via", "10.9.9.9", ok=False)
        check(code == 1 and "no connected network" in err, "a gateway out of reach: %s" % err)
        run(["ip", "addr", "add", "198.51.100.1/32", "dev", "lo"])
        net.ping(conf.V4, 2, extra=("-I", "198.51.100.1"))
        routes = bed.cli_json("route")["routes"]
        check(any(r["destination"] == "198.51.100.0" and r["gateway"] == conf.V4_PEER for r in routes), "%s" % routes)
        bed.cli("route", "del", "198.51.100.0/24")
        code, _, err = bed.cli("route", "del", "198.51.100.0/24", ok=False)
        check(code == 1 and "no such static route" in err, "deleted twice: %s" % err)
        bed.stop()


main(test)
