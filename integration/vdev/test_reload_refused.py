#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reloads that are refused before anything is touched, each with its reason in the log and from `nonic ctl reload`; and reloads that are
aborted because the new worker can not come up. The old generation serves on in all of them, and nothing is lost.

REL-1, REL-2, REL-12, REL-17, PAR-3, CFG-6
"""
import json
import os
import signal
import time

from vdev import check, main, peer, reload, run, stop, vhost_wire

EAL = ["--lcores=100@0", "--no-pci", "--no-telemetry", "--proc-type=secondary", "--log-level=4"]
LAYOUT_VERSION = "8" # where it stands in the zone of generations


class Refused:
    def __init__(self, s, build):
        self.s, self.build = s, build
        with open(s.bed.conf, encoding="ascii") as f:
            self.text = f.read()

    def write(self, text):
        with open(self.s.bed.conf, "w", encoding="ascii") as f:
            f.write(text)

    def ctl(self, words, what):
        """nonic ctl reload says no, for that reason; so does the log; no worker was started."""
        mark, before = self.s.rl.log.mark(), self.s.rl.workers()
        code, _, err = self.s.bed.cli("ctl", "reload", "--wait", ok=False)
        check(code == 1 and words in err, "%s: exit code %d, %s" % (what, code, err))
        self.s.rl.log.wait("graceful reload rejected: .*", mark)
        check(not self.s.rl.log.find(reload.FSM, mark) and self.s.rl.workers() == before, "%s: something was touched" % what)
        print("  %-40s %s" % (what, err.strip().split("master: ")[-1]))

    def hup(self, pattern, what):
        _, mark = self.s.rl.hup()
        _, m = self.s.rl.log.wait("graceful reload rejected: .*(%s).*" % pattern, mark)
        print("  %-40s %s" % (what, m.group(0).split("rejected: ")[1]))


def configurations(r):
    keys = "drain_ring_size=1024\n[vdev0]"
    r.write(r.text.replace("[vdev0]", keys))
    r.ctl("[dpdk] drain_ring_size has changed", "a changed device key")
    r.write(r.text.replace("reload_udp_idle_ms=300", "reload_udp_idle_ms=soon"))
    r.hup("reload_udp_idle_ms = soon", "a value that is none")
    r.ctl("master: the configuration is not good any more", "ctl reload with such a file")
    found_all_the_same(r)
    r.write("")
    r.hup("the configuration is not good any more", "an empty file")
    r.write(r.text)


def found_all_the_same(r):
    """Who only has to find the bed finds it with a broken file too, and says in one line that it is broken."""
    for words in (("ctl", "status"), ("status",), ("arp",)):
        _, out, err = r.s.bed.cli(*words)
        said = [w for w in err.split("\n") if w.startswith("nonic ")]
        check(out and len(said) == 1 and "has 1 error (the first: " in said[0] and "reload_udp_idle_ms = soon" in said[0],
              "%s with a broken file: %s" % (" ".join(words), err))
    last = r.s.bed.cli_json("ctl", "status")["trouble"]
    check(last["outcome"] == "rejected" and "reload_udp_idle_ms = soon" in last["reason"] and last["ago_ms"] < 60000,
          "ctl status of the refusal: %s" % last)
    code, out, _ = r.s.bed.cli("ctl", "reload", "--json", ok=False)
    said = json.loads(out)
    check(code == 1 and said["outcome"] == "rejected" and "reload_udp_idle_ms = soon" in said["reason"], "as JSON: %s" % said)
    code, _, err = r.s.bed.cli("serve", "--alone", ok=False)
    check(code == 1 and "warning" not in err, "who starts something takes no broken file: %s" % err)


def buffers(r):
    holder = r.s.bed.start("holder", [peer(r.build), "hold", "nonic_pool", "600"] + EAL +
                           ["--file-prefix=container-" + r.s.bed.prefix], "holding")
    r.hup(r"[0-9]+ of [0-9]+ buffers are free, and a second generation needs [0-9]+", "too few buffers")
    holder.terminate()
    check(holder.wait(5) == 0, "the holder's exit code")


def suspended_primary(r):
    check(stop(r.s.primary.pid), "the primary is gone")
    try:
        r.hup(r"suspended.*kill -CONT %d" % r.s.primary.pid, "a suspended primary")
    finally:
        r.s.primary.send_signal(signal.SIGCONT)


def hup_during_hup(r):
    began, mark = r.s.rl.hup()
    for state in ("T1_GNEW_SPAWN", "T3_DRAIN"):
        r.s.rl.until(state, mark)
        r.hup(".", "HUP in " + state)
        check(len({g for g, _ in r.s.rl.workers()}) <= 2, "a third generation: %s" % r.s.rl.workers())
    r.s.rl.ended(began, mark).complete()
    check(not r.s.rl.log.find("illegal event", mark), "a refusal is told twice")


def poke(r, value):
    _, out, _ = run([peer(r.build), "poke", "nonic_gen", LAYOUT_VERSION, value] + EAL +
                    ["--file-prefix=container-" + r.s.bed.prefix])
    return out.split()[-1]


def other_layout(r):
    """What a worker of another build finds: it names both versions and goes; the reload is aborted."""
    right = poke(r, "77")
    began, mark = r.s.rl.hup()
    _, m = r.s.rl.log.wait("layout version.*77.*", mark)
    r.s.rl.until("T_ERROR", mark)
    r.s.rl.until("T0_IDLE", mark)
    check(right in m.group(0), "both versions are named: %s" % m.group(0))
    r.s.rl.log.wait("graceful reload aborted", mark)
    poke(r, right)
    print("  %-40s %s (%.1f s)" % ("another layout version", m.group(0), time.monotonic() - began))


def worker_never_ready(r):
    """Stopped before it is ready: the limit of T1 ends the wait, and the stopped process."""
    _, mark = r.s.rl.hup()
    r.s.rl.until("T1_GNEW_SPAWN", mark)
    w = r.s.rl.generations(2)
    check(stop(w[-1][1]), "the new worker is gone")
    t, _ = r.s.rl.log.wait("graceful reload aborted: .*", mark)
    r.s.rl.until("T0_IDLE", mark)
    check([p for _, p in r.s.rl.workers()] == [w[0][1]], "the old worker alone: %s" % r.s.rl.workers())
    print("  %-40s aborted, and the stopped worker is gone" % "a worker that is never ready")


def doctor(r, ident, level, *words):
    """What nonic doctor says of this bed, with the command that mends it."""
    _, out, _ = r.s.bed.cli("doctor", "--json", ok=False)
    found = [f for f in json.loads(out)["findings"] if f["id"] == ident and "container-" + r.s.bed.prefix in f["text"]]
    check(len(found) == 1 and found[0]["level"] == level and all(w in found[0]["text"] + found[0]["fix"] for w in words),
          "doctor, %s: %s" % (ident, found))


def dead_master(r):
    doctor(r, "master", "ok", "a master and 1 worker")
    r.s.rl.proc.kill()
    r.s.rl.proc.wait(5)
    doctor(r, "master", "warning", "no master, and 1 worker", "nonic serve --conf " + r.s.bed.conf)
    r.s.rl.master(*r.s.options)
    r.s.rl.log.wait(reload.DONE)
    doctor(r, "master", "ok", "a master and 1 worker")


def dead_primary(r):
    r.s.primary.kill()
    r.s.primary.wait(5)
    r.hup("primary.* is dead", "a dead primary")
    doctor(r, "orphans", "warning", "2 processes", str(r.s.rl.proc.pid), str(r.s.rl.workers()[0][1]))
    r.s.rl.log.wait("the primary .* died", 0, 2)
    check(len(r.s.rl.workers()) == 1, "the worker went with the primary")


def test(build):
    text = reload.vhost()
    with reload.Scene(build, text, lambda bed: vhost_wire(bed, build), options=("--worker-ready-timeout", "2000")) as s:
        r = Refused(s, build)
        before = s.rl.workers()
        configurations(r)
        buffers(r)
        suspended_primary(r)
        other_layout(r)
        worker_never_ready(r)
        check(s.rl.workers() == before, "the old generation was touched: %s, before %s" % (s.rl.workers(), before))
        hup_during_hup(r)
        dead_master(r)
        s.load.finish()
        check(not s.load.lost(), "%d of %d datagrams lost" % (len(s.load.lost()), s.load.sent()))
        dead_primary(r)
        s.bed.cli("stop", timeout=30) # what the master's own message says is to be done
        check(s.rl.proc.wait(1) == 0, "stop without a primary: the master's exit code")
        check(not s.rl.workers(), "stop without a primary: workers are left: %s" % s.rl.workers())
        check(not os.path.exists("/var/run/dpdk/container-" + s.bed.prefix), "runtime files were left behind")
        code, _, err = s.bed.cli("stop", ok=False)
        check(code == 1 and "no primary of file prefix" in err, "stop with nobody there: %d %s" % (code, err))


main(test)
