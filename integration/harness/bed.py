# SPDX-License-Identifier: BSD-3-Clause
"""A test bed of real processes: hugepages, a network namespace of the test's own, primary and workers, clean-up by pid."""
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIP = 77
CLONE_NEWNET = 0x40000000
PR_SET_CHILD_SUBREAPER = 36
HUGE_NR = "/proc/sys/vm/nr_hugepages"
HUGE_DIR = "/sys/kernel/mm/hugepages/hugepages-2048kB"
HUGE_WANTED = 512


class Skip(Exception):
    """This machine can not run the test; the text says why and what would change that."""


class Failed(Exception):
    """The test failed; the text says how."""


def check(condition, text):
    if not condition:
        raise Failed(text)


def run(argv, timeout=20, ok=True):
    """Runs a program to its end; returns (exit code, stdout, stderr)."""
    p = subprocess.run(argv, capture_output=True, text=True, timeout=timeout, check=False)
    if ok and p.returncode != 0:
        raise Failed("%s: exit code %d\n%s%s" % (" ".join(argv), p.returncode, p.stdout, p.stderr))
    return p.returncode, p.stdout, p.stderr


def read_int(path):
    with open(path, encoding="ascii") as f:
        return int(f.read())


class Autogroup:
    """
    No scheduling group per session while it is open; put back afterwards. With them, Linux 6.18 was seen to run nothing but one session's
    group on a CPU for seconds once a process of it had been killed: kernel threads that hold locks of dying processes stood still, and
    whoever waited for the end of such a process waited with them.
    """
    PATH = "/proc/sys/kernel/sched_autogroup_enabled"

    def __init__(self):
        self.before = None

    def open(self):
        if not os.access(self.PATH, os.W_OK) or read_int(self.PATH) == 0:
            return
        self.before = 1
        sysctl("kernel/sched_autogroup_enabled", 0)

    def close(self):
        if self.before is not None:
            sysctl("kernel/sched_autogroup_enabled", self.before)
            self.before = None


class Hugepages:
    """At least HUGE_WANTED pages of 2 MiB and a hugetlbfs mount while it is open; put back afterwards."""

    def __init__(self):
        self.before = None
        self.mounted = None

    def open(self):
        if os.geteuid() != 0:
            raise Skip("not root: hugepages and network namespaces need it (run it with sudo)")
        if not os.path.isdir(HUGE_DIR):
            raise Skip("this kernel has no 2 MiB hugepages")
        if read_int(HUGE_DIR + "/free_hugepages") < 128:
            have = read_int(HUGE_NR)
            self.before = have
            try:
                with open(HUGE_NR, "w", encoding="ascii") as f:
                    f.write(str(have + HUGE_WANTED))
            except OSError:
                self.before = None
            if read_int(HUGE_DIR + "/free_hugepages") < 128:
                self.close()
                raise Skip("no 128 free hugepages: sysctl -w vm.nr_hugepages=%d" % HUGE_WANTED)
        with open("/proc/mounts", encoding="ascii") as f:
            if " hugetlbfs " not in f.read():
                os.makedirs("/dev/hugepages", exist_ok=True)
                code, _, err = run(["mount", "-t", "hugetlbfs", "nodev", "/dev/hugepages"], ok=False)
                if code != 0:
                    self.close()
                    raise Skip("hugetlbfs can not be mounted: %s" % err.strip())
                self.mounted = "/dev/hugepages"

    def close(self):
        if self.mounted:
            run(["umount", self.mounted], ok=False)
            self.mounted = None
        if self.before is not None:
            with open(HUGE_NR, "w", encoding="ascii") as f:
                f.write(str(self.before))
            self.before = None


