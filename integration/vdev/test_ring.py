#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""net_ring, recorded: what the port sends comes back to it. A third process puts pings into the ring; each answer returns, addressed to
the asker's MAC, and is counted as a frame for another station. [pcap] has them all.

TST-2, CFG-1, CFG-8
"""
import os
import time

from vdev import PORT4, Bed, check, conf, frames, main, peer, run

PINGS = 500


def test(build):
    with Bed(build) as bed:
        bed.config(conf.config("driver=net_ring", port=PORT4, more="[pcap]\nenable=1\nsavepath=@DIR@\nsnaplen=65535\n"
                               "timestamp_precision=1\n"))
        bed.primary()
        free = bed.status()["primary"]["pool_free"]
        worker = bed.serve()
        mac = bytes.fromhex(bed.cli_json("ifconfig")["interfaces"][0]["mac"].replace(":", ""))
        path = os.path.join(bed.dir, "frames")
        with open(path, "w", encoding="ascii") as f:
            asked = [frames.arp_request(conf.V4, conf.V4_PEER)]
            for i in range(PINGS):
                p = frames.ipv4(conf.V4_PEER, conf.V4, 1, frames.icmp_echo(7, i, bytes(i % 1400)), ident=i)
                asked.append(frames.ether(mac, p))
            f.write("".join(a.hex() + "\n" for a in asked))
        _, out, _ = run([peer(build), "inject", "ETH_RXTX0_net_ring0", "nonic_pool", path, "--lcores=100@0", "--no-pci",
                         "--no-telemetry", "--proc-type=secondary", "--log-level=4",
                         "--file-prefix=container-" + bed.prefix])
        check("injected %d" % (PINGS + 1) in out, out)
        time.sleep(0.2)
        st = bed.status()["workers"][0]
        check(st["drops"].get("eth_not_for_us", 0) == PINGS + 1, "an ARP answer and %d pings': %s" % (PINGS, st["drops"]))
        worker.terminate()
        check(worker.wait(5) == 0, "the worker's exit code")
        time.sleep(0.05)
        recorded = frames.pcap_read(os.path.join(bed.dir, "cpu0_0.pcap"))
        check(len(recorded) >= st["rx_packets"] + st["tx_packets"], "%d frames recorded of %s" % (len(recorded), st))
        check(set(asked) <= set(recorded), "frames are missing in the recording, or changed")
        lost = free - bed.status()["primary"]["pool_free"]
        check(lost == 0, "%d buffers are gone" % lost)
        bed.stop()


main(test)
