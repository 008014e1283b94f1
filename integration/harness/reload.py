# SPDX-License-Identifier: BSD-3-Clause
"""A test bed with a master: its log as it grows, the workers of both generations, and the judgement of who answered what."""
import os
import re
import signal
import sys
import threading
import time

import bed as harness
import conf
import net
from bed import Failed, Skip, check, pids_of
from load import Load

FSM = re.compile(r"graceful reload fsm: (\w+) -> (\w+) \(transition (\d+), elapsed (\d+) ms\)")
DONE = re.compile(r"graceful reload complete: generation (\d+) now active")
WAY = ["T0_IDLE", "T1_GNEW_SPAWN", "T2_HANDOVER", "T3_DRAIN", "T4_DRAIN_DONE", "T5_GOLD_QUIT", "T0_IDLE"]
KEYS = {"graceful_reload": 1, "primary_slim": 1, "reload_udp_idle_ms": 300, "worker_shutdown_timeout": 700,
        "reload_heartbeat_timeout_ms": 500, "log_level": 7}
VHOST_QUEUE = 256
NO_DAD = "[freebsd.sysctl]\nnet.inet6.ip6.dad_count=0\n" # a second less for each new worker


def config(vdev, workers=1, more=NO_DAD, **keys):
    """A configuration with generations; one CPU is the primary's, further keys of [dpdk] as arguments."""
    if os.cpu_count() < 1 + workers:
        raise Skip("%d CPUs: a primary and %d workers need %d" % (os.cpu_count(), workers, 1 + workers))
    text = conf.config(vdev, mask="%x" % ((1 << (1 + workers)) - 1), more=more).replace("log_level=5\n", "")
    lines = "".join("%s=%s\n" % kv for kv in {**KEYS, **keys}.items())
    return text.replace("[vdev0]", lines + "[vdev0]")


def tap(**keys):
    return config("driver=net_tap\nargs=iface=%s,mac=fixed" % conf.TAP, **keys)


def vhost(**keys):
    return config("path=@DIR@/vhost.sock\nqueue_size=%d" % VHOST_QUEUE, **keys)


