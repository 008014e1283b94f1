#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Three reloads in a row over virtio_user, under 60 UDP flows in both families, old and new: nothing is lost, nobody answers that should
not, every completion line and every transition is there exactly once, and no buffer is missing.

REL-1, REL-3, REL-5, REL-6, REL-8, REL-14, PUB-2, DSP-4, DSP-5
"""
import os
import signal
import time

from vdev import check, conf, harness, main, reload, stop, vhost_wire


def one_round(s):
    """New flows come while the old generation drains; then all of them go on."""
    began, mark = s.rl.hup()
    s.rl.until("T3_DRAIN", mark)
    new = [f for a in (conf.V4, conf.V6) for f in s.load.add(a, 10)]
    s.load.wait_all(new, 3)
    r = s.rl.ended(began, mark)
    r.complete()
    s.load.end(new)
    return r


def others_ignore_hup(s):
    """`pkill -HUP nonic` meets primary and workers too: they go on."""
    before = s.bed.status()
    pids = [before["primary"]["pid"]] + [w["pid"] for w in before["workers"] if w["alive"]]
    for pid in pids:
        os.kill(pid, signal.SIGHUP)
    s.load.wait_all(s.load.answered(flows=[f for f in s.load.flows if not f.over]), 3)
    after = s.bed.status()
    check([after["primary"]["pid"]] + [w["pid"] for w in after["workers"] if w["alive"]] == pids, "HUP ended one of %s" % pids)


def wire_keeps(s):
    """The wire's own process stands still for a while, as on a busy machine: what was sent meanwhile is late, not lost."""
    peer = next(proc for name, proc, _ in s.bed.procs if name == "peer")
    before = len(s.load.lost())
    for _ in range(3):
        check(stop(peer.pid), "the wire is gone")
        time.sleep(0.2)
        peer.send_signal(signal.SIGCONT)
        s.load.wait_all([f for f in s.load.flows if not f.over], 3)
    time.sleep(0.2)
    lost = [t for _, _, t in s.load.lost() if t < time.monotonic() - 0.2]
    check(len(lost) <= before, "the wire lost %d datagrams: %s" % (len(lost), s.bed.log_of("peer")))


def drained_by_itself(s):
    """Flows that fall silent end a drain before its limit."""
    began, mark = s.rl.hup()
    s.rl.until("T2_HANDOVER", mark)
    s.load.pause(s.load.flows)
    r = s.rl.ended(began, mark)
    s.load.pause(s.load.flows, False)
    r.complete()
    check(r.seen["T4_DRAIN_DONE"] - r.seen["T3_DRAIN"] < 3, "silent flows held the drain: %s" % r.line)
    last = s.bed.cli_json("ctl", "status")["last"]
    check(last["complete"] and not last["forced"], "the end of the drain: %s" % last)
    return r


def buried():
    """Workers that have left are gone from the process table as well."""
    dead = []
    for pid in harness.descendants(os.getpid()):
        try:
            with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
                name, state = f.read().split("(", 1)[1].rsplit(") ", 1)
        except (FileNotFoundError, ProcessLookupError):
            continue
        if name == "nonic-dpdk" and state.startswith("Z"):
            dead.append(pid)
    check(not dead, "the master has not reaped %s" % dead)


def test(build):
    text = reload.vhost(worker_shutdown_timeout=1200)
    with reload.Scene(build, text, lambda bed: vhost_wire(bed, build), flows=30, rate=900) as s:
        rounds = [one_round(s), one_round(s), one_round(s)]
        check([r.generation for r in rounds] == list(range(rounds[0].generation, rounds[0].generation + 3)),
              "generations %s" % [r.generation for r in rounds])
        check(len(s.rl.log.find(reload.DONE)) == 3, "completion lines: %d" % len(s.rl.log.find(reload.DONE)))
        status = s.bed.cli_json("ctl", "status")
        check(status["state"] == "T0_IDLE" and status["generation"] == rounds[-1].generation and status["window"] == 0 and
              status["reloads"] == 3 and status["aborts"] == 0 and sum(status["live"]) == 1, "ctl status: %s" % status)
        check(status["last"]["forwarded"] > 0 and status["last"]["relayed"] > 0 and status["last"]["dropped"] == 0,
              "the last one's numbers: %s" % status["last"])
        s.balanced()
        buried()
        others_ignore_hup(s)
        wire_keeps(s)
        quiet = drained_by_itself(s)
        s.load.wait_all(s.load.answered(flows=[f for f in s.load.flows if not f.over]), 3)
        s.load.finish()
        check(not s.load.lost(), "%d of %d datagrams lost: %s" % (len(s.load.lost()), s.load.sent(), s.load.lost()[:5]))
        bad = reload.wrong(s.load, rounds + [quiet], 0.3)
        check(not bad, "%d answers by the wrong generation: %s" % (len(bad), bad[:5]))
        check(s.load.twice == s.load.strange == s.load.refused() == 0, "twice %d, strange %d, refused %d" % (
            s.load.twice, s.load.strange, s.load.refused()))
        check(s.bed.cli_json("ctl", "status")["taken"] == 0, "a lease was taken from its live owner")
        print("%d datagrams; %s" % (s.load.sent(), "; ".join(r.line.split("complete: ")[1] for r in rounds + [quiet])))
        said = s.bed.cli_json("ctl", "reload", "--wait")
        check(said["outcome"] == "complete" and said["generation"] == quiet.generation + 1 and said["total_ms"] > 0,
              "ctl reload --wait --json: %s" % said)
        s.bed.config("[dpdk]\nlcore_mask=none\nfile_prefix=@PREFIX@\n") # 'nonic stop' needs no more than the prefix
        s.bed.stop()


main(test)
