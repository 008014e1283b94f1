#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The kernel tier's traffic over a real port: primary and worker on NONIC_NIC, Linux on the interface cabled to it.

TST-1
NONIC_NIC is the port's PCI address (of several, separated by commas, the first), bound to a DPDK driver; NONIC_NIC_PEER is
the kernel interface of its link partner, which spends the test in a network namespace of the test's own.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
import bed as harness  # noqa: E402
import conf  # noqa: E402
import net  # noqa: E402

PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
DRIVERS = ("vfio-pci", "igb_uio", "uio_pci_generic")
CONFIG = """[dpdk]
lcore_mask=1
channel=4
promiscuous=1
numa_on=0
port_list=0
allow=%s
file_prefix=@PREFIX@
pkt_tx_delay=0
[port0]
%s"""


def rig():
    """(PCI address, peer interface), checked; Skip says what is missing."""
    addr = os.environ.get("NONIC_NIC", "").split(",")[0].strip()
    peer = os.environ.get("NONIC_NIC_PEER", "").strip()
    if not addr:
        raise harness.Skip("NONIC_NIC is not set: it names the PCI address of a port that is bound to a DPDK driver")
    harness.check(PCI.fullmatch(addr), "NONIC_NIC=%s is not a PCI address like 0000:03:00.0" % addr)
    device = "/sys/bus/pci/devices/" + addr
    harness.check(os.path.isdir(device), "NONIC_NIC: there is no PCI device %s" % addr)
    link = device + "/driver"
    driver = os.path.basename(os.path.realpath(link)) if os.path.exists(link) else "no driver"
    if driver not in DRIVERS:
        raise harness.Skip("%s is bound to '%s': dpdk-devbind.py --bind=vfio-pci %s" % (addr, driver, addr))
    if not peer:
        raise harness.Skip("NONIC_NIC_PEER is not set: it names the kernel interface that is cabled to %s" % addr)
    harness.check(os.path.exists("/sys/class/net/" + peer), "NONIC_NIC_PEER: there is no interface %s" % peer)
    return addr, peer


def test(build):
    addr, peer = rig()
    with harness.Bed(build) as bed:
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        harness.own_netns()  # a physical interface goes back where it was when the namespace ends
        harness.run(["nsenter", "--net=/proc/%d/fd/%d" % (os.getpid(), home), "ip", "link", "set", peer, "netns",
                     str(os.getpid())])
        for a in (conf.V4_PEER + "/24", conf.V6_PEER + "/64"):
            harness.run(["ip", "addr", "add", a, "dev", peer] + (["nodad"] if ":" in a else []))
        harness.sysctl("net/ipv6/conf/%s/disable_ipv6" % peer, 0)
        harness.run(["ip", "link", "set", peer, "up"])
        bed.config(CONFIG % (addr, conf.PORT))
        bed.primary()
        bed.serve()
        for host in (conf.V4, conf.V6):
            net.ping_until(host)
            net.ping(host, 5)
            net.ping(host, 5, 8000)
            net.udp_exchange(host, 7, 10000)
            net.dns_check(host)
            net.udp_refused(host, 9)
        bed.stop()


harness.main(test)