def adopt_orphans():
    """Processes whose parent dies become this program's children, so that descendants() finds them."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(pid):
    """Pids of the processes below pid; every process of the machine where the kernel does not tell who is whose child."""
    found, below = [], [pid]
    while below:
        pid = below.pop()
        try:
            for task in os.listdir("/proc/%d/task" % pid):
                with open("/proc/%d/task/%s/children" % (pid, task), encoding="ascii") as f:
                    below += [int(p) for p in f.read().split()]
        except FileNotFoundError:
            if pid == os.getpid():
                return [int(p) for p in os.listdir("/proc") if p.isdigit()]
        except ProcessLookupError:
            pass
        found.append(pid)
    return found[1:]


def stop(pid, seconds=5.0):
    """SIGSTOP, and until the kernel calls every thread of it stopped: kill() returns before that. False: it is gone."""
    end = time.monotonic() + seconds
    try:
        os.kill(pid, signal.SIGSTOP)
        said = thread_states(pid)
        while not all(state in "TtZX" for state in said):
            check(time.monotonic() < end, "process %d is not stopped after %.1f s: its threads are %s" % (pid, seconds, said))
            time.sleep(0.0005)
            said = thread_states(pid)
    except (FileNotFoundError, ProcessLookupError):
        return False
    return "T" in said or "t" in said


def thread_states(pid):
    """A letter for each of its threads, as in /proc/PID/stat."""
    said = ""
    for task in os.listdir("/proc/%d/task" % pid):
        try:
            with open("/proc/%d/task/%s/stat" % (pid, task), encoding="utf-8") as f:
                said += f.read().rsplit(") ", 1)[1][0]
        except (FileNotFoundError, ProcessLookupError):
            pass # it has ended meanwhile
    return said


def states():
    """What the processes below this one do, for messages: ['PID NAME STATE, threads STATE...: where it waits']."""
    said = []
    for pid in descendants(os.getpid()):
        try:
            with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
                name, rest = f.read().split("(", 1)[1].rsplit(") ", 1)
            threads = thread_states(pid)
            with open("/proc/%d/wchan" % pid, encoding="utf-8") as f:
                where = f.read()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        said.append("%d %s %s, threads %s: %s" % (pid, name, rest[0], threads, where))
    return said


def pids_of(word):
    """[(pid, words of its command line)] of this program's descendants that have word in it."""
    found = []
    for pid in descendants(os.getpid()):
        try:
            with open("/proc/%d/cmdline" % pid, "rb") as f:
                words = f.read().decode("utf-8", "replace").split("\0")[:-1]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if word in words:
            found.append((pid, words))
    return found


