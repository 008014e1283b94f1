#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the frame fuzzer's seed corpus: one file per kind of conversation that the stack understands.

usage: corpus_frame.py DIRECTORY
"""
import pathlib
import struct
import sys

US, PEER = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
IP, PEER_IP = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
IP6 = bytes.fromhex("20010db8" + "0" * 23 + "1")
PEER6 = bytes.fromhex("20010db8" + "0" * 23 + "2")
LL = bytes.fromhex("fe800000000000000000000000000002")
TO_US, MEND, SPLIT, SECOND, MINUTE, STRIPPED = 1, 2, 4, 8, 16, 32


def record(frame, control=TO_US | MEND):
    return bytes([control]) + struct.pack("<H", len(frame)) + frame


def eth(kind, payload, dst=US):
    return dst + PEER + struct.pack("!H", kind) + payload


def ip4(proto, payload, ident=1, flags=0, options=b"", src=PEER_IP, dst=IP):
    hlen = 20 + len(options)
    return struct.pack("!BBHHHBBH", 0x40 | hlen // 4, 0, hlen + len(payload), ident, flags, 64, proto, 0) + src + dst \
        + options + payload


def ip6(nxt, payload, src=PEER6, dst=IP6, hops=64):
    return struct.pack("!IHBB", 6 << 28, len(payload), nxt, hops) + src + dst + payload


def udp(sport, dport, data):
    return struct.pack("!HHHH", sport, dport, 8 + len(data), 0) + data


def tcp(sport, dport, flags, data=b"", seq=1000, options=b"\2\4\5\xb4\1\3\3\7\4\2\1\1"):
    return struct.pack("!HHIIBBHHH", sport, dport, seq, 1, (20 + len(options)) * 4, flags, 8192, 0, 0) + options + data


def arp(op):
    return eth(0x0806, struct.pack("!HHBBH", 1, 0x0800, 6, 4, op) + PEER + PEER_IP + bytes(6) + IP)


def icmp6(kind, code, body, src=LL, dst=IP6):
    return eth(0x86dd, ip6(58, struct.pack("!BBH", kind, code, 0) + body, src, dst, 255))


def solicited(addr):
    return bytes.fromhex("ff0200000000000000000001ff") + addr[-3:]


def frags4(data):
    whole = udp(4000, 7, data)
    parts = [whole[i:i + 1480] for i in range(0, len(whole), 1480)]
    return [eth(0x0800, ip4(17, p, 9, i * 185 | (0x2000 if i < len(parts) - 1 else 0))) for i, p in enumerate(parts)]


def frags6(data):
    whole = udp(4000, 9, data)
    parts = [whole[i:i + 1448] for i in range(0, len(whole), 1448)]
    return [eth(0x86dd, ip6(44, struct.pack("!BBHI", 17, 0, i * 1448 | (i < len(parts) - 1), 7) + p))
            for i, p in enumerate(parts)]


def icmp_whole(kind, data, pseudo):
    """An echo request with its checksum: that of a fragment is not mended."""
    msg = struct.pack("!BBHHH", kind, 0, 0, 1, 1) + data
    s = sum(struct.unpack("!%dH" % ((len(pseudo) + len(msg)) // 2), pseudo + msg))
    while s > 0xffff:
        s = (s & 0xffff) + (s >> 16)
    return msg[:2] + struct.pack("!H", ~s & 0xffff) + msg[4:]


def cut(data, n):
    return [data[i:i + n] for i in range(0, len(data), n)]


def vlan(tag, frame):
    return frame[:12] + tag + frame[12:]


ALL = bytes.fromhex("ff02" + "0" * 27 + "1")


def corpus():
    na = icmp6(136, 0, bytes([0x60, 0, 0, 0]) + PEER6 + b"\2\1" + PEER, PEER6)
    ns = icmp6(135, 0, bytes(4) + IP6 + b"\1\1" + PEER, LL, solicited(IP6))
    prefix = struct.pack("!BBBBIII", 3, 4, 64, 0xc0, 7200, 3600, 0) + bytes.fromhex("20010db8000100000000000000000000")
    ra = icmp6(134, 0, struct.pack("!BBHII", 64, 0, 1800, 0, 0) + b"\1\1" + PEER + b"\5\1\0\0" + struct.pack("!I", 1400)
               + prefix, LL, bytes.fromhex("ff02" + "0" * 27 + "1"))
    echo4 = eth(0x0800, ip4(1, struct.pack("!BBHHH", 8, 0, 0, 1, 1) + b"abcdefgh"))
    echo6 = eth(0x86dd, ip6(58, struct.pack("!BBHHH", 128, 0, 0, 1, 1) + b"abcdefgh"))
    quoted = ip4(17, udp(7, 53, b"x" * 8), src=IP, dst=PEER_IP)
    quoted6 = ip6(17, udp(9, 53, b"x" * 8), IP6, PEER6)
    dst_opts = bytes([17, 0, 1, 4, 0, 0, 0, 0])
    yield "arp", record(arp(1)) + record(arp(2)) + record(echo4)
    yield "echo4", record(arp(2)) + record(echo4) + record(echo4, TO_US | MEND | SPLIT)
    yield "udp4", record(arp(2)) + record(eth(0x0800, ip4(17, udp(5000, 7, b"hello")))) \
        + record(eth(0x0800, ip4(17, udp(5000, 99, b"closed"))))
    yield "options4", record(eth(0x0800, ip4(17, udp(1, 7, b"o"), options=b"\x44\x0c\x05\x00" + bytes(8)))) \
        + record(eth(0x0800, ip4(17, udp(1, 7, b"o"), options=b"\x83\x07\x04\x0a\x00\x00\x02\x00")))
    yield "fragments4", b"".join(map(record, frags4(b"f" * 4000)))
    yield "fragments4-reversed", b"".join(map(record, reversed(frags4(b"r" * 4000)))) + record(frags4(b"t" * 2000)[0],
                                                                                              TO_US | MEND | MINUTE)
    yield "unreach4", record(eth(0x0800, ip4(1, struct.pack("!BBHI", 3, 3, 0, 0) + quoted))) \
        + record(eth(0x0800, ip4(1, struct.pack("!BBHHH", 3, 4, 0, 0, 1300) + quoted)))
    yield "nd", record(ns) + record(na) + record(echo6)
    yield "ra", record(ra, MEND) + record(ra, MEND | MINUTE)
    yield "udp6", record(na) + record(eth(0x86dd, ip6(17, udp(5000, 9, b"hello")))) \
        + record(eth(0x86dd, ip6(17, udp(5000, 99, b"closed"))))
    yield "ext6", record(eth(0x86dd, ip6(60, dst_opts + udp(1, 9, b"e")))) \
        + record(eth(0x86dd, ip6(0, bytes([60, 0, 1, 4, 0, 0, 0, 0]) + dst_opts + udp(1, 9, b"e")))) \
        + record(eth(0x86dd, ip6(43, bytes([17, 2, 0, 1]) + bytes(20) + udp(1, 9, b"e"))))
    yield "fragments6", b"".join(map(record, frags6(b"s" * 4000)))
    yield "atomic6", record(eth(0x86dd, ip6(44, struct.pack("!BBHI", 17, 0, 0, 7) + udp(1, 9, b"a"))))
    yield "toobig6", record(eth(0x86dd, ip6(58, struct.pack("!BBHI", 2, 0, 0, 1280) + quoted6)))
    yield "mld", record(icmp6(130, 0, bytes(20) + bytes(4), LL, bytes.fromhex("ff02" + "0" * 27 + "1")), MEND | SECOND)
    yield "echo-fragments4", record(arp(2)) + b"".join(
        record(eth(0x0800, ip4(1, p, 11, i * 185 | (0x2000 if i < 2 else 0))))
        for i, p in enumerate(cut(icmp_whole(8, b"e" * 4000, b""), 1480)))
    yield "echo-fragments6", record(na) + b"".join(
        record(eth(0x86dd, ip6(44, struct.pack("!BBHI", 58, 0, i * 1448 | (i < 2), 8) + p)), TO_US)
        for i, p in enumerate(cut(icmp_whole(128, b"e" * 4000, PEER6 + IP6 + struct.pack("!II", 4008, 58)), 1448)))
    far = bytes.fromhex("20010db8ffff" + "0" * 19 + "9")
    to_far = eth(0x86dd, ip6(17, udp(5000, 9, b"far"), far))
    yield "redirect6", record(ra, MEND) + record(to_far) + record(icmp6(137, 0, bytes(4) + PEER6 + far + b"\2\1" + PEER)) \
        + record(to_far)
    yield "redirect4", record(eth(0x0800, ip4(1, struct.pack("!BBH", 5, 1, 0) + bytes([10, 0, 0, 3]) + quoted)))
    ll5 = bytes.fromhex("fe80000000000000000000fffe000001")
    tag = struct.pack("!HH", 0x8100, 5)
    yield "duplicate6", record(vlan(tag, icmp6(135, 0, bytes(4) + ll5, bytes(16), solicited(ll5))), MEND) \
        + record(vlan(tag, icmp6(136, 0, bytes([0x20, 0, 0, 0]) + ll5 + b"\2\1" + PEER, ll5, ALL)), MEND | SECOND) \
        + record(vlan(tag, ra), MEND | SECOND)
    yield "withdrawn6", record(ra, MEND) + record(icmp6(134, 0, struct.pack("!BBHII", 64, 0, 0, 0, 0), LL, ALL), MEND) \
        + record(icmp6(136, 0, bytes([0x40, 0, 0, 0]) + LL + b"\2\1" + PEER, LL), MEND)
    yield "tcp4", record(arp(2)) + record(eth(0x0800, ip4(6, tcp(5000, 80, 2)))) \
        + record(eth(0x0800, ip4(6, tcp(5000, 80, 0x18, b"data", 1001, b"")))) \
        + record(eth(0x0800, ip4(6, tcp(5000, 99, 2)))) \
        + record(eth(0x0800, ip4(6, tcp(5000, 80, 4, b"", 1001, b""))), TO_US | MEND | SECOND)
    yield "tcp6", record(na) + record(eth(0x86dd, ip6(6, tcp(5000, 81, 2)))) \
        + record(eth(0x86dd, ip6(6, tcp(5000, 81, 0x10, b"", 1001, b""))), TO_US | MEND | SECOND)
    yield "vlan", record(US + PEER + struct.pack("!HHH", 0x8100, 5, 0x0800)
                         + ip4(17, udp(5000, 7, b"v"), src=bytes([10, 0, 5, 2]), dst=bytes([10, 0, 5, 1]))) \
        + record(eth(0x0800, ip4(17, udp(5000, 7, b"v"), src=bytes([10, 0, 5, 2]), dst=bytes([10, 0, 5, 1]))),
                 TO_US | MEND | STRIPPED)


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name, data in corpus():
        (out / name).write_bytes(data)


if __name__ == "__main__":
    main()
