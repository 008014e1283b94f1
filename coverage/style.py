#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""House rules that a compiler does not know: sizes of files and functions, SPDX lines, one README per directory,
core/ reaching around the door (SHM-1), and nothing left for later. Prints each breach; exit code 1 if there is one.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ("core", "shim", "sim", "unit", "integration")
AROUND = re.compile(r'#\s*include\s*[<"]rte_|\b(clock_gettime|gettimeofday|usleep|nanosleep|rand|random|time)\s*\(')
LATER = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b|not (yet )?imple" r"mented|\bfor no" r"w\b|\bstub(bed)?\b", re.I)
MACHINE = re.compile(r"(^|[^a-z])/(wo" r"rk|fa" r"rm)/")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.S)
CLOCK_USERS = ("core/cli/", "core/preload/")  # programs and the preloaded library, not the product's instances


def tracked():
    try:
        out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                             check=True).stdout
        return [pathlib.Path(p) for p in out.splitlines()]
    except (OSError, subprocess.CalledProcessError):  # a tarball
        return [p.relative_to(ROOT) for p in ROOT.rglob("*")
                if p.is_file() and not p.relative_to(ROOT).parts[0].startswith(("build", ".git"))
                and "__pycache__" not in p.parts]


def blank(text):
    """The text with comments and strings emptied, line numbers kept."""
    return COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def check_c(path, text, breach):
    lines = text.splitlines()
    if len(lines) > 800:
        breach(path, 800, f"file has {len(lines)} lines, 800 are allowed")
    if "SPDX-License-Identifier: BSD-3-Clause" not in (lines[0] if lines else ""):
        breach(path, 1, "first line is not the SPDX line")
    start = None
    for n, line in enumerate(lines, 1):
        if line.startswith("{"):
            start = n
        elif line.startswith("}") and start:
            if n - start - 1 > 70:
                breach(path, start, f"function has {n - start - 1} lines, 70 are allowed")
            start = None
    if str(path).startswith("core/"):
        code = blank(re.sub(r'(#\s*include\s*)"([^"]*)"', r"\1<\2>", text))
        for n, line in enumerate(code.splitlines(), 1):
            m = AROUND.search(line)
            if m and not (m.group(1) and str(path).startswith(CLOCK_USERS)):
                breach(path, n, f"reaches around the door: {m.group().strip()}")


def main():
    breaches = []

    def breach(path, n, why):
        breaches.append(f"{path}:{n}: {why}")
    dirs = set()
    for path in tracked():
        full = ROOT / path
        if not full.is_file():
            continue
        top = path.parts[0]
        if top in (*ROOMS, "fixtures", "coverage"):
            dirs.add(path.parent)
        if path.suffix in (".c", ".h") and top in ROOMS:
            check_c(path, full.read_text(errors="replace"), breach)
        if path.suffix in (".c", ".h", ".py", ".sh", ".build", ".md", "") and path.name != "style.py" and top != "fixtures":
            for n, line in enumerate(full.read_text(errors="replace").splitlines(), 1):
                if LATER.search(line):
                    breach(path, n, "left for later: " + line.strip()[:60])
                if MACHINE.search(line):
                    breach(path, n, "a path of one machine")
    for d in sorted(dirs):
        if d.parts[0] in ("core", "shim", "sim", "integration", "coverage") and not (ROOT / d / "README.md").exists():
            breach(d, 1, "directory without a README.md")
    print("\n".join(breaches))
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
