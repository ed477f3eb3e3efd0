"""--inputs: what fits is fed as it is, what does not is refused with both sides named."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuibench.core.errors import UsageError
from tuibench.core.model import Port
from tuibench.models.feedfile import FileInputs, read_feeds

X = Port("x", "tensor", "float32", ("b", 4))
IDS = Port("a/0", "tensor", "int64", ("b",))


def load(tmp_path: Path, ports: tuple[Port, ...], arrays: dict[str, Any]) -> FileInputs:
    path = tmp_path / "f.npz"
    np.savez(path, **arrays)
    return read_feeds(str(path), ports, 10**9)


def test_arrays_are_fed_as_they_are(tmp_path: Path) -> None:
    array = np.arange(8, dtype=np.float32).reshape(2, 4)
    found = load(tmp_path, (X, IDS), {"x": array, "a/0": np.arange(2)})
    assert found.shapes == {"x": (2, 4), "a/0": (2,)}
    assert len(found.samples) == 1 and found.samples[0]["x"].tobytes() == array.tobytes()


def test_a_leading_axis_rotates(tmp_path: Path) -> None:
    array = np.arange(24, dtype=np.float32).reshape(3, 2, 4)
    found = load(tmp_path, (X, IDS), {"x": array, "a/0": np.arange(2)})
    assert len(found.samples) == 3 and found.shapes["x"] == (2, 4)
    assert found.samples[1]["x"].tolist() == array[1].tolist()
    assert found.samples[2]["a/0"] is found.samples[0]["a/0"]


def test_sequences_optionals_and_strings(tmp_path: Path) -> None:
    ports = (
        Port("s", "sequence", "float32", None, "tensor"),
        Port("o", "optional", "float32", (1,), "tensor"),
        Port("t", "tensor", "string", ("b",)),
        Port("h", "tensor", "bfloat16", ("b",)),
    )
    arrays = {
        "s/0": np.ones(2, np.float32),
        "s/1": np.ones(3, np.float32),
        "t": np.array([b"a", b"b"]),
        "h": np.ones(2, np.uint16),
    }
    feed = load(tmp_path, ports, arrays).samples[0]
    assert [len(item) for item in feed["s"]] == [2, 3] and feed["o"] is None
    assert feed["t"].tolist() == ["a", "b"] and feed["t"].dtype.kind == "U"


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"x": np.ones((2, 5), np.float32)}, ("[2, 5]", "[b, 4]")),
        ({"x": np.ones(4, np.float32)}, ("[4]", "[b, 4]")),
        ({"x": np.ones((2, 4))}, ("float64", "float32")),
        ({}, ("no array 'x'",)),
        ({"x": np.ones((2, 4), np.float32), "z": np.ones(1)}, ("'z' is no input",)),
        ({"x": np.array([[None] * 4])}, ("'x' cannot be read",)),
        ({"x": np.empty((0, 2, 4), np.float32)}, ("[0, 2, 4]",)),
    ],
)
def test_what_does_not_fit_says_both_sides(tmp_path: Path, arrays: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, (X,), arrays)
    assert all(word in caught.value.message for word in words), caught.value.message
    assert len(caught.value.message.splitlines()) == 1


def test_different_counts_of_samples(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"different counts of samples: \[2, 3\]"):
        load(tmp_path, (X, IDS), {"x": np.ones((3, 1, 4), np.float32), "a/0": np.ones((2, 1), np.int64)})


def test_what_is_no_archive_is_refused_unopened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "text").write_text("hello")
    (tmp_path / "cut").write_bytes(b"PK\x03\x04")
    for name, words in (("fifo", "a FIFO"), ("text", "not a readable .npz"), ("cut", ".npz"), ("none", "not exist")):
        with pytest.raises(UsageError, match=words):
            read_feeds(str(tmp_path / name), (X,), 10**9)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "f.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", bytes(10**7))
    with pytest.raises(UsageError, match=r"unpacks to 10\.0 MB"):
        read_feeds(str(tmp_path / "f.npz"), (X,), 10**6)
    with zipfile.ZipFile(tmp_path / "g.npz", "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + bytes(20))
    with pytest.raises(UsageError, match="'x' cannot be read"):
        read_feeds(str(tmp_path / "g.npz"), (X,), 10**6)
