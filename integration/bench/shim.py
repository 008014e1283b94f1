#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of calls through the door against direct rte_* calls, counted by callgrind (SHM-3).

usage: shim.py PROGRAM|BUILD_DIR [--json]     exit 0: all equal (an allocation may be cheaper); 1: not;
77: can not be run here
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def skip(why):
    print(f"shim_cost: {why}", file=sys.stderr)
    sys.exit(77)


def count(program):
    """{function: instructions, callees included} of every cost_* function."""
    with tempfile.TemporaryDirectory() as d:
        out = Path(d) / "out"
        ran = subprocess.run(["valgrind", "--tool=callgrind", "--collect-atstart=no",
                              "--toggle-collect=half_*", f"--callgrind-out-file={out}", program],
                             capture_output=True, text=True)
        if ran.returncode == 77:
            skip(ran.stderr.strip().splitlines()[-1])
        if "Possibly corrupted debuginfo" in ran.stderr:
            skip("this valgrind does not read the compiler's debug information")
        if ran.returncode != 0:
            sys.exit(f"shim_cost: {program} failed: {ran.stderr[-2000:]}")
        text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", str(out)],
                              capture_output=True, text=True, check=True).stdout
    costs = {}
    for line in text.splitlines():
        m = re.match(r"\s*([\d,]+)\s.*?:(cost_\w+)", line)
        if m:
            costs[m[2]] = int(m[1].replace(",", ""))
    return costs


def main():
    args = [a for a in sys.argv[1:] if a != "--json"]
    if len(args) != 1:
        sys.exit(__doc__)
    if not shutil.which("valgrind") or not shutil.which("callgrind_annotate"):
        skip("valgrind is not installed")
    program = Path(args[0])
    if program.is_dir():
        program = program / "integration/bench/shim_cost"
    if not program.exists():
        skip(f"{program} is not built (librte_net_ring is missing?)")
    costs = count(str(program.resolve()))
    rows = []
    for name in sorted(n[len("cost_shim_"):] for n in costs if n.startswith("cost_shim_")):
        shim, direct = costs["cost_shim_" + name], costs.get("cost_direct_" + name, 0)
        rows.append({"name": name, "shim": shim, "direct": direct,
                     "ratio": round(shim / direct, 4) if direct else None})
    needed = {"rx_burst", "tx_burst", "ring_enqueue", "ring_dequeue"}
    missing = needed - {r["name"] for r in rows}
    equal = not missing and all(
        r["shim"] == r["direct"] or (r["name"] == "buf_alloc" and r["shim"] < r["direct"]) for r in rows)
    if "--json" in sys.argv:
        print(json.dumps({"unit": "instructions", "equal": equal, "rows": rows}))
    else:
        print(f"{'name':<16}{'shim':>10}{'direct':>10}{'ratio':>9}   instructions")
        for r in rows:
            print(f"{r['name']:<16}{r['shim']:>10}{r['direct']:>10}{r['ratio'] or 0:>9.4f}")
    if missing:
        print(f"shim_cost: not counted: {', '.join(sorted(missing))}", file=sys.stderr)
    sys.exit(0 if equal else 1)


main()
