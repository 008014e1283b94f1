#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""core/ reaches DPDK only through shim/ (SHM-1): no rte_ header, no clock, sleep or rand of its own.
core/cli is free in the second: a command that only asks a running process has no door to ask.

usage: includes.py ROOT
"""
import re
import sys
from pathlib import Path

RULES = [
    (re.compile(r'^\s*#\s*include\s*[<"](?:[^>"]*/)?rte_\w+\.h[>"]'), "includes a DPDK header"),
    (re.compile(r'^\s*#\s*include\s*[<"][^>"]*shim/(?:dpdk|host)/inline\.h'), "includes a binding"),
    (re.compile(r'\b(?:clock_gettime|gettimeofday|rte_rdtsc|usleep|nanosleep|rand|srand|random)\s*\('),
     "asks the system for time, sleep or randomness"),
]
COMMENT = re.compile(r'/\*.*?\*/', re.S)


def breaches(text):
    code = COMMENT.sub(lambda m: "\n" * m[0].count("\n"), text)
    for n, line in enumerate(code.splitlines(), 1):
        for rule, what in RULES:
            if rule.search(line):
                yield n, what


def self_test():
    """A checker that finds nothing proves nothing: each rule must see its breach."""
    for bad in ("#include <rte_mbuf.h>", '# include "dpdk/rte_ring.h"', "x = clock_gettime(0, &t);",
                '#include "../../shim/dpdk/inline.h"', "r = rand();"):
        assert list(breaches(bad)), bad
    for good in ('#include "../shim/shim.h"', "/* #include <rte_mbuf.h> */", "x = shim_random(s);",
                 "struct rte_mbuf *m;"):
        assert not list(breaches(good)), good


def main():
    self_test()
    core = Path(sys.argv[1]) / "core"
    files = sorted(f for f in core.rglob("*.[ch]"))
    found = [(f, n, what) for f in files for n, what in breaches(f.read_text())
             if "system" not in what or core / "cli" not in f.parents]
    for f, n, what in found:
        print(f"{f}:{n}: {what}")
    sys.exit(1 if found or not files else 0)


main()
