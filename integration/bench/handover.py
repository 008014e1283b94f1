#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The handover gap: how long nobody polls a queue when one generation follows another, over many reloads of real processes on net_ring.

usage: handover.py BUILD_DIR [--reloads N] [--workers N] [--json]     exit 0: all reloads complete; 1: not; 77: can not be run here

Primary, master and workers are those of `nonic`; nothing is sent, so nothing but the handover itself takes time. A gap goes from
the turn in which the old worker lets its lane go to the first turn in which the new one polls it, by the workers' own stamps; of several
lanes the longest counts, as in the completion line. Where that is allowed everything runs at the highest priority (nice -20), for a data
path has its CPUs for itself. Beside it: what the machine itself does to a process that shares its CPUs, the lateness of a sleep of the
same length as an idle worker's, in the same run and at the same priority.
"""
import argparse
import json
import os
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))
import bed as harness  # noqa: E402
import reload  # noqa: E402

GOAL_US = 200
NAP_US = 20 # of an idle worker in a window
BUCKETS = (10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10000)
DONE = re.compile(r"graceful reload complete: generation (\d+) now active \(took (\d+) ms: handover (\d+) ms, drain (\d+) ms,"
                  r".*?\)(?:, dropped (\d+) pkts)?(?:, gap (\d+) us)?( \(deadline forced\))?$")


def percentile(values, p):
    """The smallest value that p percent are not above."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * p // 100) - 1)]


def lateness(n):
    """us by which a sleep of NAP_US ends late, n times: what the machine makes of it."""
    late = []
    for _ in range(n):
        begin = time.monotonic_ns()
        time.sleep(NAP_US / 1e6)
        late.append((time.monotonic_ns() - begin) / 1000 - NAP_US)
    return late


def hurry():
    """nice of this process and all that it starts."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    except PermissionError:
        pass
    return os.getpriority(os.PRIO_PROCESS, 0)


def reload_once(rl, seconds=60):
    _, mark = rl.hup()
    line = rl.log.wait(r"graceful reload (complete|aborted|rejected).*", mark, seconds)[1].group(0)
    m = DONE.search(line)
    harness.check(m is not None, line)
    harness.check(m.group(6) is not None, "no gap in the line: %s" % line)
    rl.log.wait(r"-> T0_IDLE", mark, 5)
    return {"took_ms": int(m.group(2)), "handover_ms": int(m.group(3)), "drain_ms": int(m.group(4)), "gap_us": int(m.group(6))}


def measure(build, reloads, workers):
    """[one reload's numbers], [lateness in us]"""
    rounds, late = [], []
    with harness.Bed(build) as bed:
        bed.config(reload.config("driver=net_ring", workers=workers))
        bed.primary()
        rl = reload.Reload(bed)
        rl.master()
        for _ in range(reloads):
            rounds.append(reload_once(rl))
            late += lateness(10)
        bed.stop()
    return rounds, late


def histogram(gaps):
    """[[from, to, count]]; the last `to` is null."""
    edges = (0,) + BUCKETS + (None,)
    return [[lo, hi, sum(lo < g and (hi is None or g <= hi) for g in gaps)] for lo, hi in zip(edges, edges[1:])]


def summary(values):
    return {"p50": percentile(values, 50), "p99": percentile(values, 99), "max": max(values)}


def result(rounds, late, workers, nice):
    gaps = [r["gap_us"] for r in rounds]
    return {"bench": "handover", "reloads": len(rounds), "workers": workers, "cpus": os.cpu_count(),
            "load": os.getloadavg()[0], "nice": nice, "gap_us": summary(gaps), "goal_us": GOAL_US, "met": percentile(gaps, 99) <= GOAL_US,
            "within_goal": sum(g <= GOAL_US for g in gaps) / len(gaps),
            "sleep_late_us": {k: round(v, 1) for k, v in summary(late).items()},
            "handover_ms": summary([r["handover_ms"] for r in rounds]), "took_ms": summary([r["took_ms"] for r in rounds]),
            "histogram_us": histogram(gaps)}


def show(r):
    g, most = r["gap_us"], max(n for _, _, n in r["histogram_us"])

    print("handover: %d reloads, %d worker%s, net_ring, no traffic; %d CPUs, load %.1f, nice %d" % (
        r["reloads"], r["workers"], "" if r["workers"] == 1 else "s", r["cpus"], r["load"], r["nice"]))
    print("gap       p50 %d us, p99 %d us, max %d us (goal: p99 <= %d us: %s; %.1f %% are within)" % (
        g["p50"], g["p99"], g["max"], r["goal_us"], "met" if r["met"] else "missed", 100 * r["within_goal"]))
    print("machine   a sleep of %d us ends late by p50 %.0f us, p99 %.0f us, max %.0f us" % (
        NAP_US, r["sleep_late_us"]["p50"], r["sleep_late_us"]["p99"], r["sleep_late_us"]["max"]))
    print("handover  p50 %d ms, p99 %d ms, max %d ms; whole reload p50 %d ms, max %d ms" % (
        r["handover_ms"]["p50"], r["handover_ms"]["p99"], r["handover_ms"]["max"], r["took_ms"]["p50"], r["took_ms"]["max"]))
    for lo, hi, n in r["histogram_us"]:
        print("%6d .. %-6s us %6d %s" % (lo, "" if hi is None else hi, n, "#" * -(-50 * n // most)))


def main():
    p = argparse.ArgumentParser(prog="bed bench handover", description=__doc__.split("\n\n")[0])
    p.add_argument("build", help="build directory")
    p.add_argument("--reloads", type=int, default=1000, metavar="N", help="how many reloads (1000)")
    p.add_argument("--workers", type=int, default=1, metavar="N", help="workers of a generation (1)")
    p.add_argument("--json", action="store_true", help="one JSON object")
    o = p.parse_args()
    if o.reloads < 1 or o.workers < 1:
        p.error("--reloads and --workers are at least 1")
    try:
        nice = hurry()
        r = result(*measure(os.path.abspath(o.build), o.reloads, o.workers), o.workers, nice)
    except harness.Skip as e:
        print("handover: can not be measured here: %s" % e, file=sys.stderr)
        sys.exit(harness.SKIP)
    except harness.Failed as e:
        print("handover: %s" % e, file=sys.stderr)
        sys.exit(1)
    if o.json:
        print(json.dumps(r))
    else:
        show(r)


main()
