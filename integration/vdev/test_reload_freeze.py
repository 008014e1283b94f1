#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""SIGSTOP of the old worker, the new worker and the master in each state of a reload, under load: a process that stands still is noticed by
its heartbeat, nobody waits for it longer than that, and it does no harm when it is continued.

REL-7, REL-12, REL-13, REL-17
"""
from vdev import faults, main, reload, vhost_wire


def test(build):
    with reload.Scene(build, reload.vhost(), lambda bed: vhost_wire(bed, build), options=("--worker-ready-timeout", "6000")) as s:
        faults.all_states(s, faults.freeze)
        s.bed.stop()


main(test)
