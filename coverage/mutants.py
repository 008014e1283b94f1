#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""bed test mutants: puts each known bug back into a copy of the tree, and names the test that catches it (SIM-7)."""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MUTANTS = ROOT / "fixtures" / "mutants"
TEST_SECONDS = 120


class Broken(Exception):
    """The mutant itself is wrong: its text says how."""


class Mutant:
    """One patch: free text with 'Bug:' and 'Tests:' lines, then a unified diff."""

    def __init__(self, path):
        self.path = path
        self.name = path.stem
        text = path.read_text(encoding="utf-8")
        head = text.split("\n--- ", 1)[0]
        self.bug = self._field(head, "Bug")
        self.tests = self._field(head, "Tests").split()
        self.files = re.findall(r"^\+\+\+ b/(\S+)", text, re.M)
        if not self.files:
            raise Broken(f"{path.name}: no diff in it ('+++ b/FILE' lines)")
        for f in self.files:
            if not f.startswith(("core/", "shim/")):
                raise Broken(f"{path.name}: changes {f}; a mutant changes core/ or shim/ only")

    def _field(self, head, name):
        m = re.search(rf"^{name}: *(.*(?:\n[ \t]+.*)*)", head, re.M)
        if not m or not m.group(1).strip():
            raise Broken(f"{self.path.name}: no '{name}:' line")
        return " ".join(m.group(1).split())


def run(argv, cwd, timeout=None):
    """Returns (exit code, output); a time-out is code -1."""
    try:
        p = subprocess.run(argv, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                           timeout=timeout, check=False)
        return p.returncode, p.stdout
    except subprocess.TimeoutExpired as e:
        return -1, (e.stdout or b"").decode(errors="replace") if isinstance(e.stdout, bytes) else (e.stdout or "")


def copy_tree(copy):
    """The files that git knows or would add, as they are now; build products of an earlier copy stay."""
    _, out = run(["git", "ls-files", "-co", "--exclude-standard", "-z"], ROOT)
    names = {n for n in out.split("\0") if n and (ROOT / n).is_file()}
    copy.mkdir(parents=True, exist_ok=True)
    for n in names:
        src, dst = ROOT / n, copy / n
        if dst.exists() and dst.read_bytes() == src.read_bytes():
            continue
        dst.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(src, dst)
        os.utime(dst)
    for d in ("core", "shim"):
        for f in (copy / d).rglob("*.[ch]"):
            if str(f.relative_to(copy)) not in names:
                f.unlink()


def introspect(build):
    _, out = run(["meson", "introspect", "--tests", str(build)], build)
    tests = {}
    for t in json.loads(out):
        tests[t["name"]] = t
    return tests


