# SPDX-License-Identifier: BSD-3-Clause
"""bed demo: a primary and a worker on a TAP port, in a network namespace of their own, and the Linux kernel as client; then a master, and three
reloads under 200 live UDP flows, drawn in report.html."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "harness"))
import bed as harness  # noqa: E402
import conf  # noqa: E402
import net  # noqa: E402
import reload  # noqa: E402
import report  # noqa: E402

DATAGRAMS = 10000
IDLE = 0.4
OLD, NEW, RATE = 120, 80, 2000 # flows that live through all reloads, flows that begin in each; datagrams a second. net_tap's queue is small
V4, V6 = conf.V4, conf.V6


class Table:
    def __init__(self):
        self.rows = 0

    def __call__(self, what, fn):
        begin = time.monotonic()
        text = fn() or ""
        self.rows += 1
        print("  %-46s ok  %6.2f s  %s" % (what, time.monotonic() - begin, text), flush=True)


def first_part(bed, row):
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


class Reloads:
    """Three HUPs under load. In the second round the old flows fall silent, so that the drain ends by itself."""

    def __init__(self, scene):
        self.s, self.rounds, self.last = scene, [], []
        half = len(scene.load.flows) // 2 # IPv4 first, then IPv6
        self.old = scene.load.flows[:OLD // 2] + scene.load.flows[half:half + OLD // 2]
        self.young = [f for f in scene.load.flows if f not in self.old]

    def one(self, silent):
        s = self.s
        began, mark = s.rl.hup()
        s.rl.until("T3_DRAIN", mark)
        s.load.end(self.young)
        self.young = [f for a in (V4, V6) for f in s.load.add(a, NEW // 2)]
        if silent:
            time.sleep(0.2)
            s.load.pause(self.old)
        r = s.rl.ended(began, mark)
        s.load.pause(self.old, False)
        r.complete()
        self.rounds.append(r)
        self.last.append(s.bed.cli_json("ctl", "status")["last"])
        s.load.wait_all(self.old + self.young, 3)
        last = self.last[-1]
        return "generation %d: total %d ms, handover %d ms, nobody polled %d us, drain %d ms" % (
            r.generation, last["total_ms"], last["handover_ms"], last["gap_ns"] // 1000, last["drain_ms"])


def second_part(scene, row, path):
    r = Reloads(scene)
    time.sleep(1)
    for n, silent in enumerate((False, True, False)):
        row("HUP %d under %d live flows%s" % (n + 1, OLD + NEW, ", the old ones fall silent" if silent else ""),
            lambda q=silent: r.one(q))
    time.sleep(0.5)
    scene.load.finish()
    load, bad = scene.load, reload.wrong(scene.load, r.rounds, IDLE)
    report.write(path, load, r.rounds, r.last, bad)
    print("\n  flows                                 %7d  (%d live at a time, IPv4 and IPv6, old and new)" % (len(load.flows), OLD + NEW))
    print("  datagrams sent                        %7d" % load.sent())
    print("  answered                              %7d" % load.received())
    print("  lost                                  %7d" % len(load.lost()))
    print("  answered by the wrong generation      %7d" % len(bad))
    print("  report: %s" % path, flush=True)
    harness.check(not load.lost() and not bad and load.twice == load.strange == load.refused() == 0,
                  "lost %s, wrong %s, twice %d, strange %d, refused %d" % (load.lost()[:5], bad[:5], load.twice, load.strange,
                                                                           load.refused()))


def show(bed, path):
    row = Table()
    first_part(bed, row)
    print("\nnow with [dpdk] graceful_reload=1: a master, and a reload while datagrams are on their way\n", flush=True)
    bed.config(reload.tap(more="", worker_shutdown_timeout=2000, reload_udp_idle_ms=int(1000 * IDLE)))
    scene = reload.Scene(None, None, flows=(OLD + NEW) // 2, rate=RATE, bed=bed)
    row("primary, master, worker, %d flows" % (OLD + NEW), scene.start)
    second_part(scene, row, path)
    print()
    row("nonic stop: master and workers, then primary", lambda: bed.stop())
    print("\nAll right: %d checks, %d datagrams." % (row.rows, 2 * DATAGRAMS + scene.load.sent()))


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
            show(bed, os.path.abspath("report.html"))
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
