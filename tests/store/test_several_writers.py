from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.store.build import make_id, make_result, make_store
from tuibench.core.stored import Metadata


def start(root: Path, first: int, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.writer", str(root), str(first), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("writers", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_several_writer_processes_lose_nothing(tmp_path: Path, writers: int) -> None:
    store = make_store(tmp_path)
    processes = [start(tmp_path, 1000 * place, 100) for place in range(writers)]
    said = [process.communicate(timeout=60)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * writers
    expected = {make_id(1000 * place + number) for place in range(writers) for number in range(100)}
    assert {one for lines in said for one in lines} == expected
    assert {row.id for row in store.benchmarks.rows()} == expected
    assert store.check(read_data=True).problems == ()


def test_killed_writer_leaves_acknowledged_rows_and_no_lock(tmp_path: Path) -> None:
    process = start(tmp_path, 0, 100_000)
    assert process.stdout is not None
    said = [process.stdout.readline().strip() for _ in range(20)]
    process.kill()
    said += process.stdout.read().split()
    process.wait()
    process.stdout.close()
    store = make_store(tmp_path, clock=time.time)
    listed = {row.id for row in store.benchmarks.rows()}
    assert {one for one in said if len(one) == 26} <= listed
    store.benchmarks.add(make_result(200_000), Metadata())
    store.check(repair=True)
    assert store.check(read_data=True).problems == ()
