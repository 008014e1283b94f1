# SPDX-License-Identifier: BSD-3-Clause
"""Clients on the Linux kernel's side: ping, UDP exchanges that check every byte, DNS queries written by hand."""
import errno
import os
import random
import re
import select
import socket
import struct
import time

from bed import Failed, check, run


def ping(addr, count=3, size=56, interval=0.05, timeout=5, extra=()):
    """All of count echo requests must be answered; returns the line with the round-trip times."""
    argv = ["ping", "-n", "-q", "-c", str(count), "-s", str(size), "-i", str(interval), "-w", str(timeout)]
    code, out, err = run(argv + list(extra) + [addr], timeout=timeout + 5, ok=False)
    m = re.search(r"(\d+) packets transmitted, (\d+) received", out)
    check(code == 0 and m is not None and int(m.group(2)) == count,
          "ping %s with %d bytes: %s%s" % (addr, size, out, err))
    return out.strip().splitlines()[-1]


def ping_until(addr, seconds=4):
    """Waits until addr answers: duplicate address detection takes its second."""
    end = time.monotonic() + seconds
    while True:
        code, out, _ = run(["ping", "-n", "-q", "-c", "1", "-W", "1", addr], ok=False)
        if code == 0:
            return
        check(time.monotonic() < end, "%s does not answer: %s" % (addr, out))


def payload(seq, size, rng):
    """size bytes that carry their number; at least 8."""
    return struct.pack("!II", seq, size) + rng.randbytes(size - 8)


def udp_exchange(addr, port, count, window=48, sizes=(8, 64, 512, 1400), seed=1, timeout=20):
    """Sends count datagrams, window of them on their way; each must come back once, byte for byte. Returns seconds."""
    family = socket.AF_INET6 if ":" in addr else socket.AF_INET
    rng = random.Random(seed)
    waiting = {}
    sent = done = 0
    begin = time.monotonic()
    last = begin
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
        s.connect((addr, port))
        while done < count:
            while sent < count and len(waiting) < window:
                data = payload(sent, sizes[sent % len(sizes)], rng)
                waiting[sent] = data
                s.send(data)
                sent += 1
            if not select.select([s], [], [], 1)[0]:
                check(time.monotonic() - last < 3, "%s port %d: %d of %d datagrams answered, then silence; missing %s" %
                      (addr, port, done, count, sorted(waiting)[:8]))
                continue
            data = s.recv(65536)
            last = time.monotonic()
            check(len(data) >= 8, "a datagram of %d bytes came back" % len(data))
            seq = struct.unpack("!I", data[:4])[0]
            check(seq in waiting, "datagram %d came back twice, or was never sent" % seq)
            check(waiting.pop(seq) == data, "datagram %d came back changed" % seq)
            done += 1
            check(last - begin < timeout, "%d of %d datagrams after %d s" % (done, count, timeout))
    return time.monotonic() - begin


def udp_refused(addr, port):
    """A closed port must make the kernel's socket say ECONNREFUSED."""
    family = socket.AF_INET6 if ":" in addr else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.settimeout(2)
        s.connect((addr, port))
        s.send(b"anybody?")
        try:
            s.recv(100)
        except OSError as e:
            check(e.errno == errno.ECONNREFUSED, "closed port %d of %s: %s" % (port, addr, e))
            return
    raise Failed("closed port %d of %s answered" % (port, addr))


def dns_query(name, qtype, ident, flags=0x0100):
    labels = b"".join(bytes([len(x)]) + x.encode() for x in name.split("."))
    return struct.pack("!HHHHHH", ident, flags, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", qtype, 1)


def dns_ask(addr, query, port=53):
    family = socket.AF_INET6 if ":" in addr else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.settimeout(2)
        s.connect((addr, port))
        s.send(query)
        return s.recv(2048)


def dns_check(addr):
    """A, AAAA and TXT of one name, written by hand (RFC 1035 4.1), and a question cut short."""
    want = {1: socket.inet_aton("192.0.2.53"), 28: socket.inet_pton(socket.AF_INET6, "2001:db8::53"), 16: b"\5nonic"}
    for qtype, rdata in want.items():
        ident = int.from_bytes(os.urandom(2), "big")
        q = dns_query("www.example.org", qtype, ident)
        a = dns_ask(addr, q)
        head = struct.unpack("!HHHHHH", a[:12])
        check(head == (ident, 0x8500, 1, 1, 0, 0), "DNS type %d at %s: header %s" % (qtype, addr, head))
        check(a[12:len(q)] == q[12:], "DNS type %d at %s: the question came back changed" % (qtype, addr))
        rr = a[len(q):]
        check(rr[:2] == b"\xc0\x0c" and struct.unpack("!HH", rr[2:6]) == (qtype, 1), "DNS record's head")
        check(struct.unpack("!H", rr[10:12])[0] == len(rdata) and rr[12:] == rdata, "DNS type %d at %s: record's data"
              % (qtype, addr))
    a = dns_ask(addr, dns_query("cut", 1, 7)[:-3])
    check(a == struct.pack("!HHHHHH", 7, 0x8101, 0, 0, 0, 0), "a DNS question cut short: %s" % a.hex())
