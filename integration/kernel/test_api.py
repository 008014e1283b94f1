#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program of somebody else: nonic is installed into a directory, ff_echo.c is compiled with nothing but pkg-config, and
the kernel exchanges datagrams with it.

STK-5, CFG-8, TST-2
"""
import json
import os
import shutil
import socket

from kernel import check, conf, harness, main, net, run

HERE = os.path.dirname(os.path.abspath(__file__))


def install(build, dest):
    """Everything of `meson install` is there; returns the directories of programs and of nonic.pc."""
    run(["meson", "install", "-C", build, "--no-rebuild", "--destdir", dest], timeout=60)
    found = {}
    for top, _, names in os.walk(dest):
        found.update((n, top) for n in names)
    for name in ("nonic", "nonic-dpdk", "nonic.pc", "libnonic_dpdk.a", "ff_api.h", "ff_event.h"):
        check(name in found, "%s is not installed" % name)
    return found["nonic"], found["nonic.pc"]


def instrumented(build):
    """What a build with coverage adds to a link."""
    with open(os.path.join(build, "meson-info/intro-buildoptions.json"), encoding="utf-8") as f:
        return ["--coverage"] if any(o["name"] == "b_coverage" and o["value"] for o in json.load(f)) else []


def compile_echo(build, dest, pc, program):
    path = os.path.join(pc, "nonic.pc")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    prefix = text.splitlines()[0]
    check(prefix.startswith("prefix=/"), "nonic.pc begins with %s" % prefix)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace(prefix, "prefix=%s%s" % (dest, prefix[len("prefix="):]), 1))
    flags = run(["env", "PKG_CONFIG_PATH=" + pc, "pkg-config", "--cflags", "--libs", "nonic"])[1].split()
    run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", os.path.join(HERE, "ff_echo.c"), "-o", program] + flags +
        instrumented(build), timeout=60)


def echo(addr, data):
    family = socket.AF_INET6 if ":" in addr else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.settimeout(3)
        s.sendto(data, (addr, 5555))
        return s.recv(9000)


def test(build):
    for tool in ("meson", "cc", "pkg-config"):
        if shutil.which(tool) is None:
            raise harness.Skip("the program '%s' is missing" % tool)
    with harness.Bed(build) as bed:
        if not os.path.exists("/dev/net/tun"):
            raise harness.Skip("/dev/net/tun is missing: modprobe tun")
        dest, program = os.path.join(bed.dir, "dest"), os.path.join(bed.dir, "ff_echo")
        bindir, pc = install(build, dest)
        bed.nonic = os.path.join(bindir, "nonic")  # the installed one, which finds nonic-dpdk beside it
        compile_echo(build, dest, pc, program)
        harness.own_netns()
        bed.config(conf.tap())
        code, _, err = run([program, "--conf", os.path.join(bed.dir, "nothing.ini")], ok=False)
        check(code == 1 and "nothing.ini" in err, "without a configuration: %d %s" % (code, err))
        proc = bed.start("ff_echo", [program, "--conf=" + bed.conf], "ff_echo ready")
        harness.tap_up(conf.TAP, conf.V4_PEER + "/24", conf.V6_PEER + "/64")
        net.ping_until(conf.V4)
        net.ping_until(conf.V6)
        for addr in (conf.V4, conf.V6):
            net.udp_exchange(addr, 5555, 1000)
            check(echo(addr, b"x" * 4000) == b"x" * 4000, "4000 bytes in fragments")
        check(bed.status()["workers"][0]["rx_packets"] >= 2000, "status of a program with primary and worker inside")
        check(echo(conf.V4, b"stop") == b"stop", "the last answer")
        check(proc.wait(5) == 0, "ff_echo ended with exit code %s" % proc.returncode)
        bed.start("ff_echo", [program, "-c", bed.conf], "ff_echo ready")
        bed.cli("stop", timeout=20)
        check(not os.path.exists("/var/run/dpdk/container-" + bed.prefix), "nonic stop left runtime files behind")


main(test)
