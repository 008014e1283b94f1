# SPDX-License-Identifier: BSD-3-Clause
"""Frames built and read by hand (arithmetic of its own), and pcap files."""
import socket
import struct

PEER_MAC = bytes.fromhex("026e6f6e0001")
BROADCAST = b"\xff" * 6


def csum(data):
    if len(data) % 2:
        data += b"\0"
    n = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while n >> 16:
        n = (n & 0xffff) + (n >> 16)
    return ~n & 0xffff


def ether(dst, payload, ethertype=0x0800, src=PEER_MAC):
    return (dst + src + struct.pack("!H", ethertype) + payload).ljust(60, b"\0")


def arp_request(target, sender, mac=PEER_MAC):
    return ether(BROADCAST, struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + mac + socket.inet_aton(sender) + b"\0" * 6 +
                 socket.inet_aton(target), 0x0806, mac)


def ipv4(src, dst, proto, payload, ident=0, flags_offset=0, ttl=64):
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), ident, flags_offset, ttl, proto, 0) + \
        socket.inet_aton(src) + socket.inet_aton(dst)
    return head[:10] + struct.pack("!H", csum(head)) + head[12:] + payload


def icmp_echo(ident, seq, data):
    head = struct.pack("!BBHHH", 8, 0, 0, ident, seq)
    return head[:2] + struct.pack("!H", csum(head + data)) + head[4:] + data


def udp(src, dst, sport, dport, data):
    head = struct.pack("!HHHH", sport, dport, 8 + len(data), 0)
    pseudo = socket.inet_aton(src) + socket.inet_aton(dst) + struct.pack("!BBH", 0, 17, 8 + len(data))
    return head[:6] + struct.pack("!H", csum(pseudo + head + data) or 0xffff) + data


def pcap_write(path, frames):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for i, frame in enumerate(frames):
            f.write(struct.pack("<IIII", 1, i, len(frame), len(frame)) + frame)


def pcap_read(path):
    """The frames; none while the writer has not flushed its file's head."""
    with open(path, "rb") as f:
        head = f.read(24)
        if len(head) < 24:
            return []
        if struct.unpack("<I", head[:4])[0] not in (0xa1b2c3d4, 0xa1b23c4d):
            raise ValueError("%s is no pcap file" % path)
        frames = []
        while True:
            rec = f.read(16)
            if len(rec) < 16:
                return frames
            n = struct.unpack("<IIII", rec)[2]
            frames.append(f.read(n))
