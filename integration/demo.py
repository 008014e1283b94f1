# SPDX-License-Identifier: BSD-3-Clause
"""bed demo: a primary and a worker on a TAP port, in a network namespace of their own, and the Linux kernel as client."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "harness"))
import bed as harness  # noqa: E402
import conf  # noqa: E402
import net  # noqa: E402

DATAGRAMS = 10000
V4, V6 = conf.V4, conf.V6


def show(bed):
    rows = []

    def row(what, fn):
        begin = time.monotonic()
        text = fn() or ""
        rows.append((what, text, time.monotonic() - begin))
        print("  %-46s ok  %6.2f s  %s" % (what, rows[-1][2], text), flush=True)

    bed.config(conf.tap())
    print("nonic demo: the kernel's side is 192.0.2.1, 2001:db8::1; nonic is 192.0.2.2, 2001:db8::2\n")
    row("primary: ports, buffers, shared memory", lambda: bed.primary() and None)
    harness.tap_up(conf.TAP, "192.0.2.1/24", "2001:db8::1/64")
    row("worker: a stack in a process of its own", lambda: bed.serve() and None)
    row("duplicate address detection ends", lambda: net.ping_until(V6))
    for addr in (V4, V6):
        row("ping %s, 5 x 56 bytes" % addr, lambda a=addr: rtt(net.ping(a, 5)))
        row("ping %s, 5 x 8000 bytes in fragments" % addr, lambda a=addr: rtt(net.ping(a, 5, 8000)))
    for addr in (V4, V6):
        row("UDP %s, %d datagrams, each checked" % (addr, DATAGRAMS),
            lambda a=addr: "%.0f datagrams/s" % (DATAGRAMS / net.udp_exchange(a, 7, DATAGRAMS)))
        row("DNS queries to %s" % addr, lambda a=addr: net.dns_check(a))
    row("nonic status, arp, route, ifconfig", lambda: tools(bed))
    row("nonic stop: worker, then primary", lambda: bed.stop())
    print("\nAll right: %d checks, %d datagrams." % (len(rows), 2 * DATAGRAMS))


def rtt(line):
    return line.replace("rtt min/avg/max/mdev = ", "rtt min/avg/max/mdev ")


def tools(bed):
    st = bed.status()["workers"][0]
    harness.check(st["alive"] and st["rx_packets"] > 2 * DATAGRAMS, "status: %s" % st)
    harness.check(any(n["address"] == "192.0.2.1" for n in bed.cli_json("arp")["neighbours"]), "arp: no 192.0.2.1")
    for cmd in ("route", "ifconfig"):
        bed.cli(cmd)
    return "%d packets in, %d out" % (st["rx_packets"], st["tx_packets"])


def main():
    args = [a for a in sys.argv[1:] if a not in ("-v", "--verbose")]
    if len(args) != 1:
        print("usage: demo.py BUILD-DIRECTORY [--verbose]", file=sys.stderr)
        return 2
    try:
        with harness.Bed(os.path.abspath(args[0])) as bed:
            harness.own_netns()
            show(bed)
            if len(args) + 1 < len(sys.argv):
                bed.print_logs()
    except harness.Skip as e:
        print("demo: it can not run here: %s" % e, file=sys.stderr)
        return 1
    except harness.Failed as e:
        print("demo: FAILED: %s" % e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
