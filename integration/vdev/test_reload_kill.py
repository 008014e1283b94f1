#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 of the old worker, the new worker and the master in each state of a reload, under load: the others go on, every flow is answered
again in bounded time, one generation is left, and no buffer is missing. Each case is named with the state in which the kill arrived.

REL-7, REL-9, REL-12, REL-13, REL-17, REL-18, PUB-5
"""
from vdev import faults, main, reload, vhost_wire


def test(build):
    with reload.Scene(build, reload.vhost(), lambda bed: vhost_wire(bed, build)) as s:
        faults.all_states(s, faults.kill)
        s.bed.stop()


main(test)
