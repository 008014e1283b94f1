#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the TCP fuzzer's seed corpus: one file per life of a connection (the steps are fuzz_tcp.c's).

usage: corpus_tcp.py DIRECTORY
"""
import pathlib
import sys

ACK, PSH, FIN, SYN, SYNACK, RST, RSTACK = 1, 2, 3, 4, 5, 6, 7
NONE, ONE, HUNDRED, FULL, BIG = 0, 3, 5, 8, 9
PLUS_FULL, PLUS_TWO = 136, 138
LISTEN4, LISTEN6, FIRST = 0, 1, 2


def seg(flow, kind, win=200, seq=0, ack=0, opts=b"\0", size=NONE):
    return bytes([0, flow, kind, win, seq, ack]) + opts + bytes([size])


def syn(flow):
    return seg(flow, SYN, opts=bytes([3, 5, 0xb4, 7]))


def call(op, app, *args):
    return bytes([op, app, *args])


def accept(app):
    return call(176, app)


def read(app, how=4):
    return call(190, app, how)


def write(app, size=5):
    return call(205, app, size)


def shut(app, how):
    return call(244, app, how)


def close(app):
    return call(244, app, 200)


def wait(which):
    return bytes([150, which])


def opened(flow):
    return syn(flow) + seg(flow, ACK, opts=b"\1") + accept(flow & 1)


def corpus():
    for flow in 0, 1:
        tag = "64"[flow == 0]
        yield "echo" + tag, opened(flow) + seg(flow, PSH, opts=b"\1", size=HUNDRED) + read(FIRST) + write(FIRST) \
            + seg(flow, ACK, opts=b"\1") + seg(flow, FIN, opts=b"\1") + close(FIRST) + seg(flow, ACK, opts=b"\1") + wait(10)
        yield "close-active" + tag, opened(flow) + write(FIRST) + close(FIRST) + seg(flow, ACK, opts=b"\1") \
            + seg(flow, FIN, opts=b"\1") + syn(flow) + wait(10)
        yield "close-both" + tag, opened(flow) + shut(FIRST, 1) + seg(flow, FIN | 8, opts=b"\0\1") \
            + seg(flow, ACK, opts=b"\1") + wait(10)
        yield "reorder" + tag, opened(flow) + seg(flow, ACK, seq=PLUS_TWO, opts=b"\1", size=FULL) \
            + seg(flow, FIN, seq=PLUS_FULL + 2, opts=b"\1", size=FULL) + seg(flow, ACK, seq=PLUS_FULL, opts=b"\1", size=BIG) \
            + seg(flow, ACK, opts=b"\1", size=FULL) + read(FIRST) + read(FIRST)
        lost = bytes([3, 10, 0, 10])
        yield "loss" + tag, opened(flow) + write(FIRST, 6) + seg(flow, ACK | 8, ack=0, opts=b"\1")[:5] + bytes([90, 0]) \
            + lost + bytes([0]) + wait(3) + wait(6) + seg(flow, ACK, opts=b"\1") + wait(7)
        yield "window" + tag, opened(flow) + seg(flow, ACK, win=0, opts=b"\1") + write(FIRST) + wait(7) + wait(8) + wait(9) \
            + seg(flow, ACK, win=40, opts=b"\1") + seg(flow, ACK, opts=b"\1")
        yield "timeout" + tag, opened(flow) + write(FIRST, 6) + b"".join(wait(10) for _ in range(16))
        yield "reset" + tag, opened(flow) + write(FIRST) + seg(flow, RST, seq=132) + seg(flow, RST) + read(FIRST)
        yield "connect" + tag, bytes([165, flow]) + seg(flow, SYNACK, opts=bytes([3, 5, 0xb4, 7])) + write(FIRST, 6) \
            + seg(flow, ACK, opts=b"\1", size=HUNDRED) + read(FIRST, 200) + close(FIRST)
        yield "simultaneous" + tag, bytes([165, flow]) + syn(flow) + seg(flow, SYNACK, opts=b"\1") + write(FIRST, 200)
        yield "unread" + tag, opened(flow) + seg(flow, PSH, opts=b"\1", size=FULL) + close(FIRST)
        yield "icmp" + tag, opened(flow) + write(FIRST, 6) + bytes([140, 3, flow, 4, 100, 0, 0]) + wait(7)


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name, data in corpus():
        (out / name).write_bytes(data)


if __name__ == "__main__":
    main()
