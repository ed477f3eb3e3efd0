"""Disturbances of a measurement while it runs, read by the worker; cheap enough to read after every block."""

from __future__ import annotations

import errno
import os
import resource
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tuibench.core.cell import Noise
from tuibench.core.value import dataclass
from tuibench.host.cgroup import find_groups, read_throttling
from tuibench.host.kernel_files import CpuTimes, Tree, read_cpu_times, steal_share

_LINE_BYTES = 96
_TASKS = "proc/self/task"
_NOT_STARTED = "waiting: not started"


class ThreadWaits:
    """Run-queue delay of every thread; each reading costs one system call per thread and opens no file."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._tree = Tree(root)
        self._watched: dict[int, list[int]] = {}
        self._late = 0
        self.reason: str | None = _NOT_STARTED

    def scan(self, known: bool) -> None:
        """Watch the threads that are not watched yet.

        With `known`, the threads are older than the measurement and only their waiting from now on counts.
        Otherwise all of their waiting counts.
        """
        first = self.reason == _NOT_STARTED
        full = False
        for name in self._tree.entries(_TASKS):
            if name.isdecimal() and int(name) not in self._watched:
                full = not self._watch(int(name), known) or full
        if full:
            self.reason = "waiting: more threads than this process may have files open"
        elif first:
            self.reason = self._unfit()
        if self.reason:
            self.close()

    def waited_ns(self) -> int | None:
        """Return the nanoseconds that the watched threads waited since the last call; None if unmeasured."""
        total = self._late
        self._late = 0
        gone: list[int] = []
        for thread, entry in self._watched.items():
            try:
                now = int(os.pread(entry[0], _LINE_BYTES, 0).split(b" ", 2)[1])
            except (OSError, IndexError, ValueError):
                # The thread has ended; its waiting since the last reading is lost.
                gone.append(thread)
                continue
            total += now - entry[1]
            entry[1] = now
        for thread in gone:
            os.close(self._watched.pop(thread)[0])
        return None if self.reason else total

    def late_ns(self) -> int | None:
        """Return the earlier waiting of threads found since the last `waited_ns`; None if unmeasured."""
        late, self._late = self._late, 0
        return None if self.reason else late

    def close(self) -> None:
        """Close all descriptors."""
        for entry in self._watched.values():
            os.close(entry[0])
        self._watched.clear()

    def _watch(self, thread: int, known: bool) -> bool:
        try:
            descriptor = os.open(self._tree.at(f"{_TASKS}/{thread}/schedstat"), os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            return error.errno not in (errno.EMFILE, errno.ENFILE)
        words = _fields(descriptor)
        if len(words) < 3:
            os.close(descriptor)
            return True
        self._watched[thread] = [descriptor, int(words[1])]
        if not known:
            self._late += int(words[1])
        return True

    def _unfit(self) -> str | None:
        if not self._watched:
            return "waiting: no /proc/self/task/*/schedstat, the kernel lacks CONFIG_SCHED_INFO"
        # A kernel without this accounting prints three zeros; a thread that can read this has run at least once.
        if all(_fields(entry[0]) == [b"0", b"0", b"0"] for entry in self._watched.values()):
            return "waiting: this kernel keeps no schedstat account (CONFIG_SCHEDSTATS, or boot with delayacct)"
        return None


def _fields(descriptor: int) -> list[bytes]:
    try:
        return os.pread(descriptor, _LINE_BYTES, 0).split()
    except OSError:
        return []


DISTURBED_SHARE = 0.01
"""A block is disturbed if its threads waited for a CPU longer than this share of their runnable time."""

_CANARY = bytes(range(256)) * 128
_CANARY_ROUNDS = 64
_CANARY_REPEATS = 5
_FREQUENCY_SAMPLE = 8

Marks = tuple[int | None, int, int]
"""(waiting_ns, on_cpu_ns, involuntary switches) since the previous reading."""


@dataclass(frozen=True, slots=True)
class Slice:
    """The slow readings, taken once before and once after the blocks of an execution."""

    cpu_times: dict[int, CpuTimes]
    throttled_us: int | None
    pressure_us: dict[str, int]
    """Time in which any process of this machine waited for a CPU, memory or a disk; empty without /proc/pressure."""
    frequency_mhz: float | None
    load1: float | None


def time_canary(clock: Callable[[], int] = time.perf_counter_ns) -> int:
    """Return the nanoseconds of a fixed amount of arithmetic; shows a slower CPU even without a readable frequency."""
    best = 0
    for _ in range(_CANARY_REPEATS):
        start = clock()
        for _ in range(_CANARY_ROUNDS):
            zlib.crc32(_CANARY)
        passed = clock() - start
        best = min(best, passed) if best else passed
    return best


def read_slice(cpus: Sequence[int], root: Path = Path("/")) -> Slice:
    """Take the readings that are too slow for every block."""
    tree = Tree(root)
    throttling = read_throttling(tree, find_groups(tree))
    times = read_cpu_times(root)
    return Slice(
        {cpu: times[cpu] for cpu in cpus if cpu in times},
        throttling.us if throttling else None,
        _read_pressure(tree),
        read_frequency_mhz(tree, cpus),
        read_load1(tree),
    )


def read_load1(tree: Tree) -> float | None:
    """Return the load average of the last minute."""
    words = (tree.read("proc/loadavg") or "").split()
    return float(words[0]) if words else None


def read_frequency_mhz(tree: Tree, cpus: Iterable[int]) -> float | None:
    """Return the mean current frequency of the first few of `cpus`; None if the kernel has no cpufreq."""
    names = (f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq" for cpu in list(cpus)[:_FREQUENCY_SAMPLE])
    khz = [value for value in map(tree.number, names) if value is not None]
    return sum(khz) / len(khz) / 1000 if khz else None


class Witness:
    """Measures how an execution is disturbed: call `start`, then `mark` after every block, then `finish`.

    `crowded` means that the measured threads outnumber the CPUs. They then wait for each other, so that the CPU time of
    other processes is measured as well.
    """

    def __init__(
        self,
        cpus: Sequence[int],
        root: Path = Path("/"),
        *,
        crowded: bool = False,
        canary: Callable[[], int] = time_canary,
        cpu_ns: Callable[[], int] = time.process_time_ns,
        usage: Callable[[int], Any] = resource.getrusage,
    ) -> None:
        self._cpus = tuple(cpus)
        self._crowded = crowded
        self._root = root
        self._canary = canary
        # The process clock is exact to the nanosecond; the schedstat of a running thread is up to a tick late.
        self._cpu_ns = cpu_ns
        self._usage = usage
        self._threads = ThreadWaits(root)
        self._waiting = self._on_cpu = self._switches = 0
        self._blocks = self._disturbed = 0
        self._last_cpu = self._last_switches = 0
        self._canary_ns = self._own_before = 0
        self._before = Slice({}, None, {}, None, None)
        self._usage_before = usage(resource.RUSAGE_SELF)

    def start(self) -> None:
        """Take the slow readings and watch the threads that exist now; call it just before the first block."""
        self._canary_ns = self._canary()
        self._before = read_slice(self._cpus, self._root)
        self._own_before = self._cpu_ns()
        self._threads.scan(known=True)
        self._usage_before = self._usage(resource.RUSAGE_SELF)
        self.skip()

    def watch_new_threads(self) -> None:
        """Also watch threads started since the last scan, and count only their waiting from now on."""
        self._threads.scan(known=True)
        self.skip()

    def skip(self) -> None:
        """Discard what happened since the last reading, for work between blocks."""
        self._threads.waited_ns()
        self._last_cpu = self._cpu_ns()
        self._last_switches = self._usage(resource.RUSAGE_SELF).ru_nivcsw

    def mark(self) -> Marks:
        """End a block and return its (waiting_ns, on_cpu_ns, involuntary switches); waiting is None if unmeasured."""
        waited = self._threads.waited_ns()
        cpu = self._cpu_ns()
        switches = self._usage(resource.RUSAGE_SELF).ru_nivcsw
        on_cpu = cpu - self._last_cpu
        involuntary = switches - self._last_switches
        self._last_cpu = cpu
        self._last_switches = switches
        self._blocks += 1
        self._on_cpu += on_cpu
        self._switches += involuntary
        if waited is None:
            self._disturbed += involuntary > 0
        else:
            self._waiting += waited
            self._disturbed += waited > DISTURBED_SHARE * (waited + on_cpu)
        return waited, on_cpu, involuntary

    def finish(self) -> Noise:
        """Take the slow readings again, close the descriptors and return the sums, with threads started meanwhile."""
        usage = self._usage(resource.RUSAGE_SELF)
        self._threads.scan(known=False)
        late = self._threads.late_ns()
        after = read_slice(self._cpus, self._root)
        own = self._cpu_ns() - self._own_before
        self._threads.close()
        canary_ns = self._canary()
        others = _others_ns(self._before.cpu_times, after.cpu_times, own) if self._crowded else None
        steal = steal_share(self._before.cpu_times, after.cpu_times)
        throttled = _difference(self._before.throttled_us, after.throttled_us)
        frequencies = (self._before.frequency_mhz, after.frequency_mhz)
        return Noise(
            waiting_ns=None if late is None else self._waiting + late,
            on_cpu_ns=self._on_cpu,
            steal_share=steal,
            throttled_us=throttled,
            canary_drift=canary_ns / self._canary_ns - 1 if self._canary_ns else None,
            involuntary_switches=self._switches,
            disturbed_blocks=count_disturbed(self._disturbed, others, self._on_cpu),
            blocks=self._blocks,
            reason=self._reason(steal, throttled, after),
            minor_faults=usage.ru_minflt - self._usage_before.ru_minflt,
            major_faults=usage.ru_majflt - self._usage_before.ru_majflt,
            pressure_us={
                name: total - self._before.pressure_us[name]
                for name, total in after.pressure_us.items()
                if name in self._before.pressure_us
            },
            frequency_mhz=tuple(f for f in frequencies if f is not None),
            load1=after.load1,
            others_ns=others,
        )

    def _reason(self, steal: float | None, throttled: int | None, after: Slice) -> str | None:
        missing = [self._threads.reason] if self._threads.reason else []
        if steal is None:
            missing.append("steal: " + ("too short a time" if after.cpu_times else "no /proc/stat for these CPUs"))
        if throttled is None:
            missing.append("throttling: no CPU control group")
        if not after.pressure_us:
            missing.append("pressure: no /proc/pressure")
        if after.frequency_mhz is None:
            missing.append("frequency: no cpufreq")
        return "; ".join(missing) or None


def count_disturbed(waiting_blocks: int, others_ns: int | None, on_cpu_ns: int | None) -> int:
    """Return `waiting_blocks`, or 0 if other processes are known to have used almost no CPU time."""
    is_own = others_ns is not None and others_ns <= DISTURBED_SHARE * (on_cpu_ns or 0)
    return 0 if is_own else waiting_blocks


def _others_ns(before: dict[int, CpuTimes], after: dict[int, CpuTimes], own_ns: int) -> int | None:
    both = before.keys() & after.keys()
    if not both:
        return None
    ticks = sum(after[cpu].busy - after[cpu].steal - before[cpu].busy + before[cpu].steal for cpu in both)
    return max(0, ticks * 10**9 // os.sysconf("SC_CLK_TCK") - own_ns)


def _difference(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def _read_pressure(tree: Tree) -> dict[str, int]:
    totals: dict[str, int] = {}
    for name in ("cpu", "memory", "io"):
        first = (tree.read(f"proc/pressure/{name}") or "").partition("\n")[0]
        _, found, total = first.partition("total=")
        if found and total.isdecimal():
            totals[name] = int(total)
    return totals
