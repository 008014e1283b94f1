# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of this directory share."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
import bed as harness  # noqa: E402,F401
import conf  # noqa: E402,F401
import frames  # noqa: E402,F401
import net  # noqa: E402,F401
from bed import Bed, check, main, run  # noqa: E402,F401

# one port, IPv4 only: what is sent into a loop comes back, and would fail duplicate address detection
PORT4 = "addr=192.0.2.2\nnetmask=255.255.255.0\nbroadcast=192.0.2.255\ngateway=192.0.2.1\n"


def peer(build):
    return os.path.join(build, "integration/vdev/peer")
