from __future__ import annotations

import pytest

from tests.host.machine import Machine
from tuibench.host.kernel_files import busy_shares, load_words, read_cpu_times, steal_share


def test_busy_and_steal_shares_come_from_two_readings(machine: Machine) -> None:
    machine.stat({0: (10, 0, 5, 100, 5, 0, 0, 0, 3, 0), 3: (0, 0, 0, 50, 0, 0, 0, 2, 0, 0)})
    before = read_cpu_times(machine.root)
    machine.stat({0: (16, 1, 6, 110, 7, 0, 0, 0, 9, 0), 3: (0, 0, 0, 50, 0, 0, 0, 12, 0, 0)})
    after = read_cpu_times(machine.root)
    assert busy_shares(before, after) == {0: pytest.approx(8 / 20), 3: 1.0}
    assert steal_share(before, after, [3]) == 1.0
    assert steal_share(before, after, [0]) == 0.0
    assert steal_share(before, after) == pytest.approx(10 / 30)


def test_new_cpu_has_no_share_and_stopped_cpu_is_idle(machine: Machine) -> None:
    machine.stat({0: (1, 1, 1, 1)})
    before = read_cpu_times(machine.root)
    machine.stat({0: (1, 1, 1, 1), 1: (5, 5, 5, 5)})
    after = read_cpu_times(machine.root)
    assert busy_shares(before, after) == {0: 0.0}
    assert steal_share(before, after) is None


def test_counters_that_run_backwards_stay_within_bounds(machine: Machine) -> None:
    # Idle time can shrink on kernels that correct it.
    machine.stat({0: (0, 0, 0, 100, 50, 0, 0, 9, 0, 0)})
    before = read_cpu_times(machine.root)
    machine.stat({0: (10, 0, 0, 99, 48, 0, 0, 8, 0, 0)})
    after = read_cpu_times(machine.root)
    assert busy_shares(before, after) == {0: 1.0}
    assert steal_share(before, after) == 0.0


def test_machine_without_stat_has_no_cpu_times(machine: Machine) -> None:
    assert read_cpu_times(machine.root) == {}


def test_load_words_say_busy_or_quiet(machine: Machine) -> None:
    machine.stat(dict.fromkeys(range(4), (0, 0, 0, 100)))
    before = read_cpu_times(machine.root)
    machine.stat({0: (90, 0, 0, 110), 1: (70, 0, 0, 130), 2: (4, 0, 0, 196), 3: (10, 0, 0, 190)})
    after = read_cpu_times(machine.root)
    assert load_words(before, after, range(4)) == "busy (1.7 of 4 CPUs)"
    assert load_words(before, after, range(4), own=0.9) == "busy (0.8 of 4 CPUs)"
    assert load_words(before, after, [2, 3]) == load_words(before, after, range(4), own=1.3) == "quiet"
    assert load_words({}, {}, range(4)) == load_words(before, after, [9]) == ""
