# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of this directory share."""
import ctypes
import fcntl
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
import bed as harness  # noqa: E402,F401
import conf  # noqa: E402,F401
import faults  # noqa: E402,F401
import frames  # noqa: E402,F401
import net  # noqa: E402,F401
import reload  # noqa: E402,F401
from bed import Bed, check, main, run, stop  # noqa: E402,F401

# one port, IPv4 only: what is sent into a loop comes back, and would fail duplicate address detection
PORT4 = "addr=192.0.2.2\nnetmask=255.255.255.0\nbroadcast=192.0.2.255\ngateway=192.0.2.1\n"

WIRE_FRAMES = 1024
SIOCETHTOOL, ETHTOOL_STXCSUM = 0x8946, 0x17


def peer(build):
    return os.path.join(build, "integration/vdev/peer")


def checksums_in_software(name):
    """veth would hand over half-made checksums."""
    value = ctypes.create_string_buffer(struct.pack("II", ETHTOOL_STXCSUM, 0))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, SIOCETHTOOL, struct.pack("16sP", name.encode(), ctypes.addressof(value)))


def vhost_wire(bed, build):
    """
    The other end of a virtio_user port: a vhost-user server whose second port is the far end of a veth. That one holds WIRE_FRAMES while the
    peer does not run (net_pcap's capture holds a few dozen: on a busy machine they were lost).
    """
    run(["ip", "link", "add", conf.TAP, "mtu", "9000", "type", "veth", "peer", "name", "far", "mtu", "9000"])
    checksums_in_software(conf.TAP)
    harness.tap_up(conf.TAP, conf.V4_PEER + "/24", conf.V6_PEER + "/64")
    run(["ip", "link", "set", "far", "up"])
    bed.start("peer", [peer(build), "forward", "--in-memory", "--no-pci", "--no-telemetry", "-l", "0", "--log-level=4",
                       "--vdev=net_vhost0,iface=%s/vhost.sock" % bed.dir,
                       "--vdev=net_af_packet0,iface=far,framesz=9216,blocksz=36864,framecnt=%d" % WIRE_FRAMES], "peer ready")
