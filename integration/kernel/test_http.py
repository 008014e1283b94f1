#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""HTTP and TCP echo of nonic serve for the Linux kernel's TCP: one connection for many requests, bulk, half-close, netstat.

STK-2, STK-3, STK-6
"""
import http.client
import socket
import threading

from kernel import check, conf, main, tap_bed

BULK = 2000000
ECHO = 300000


def pattern(n):
    return (bytes(range(251)) * (n // 251 + 1))[:n]


def requests(addr):
    """Many on one connection, errors between them, then a long one."""
    c = http.client.HTTPConnection(addr, 80, timeout=20)
    for i in range(50):
        for path, status in (("/", 200), ("/none", 404), ("/bytes/%d" % (i * 100), 200)):
            c.request("GET", path)
            r = c.getresponse()
            body = r.read()
            check(r.status == status, "%s: GET %s: %d" % (addr, path, r.status))
            check(not path.startswith("/bytes") or body == pattern(i * 100), "%s: GET %s: body" % (addr, path))
    c.request("GET", "/bytes/%d" % BULK)
    check(c.getresponse().read() == pattern(BULK), "%s: %d bytes: another body" % (addr, BULK))
    c.close()


def echo(addr):
    data, back = pattern(ECHO), bytearray()
    with socket.create_connection((addr, 7), timeout=20) as s:
        t = threading.Thread(target=lambda: (s.sendall(data), s.shutdown(socket.SHUT_WR)))
        t.start()
        while True:
            piece = s.recv(65536)
            if not piece:
                break
            back += piece
        t.join()
    check(bytes(back) == data, "%s: echo: %d of %d bytes" % (addr, len(back), ECHO))


def refused(addr):
    try:
        socket.create_connection((addr, 9), timeout=5).close()
    except ConnectionRefusedError:
        return
    check(False, "%s: port 9 took a connection" % addr)


def test(build):
    with tap_bed(build, conf.tap()) as bed:
        for addr in (conf.V4, conf.V6):
            requests(addr)
            echo(addr)
            refused(addr)
        with socket.create_connection((conf.V4, 7), timeout=20):
            got = bed.cli_json("netstat")["connections"]
            check(sum(e["state"] == "LISTEN" for e in got) == 4, "netstat: %s" % got)
            check(any(e["state"] == "ESTABLISHED" and e["remote"] == conf.V4_PEER and e["local_port"] == 7 for e in got),
                  "netstat: %s" % got)
        counts = {e["name"]: e["count"] for e in bed.cli_json("netstat", "-s")["counters"]}
        check(counts["conn_accept"] == 5 and counts["cookie_bad"] == 0, "counters: %s" % counts)
        bed.stop()


main(test)