def own_netns():
    """Moves this process (and so all its children) into a new network namespace; it goes when they have gone."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        raise Skip("no network namespace: %s" % os.strerror(ctypes.get_errno()))
    run(["ip", "link", "set", "lo", "up"])
    # a new interface stays silent in IPv6 until tap_up has given it a MAC of its own
    sysctl("net/ipv6/conf/default/disable_ipv6", 1)
    sysctl("net/ipv6/conf/default/accept_ra", 0)


def sysctl(name, value):
    with open("/proc/sys/" + name, "w", encoding="ascii") as f:
        f.write(str(value))


class Bed:
    """A directory, a file prefix, a configuration, and the processes started from it."""

    def __init__(self, build, huge=True):
        self.nonic = os.path.join(build, "core/cli/nonic")
        self.want_huge = huge
        self.dir = tempfile.mkdtemp(prefix="nonic-test-")
        self.prefix = os.path.basename(self.dir)
        if os.geteuid() != 0:
            os.environ["XDG_RUNTIME_DIR"] = self.dir  # /tmp/dpdk belongs to the first user who ran a DPDK program
        self.conf = os.path.join(self.dir, "config.ini")
        self.huge = Hugepages()
        self.autogroup = Autogroup()
        self.procs = []  # (name, Popen, log path)
        adopt_orphans()

    def __enter__(self):
        try:
            if not os.path.exists(self.nonic):
                raise Failed("%s is not built" % self.nonic)
            for tool in ("ip", "ping") if self.want_huge else ():
                if shutil.which(tool) is None:
                    raise Skip("the program '%s' is missing: apt-get install iproute2 iputils-ping" % tool)
            if self.want_huge:
                self.huge.open()
                self.autogroup.open()
        except BaseException:
            shutil.rmtree(self.dir, ignore_errors=True)
            raise
        return self

    def __exit__(self, kind, value, trace):
        try:
            if kind is not None and kind is not Skip:
                self.print_logs()
            self.kill_all()
        finally:
            self.autogroup.close()
            self.huge.close()
            shutil.rmtree(self.dir, ignore_errors=True)
        return False

    def print_logs(self):
        for name, proc, log in self.procs:
            print("---- %s (pid %d, %s)" % (name, proc.pid, "runs" if proc.poll() is None else
                                            "exit code %d" % proc.returncode))
            with open(log, encoding="utf-8", errors="replace") as f:
                print("".join(f.readlines()[-60:]), end="")
        print("----", flush=True)

    def kill_all(self):
        """Workers first, since the primary must outlive them; those of a master, which this program did not start itself, last."""
        for sig, wait in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            for _, proc, _ in reversed(self.procs):
                if proc.poll() is None:
                    proc.send_signal(sig)
                    try:
                        proc.wait(wait)
                    except subprocess.TimeoutExpired:
                        pass
        for pid, _ in pids_of(self.conf):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def config(self, text):
        with open(self.conf, "w", encoding="ascii") as f:
            f.write(text.replace("@PREFIX@", self.prefix).replace("@DIR@", self.dir))

    def start(self, name, argv, ready=None, timeout=15):
        """Starts a program in the background; waits for the line that contains ready."""
        log = os.path.join(self.dir, "%s.%d.log" % (name, len(self.procs)))
        with open(log, "wb") as f:
            proc = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.STDOUT, cwd=self.dir)
        self.procs.append((name, proc, log))
        if ready is None:
            return proc
        end = time.monotonic() + timeout
        while True:
            with open(log, encoding="utf-8", errors="replace") as f:
                if ready in f.read():
                    return proc
            if proc.poll() is not None:
                raise Failed("%s ended with exit code %d before it was ready" % (name, proc.returncode))
            if time.monotonic() > end:
                raise Failed("%s was not ready within %d s" % (name, timeout))
            time.sleep(0.01)

    def log_of(self, name):
        text = ""
        for n, _, log in self.procs:
            if n == name:
                with open(log, encoding="utf-8", errors="replace") as f:
                    text += f.read()
        return text

    def primary(self):
        return self.start("primary", [self.nonic, "primary", "-c", self.conf], "primary ready")

    def serve(self, proc=None, *more):
        argv = [self.nonic, "serve", "-c", self.conf] + ([] if proc is None else ["-p", str(proc)]) + list(more)
        return self.start("worker", argv, " ready: UDP")

    def cli(self, *args, ok=True, timeout=15):
        return run([self.nonic, args[0], "-c", self.conf] + list(args[1:]), timeout=timeout, ok=ok)

    def cli_json(self, *args):
        return json.loads(self.cli(*args, "--json")[1])

    def status(self):
        return self.cli_json("status")

    def stop(self):
        """nonic stop; every process must end by itself, with exit code 0."""
        self.cli("stop", timeout=20)
        for name, proc, _ in self.procs:
            if name in ("primary", "worker", "master") and proc.returncode is None:
                try:
                    code = proc.wait(3)
                except subprocess.TimeoutExpired:
                    raise Failed("%s (pid %d) is still there after 'nonic stop'" % (name, proc.pid)) from None
                check(code == 0, "%s ended with exit code %d" % (name, code))
        check(not pids_of(self.conf), "still there after 'nonic stop': %s" % pids_of(self.conf))
        check(not os.path.exists("/var/run/dpdk/container-" + self.prefix), "runtime files were left behind")

    def pool_settles(self, tolerance=0, seconds=3):
        """The pool's free count now, once it stands still; for balance checks."""
        last = None
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            now = self.status()["workers"][0]["pool_free"]
            if last is not None and abs(now - last) <= tolerance:
                return now
            last = now
        return last


def tap_up(name, *addresses, mtu=None, timeout=5):
    """Gives the kernel's side of a TAP port its addresses; and a MAC: net_tap gives both sides the same one."""
    end = time.monotonic() + timeout
    while run(["ip", "link", "show", name], ok=False)[0] != 0:
        check(time.monotonic() < end, "the TAP interface %s did not appear" % name)
        time.sleep(0.02)
    run(["ip", "link", "set", name, "address", "02:6e:6f:6e:00:01"])
    sysctl("net/ipv6/conf/%s/disable_ipv6" % name, 0)
    if mtu is not None:
        run(["ip", "link", "set", name, "mtu", str(mtu)])
    for a in addresses:
        run(["ip", "addr", "add", a, "dev", name] + (["nodad"] if ":" in a else []))
    run(["ip", "link", "set", name, "up"])


def main(test):
    """Runs test(build directory) as a meson test: exit code 0, 1, or 77 with the reason on stderr."""
    if len(sys.argv) != 2:
        print("usage: %s BUILD-DIRECTORY" % sys.argv[0], file=sys.stderr)
        sys.exit(2)
    try:
        test(os.path.abspath(sys.argv[1]))
    except Skip as e:
        print("skipped: %s" % e, file=sys.stderr)
        sys.exit(SKIP)
    except Failed as e:
        print("FAILED: %s" % e, file=sys.stderr)
        sys.exit(1)