class Log(threading.Thread):
    """Lines of a growing file with the time at which they were seen (up to about a millisecond late)."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.lines, self.changed = path, [], threading.Condition()
        self.ended = False
        self.start()

    def run(self):
        rest = ""
        with open(self.path, encoding="utf-8", errors="replace") as f:
            while not self.ended:
                text = f.read()
                if not text:
                    time.sleep(0.001)
                    continue
                now = time.monotonic()
                *whole, rest = (rest + text).split("\n")
                with self.changed:
                    self.lines += [(now, line) for line in whole]
                    self.changed.notify_all()

    def mark(self):
        return len(self.lines)

    def wait(self, pattern, since=0, seconds=30.0):
        """(time, match) of the first line from `since` on that matches; Failed with the tail when none comes."""
        pattern = re.compile(pattern)
        end = time.monotonic() + seconds
        with self.changed:
            at = since
            while True:
                for t, line in self.lines[at:]:
                    m = pattern.search(line)
                    if m:
                        return t, m
                at = len(self.lines)
                if not self.changed.wait(max(end - time.monotonic(), 0)) and time.monotonic() >= end:
                    tail = "\n".join(line for _, line in self.lines[since:][-12:])
                    raise Failed("no line '%s' within %.1f s; the master's log ends:\n%s" % (pattern.pattern, seconds, tail))

    def find(self, pattern, since=0):
        pattern = re.compile(pattern)
        return [(t, m) for t, m in ((t, pattern.search(line)) for t, line in self.lines[since:]) if m]


class Round:
    """One reload as the master told it. began: when HUP was sent; seen: state -> when its line was seen; at: state -> the earliest time
    at which it can have been entered (HUP, and the ms that the lines say were spent in the states before)."""

    def __init__(self, log, began, since):
        self.began = began
        self.seen, self.at, self.way = {}, {}, ["T0_IDLE"]
        self.number = []
        spent = 0
        for t, m in log.find(FSM, since):
            self.way.append(m.group(2))
            self.number.append(int(m.group(3)))
            state = m.group(2) if m.group(2) != "T0_IDLE" else "end"
            spent += int(m.group(4))
            self.seen[state], self.at[state] = t, began + spent / 1000.0
            if state == "end":
                break
        done = log.find(DONE, since)
        self.generation = int(done[0][1].group(1)) if done else None
        self.line = done[0][1].string if done else None

    def complete(self):
        check(self.way == WAY, "the way of the states: %s" % " ".join(self.way))
        check(self.number == [1, 2, 3, 4, 5, 6], "transitions are numbered %s" % self.number)
        check(self.generation is not None, "no completion line")


class Reload:
    """The master of a bed, and what it does."""

    def __init__(self, bed):
        self.bed, self.log, self.proc = bed, None, None

    def master(self, *options, ready="master ready"):
        """Starts the master with stamped echoes."""
        self.proc = self.bed.start("master", [self.bed.nonic, "serve", "-c", self.bed.conf, "--stamp",
                                              "--worker-park-timeout", "1000"] + list(options), ready, 60)
        self.log = Log(self.bed.procs[-1][2])
        return self.proc

    def workers(self):
        """[(generation, pid)] of the workers that run, oldest first."""
        out = []
        for pid, words in pids_of(self.bed.conf):
            if "--generation" in words:
                out.append((int(words[words.index("--generation") + 1]), pid))
        return sorted(out)

    def generations(self, n, seconds=20.0):
        """Waits until workers of n generations run; [pid] of the oldest, and of the youngest."""
        end = time.monotonic() + seconds
        while True:
            w = self.workers()
            if len({g for g, _ in w}) == n:
                return w
            check(time.monotonic() < end, "workers %s run after %.1f s, of %d generations wanted" % (w, seconds, n))
            time.sleep(0.002)

    def hup(self):
        """HUP; returns (time, mark in the log)."""
        mark = self.log.mark()
        now = time.monotonic()
        self.proc.send_signal(signal.SIGHUP)
        return now, mark

    def until(self, state, mark, seconds=30.0):
        """Until the master enters the state; the time at which it was seen."""
        return self.log.wait(r"graceful reload fsm: \w+ -> %s\b" % state, mark, seconds)[0]

    def ended(self, began, mark, seconds=30.0):
        """Waits for the completion line; the round."""
        self.log.wait(DONE, mark, seconds)
        self.until("T0_IDLE", mark)
        return Round(self.log, began, mark)

    def reload(self, seconds=15.0):
        began, mark = self.hup()
        r = self.ended(began, mark, seconds)
        r.complete()
        return r


def start_load(addresses, flows, rate):
    """flows new flows to each address; returns once each of them has been answered."""
    load = Load(rate)
    for a in addresses:
        load.add(a, flows)
    load.start()
    load.wait_all(load.flows, 15)
    return load


def wrong(load, rounds, idle, slack=0.002):
    """
    Answers by the wrong generation, as sentences; rounds: the completed ones, in order. A flow goes from one generation to the next and
    never back. One that the old generation had answered before HUP is the old one's until its workers are told to leave; one that
    begins after the flip is the new one's; before HUP nobody answers but the old one, after the end nobody but the new one. idle: seconds
    of silence after which a flow counts as over (reload_udp_idle_ms).
    """
    bad = []
    for f in load.flows:
        last = 0
        for number, sent, got, gen, _ in f.answers:
            if gen < last:
                bad.append("flow %d, datagram %d: generation %d after %d" % (f.index, number, gen, last))
            last = max(last, gen)
            for r in rounds:
                new = gen >= r.generation
                if got < r.began - slack and new:
                    bad.append("flow %d, datagram %d: generation %d before it was there" % (f.index, number, gen))
                if sent > r.seen["end"] + slack and not new:
                    bad.append("flow %d, datagram %d: generation %d after its end" % (f.index, number, gen))
                old_flow = f.answers[0][2] < r.began
                if old_flow and r.began < sent and got < r.at["T5_GOLD_QUIT"] - slack and new and not was_idle(f, number, idle):
                    bad.append("flow %d, datagram %d: an old flow, answered by generation %d in the drain" % (f.index, number, gen))
                if f.born > r.seen["T3_DRAIN"] + slack and not new:
                    bad.append("flow %d, datagram %d: a new flow, answered by generation %d" % (f.index, number, gen))
    return bad


def was_idle(flow, number, idle):
    """Had the flow been silent so long before this datagram that it counted as over?"""
    before = [a[2] for a in flow.answers if a[0] < number]
    sent = next(a[1] for a in flow.answers if a[0] == number)
    return sent - max(before) > idle


class Scene:
    """
    A bed with primary, master and load, everything up when it is entered: `with Scene(build, config, wire) as s`. wire(bed) makes the
    kernel's side, before the primary or (tap) behind it.
    """

    def __init__(self, build, text, wire=None, flows=20, rate=400, addresses=(conf.V4, conf.V6), options=(),
                 bed=None):
        self.bed = bed or harness.Bed(build)
        self.text, self.wire, self.flows, self.rate, self.addresses = text, wire, flows, rate, addresses
        self.options = options # of the master
        self.load = None
        self.base = None

    def __enter__(self):
        self.bed.__enter__()
        try:
            if self.wire is None and not os.path.exists("/dev/net/tun"):
                raise Skip("/dev/net/tun is missing: modprobe tun")
            harness.own_netns()
            self.bed.config(self.text)
            self.start()
        except BaseException:
            self.bed.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, kind, value, trace):
        return self.bed.__exit__(kind, value, trace)

    def start(self):
        if self.wire is not None:
            self.wire(self.bed)
        self.primary = self.bed.primary()
        if self.wire is None:
            harness.tap_up(conf.TAP, conf.V4_PEER + "/24", conf.V6_PEER + "/64")
        self.rl = Reload(self.bed)
        self.rl.master(*self.options)
        for a in self.addresses: # neighbours know each other before anything is counted
            net.ping_until(a)
        self.load = start_load(self.addresses, self.flows, self.rate)
        self.base = self.free_buffers()

    def free_buffers(self):
        """Free buffers while nothing is sent."""
        self.load.pause(self.load.flows)
        time.sleep(0.05)
        free = self.bed.status()["primary"]["pool_free"]
        self.load.pause(self.load.flows, False)
        return free

    def balanced(self, seconds=10.0):
        """REL-18: as many buffers are free as in the beginning; virtio_user frees what was sent when its queue is nearly full."""
        slack = 0 if self.wire is None else VHOST_QUEUE
        end = time.monotonic() + seconds
        while True:
            free = self.free_buffers()
            if abs(free - self.base) <= slack:
                return
            check(time.monotonic() < end, "%d buffers were free in the beginning, now %d" % (self.base, free))

    def served(self, seconds, what):
        """Every flow is answered again; how long that took."""
        try:
            return self.load.wait_all(self.load.flows, seconds)
        except Failed as e:
            raise Failed("%s: %s" % (what, e)) from None

    def settled(self, what, seconds=30.0):
        """One worker is left, the master is at rest, and every flow is served; the worker's generation."""
        end, quiet = time.monotonic() + seconds, None
        while quiet is None or time.monotonic() - quiet < 0.2:
            way, w = self.rl.log.find(FSM), self.rl.workers()
            state = way[-1][1].group(2) if way else "T0_IDLE"
            if len(w) != 1 or state != "T0_IDLE":
                quiet = None
            elif quiet is None:
                quiet = time.monotonic()
            check(time.monotonic() < end, "%s: after %.1f s the master is in %s, workers %s; %s" % (
                what, seconds, state, w, harness.states()))
            time.sleep(0.01)
        self.served(seconds, what)
        return w[0][0]
