from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.host.machine import Machine
from tuibench.core.units import cpu_ranges
from tuibench.host.kernel_files import Tree, parse_cpus, parse_pairs


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0-3,8", (0, 1, 2, 3, 8)),
        ("5", (5,)),
        ("", ()),
        (None, ()),
        ("7,1-2", (1, 2, 7)),
        ("junk,3", (3,)),
        ("0-99999999999", ()),
    ],
)
def test_cpu_list_is_parsed_without_junk(text: str | None, cpus: tuple[int, ...]) -> None:
    assert parse_cpus(text) == cpus


@given(st.sets(st.integers(0, 4000)))
def test_formatted_cpu_list_parses_back_equal(cpus: set[int]) -> None:
    assert parse_cpus(cpu_ranges(cpus)) == tuple(sorted(cpus))


def test_cpu_ranges_are_short() -> None:
    assert cpu_ranges([9, 0, 1, 2, 4, 5]) == "0-2,4-5,9"


def test_unreadable_file_is_none(machine: Machine) -> None:
    machine.write("proc/a", " 42 ")
    machine.write("proc/b", "max")
    tree = Tree(machine.root)
    assert tree.read("proc/a") == "42"
    assert tree.number("/proc/a") == 42
    assert tree.number("proc/b") is None
    assert tree.read("proc/none") is None
    assert tree.read("proc") is None
    assert tree.entries("proc/none") == []


def test_undecodable_bytes_do_not_raise(machine: Machine) -> None:
    (machine.root / "x").write_bytes(b"\xff7")
    assert Tree(machine.root).read("x") == "\ufffd7"


def test_long_file_is_read_whole_or_up_to_the_limit(machine: Machine) -> None:
    machine.write("x", "a" * 200_000)
    tree = Tree(machine.root)
    assert len(tree.read("x") or "") == 200_000
    assert len(tree.read("x", 1000) or "") == 1000


def test_reading_leaves_no_descriptor_open(machine: Machine) -> None:
    machine.write("x", "a")
    tree = Tree(machine.root)
    before = len(os.listdir("/proc/self/fd"))
    for path in ("x", "none", "."):
        tree.read(path)
    assert len(os.listdir("/proc/self/fd")) == before


def test_pairs_convert_kilobytes_to_bytes() -> None:
    assert parse_pairs("MemTotal:  10 kB\nnr_throttled 3\nbad line here\nlonely") == {
        "MemTotal": 10240,
        "nr_throttled": 3,
    }
