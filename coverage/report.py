#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Line and branch coverage of core/ and shim/ with lcov: HTML, one summary line, a table per room, and the floors.

usage: report.py BUILD_DIR [--json]
Writes BUILD_DIR/coverage/index.html, and the verdict as a test result for summary.py.
"""
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RC = ["--rc", "lcov_branch_coverage=1", "--rc", "geninfo_unexecuted_blocks=1"]


def lcov(*args):
    r = subprocess.run(["lcov", "-q", *RC, *map(str, args)], capture_output=True, text=True)
    if r.returncode:
        sys.exit(f"lcov {' '.join(map(str, args))}: {r.stderr.strip()}")


def floors():
    out = {}
    for line in (ROOT / "coverage/floors").read_text().splitlines():
        line = line.split("#")[0].split()
        if line:
            out[line[0]] = float(line[1])
    return out


def tally(info):
    """Per room: lines found/hit, branches found/hit. A file compiled twice is one file: lcov merged it."""
    rooms = collections.defaultdict(lambda: [0, 0, 0, 0])
    key = {"LF": 0, "LH": 1, "BRF": 2, "BRH": 3}
    room = None
    for line in info.read_text().splitlines():
        tag, _, value = line.partition(":")
        if tag == "SF":
            room = str(pathlib.Path(value).resolve().relative_to(ROOT).parent)
        elif tag in key:
            rooms[room][key[tag]] += int(value)
    return rooms


def percent(hit, found):
    return 100.0 * hit / found if found else 100.0


def result(build, verdict, text):
    """For summary.py, as meson would log a test."""
    entry = {"name": "coverage floors", "stdout": text, "stderr": "", "result": verdict}
    (build / "meson-logs/testlog-coverage.json").write_text(json.dumps(entry) + "\n")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    out = build / "coverage"
    out.mkdir(exist_ok=True)
    result(build, "FAIL", "the coverage report came to no end")
    base, run, total, info = (out / n for n in ("base.info", "run.info", "total.info", "nonic.info"))
    where = ["--directory", build, "--base-directory", build]  # where the compiler stood
    lcov("--capture", "--initial", *where, "-o", base)  # files that no test touched count too
    lcov("--capture", *where, "-o", run)
    lcov("-a", base, "-a", run, "-o", total)
    lcov("--extract", total, f"{ROOT}/core/*", f"{ROOT}/shim/*", "-o", info)
    lcov("--remove", info, f"{ROOT}/shim/contract/*", "-o", info)
    subprocess.run(["genhtml", "-q", "--branch-coverage", "--prefix", str(ROOT), "-o", str(out), str(info)],
                   check=True, stdout=subprocess.DEVNULL)
    rooms = tally(info)
    sums = [sum(r[i] for r in rooms.values()) for i in range(4)]
    lines, branches = percent(sums[1], sums[0]), percent(sums[3], sums[2])
    floor = floors()
    low = [f"{n} {v:.1f}% is below the floor {floor[n]:.1f}%" for n, v in
           (("lines", lines), ("branches", branches)) if v < floor[n]]
    summary = f"lines: {lines:.1f}% branches: {branches:.1f}%"
    if "--json" in sys.argv:
        print(json.dumps({"lines": round(lines, 1), "branches": round(branches, 1), "floors": floor, "below": low,
                          "rooms": {n: {"lines": round(percent(r[1], r[0]), 1), "branches": round(percent(r[3], r[2]), 1)}
                                    for n, r in sorted(rooms.items())}}))
    else:
        for n, r in sorted(rooms.items()):
            print(f"{n:28} lines {percent(r[1], r[0]):5.1f}%  branches {percent(r[3], r[2]):5.1f}%")
        for text in low:
            print(text)
        print(summary)
    result(build, "FAIL" if low else "OK", "\n".join([*low, summary]))
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
