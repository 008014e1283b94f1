#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Processes that come, go and are killed: the primary outlives its workers, a killed worker's successor serves, and whoever
can not start says why.

CFG-6, CFG-8, STK-9
"""
import os
import signal
import time

from kernel import check, conf, main, net, run, tap_bed


def serve(bed):
    """A worker that answers in both families, its neighbour entries made."""
    worker = bed.serve()
    net.ping_until(conf.V6)
    net.ping(conf.V4, 1)
    return worker


def refusals(bed):
    code, _, err = run([bed.nonic, "primary", "-c", bed.conf], ok=False)
    check(code == 1 and "running already (pid" in err, "a second primary: %s" % err)
    code, _, err = run([bed.nonic, "serve", "-c", bed.conf], ok=False)
    check(code == 1 and "worker 0 is running already" in err, "a second worker 0: %s" % err)
    code, _, err = run([bed.nonic, "serve", "-c", bed.conf, "-p", "1"], ok=False)
    check(code == 1 and "lcore" in err, "a worker without a lcore: %s" % err)
    other = os.path.join(bed.dir, "other.ini")
    with open(bed.conf, encoding="ascii") as f, open(other, "w", encoding="ascii") as g:
        g.write(f.read() + "mtu=1400\n")
    bed.procs[-1][1].send_signal(signal.SIGTERM)
    check(bed.procs[-1][1].wait(5) == 0, "SIGTERM: the worker's exit code")
    code, _, err = run([bed.nonic, "serve", "-c", other], ok=False)
    check(code == 1 and ("device-side" in err or "MTU" in err), "another configuration than the primary's: %s" % err)


def test(build):
    with tap_bed(build, conf.tap(), worker=False) as bed:
        code, out, _ = bed.cli("status")
        check(code == 0 and "worker 0     not running" in out, "status without a worker: %s" % out)
        code, _, err = bed.cli("arp", ok=False)
        check(code == 1 and "worker 0 is not running" in err, "arp without a worker: %s" % err)
        free = bed.status()["primary"]["pool_free"]
        serve(bed)
        net.udp_exchange(conf.V4, 7, 2000)
        refusals(bed)
        time.sleep(0.1)
        now = bed.status()["primary"]["pool_free"]
        check(now == free, "a worker came and went: %d buffers were free, now %d" % (free, now))
        for i in range(2):
            worker = serve(bed)
            net.udp_exchange(conf.V4, 7, 1000, seed=i)
            worker.kill()
            worker.wait(5)
        time.sleep(0.3)
        check("worker 0 (pid %d) died" % worker.pid in bed.log_of("primary"), "the primary did not see it")
        check(bed.status()["workers"][0]["alive"] is False, "a dead worker counts as alive")
        serve(bed)
        net.udp_exchange(conf.V6, 7, 1000)
        lost = free - bed.status()["primary"]["pool_free"]
        check(lost < 1024, "%d buffers went with two killed workers" % lost)
        bed.stop()
        code, _, err = bed.cli("stop", ok=False)
        check(code == 1 and "no primary" in err, "stop twice: %s" % err)
        code, _, err = bed.cli("status", ok=False)
        check(code == 1 and "start one with 'nonic primary" in err, "status without a primary: %s" % err)


main(test)
