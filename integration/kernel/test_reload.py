#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Three HUPs under 200 live UDP flows of the Linux kernel over TAP, in both families, old and new; with duplicate address detection, as users
have it. Nothing is lost, and no answer comes from the wrong generation.

REL-3, REL-8, REL-14, PUB-2, PUB-3, DSP-4, DSP-5, DSP-8
"""
from kernel import check, conf, main, reload

FLOWS, NEW, RATE = 120, 80, 2000


def test(build):
    text = reload.tap(more="", worker_shutdown_timeout=1500)
    with reload.Scene(build, text, flows=(FLOWS + NEW) // 2, rate=RATE) as s:
        rounds, young = [], s.load.flows[FLOWS // 2:-FLOWS // 2] # IPv4 first, then IPv6: half of the others each
        for _ in range(3):
            began, mark = s.rl.hup()
            s.rl.until("T3_DRAIN", mark)
            s.load.end(young)
            young = [f for a in (conf.V4, conf.V6) for f in s.load.add(a, NEW // 2)]
            r = s.rl.ended(began, mark)
            r.complete()
            rounds.append(r)
            s.load.wait_all([f for f in s.load.flows if not f.over], 3)
        s.load.finish()
        lost, bad = s.load.lost(), reload.wrong(s.load, rounds, 0.3)
        check(not lost, "%d of %d datagrams lost: %s" % (len(lost), s.load.sent(), lost[:5]))
        check(not bad, "%d answers by the wrong generation: %s" % (len(bad), bad[:5]))
        check(s.load.twice == s.load.strange == s.load.refused() == 0, "twice %d, strange %d, refused %d" % (
            s.load.twice, s.load.strange, s.load.refused()))
        print("%d flows, %d datagrams; %s" % (len(s.load.flows), s.load.sent(), "; ".join(
            r.line.split("complete: ")[1] for r in rounds)))
        s.bed.stop()


main(test)
