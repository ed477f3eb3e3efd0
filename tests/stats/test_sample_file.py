from __future__ import annotations

import struct
import zlib
from array import array
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.stats.samples import MOST_KEPT, read_samples, spans, write_samples


def test_sample_file_is_compressed_little_endian_32_bit(tmp_path: Path) -> None:
    path = write_samples(tmp_path / "abc-1.z", [1, 2, 2**32 - 1])
    assert path == tmp_path / "abc-1.z"
    assert zlib.decompress(path.read_bytes()) == struct.pack("<3I", 1, 2, 2**32 - 1)
    assert read_samples(path) == array("I", [1, 2, 2**32 - 1])


def test_value_over_32_bits_widens_the_file(tmp_path: Path) -> None:
    path = write_samples(tmp_path / "abc-1.z", [5, 2**32])
    assert path.name == "abc-1.z8"
    assert zlib.decompress(path.read_bytes()) == struct.pack("<2Q", 5, 2**32)
    assert list(read_samples(path)) == [5, 2**32]


@pytest.mark.parametrize("kind", [np.int64, np.uint32, np.uint64])
def test_arrays_of_any_integer_type_are_written(tmp_path: Path, kind: type) -> None:
    assert list(read_samples(write_samples(tmp_path / "a.z", np.array([7, 8], kind)))) == [7, 8]


def test_empty_sample_file_is_readable(tmp_path: Path) -> None:
    assert list(read_samples(write_samples(tmp_path / "a.z", []))) == []


def test_no_other_file_is_left_beside_the_sample_file(tmp_path: Path) -> None:
    write_samples(tmp_path / "a.z", [1])
    assert [p.name for p in tmp_path.iterdir()] == ["a.z"]
    (tmp_path / "b.z").mkdir()
    with pytest.raises(OSError):
        write_samples(tmp_path / "b.z", [1])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.z", "b.z"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.z", b"not zlib", "damaged"),
        ("a.z", zlib.compress(b"12345678")[:-5], "cut short"),
        ("a.z", zlib.compress(b"12345"), "cut short"),
        ("a.z", zlib.compress(b"1234") + b"more", "follows"),
        ("a.txt", b"", "end in"),
    ],
)
def test_damaged_sample_file_is_refused(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words):
        read_samples(path)


@given(st.integers(min_value=0, max_value=10**7))
def test_spans_are_disjoint_within_the_total_and_bounded(total: int) -> None:
    kept = spans(total)
    assert sum(stop - start for start, stop in kept) == min(total, MOST_KEPT)
    assert all(0 <= start < stop <= total for start, stop in kept)
    assert all(a[1] <= b[0] for a, b in pairwise(kept))
    if kept:
        assert (kept[0][0], kept[-1][1]) == (0, total)