class Lab:
    def __init__(self, copy):
        self.copy = copy
        self.build = copy / "build"
        copy_tree(copy)
        if not (self.build / "build.ninja").exists():
            code, out = run(["meson", "setup", "build"], copy)
            if code != 0:
                raise Broken("meson setup of the copy failed:\n" + out[-2000:])
        self.tests = introspect(self.build)

    def target_of(self, test):
        """What ninja must build for a test: the programs of its command that lie in the build directory."""
        t = self.tests.get(test)
        if t is None:
            raise Broken(f"there is no test '{test}'")
        return [os.path.relpath(c, self.build) for c in t["cmd"] if c.startswith(str(self.build)) and os.path.splitext(c)[1] != ".py"
                and not os.path.isdir(c)]

    def compile(self, tests):
        targets = sorted({x for t in tests for x in self.target_of(t)})
        code, out = run(["ninja", "-C", str(self.build), *targets], self.copy)
        return code == 0, out

    def verdict(self, test):
        """None: it passed; else why it did not."""
        t = self.tests[test]
        env = dict(os.environ, **t["env"])
        try:
            p = subprocess.run(t["cmd"], cwd=t["workdir"] or self.build, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, errors="replace", timeout=TEST_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"no end within {TEST_SECONDS} s"
        if p.returncode == 0:
            return None
        if p.returncode == 77:
            raise Broken(f"test '{test}' is skipped here: " + p.stdout.strip()[-200:])
        for line in p.stdout.splitlines():
            if re.search(r"\[  FAILED  \] \S+$|FAILED|failed|violat", line):
                return line.strip()[:160]
        return f"exit code {p.returncode}"


def apply(lab, mutant, reverse=False):
    argv = ["patch", "-p1", "-s", "-f", "--no-backup-if-mismatch", "-i", str(mutant.path)] + (["-R"] if reverse else [])
    code, out = run(argv, lab.copy)
    for f in mutant.files:
        for stray in (lab.copy / (f + ".rej"), lab.copy / (f + ".orig")):
            stray.unlink(missing_ok=True)
        if (lab.copy / f).exists():
            os.utime(lab.copy / f)
    if code != 0 and not reverse:
        for f in mutant.files:
            shutil.copy2(ROOT / f, lab.copy / f)
            os.utime(lab.copy / f)
        raise Broken("the patch does not apply: " + " ".join(out.split())[:300])
    if reverse:
        for f in mutant.files:
            if (lab.copy / f).read_bytes() != (ROOT / f).read_bytes():
                shutil.copy2(ROOT / f, lab.copy / f)


def try_one(lab, mutant):
    """(test, why) that caught it; None: it survived."""
    apply(lab, mutant)
    try:
        ok, out = lab.compile(mutant.tests)
        if not ok:
            raise Broken("it does not compile: " + " ".join(out.split())[-300:])
        for t in mutant.tests:
            why = lab.verdict(t)
            if why is not None:
                return t, why
        return None
    finally:
        apply(lab, mutant, reverse=True)


def say(text):
    if sys.stderr.isatty():
        print("\r\033[K" + text, end="", file=sys.stderr, flush=True)


def baseline(lab, mutants):
    """Every named test passes on the tree as it is; else nothing that fails later would mean anything."""
    tests = sorted({t for m in mutants for t in m.tests})
    say(f"building {len(tests)} tests without any bug")
    ok, out = lab.compile(tests)
    if not ok:
        raise Broken("the copy does not build:\n" + out[-2000:])
    for i, t in enumerate(tests):
        say(f"without any bug: {i + 1} of {len(tests)}: {t}")
        why = lab.verdict(t)
        if why is not None:
            raise Broken(f"test '{t}' fails without any bug: {why}")


def all_of(lab, mutants):
    results = []
    begin = time.monotonic()
    for i, m in enumerate(mutants):
        left = (time.monotonic() - begin) / i * (len(mutants) - i) if i else 0
        say(f"mutant {i + 1} of {len(mutants)}: {m.name}, about {left:.0f} s left")
        r = {"mutant": m.name, "bug": m.bug, "caught": False}
        try:
            hit = try_one(lab, m)
            if hit:
                r.update(caught=True, test=hit[0], why=hit[1])
        except Broken as e:
            r["error"] = str(e)
        results.append(r)
    say("")
    return results


def show(results):
    for r in results:
        if r.get("error"):
            print(f"BROKEN    {r['mutant']}: {r['error']}")
        elif r["caught"]:
            print(f"caught    {r['mutant']}: by {r['test']}: {r['why']}")
        else:
            print(f"SURVIVED  {r['mutant']}: {r['bug']}")
    caught = sum(r["caught"] for r in results)
    print(f"{caught} of {len(results)} mutants caught")


def main():
    ap = argparse.ArgumentParser(prog="bed test mutants", description=__doc__)
    ap.add_argument("name", nargs="*", help="mutants whose name contains it (default: all)")
    ap.add_argument("--copy", default=str(ROOT / "build-mutants"), help="where the copy of the tree is kept (default: build-mutants)")
    ap.add_argument("--json", action="store_true")
    ap.add_argument("--list", action="store_true", help="name the mutants and their bugs, run nothing")
    a = ap.parse_args()
    try:
        mutants = [Mutant(p) for p in sorted(MUTANTS.glob("*.patch"))]
        if a.name:
            mutants = [m for m in mutants if any(n in m.name for n in a.name)]
        if not mutants:
            raise Broken(f"no mutant{' named so' if a.name else ''} in {MUTANTS.relative_to(ROOT)}")
        if a.list:
            for m in mutants:
                print(f"{m.name}: {m.bug} ({' '.join(m.tests)})")
            return 0
        lab = Lab(pathlib.Path(a.copy))
        baseline(lab, mutants)
        results = all_of(lab, mutants)
    except Broken as e:
        print(f"mutants: {e}", file=sys.stderr)
        return 1
    if a.json:
        print(json.dumps(results, indent=1))
    else:
        show(results)
    return 0 if all(r["caught"] for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
