#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The requirement table: which tests prove which id.

A test names its ids in its name or in the comment right above it ("/* STK-2, MTU-6 */"). This script reads
the tests, writes coverage/requirements with --write, and otherwise checks that the file is up to date and that every id
in coverage/promised has a test.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ID = re.compile(r"\b((?:SHM|CFG|MTU|STK|DSP|PUB|PAR|REL|IPC|PRE|NMT|ZC|IOM|SIM|TST)-\d+)\b")
C_FUNC = re.compile(r"^(?:static\s+)?(?:void|int|bool|unsigned int|uint\d+_t)\s*\n?(\w+)\(", re.M)
PY_FUNC = re.compile(r"^\s*def (\w+)\(", re.M)
WHERE = ["unit", "sim", "shim/contract", "shim/bench", "integration", "coverage"]


def tests():
    """Yields (id, place): FILE:function, or FILE when the id stands in the file's head."""
    for top in WHERE:
        for f in sorted((ROOT / top).rglob("*")):
            if f.suffix not in (".c", ".py", ".sh") or not f.is_file():
                continue
            text = f.read_text(errors="replace")
            rel = f.relative_to(ROOT)
            funcs = [(m.start(), m.group(1)) for m in (C_FUNC if f.suffix == ".c" else PY_FUNC).finditer(text)]
            head = funcs[0][0] if funcs else len(text)
            for m in ID.finditer(text):
                after = next((n for at, n in funcs if at > m.start()), None)
                inside = next((n for at, n in reversed(funcs) if at <= m.start()), None)
                comment = text.rfind("/*", 0, m.start()) > text.rfind("*/", 0, m.start())
                if m.start() < 600 and m.start() < head and (not comment or text[m.start():head].count("\n") > 6):
                    yield m.group(1), str(rel)
                elif comment and f.suffix == ".c" and after:
                    yield m.group(1), f"{rel}:{after}"
                else:
                    yield m.group(1), f"{rel}:{inside or after}" if inside or after else str(rel)


def table():
    found = {}
    for ident, place in tests():
        found.setdefault(ident, set()).add(place)

    def key(i):
        return i.split("-")[0], int(i.split("-")[1])
    out = ["# Requirement ids and the tests that prove them; written by coverage/requirements.py --write.", ""]
    for ident in sorted(found, key=key):
        out += [ident, *(f"    {p}" for p in sorted(found[ident])), ""]
    return "\n".join(out), found


def main():
    text, found = table()
    target = ROOT / "coverage/requirements"
    if "--write" in sys.argv:
        target.write_text(text)
        return 0
    promised = [l.split("#")[0].strip() for l in (ROOT / "coverage/promised").read_text().splitlines()]
    missing = [i for i in promised if i and i not in found]
    for i in missing:
        print(f"{i}: promised in coverage/promised, and no test names it")
    if not target.exists() or target.read_text() != text:
        print("coverage/requirements is out of date: python3 coverage/requirements.py --write")
        return 1
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
