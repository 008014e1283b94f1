#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""README.md is followed to the letter: each command of "A stack of your own" is run as it stands there.

CFG-8, TST-1
"""
import os
import re
import time

from kernel import check, harness, main, run

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
INI = "fixtures/config/good/first.ini"
READY = {"primary": "primary ready", "serve": "worker 0 ready"}


def commands():
    """The lines of the section's block that begins with C=FILE, comments cut off."""
    with open(os.path.join(TOP, "README.md"), encoding="utf-8") as f:
        section = f.read().split("\n## A stack of your own\n")[1].split("\n## ")[0]
    blocks = [b for b in re.findall(r"```\n(.*?)```", section, re.S) if b.startswith("C=" + INI)]
    check(len(blocks) == 1, "README.md has %d blocks that begin with C=%s" % (len(blocks), INI))
    return [line.split(" #")[0].strip() for line in blocks[0].splitlines()[1:] if line.strip()]


def follow(bed, build, line):
    """One command in a shell, in the place of somebody who waits for what the comment says."""
    shell = line.rstrip("& ").replace("build/nonic", os.path.join(build, "nonic")).replace("$C", bed.conf)
    if line.endswith("&"):
        role = shell.split()[1]
        bed.start("worker" if role == "serve" else role, ["sh", "-c", "exec " + shell], READY[role])
        time.sleep(1.5)  # somebody who reads; what the kernel says of itself meanwhile waits in the port
        return ""
    code, out, err = run(["sh", "-c", shell], ok=False, timeout=20)
    check(code == 0, "README.md: '%s' ended with %d: %s%s" % (line, code, out, err))
    return out


def mistakes(bed):
    """What a newcomer gets wrong, while the bed runs."""
    for args, want, says in (
            (["ifconfig", "-c", bed.conf, "eth7"], 1, "'eth7' is not among its interfaces"),
            (["serve", "--conf", bed.dir + "/nothing.ini"], 1, "name the configuration with --conf FILE"),
            (["primary", "-c=" + bed.conf], 1, "running already (pid"),
            (["serve", bed.conf], 2, "unexpected argument")):
        code, _, err = run([bed.nonic] + args, ok=False)
        check(code == want and says in err, "nonic %s: %d %s" % (" ".join(args), code, err))


def test(build):
    with harness.Bed(build) as bed:
        if not os.path.exists("/dev/net/tun"):
            raise harness.Skip("/dev/net/tun is missing: modprobe tun")
        harness.own_netns()
        harness.sysctl("net/ipv6/conf/default/disable_ipv6", 0)  # as on a newcomer's machine
        with open(os.path.join(TOP, INI), encoding="ascii") as f:
            bed.config(f.read().replace("file_prefix=first", "file_prefix=@PREFIX@"))
        lines = commands()
        for what in ("primary", "serve", "status", "doctor", "stop"):
            check(any(x.startswith("build/nonic %s --conf $C" % what) for x in lines), "README.md shows no %s" % what)
        for line in lines:
            if " stop " in line:
                mistakes(bed)
            out = follow(bed, build, line)
            if line.startswith("ping"):
                check(" 0% packet loss" in out or " 33" in out, "README.md: %s: %s" % (line, out))
        for _, proc, _ in bed.procs:
            check(proc.wait(5) == 0, "exit code %s" % proc.returncode)


main(test)
