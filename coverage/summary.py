#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads meson's JSON test logs of the given build directories; lists failures and skips, prints the closing line.

A CMocka program counts by its cases, any other test as one. Exit code 0 only if something ran and nothing failed.
"""
import json
import pathlib
import re
import sys

BAD = {"FAIL", "TIMEOUT", "ERROR", "INTERRUPT", "UNEXPECTEDPASS"}
CASES = re.compile(r"^\[==========\] (\d+) test\(s\) run\.", re.M)
LINE = {
    "passed": re.compile(r"^\[  PASSED  \] (\d+) test\(s\)", re.M),
    "failed": re.compile(r"^\[  FAILED  \] (\d+) test\(s\)", re.M),
    "skipped": re.compile(r"^\[  SKIPPED \] (\d+) test\(s\)", re.M),
}
SKIPPED_CASE = re.compile(r"^\[  SKIPPED \] (\w+)$", re.M)


def entries(build):
    for log in sorted(pathlib.Path(build, "meson-logs").glob("testlog*.json")):
        for line in log.read_text().splitlines():
            if line.strip():
                yield json.loads(line)


def reason(text):
    lines = [l.strip() for l in text.splitlines() if l.strip() and not l.startswith("[")]
    return lines[-1] if lines else "no reason given"


def main(builds):
    passed = failed = skipped = 0
    failures, skips = [], []
    for build in builds:
        for t in entries(build):
            out = (t.get("stdout") or "") + "\n" + (t.get("stderr") or "")
            name = t["name"] if len(builds) == 1 else f"{build}: {t['name']}"
            if t["result"] == "SKIP":
                skipped += 1
                skips.append((name, reason(out)))
                continue
            counts = {k: sum(int(n) for n in r.findall(out)) for k, r in LINE.items()}
            if t["result"] in BAD:
                failed += max(1, counts["failed"])
                passed += counts["passed"]
                failures.append((name, t["result"], out))
                continue
            if CASES.search(out):
                passed += counts["passed"]
                skipped += counts["skipped"]
                for case in sorted(set(SKIPPED_CASE.findall(out))):
                    skips.append((f"{name}: {case}", reason(out)))
            else:
                passed += 1
    for name, result, out in failures:
        tail = "\n".join(out.strip().splitlines()[-40:])
        print(f"---- {result}: {name}\n{tail}\n")
    if skips:
        print("skipped:")
        for name, why in skips:
            print(f"  {name}: {why}")
    for name, result, _ in failures:
        print(f"failed: {name} ({result})")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed + skipped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
