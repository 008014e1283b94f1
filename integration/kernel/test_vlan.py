#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two VLANs on one port, each with a Linux VLAN interface as its peer; as in F-Stack the port itself has no address then.

STK-2
"""
from kernel import check, conf, harness, main, net, run, tap_bed

VLAN = """[vlan10]
portid=0
addr=198.51.100.2
netmask=255.255.255.0
broadcast=198.51.100.255
gateway=198.51.100.1
addr6=2001:db8:10::2
prefix_len=64
[vlan20]
portid=0
addr=203.0.113.2
netmask=255.255.255.0
broadcast=203.0.113.255
gateway=203.0.113.1
addr6=2001:db8:20::2
prefix_len=64
"""


def test(build):
    with tap_bed(build, conf.tap(dpdk="vlan_filter=10,20\n", more=VLAN), worker=False) as bed:
        for vid, v4, v6 in ((10, "198.51.100.1/24", "2001:db8:10::1/64"), (20, "203.0.113.1/24", "2001:db8:20::1/64")):
            name = "v%d" % vid
            code, _, err = run(["ip", "link", "add", "link", conf.TAP, "name", name, "type", "vlan", "id", str(vid)],
                               ok=False)
            if code != 0:
                raise harness.Skip("this kernel has no VLAN interfaces (%s): modprobe 8021q" % err.strip())
            harness.sysctl("net/ipv6/conf/%s/disable_ipv6" % name, 0)
            run(["ip", "addr", "add", v4, "dev", name])
            run(["ip", "addr", "add", v6, "dev", name, "nodad"])
            run(["ip", "link", "set", name, "up"])
        bed.serve()
        for addr in ("198.51.100.2", "203.0.113.2", "2001:db8:10::2", "2001:db8:20::2"):
            net.ping_until(addr)
            net.ping(addr, 3)
            net.ping(addr, 3, 8000)
            net.udp_exchange(addr, 7, 500)
        names = [i["name"] for i in bed.cli_json("ifconfig")["interfaces"]]
        check(names == ["f-stack-0", "f-stack-0.10", "f-stack-0.20"], "interfaces: %s" % names)
        code, _, _ = run(["ping", "-c", "1", "-W", "1", conf.V4], ok=False)
        check(code != 0, "the port's own address answers beside its VLANs")
        bed.stop()


main(test)
