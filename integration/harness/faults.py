# SPDX-License-Identifier: BSD-3-Clause
"""Faults in a reload: each role, in each state, by kill -9 or SIGSTOP; and what must be so afterwards."""
import os
import signal
import time

import reload
from bed import check, stop

STATES = ("T1_GNEW_SPAWN", "T2_HANDOVER", "T3_DRAIN", "T5_GOLD_QUIT")
ROLES = ("old worker", "new worker", "master")
# until every flow is answered again: a worker's start, heartbeat and publish time-outs, a busy machine
RECOVER = 12.0


def send(pid, sig):
    try:
        os.kill(pid, sig)
        return True
    except ProcessLookupError:
        return False


def kill(pid):
    return send(pid, signal.SIGKILL)


def freeze(pid):
    return stop(pid)


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
        s.rl.log.wait(reload.DONE)


def waits_for_it(s, role, hit, mark):
    """
    The one that polls the queue stands still, and no other one can: an old worker before the flip (the reload is aborted, which is waited for
    here), a new one after the old one has left. It serves again when it is continued; until then nobody may touch its queue.
    """
    if role == "old worker" and hit in STATES[:2]:
        s.rl.log.wait("graceful reload aborted: .*", mark)
        s.rl.until("T0_IDLE", mark)
        return True
    return role == "new worker" and hit in ("T5_GOLD_QUIT", "T0_IDLE")


def one(s, role, state, fault):
    name = "%s of the %s, aimed at %s" % (fault.__name__, role, state)
    before = s.rl.workers()
    check(len(before) == 1, "%s: before it, workers %s" % (name, before))
    hup, mark = s.rl.hup()
    s.rl.until(STATES[0], mark)
    pid = victim(s, role, before)
    s.rl.until(state, mark)
    hit = arrived(s, mark)
    there = fault(pid)
    began = time.monotonic()
    if fault is freeze and waits_for_it(s, role, hit, mark):
        revive(s, role, pid, fault)
    took = s.served(RECOVER, name)
    revive(s, role, pid, fault)
    gen = s.settled(name)
    settled = time.monotonic() - began
    s.balanced()
    lost = [t for _, _, t in s.load.lost() if hup < t < time.monotonic() - 0.5]
    # whoever polls the queue was not touched: nothing may be missing
    check(not lost or not (role == "master" or (role == "new worker" and hit == STATES[0])), "%s: %d datagrams "
          "lost, sent %.0f to %.0f ms after the fault" % (name, len(lost), 1000 * (min(lost, default=0) - began),
                                                          1000 * (max(lost, default=0) - began)))
    print("  %-62s %s in %s: answered after %4.0f ms, settled after %4.0f ms on generation %d, lost %d" % (
        name, "arrived" if there else "came too late", hit, 1000 * took, 1000 * settled, gen,
        len(lost)), flush=True)


def all_states(s, fault):
    for role in ROLES:
        for state in STATES:
            one(s, role, state, fault)
    began, mark = s.rl.hup()
    s.rl.ended(began, mark).complete()
    s.load.finish()
