#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 and SIGSTOP of the primary in each state of a reload, over TAP, under load: master and workers come to a defined end of the reload in
bounded time, a dead primary means no further reload, a stopped one harms nobody, and TERM ends everybody.

REL-13, REL-17
"""
import signal
import time

from kernel import check, main, reload, stop

STATES = ("T1_GNEW_SPAWN", "T2_HANDOVER", "T3_DRAIN", "T5_GOLD_QUIT")


def end_of_round(s, mark, what):
    """Complete or aborted, in bounded time."""
    begin = time.monotonic()
    _, m = s.rl.log.wait(r"graceful reload (complete|aborted)", mark)
    s.rl.until("T0_IDLE", mark)
    return "%s after %.1f s" % (m.group(1), time.monotonic() - begin)


def killed(build, state):
    with reload.Scene(build, reload.tap(), options=("--worker-ready-timeout", "3000")) as s:
        _, mark = s.rl.hup()
        s.rl.until(state, mark)
        s.primary.kill()
        s.primary.wait(5)
        how = end_of_round(s, mark, state)
        _, mark = s.rl.hup()
        s.rl.log.wait("graceful reload rejected: .*primary", mark)
        served = len(s.load.answered(time.monotonic() - 0.3))
        s.load.finish(0.2)
        s.rl.proc.terminate()
        check(s.rl.proc.wait(8) == 0, "%s: the master's exit code" % state)
        check(not s.rl.workers(), "%s: workers are left: %s" % (state, s.rl.workers()))
    print("  kill of the primary in %-14s %s, %d flows were served without it" % (state, how, served), flush=True)


def stopped(s, state):
    """Data goes on; a reload that needs the primary waits no longer than its limit."""
    _, mark = s.rl.hup()
    s.rl.until(state, mark)
    check(stop(s.primary.pid), "the primary is gone")
    try:
        s.served(10, "the primary stopped in " + state)
        how = end_of_round(s, mark, state)
    finally:
        s.primary.send_signal(signal.SIGCONT)
    gen = s.settled("the primary continued after " + state)
    print("  stop of the primary in %-14s %s, generation %d serves" % (state, how, gen), flush=True)


def test(build):
    with reload.Scene(build, reload.tap(), options=("--worker-ready-timeout", "3000")) as s:
        for state in STATES:
            stopped(s, state)
        s.load.finish()
        s.bed.stop()
    for state in STATES:
        killed(build, state)


main(test)
