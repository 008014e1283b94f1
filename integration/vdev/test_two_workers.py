#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two workers on the two queues of a net_null port: each receives from its own, a killed one leaves the other at work, and its
place can be taken again.

TST-2, CFG-8
"""
import os
import signal
import time

from vdev import PORT4, Bed, check, conf, main

FRAME = 64


def progress(bed, before, procs):
    """Waits until the workers of procs have turned and received since before; the others stand still. What status says now."""
    end = time.monotonic() + 15  # busy machines give polling workers little
    while True:
        now = bed.status()["workers"]
        check([w["worker"] for w in now] == [0, 1], "status names workers %s" % [w["worker"] for w in now])
        moved = [i for i in (0, 1) if all(now[i][k] != (before[i][k] if before else 0) for k in ("turns", "rx_packets"))]
        if moved == procs:
            return now
        check(time.monotonic() < end, "workers %s make progress, not %s:\n%s\n%s" % (moved, procs, before, now))
        time.sleep(0.02)


def serve(bed, proc):
    """They never find their queue empty: on a small machine the tools need a share too."""
    worker = bed.serve(proc)
    os.setpriority(os.PRIO_PROCESS, worker.pid, 10)
    return worker


def test(build):
    with Bed(build) as bed:
        bed.config(conf.config("driver=net_null\nargs=size=%d" % FRAME, port=PORT4, mask="3"))
        bed.primary()
        workers = [serve(bed, 0), serve(bed, 1)]
        now = progress(bed, None, [0, 1])
        check([w["pid"] for w in now] == [w.pid for w in workers], "whose places: %s" % now)
        for w in now:
            check(w["alive"] and w["state"] == "running", "worker %s" % w)
            check(w["rx_bytes"] == FRAME * w["rx_packets"], "bytes and frames of one worker do not match: %s" % w)
        code, _, err = bed.cli("serve", "-p", "1", ok=False)
        check(code == 1 and "worker 1 is running already" in err, "a second worker 1: %d %s" % (code, err))

        workers[1].send_signal(signal.SIGKILL)
        workers[1].wait(5)
        now = progress(bed, bed.status()["workers"], [0])
        check(now[0]["pid"] == workers[0].pid and now[0]["alive"], "the other one: %s" % now[0])
        check(not now[1]["alive"], "the dead one: %s" % now[1])
        check("worker 1 (pid %d) died: its place is free" % workers[1].pid in bed.log_of("primary"), "nobody said so")

        workers[1] = serve(bed, 1)
        now = progress(bed, now, [0, 1])
        check([w["pid"] for w in now] == [w.pid for w in workers], "whose places: %s" % now)
        for w in workers:
            w.terminate()
        for w in workers:
            check(w.wait(5) == 0, "a worker's exit code")
        time.sleep(0.05)
        # what the killed process held in its hands and in its cache is gone, and no more than that
        pool = bed.status()["primary"]
        check(pool["pool_size"] - pool["pool_free"] <= 1024, "%(pool_free)d of %(pool_size)d buffers are left" % pool)
        bed.stop()


main(test)
