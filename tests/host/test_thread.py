from __future__ import annotations

import errno
import os

import pytest

from tests.host.machine import Machine
from tuibench.host.noise import ThreadWaits


def end_thread(machine: Machine, thread: int) -> None:
    """End a thread as its open descriptor sees it: reads of its schedstat fail."""
    (machine.root / f"proc/self/task/{thread}/schedstat").write_text("")
    (machine.root / f"proc/self/task/{thread}/schedstat").unlink()


def test_waiting_counts_from_the_scan_over_all_threads(machine: Machine) -> None:
    machine.schedstat(10, 1000, 500)
    machine.schedstat(11, 1000, 70)
    waits = ThreadWaits(machine.root)
    waits.scan(known=True)
    machine.schedstat(10, 1000, 800)
    machine.schedstat(11, 1000, 75)
    assert waits.waited_ns() == 305
    assert waits.waited_ns() == 0
    waits.close()


def test_thread_started_later_counts_whole(machine: Machine) -> None:
    machine.schedstat(10, 1000, 500)
    waits = ThreadWaits(machine.root)
    waits.scan(known=True)
    machine.schedstat(12, 9, 40)
    assert waits.waited_ns() == 0
    waits.scan(known=False)
    machine.schedstat(12, 9, 45)
    assert waits.waited_ns() == 45
    machine.schedstat(13, 9, 3)
    waits.scan(known=False)
    assert waits.late_ns() == 3
    assert waits.waited_ns() == 0
    waits.close()


def test_ended_thread_is_closed(machine: Machine) -> None:
    machine.schedstat(10, 1000, 500)
    machine.schedstat(11, 1000, 500)
    waits = ThreadWaits(machine.root)
    before = len(os.listdir("/proc/self/fd"))
    waits.scan(known=True)
    end_thread(machine, 11)
    machine.schedstat(10, 1000, 501)
    assert waits.waited_ns() == 1
    assert len(os.listdir("/proc/self/fd")) == before + 1
    waits.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_kernel_without_schedstat_gives_a_reason(machine: Machine) -> None:
    (machine.root / "proc/self/task/10").mkdir(parents=True)
    waits = ThreadWaits(machine.root)
    waits.scan(known=True)
    assert waits.waited_ns() is None
    assert "CONFIG_SCHED_INFO" in (waits.reason or "")


def test_kernel_that_prints_zeros_gives_a_reason(machine: Machine) -> None:
    machine.write("proc/self/task/10/schedstat", "0 0 0")
    waits = ThreadWaits(machine.root)
    waits.scan(known=True)
    assert waits.waited_ns() is None
    assert "delayacct" in (waits.reason or "")


def test_lack_of_descriptors_gives_a_reason_and_no_partial_sum(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.schedstat(10, 1000, 500)
    machine.schedstat(11, 1000, 500)
    real = os.open

    def scarce(path: str, flags: int) -> int:
        if "/11/" in path:
            raise OSError(errno.EMFILE, "Too many open files")
        return real(path, flags)

    monkeypatch.setattr(os, "open", scarce)
    waits = ThreadWaits(machine.root)
    waits.scan(known=True)
    assert waits.waited_ns() is None
    assert waits.reason and waits.waited_ns() is None


def test_reading_opens_no_file(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.schedstat(10, 1000, 500)
    waits = ThreadWaits(machine.root)
    waits.scan(known=True)
    monkeypatch.setattr(os, "open", None)
    assert waits.waited_ns() == 0
    waits.close()
