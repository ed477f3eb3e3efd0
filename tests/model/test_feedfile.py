"""--inputs: matching arrays are fed unchanged, others are refused with both shapes named."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.lib import format as npy

from tests.refusal import refused, require_shown
from tuibench.core.errors import UsageError
from tuibench.core.model import Port
from tuibench.core.reason import Reason, because
from tuibench.model.feed import FileInputs, odd_notes, read_feeds
from tuibench.present.reason import reason_hint, reason_words

X = Port("x", "tensor", "float32", ("b", 4))
IDS = Port("a/0", "tensor", "int64", ("b",))


def load(tmp_path: Path, ports: tuple[Port, ...], arrays: dict[str, Any]) -> FileInputs:
    path = tmp_path / "f.npz"
    np.savez(path, **arrays)
    return read_feeds(str(path), ports, 10**9)


def oddities(tmp_path: Path, ports: tuple[Port, ...], arrays: dict[str, Any]) -> tuple[str, ...]:
    return tuple(odd_notes(ports, load(tmp_path, ports, arrays).samples))


def test_matching_arrays_are_fed_unchanged(tmp_path: Path) -> None:
    array = np.arange(8, dtype=np.float32).reshape(2, 4)
    found = load(tmp_path, (X, IDS), {"x": array, "a/0": np.arange(2)})
    assert found.shapes == {"x": (2, 4), "a/0": (2,)}
    assert len(found.samples) == 1 and found.samples[0]["x"].tobytes() == array.tobytes()


def test_extra_leading_axis_rotates_samples(tmp_path: Path) -> None:
    array = np.arange(24, dtype=np.float32).reshape(3, 2, 4)
    found = load(tmp_path, (X, IDS), {"x": array, "a/0": np.arange(2)})
    assert len(found.samples) == 3 and found.shapes["x"] == (2, 4)
    assert found.samples[1]["x"].tolist() == array[1].tolist()
    assert found.samples[2]["a/0"] is found.samples[0]["a/0"]


def test_leading_axis_of_scalars_gives_scalar_samples(tmp_path: Path) -> None:
    trips = Port("trips", "tensor", "int64", ())
    found = load(tmp_path, (trips,), {"trips": np.array([5, 6, 7])})
    assert [sample["trips"].shape for sample in found.samples] == [()] * 3 and found.shapes["trips"] == ()
    assert [int(sample["trips"]) for sample in found.samples] == [5, 6, 7]


def test_sequences_optionals_and_strings_are_loaded(tmp_path: Path) -> None:
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
    ("arrays", "code", "fields"),
    [
        ({"x": np.ones((2, 5), np.float32)}, "array_of_other_shape", {"given": [2, 5], "shape": ["b", 4]}),
        ({"x": np.ones(4, np.float32)}, "array_of_other_shape", {"given": [4], "shape": ["b", 4]}),
        ({"x": np.ones((2, 4))}, "array_of_other_type", {"given": "float64", "dtype": "float32"}),
        ({}, "array_missing", {"name": "x"}),
        ({"x": np.ones((2, 4), np.float32), "z": np.ones(1)}, "array_unknown", {"name": "z"}),
        ({"x": np.array([[None] * 4])}, "array_of_objects", {"name": "x"}),
        ({"x": np.empty((0, 2, 4), np.float32)}, "array_of_other_shape", {"given": [0, 2, 4]}),
    ],
)
def test_mismatched_array_is_refused_naming_both_sides(
    tmp_path: Path, arrays: dict[str, Any], code: str, fields: dict[str, Any]
) -> None:
    with refused(UsageError, code, **fields) as caught:
        load(tmp_path, (X,), arrays)
    require_shown(caught.value.reason)


@pytest.mark.parametrize(
    ("odd", "note"),
    [
        ([], ()),
        ([np.nan], ("input 'x' has 1 value that is NaN or infinite",)),
        ([np.nan, np.inf, -np.inf], ("input 'x' has 3 values that are NaN or infinite",)),
    ],
)
def test_nan_and_infinite_values_are_noted(tmp_path: Path, odd: list[float], note: tuple[str, ...]) -> None:
    array = np.ones((2, 2, 4), np.float32)
    array[1, 1, : len(odd)] = odd
    assert oddities(tmp_path, (X, IDS), {"x": array, "a/0": np.arange(2)}) == note


def test_nan_is_found_in_sequences_and_not_sought_in_strings(tmp_path: Path) -> None:
    ports = (
        Port("s\x1b", "sequence", "float32", None, "tensor"),
        Port("o", "optional", "float32", (1,), "tensor"),
        Port("t", "tensor", "string", ("b",)),
    )
    arrays = {"s\x1b/0": np.ones(2, np.float32), "s\x1b/1": np.full(3, np.nan, np.float32), "t": np.array(["nan"])}
    assert [note.split()[1:4:2] for note in oddities(tmp_path, ports, arrays)] == [["'s\\e'", "3"]]


def test_wrong_shape_error_explains_the_samples_axis(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, (Port("x", "tensor", "float32", (1, 3), "x"),), {"x": np.ones((5, 2, 7), np.float32)})
    assert reason_hint(caught.value.reason).startswith("[samples, 3]")
    with pytest.raises(UsageError) as caught:
        load(tmp_path, (X,), {"x": np.ones((5, 7), np.float32)})
    assert reason_hint(caught.value.reason).startswith("[samples, b, 4]")


def test_different_counts_of_samples_are_refused(tmp_path: Path) -> None:
    with refused(UsageError, "sample_counts_differ", counts=[2, 3]):
        load(tmp_path, (X, IDS), {"x": np.ones((3, 1, 4), np.float32), "a/0": np.ones((2, 1), np.int64)})


def test_file_that_is_no_archive_is_refused_unopened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "text").write_text("hello")
    (tmp_path / "cut").write_bytes(b"PK\x03\x04")
    place = {"fifo": "path_not_regular", "none": "path_missing"}
    for name, code in {"text": "not_npz", "cut": "not_npz", **place}.items():
        with refused(UsageError, code) as caught:
            read_feeds(str(tmp_path / name), (X,), 10**9)
        if name in place:
            assert caught.value.reason.fields["what"] == because("inputs_file", path=str(tmp_path / name))
    with refused(UsageError, "path_not_regular", extension="npz"):
        read_feeds(str(tmp_path / "fifo"), (X,), 10**9)


def test_archive_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "f.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", bytes(10**7))
    with refused(UsageError, "npz_over_memory", bytes=10**7, free_bytes=10**6):
        read_feeds(str(tmp_path / "f.npz"), (X,), 10**6)
    with zipfile.ZipFile(tmp_path / "g.npz", "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + bytes(20))
    with refused(UsageError, "array_damaged", name="x"):
        read_feeds(str(tmp_path / "g.npz"), (X,), 10**6)


def npy_bytes(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    text = header.encode("latin1").ljust(100) + b"\n"
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text + data


def refusal(path: Path, content: bytes | None = None, name: str = "x.npy", **options: Any) -> Reason:
    """Return the error for an archive with one member."""
    if content is not None:
        with zipfile.ZipFile(path, "w", **options) as archive:
            archive.writestr(name, content)
    with pytest.raises(UsageError) as caught:
        read_feeds(str(path), (X,), 10**9)
    return require_shown(caught.value.reason)


GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4"), "array_damaged"),
        (npy_bytes("{'descr': '<f4', 'shape': (2, 4)}"), "array_damaged"),
        (npy_bytes("{'descr': '<q9', 'fortran_order': False, 'shape': (2, 4)}"), "array_damaged"),
        (npy_bytes("import os"), "array_damaged"),
        (npy_bytes("(" * 90), "array_damaged"),
        (npy_bytes(GOOD, bytes(31)), "array_incomplete"),
        (npy_bytes(GOOD, bytes(32), b"\x03\x00"), "array_of_other_format"),
        (npy_bytes(GOOD.replace("(2, 4)", "(-2, 4)"), bytes(32)), "array_incomplete"),
        (npy_bytes(GOOD.replace("<f4", "|O"), bytes(64)), "array_of_objects"),
        (b"hello", "array_damaged"),
        (b"", "array_damaged"),
    ],
)
def test_damaged_array_is_named_in_one_line(tmp_path: Path, content: bytes, code: str) -> None:
    found = refusal(tmp_path / "f.npz", content)
    assert (found.code, found.fields["name"]) == (code, "x")


def test_incomplete_array_is_reported_with_its_header(tmp_path: Path) -> None:
    found = refusal(tmp_path / "f.npz", npy_bytes(GOOD, bytes(31)))
    assert found.fields == {
        "path": str(tmp_path / "f.npz"),
        "name": "x",
        "shape": [2, 4],
        "dtype": "float32",
        "bytes": 31,
    }


@pytest.mark.parametrize("shape", ["(4000000000000, 4)", "(0, 4000000000000, 4000000000000)"])
def test_header_larger_than_its_file_is_refused_unread(tmp_path: Path, shape: str) -> None:
    found = refusal(tmp_path / "f.npz", npy_bytes(GOOD.replace("(2, 4)", shape)))
    assert found.fields["name"] == "x"
    if shape[1] == "4":
        assert (found.code, found.fields["shape"]) == ("array_incomplete", [4000000000000, 4])


def test_array_larger_than_memory_is_reported_with_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(npy, "read_array", fail)
    found = refusal(tmp_path / "f.npz", npy_bytes(GOOD, bytes(32)))
    assert (found.code, found.fields["bytes"]) == ("array_over_memory", 143)


def test_encrypted_or_recompressed_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.npz"
    refusal(path, npy_bytes("{}"))
    whole = bytearray(path.read_bytes())
    for at in (6, whole.index(b"PK\x01\x02") + 8):
        whole[at] |= 1
    path.write_bytes(whole)
    assert refusal(path).code == "array_encrypted"
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("x.npy", npy_bytes(GOOD, os.urandom(32)))
        damaged = bytearray(path.read_bytes())
        damaged[40:120] = bytes(80)
        path.write_bytes(damaged)
        assert refusal(path).code == "array_damaged"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(data=st.data())
def test_archive_with_any_damage_gives_inputs_or_a_refusal(data: st.DataObject, tmp_path: Path) -> None:
    path = tmp_path / "f.npz"
    save = data.draw(st.sampled_from((np.savez, np.savez_compressed)))
    save(path, x=np.zeros((2, 4), np.float32))
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(whole[: data.draw(st.integers(1, len(whole)))] if data.draw(st.booleans()) else whole)
    try:
        found = read_feeds(str(path), (X,), 10**9)
    except UsageError as error:
        message = reason_words(error.reason)
        assert len(message) < 400 and message.isprintable()
    else:
        assert found.shapes["x"][-1] == 4


def test_arrays_of_the_other_byte_order_are_converted(tmp_path: Path) -> None:
    half = Port("h", "tensor", "bfloat16", ("b",))
    text = Port("t", "tensor", "string", ("b",))
    values = np.arange(8, dtype=">f4").reshape(2, 4)
    arrays = {"x": values, "h": np.array([0x3F80], ">u2"), "t": np.array(["a", "µ"], ">U1")}
    feed = load(tmp_path, (X, half, text), arrays).samples[0]
    assert feed["x"].dtype == np.float32 and feed["x"].dtype.isnative and feed["x"].tolist() == values.tolist()
    assert feed["h"].dtype.isnative and feed["h"].tolist() == [0x3F80] and feed["t"].tolist() == ["a", "µ"]
    with refused(UsageError, "array_of_other_type", given="float64", dtype="float32"):
        load(tmp_path, (X,), {"x": np.ones((2, 4), ">f8")})
