# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of this directory share: a bed on net_tap in a network namespace, the Linux kernel at its other end."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
import bed as harness  # noqa: E402
import conf  # noqa: E402
import faults  # noqa: E402,F401
import net  # noqa: E402
import reload  # noqa: E402,F401
from bed import check, main, run, stop  # noqa: E402,F401


def tap_bed(build, text, mtu=None, worker=True):
    """A context manager; __enter__ gives a bed with primary and worker up, both addresses answering."""
    return TapBed(build, text, mtu, worker)


class TapBed:
    def __init__(self, build, text, mtu, worker):
        self.bed = harness.Bed(build)
        self.text, self.mtu, self.worker = text, mtu, worker

    def __enter__(self):
        bed = self.bed.__enter__()
        try:
            if not os.path.exists("/dev/net/tun"):
                raise harness.Skip("/dev/net/tun is missing: modprobe tun")
            harness.own_netns()
            bed.config(self.text)
            bed.primary()
            harness.tap_up(conf.TAP, conf.V4_PEER + "/24", conf.V6_PEER + "/64", mtu=self.mtu)
            if self.worker:
                bed.serve()
                net.ping_until(conf.V6)
        except BaseException:
            self.bed.__exit__(*sys.exc_info())
            raise
        return bed

    def __exit__(self, kind, value, trace):
        return self.bed.__exit__(kind, value, trace)
