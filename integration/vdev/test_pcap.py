#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""net_pcap: a file of requests in, a file of answers out, each checked byte for byte; primary and worker in one process, without
hugepages and without root. (In a secondary process the PMD of DPDK 22.11 does not open the file to write.)

TST-2, CFG-8, STK-2
"""
import os
import struct
import time

from vdev import PORT4, Bed, check, conf, frames, main, net

MAC = bytes.fromhex("027063617000")  # net_pcap's own


def requests(mac):
    """Frames and, for each, what must come back (None: nothing)."""
    dns = net.dns_query("a.example", 1, 0x1234)
    big = frames.icmp_echo(9, 1, bytes(range(256)) * 8)
    ask, me, you = [], conf.V4_PEER, conf.V4

    def ip(proto, payload, **kw):
        return frames.ether(mac, frames.ipv4(me, you, proto, payload, **kw))

    ask.append(("arp", frames.arp_request(you, me)))
    for seq in range(20):
        ask.append(("echo %d" % seq, ip(1, frames.icmp_echo(7, seq, bytes([seq]) * (40 * seq)))))
        ask.append(("udp %d" % seq, ip(17, frames.udp(me, you, 5000 + seq, 7, bytes([seq]) * (seq + 20)))))
    ask.append(("dns", ip(17, frames.udp(me, you, 6000, 53, dns))))
    # a ping in two fragments, the second one first
    ask.append((None, ip(1, big[1480:], ident=77, flags_offset=1480 // 8)))
    ask.append(("big", ip(1, big[:1480], ident=77, flags_offset=0x2000)))
    bad = ip(1, frames.icmp_echo(7, 99, b"damaged"))
    ask.append((None, bad[:40] + bytes([bad[40] ^ 1]) + bad[41:]))
    return ask


def answers(out):
    got = {}
    parts = {}
    for f in out:
        if f[12:14] == b"\x08\x06" and f[20:22] == b"\0\2":
            got["arp"] = f
        if f[12:14] != b"\x08\x00":
            continue
        total, ident, off = struct.unpack("!HHH", f[16:22])
        check(frames.csum(f[14:34]) == 0, "an IPv4 header checksum is wrong")
        data = f[34:14 + total]
        if off & 0x3fff:
            parts.setdefault(ident, {})[off & 0x1fff] = data
            data = b"".join(v for _, v in sorted(parts[ident].items()))
            if len(data) < 2056:
                continue
        if f[23] == 1 and data[0] == 0:
            check(frames.csum(data) == 0, "an ICMP checksum is wrong")
            ident, seq = struct.unpack("!HH", data[4:8])
            got["big" if ident == 9 else "echo %d" % seq] = data
        if f[23] == 17:
            sport, dport = struct.unpack("!HH", data[:4])
            pseudo = f[26:34] + struct.pack("!BBH", 0, 17, len(data))
            check(frames.csum(pseudo + data) == 0, "a UDP checksum is wrong")
            got["dns" if sport == 53 else "udp %d" % (dport - 5000)] = data
    return got


def test(build):
    with Bed(build, huge=False) as bed:
        in_path, out_path = os.path.join(bed.dir, "in.pcap"), os.path.join(bed.dir, "out.pcap")
        bed.config(conf.config("driver=net_pcap\nargs=rx_pcap=%s,tx_pcap=%s" % (in_path, out_path), port=PORT4,
                               dpdk="no_huge=1\nmemory=128\n"))
        frames.pcap_write(in_path, [f for _, f in requests(MAC)])
        code, _, err = bed.cli("primary", ok=False)
        check(code == 1 and "no_huge=1" in err, "a primary for others without hugepages: %s" % err)
        bed.serve(None, "--alone")
        end = time.monotonic() + 3
        wanted = {k for k, _ in requests(MAC) if k is not None}
        while time.monotonic() < end and set(answers(frames.pcap_read(out_path))) != wanted:
            time.sleep(0.05)
        bed.stop()
        out = frames.pcap_read(out_path)
        check(out and all(f[6:12] == MAC for f in out), "the port's MAC is %s" % [f[6:12].hex() for f in out[:1]])
        got = answers(out)
        check(set(got) == wanted, "missing %s, not asked for %s" % (wanted - set(got), set(got) - wanted))
        for seq in range(20):
            check(got["echo %d" % seq][8:] == bytes([seq]) * (40 * seq), "ping %d came back changed" % seq)
            check(got["udp %d" % seq][8:] == bytes([seq]) * (seq + 20), "datagram %d came back changed" % seq)
        check(got["big"][8:] == bytes(range(256)) * 8, "the ping in fragments came back changed")


main(test)
