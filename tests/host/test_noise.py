from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.host.machine import Machine, build_frequency, build_system
from tuibench.core.cell import Noise
from tuibench.core.record import from_plain, to_plain
from tuibench.host.noise import Witness, time_canary

BLOCKS, BLOCK_NS = 6, 25_000_000
"""Several turns of the scheduler each."""


@dataclass
class Script:
    """The process's own readings, set by the test."""

    cpu_ns: int = 0
    ru_nivcsw: int = 0
    ru_minflt: int = 0
    ru_majflt: int = 0

    def witness(self, machine: Machine, canaries: Iterator[int] | None = None, crowded: bool = False) -> Witness:
        ticks = canaries or iter((100, 100))
        return Witness(
            (0, 1),
            machine.root,
            crowded=crowded,
            canary=lambda: next(ticks),
            cpu_ns=lambda: self.cpu_ns,
            usage=lambda _: self.copy(),
        )

    def copy(self) -> Script:
        return Script(self.cpu_ns, self.ru_nivcsw, self.ru_minflt, self.ru_majflt)


@pytest.fixture
def host(machine: Machine) -> Machine:
    """A machine with every source readable."""
    build_system(machine)
    build_frequency(machine, (0, 1), "performance", 2_000_000)
    machine.write("proc/self/cgroup", "0::/")
    machine.mount("/ /sys/fs/cgroup cgroup2 rw")
    machine.write("sys/fs/cgroup/cpu.stat", "nr_throttled 1\nthrottled_usec 50")
    machine.stat(dict.fromkeys(range(3), (10, 0, 0, 90, 0, 0, 0, 0, 0, 0)))
    machine.schedstat(10, 1000, 1000)
    return machine


def test_marks_are_differences_and_the_total_is_their_sum(host: Machine) -> None:
    script = Script(cpu_ns=5000, ru_nivcsw=7)
    witness = script.witness(host)
    witness.start()
    script.cpu_ns, script.ru_nivcsw = 15000, 9
    host.schedstat(10, 1, 1300)
    assert witness.mark() == (300, 10000, 2)
    script.cpu_ns = 16000
    assert witness.mark() == (0, 1000, 0)
    host.stat(dict.fromkeys(range(3), (20, 0, 0, 90, 0, 0, 0, 0, 0, 0)))
    noise = witness.finish()
    assert (noise.waiting_ns, noise.on_cpu_ns, noise.involuntary_switches) == (300, 11000, 2)
    assert (noise.blocks, noise.disturbed_blocks) == (2, 1)
    assert noise.reason is None


def test_block_with_over_one_percent_waiting_is_disturbed(host: Machine) -> None:
    script = Script()
    witness = script.witness(host)
    witness.start()
    script.cpu_ns, waited = 990, 1010
    host.schedstat(10, 1, waited)
    witness.mark()
    script.cpu_ns += 980
    host.schedstat(10, 1, waited + 20)
    witness.mark()
    assert witness.finish().disturbed_blocks == 1


@pytest.mark.parametrize(("own_ns", "others_ns", "disturbed"), [(80_000_000, 0, 0), (30_000_000, 40_000_000, 1)])
def test_time_of_other_processes_is_read_where_own_threads_wait_for_each_other(
    host: Machine, own_ns: int, others_ns: int, disturbed: int
) -> None:
    script = Script()
    witness = script.witness(host, crowded=True)
    witness.start()
    script.cpu_ns = own_ns
    host.schedstat(10, 1, 60_000_000)
    witness.mark()
    ticks = 7 * os.sysconf("SC_CLK_TCK") // 100
    host.stat({0: (10 + ticks - 2, 0, 0, 90, 0, 0, 0, 25), 1: (12, 0, 0, 90, 0, 0, 0, 0)})
    noise = witness.finish()
    assert (noise.others_ns, noise.disturbed_blocks) == (others_ns, disturbed)


def test_work_between_blocks_can_be_skipped(host: Machine) -> None:
    script = Script()
    witness = script.witness(host)
    witness.start()
    script.cpu_ns, script.ru_nivcsw = 500, 50
    host.schedstat(10, 1, 9000)
    witness.skip()
    script.cpu_ns = 600
    assert witness.mark() == (0, 100, 0)
    noise = witness.finish()
    assert (noise.waiting_ns, noise.on_cpu_ns, noise.involuntary_switches) == (0, 100, 0)


