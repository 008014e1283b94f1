# SPDX-License-Identifier: BSD-3-Clause
"""Faults in a reload: each role, in each state, by kill -9 or SIGSTOP; and what must be so afterwards."""
import os
import signal
import time

from vdev import check, harness, reload

STATES = ("T1_GNEW_SPAWN", "T2_HANDOVER", "T3_DRAIN", "T5_GOLD_QUIT")
ROLES = ("old worker", "new worker", "master")
# until every flow is answered again: a worker's start, heartbeat and publish time-outs, a busy machine
RECOVER = 6.0


def send(pid, sig):
    try:
        os.kill(pid, sig)
        return True
    except ProcessLookupError:
        return False


def kill(pid):
    return send(pid, signal.SIGKILL)


def freeze(pid):
    return send(pid, signal.SIGSTOP)


def victim(s, role, before):
    """Its pid: before are the workers that ran before HUP."""
    if role == "master":
        return s.rl.proc.pid
    if role == "old worker":
        return before[0][1]
    return next(pid for gen, pid in s.rl.generations(2) if gen > before[-1][0])


def arrived(s, mark):
    """The state the master's log is in now."""
    way = s.rl.log.find(reload.FSM, mark)
    return way[-1][1].group(2) if way else "T0_IDLE"


def revive(s, role, pid, fault):
    """A master that died gets a successor, which takes its workers over; whoever was stopped goes on."""
    if fault is freeze:
        send(pid, signal.SIGCONT)
    if role == "master" and (fault is kill or s.rl.proc.poll() is not None):
        s.rl.proc.wait(5)
        s.rl.master(*s.options)
        s.rl.log.wait(reload.DONE, 0, 15)


def one(s, role, state, fault):
    name = "%s of the %s, aimed at %s" % (fault.__name__, role, state)
    before = s.rl.workers()
    check(len(before) == 1, "%s: before it, workers %s" % (name, before))
    lost = len(s.load.lost())
    _, mark = s.rl.hup()
    s.rl.until(state, mark)
    try:
        pid = victim(s, role, before)
    except harness.Failed:
        print("  %-62s too late: the state was over" % name)
        s.settled(name)
        return
    hit = arrived(s, mark)
    there = fault(pid)
    began = time.monotonic()
    took = s.served(RECOVER, name)
    revive(s, role, pid, fault)
    gen = s.settled(name, 15)
    settled = time.monotonic() - began
    s.balanced()
    print("  %-62s %s in %s: answered after %4.0f ms, settled after %4.0f ms on generation %d, lost %d" % (
        name, "arrived" if there else "came too late", hit, 1000 * took, 1000 * settled, gen,
        len(s.load.lost()) - lost), flush=True)


def all_states(s, fault):
    for role in ROLES:
        for state in STATES:
            one(s, role, state, fault)
    began, mark = s.rl.hup()
    s.rl.ended(began, mark).complete()
    s.load.finish()
