# SPDX-License-Identifier: BSD-3-Clause
"""Paced UDP flows from the Linux kernel to the stamped echo of `nonic serve --stamp`, and what became of every datagram."""
import random
import select
import socket
import struct
import threading
import time

from bed import Failed, check

HEAD = struct.Struct("!IIQ")   # flow, number, ns when sent
STAMP = struct.Struct("!II")   # generation, process id
SIZE = 64


class Flow:
    """One socket of its own. asked: number -> time sent, not answered yet; answers: (number, sent, received, generation, worker)."""

    def __init__(self, index, addr, port):
        self.index, self.addr = index, addr
        self.sock = socket.socket(socket.AF_INET6 if ":" in addr else socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.setblocking(False)
        self.sock.connect((addr, port))
        self.born = time.monotonic()
        self.number = 0
        self.asked, self.answers = {}, []
        self.quiet = self.over = False
        self.refused = 0


class Load(threading.Thread):
    """Sends `rate` datagrams a second in all, in a shuffled round over the flows; a thread, so that the test goes on beside it."""

    def __init__(self, rate, port=7):
        super().__init__(daemon=True)
        self.rate, self.port = rate, port
        self.flows, self.order = [], []
        self.rng = random.Random(1)
        self.poll = select.epoll()
        self.by_fd = {}
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self.error = None
        self.twice = self.strange = self.not_sent = 0

    # ---- for the test ----

    def add(self, addr, n):
        """n new flows to addr, sending at once."""
        new = []
        with self.lock:
            for _ in range(n):
                f = Flow(len(self.flows), addr, self.port)
                self.flows.append(f)
                self.order = self.order + [f]
                self.by_fd[f.sock.fileno()] = f
                self.poll.register(f.sock.fileno(), select.EPOLLIN)
                new.append(f)
            order = list(self.order)
            self.rng.shuffle(order)
            self.order = order
        return new

    def end(self, flows):
        """These send no more; what is on its way may still come."""
        with self.lock:
            for f in flows:
                f.over = True
            self.order = [f for f in self.order if not f.over]

    def pause(self, flows, quiet=True):
        for f in flows:
            f.quiet = quiet

    def finish(self, wait=1.0):
        """Ends the sending, waits for what is on its way."""
        with self.lock:
            self.order = []
        end = time.monotonic() + wait
        while time.monotonic() < end and any(f.asked for f in self.flows):
            time.sleep(0.01)
        self.stopping.set()
        self.join(5)
        for f in self.flows:
            f.sock.close()
        self.poll.close()
        if self.error is not None:
            raise Failed("the load generator: %r" % self.error)

    def answered(self, since=0.0, flows=None):
        """Flows that got an answer to what they sent after `since`."""
        return [f for f in (flows or list(self.flows)) if f.answers and f.answers[-1][1] > since]

    def wait_all(self, flows, seconds, since=None):
        """Until each of the flows got an answer to something sent after since (now); returns how long that took."""
        begin = time.monotonic()
        since = begin if since is None else since
        while len(self.answered(since, flows)) < len(flows):
            check(time.monotonic() - begin < seconds, "after %.1f s %d of %d flows have no answer yet" % (
                seconds, len(flows) - len(self.answered(since, flows)), len(flows)))
            time.sleep(0.005)
        return time.monotonic() - begin

    def lost(self):
        """(flow, number, time sent) of what was never answered."""
        # copies: the thread that sends goes on meanwhile
        return sorted((f.index, n, t) for f in list(self.flows) for n, t in f.asked.copy().items())

    def sent(self):
        return sum(f.number for f in self.flows)

    def received(self):
        return sum(len(f.answers) for f in self.flows)

    def refused(self):
        return sum(f.refused for f in self.flows)

    # ---- the thread ----

    def run(self):
        try:
            begin, sent, at = time.monotonic(), 0, 0
            while not self.stopping.is_set():
                now = time.monotonic()
                due = int((now - begin) * self.rate) - sent
                if due > 16: # this machine was busy: no burst to make up for it
                    sent += due - 16
                    due = 16
                with self.lock:
                    order = self.order
                for _ in range(due if order else 0):
                    at = (at + 1) % len(order)
                    self.send(order[at])
                sent += max(due, 0)
                self.receive(0.0005)
        except Exception as e:  # handed over to the test
            self.error = e

    def send(self, f):
        if f.quiet or f.over:
            return
        now = time.monotonic()
        data = HEAD.pack(f.index, f.number, int(now * 1e9)).ljust(SIZE, b"x")
        f.asked[f.number] = now
        try:
            f.sock.send(data)
        except ConnectionRefusedError:
            f.refused += 1 # of an earlier one; this one was not sent
            del f.asked[f.number]
            return
        except BlockingIOError:
            del f.asked[f.number]
            self.not_sent += 1
            return
        f.number += 1

    def receive(self, timeout):
        for fd, _ in self.poll.poll(timeout, 256):
            f = self.by_fd[fd]
            for _ in range(64):
                try:
                    data = f.sock.recv(2048)
                except BlockingIOError:
                    break
                except ConnectionRefusedError:
                    f.refused += 1
                    continue
                self.take(f, data, time.monotonic())

    def take(self, f, data, now):
        if len(data) != SIZE + STAMP.size:
            self.strange += 1
            return
        index, number, _ = HEAD.unpack(data[:HEAD.size])
        if index != f.index:
            self.strange += 1
            return
        sent = f.asked.pop(number, None)
        if sent is None:
            self.twice += 1
            return
        f.answers.append((number, sent, now) + STAMP.unpack(data[SIZE:]))