def test_threads_started_during_a_block_count_at_the_end(host: Machine) -> None:
    witness = Script().witness(host)
    witness.start()
    host.schedstat(11, 1, 250)
    assert witness.mark()[0] == 0
    assert witness.finish().waiting_ns == 250


def test_threads_met_before_a_block_count_from_then_on(host: Machine) -> None:
    witness = Script().witness(host)
    witness.start()
    host.schedstat(11, 1, 250)
    witness.watch_new_threads()
    host.schedstat(11, 1, 260)
    assert witness.mark()[0] == 10
    assert witness.finish().waiting_ns == 10


def test_slow_readings_are_differences_over_own_cpus(host: Machine) -> None:
    script = Script(ru_minflt=100, ru_majflt=1)
    witness = script.witness(host, iter((1000, 1030)))
    witness.start()
    host.stat(
        {0: (60, 0, 0, 130, 0, 0, 0, 10, 0, 0), 1: (60, 0, 0, 140, 0, 0, 0, 0, 0, 0), 2: (10, 0, 0, 90, 0, 0, 0, 99)}
    )
    host.write("sys/fs/cgroup/cpu.stat", "nr_throttled 3\nthrottled_usec 450")
    host.write("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1800\nfull total=7")
    host.write("proc/loadavg", "1.75 0 0 1/1 1")
    build_frequency(host, (0, 1), "performance", 1_900_000)
    script.ru_minflt, script.ru_majflt = 140, 3
    noise = witness.finish()
    assert noise.steal_share == pytest.approx(10 / 200)
    assert noise.throttled_us == 400
    assert noise.canary_drift == pytest.approx(0.03)
    assert noise.pressure_us == {"cpu": 800, "memory": 0, "io": 0}
    assert noise.frequency_mhz == (2000.0, 1900.0)
    assert noise.load1 == 1.75
    assert (noise.minor_faults, noise.major_faults) == (40, 2)


def test_missing_source_is_none_with_a_reason(machine: Machine) -> None:
    script = Script()
    witness = script.witness(machine)
    witness.start()
    script.cpu_ns, script.ru_nivcsw = 100, 1
    assert witness.mark() == (None, 100, 1)
    noise = witness.finish()
    assert (noise.waiting_ns, noise.steal_share, noise.throttled_us, noise.load1) == (None, None, None, None)
    assert (noise.pressure_us, noise.frequency_mhz) == ({}, ())
    assert noise.on_cpu_ns == 100
    assert noise.disturbed_blocks == 1
    for source in ("waiting", "steal", "throttling", "pressure", "frequency"):
        assert f"{source}: " in (noise.reason or "")


def test_interval_without_a_tick_has_no_steal_share(host: Machine) -> None:
    witness = Script().witness(host)
    witness.start()
    noise = witness.finish()
    assert noise.steal_share is None
    assert (noise.reason or "").startswith("steal:")


def test_noise_survives_a_json_round_trip(host: Machine) -> None:
    witness = Script().witness(host)
    witness.start()
    noise = witness.finish()
    assert from_plain(Noise, to_plain(noise)) == noise


def test_canary_is_the_least_of_five_equal_runs() -> None:
    stamps = iter((0, 50, 100, 140, 200, 230, 300, 390, 400, 460))
    assert time_canary(lambda: next(stamps)) == 30
    assert next(stamps, None) is None


def test_busy_thread_shows_in_the_process_clock() -> None:
    witness = Witness((0,))
    witness.start()
    worker = threading.Thread(target=lambda: [time_canary() for _ in range(3)])
    worker.start()
    worker.join()
    _, on_cpu, _ = witness.mark()
    noise = witness.finish()
    assert on_cpu > 0
    assert noise.on_cpu_ns == on_cpu


def test_process_sharing_a_cpu_with_a_hog_is_disturbed_in_every_block() -> None:
    mine = os.sched_getaffinity(0)
    cpu = min(mine)
    program = f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nprint(flush=True)\nwhile True: pass"
    hog = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    try:
        assert hog.stdout is not None and hog.stdout.readline()
        os.sched_setaffinity(0, {cpu})
        witness = Witness((cpu,))
        witness.start()
        for _ in range(BLOCKS):
            end = time.thread_time_ns() + BLOCK_NS
            while time.thread_time_ns() < end:
                continue
            witness.mark()
        noise = witness.finish()
    finally:
        os.sched_setaffinity(0, mine)
        hog.kill()
        hog.communicate()
    assert (noise.blocks, noise.disturbed_blocks) == (BLOCKS, BLOCKS)
