"""Bundles return their input for any names and kinds, without pickle and without partial files."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuibench.core.model import Reference
from tuibench.core.reason import Reason
from tuibench.worker.bundle import Subset, pick, read_bundle, read_dtypes, sidecar_path, write_bundle
from tuibench.worker.execution import check_outputs

ARRAYS = [
    np.arange(6, dtype=np.float32).reshape(2, 3),
    np.array(16000, dtype=np.int64),
    np.zeros((0, 4), dtype=np.float32),
    np.array([True, False]),
    np.array([1.5, -0.0, np.inf], dtype=np.float16),
    np.array([["a", "Ünï"], ["", "\udc80"]]),
    np.array([1 + 2j], dtype=np.complex64),
    np.arange(3, dtype=np.uint8)[::-1],
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{list(a.shape)}")
def test_tensors_come_back_bit_for_bit(tmp_path: Path, array: np.ndarray[Any, Any]) -> None:
    write_bundle(tmp_path / "b.npz", [{"x": array}])
    back = read_bundle(tmp_path / "b.npz")[0]["x"]
    assert back.dtype == array.dtype and back.shape == array.shape
    assert back.tobytes() == np.ascontiguousarray(array).tobytes()


def test_every_kind_and_sample_comes_back(tmp_path: Path) -> None:
    feeds: list[dict[str, Any]] = [
        {
            "tensor": np.full(2, sample, np.int32),
            "items": [np.zeros(2), np.ones((1, 2))],
            "rows": [{"cat": 0.25, "dog": 0.75}, {"cat": 1.0, "dog": 0.0}],
            "empty": {},
            "nested": {3: np.ones(2)},
            "gone": None,
        }
        for sample in range(3)
    ]
    write_bundle(tmp_path / "b.npz", feeds)
    back = read_bundle(tmp_path / "b.npz")
    assert [feed["tensor"].tolist() for feed in back] == [[0, 0], [1, 1], [2, 2]]
    assert [item.tolist() for item in back[1]["items"]] == [[0, 0], [[1, 1]]]
    assert back[2]["rows"] == feeds[2]["rows"]
    assert back[0]["empty"] == {} and back[0]["gone"] is None
    assert back[0]["nested"][3].tolist() == [1, 1]
    assert list(back[0]) == list(feeds[0])


def test_object_strings_need_no_pickle(tmp_path: Path) -> None:
    write_bundle(tmp_path / "b.npz", [{"x": np.array(["a", "longer", b"raw\xff"], dtype=object)}])
    assert read_bundle(tmp_path / "b.npz")[0]["x"].tolist() == ["a", "longer", "raw\udcff"]
    assert read_dtypes(tmp_path / "b.npz") == {"x": "string"}


def test_raw_bits_carry_their_logical_type(tmp_path: Path) -> None:
    bits = np.array([0x3F80], dtype=np.uint16)
    write_bundle(tmp_path / "b.npz", [{"x": bits, "y": bits.view("V2")}], {"x": "bfloat16"})
    back = read_bundle(tmp_path / "b.npz")[0]
    assert back["x"].dtype == np.uint16 and back["y"].dtype == np.uint16 and back["y"][0] == 0x3F80
    assert read_dtypes(tmp_path / "b.npz")["x"] == "bfloat16"


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(st.characters(), max_size=20), unique=True, max_size=4))
def test_name_of_any_characters_survives(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    path = tmp_path_factory.mktemp("n") / "b.npz"
    write_bundle(path, [{name: np.array([i]) for i, name in enumerate(names)}])
    assert {n: int(a[0]) for n, a in read_bundle(path)[0].items()} == {n: i for i, n in enumerate(names)}
    assert all("/" not in member and member.isascii() for member in zipfile.ZipFile(path).namelist())


def test_shared_array_is_stored_once(tmp_path: Path) -> None:
    mask = np.ones(1000)
    write_bundle(tmp_path / "b.npz", [{"m": mask} for _ in range(8)])
    assert len(zipfile.ZipFile(tmp_path / "b.npz").namelist()) == 1
    assert len(read_bundle(tmp_path / "b.npz")) == 8


def test_samples_from_rows_of_one_array_are_stored_once(tmp_path: Path) -> None:
    rows = np.arange(39 * 100, dtype=np.float32).reshape(39, 100).copy()
    write_bundle(tmp_path / "b.npz", [{"x": rows[n : n + 32]} for n in range(8)])
    assert (tmp_path / "b.npz").stat().st_size < rows.nbytes + 1000
    back = read_bundle(tmp_path / "b.npz")
    assert [feed["x"].tolist() for feed in back] == [rows[n : n + 32].tolist() for n in range(8)]
    assert not np.shares_memory(back[0]["x"], back[1]["x"]) and back[1]["x"].flags.c_contiguous


def test_other_views_are_stored_by_their_values(tmp_path: Path) -> None:
    whole = np.arange(40, dtype=np.float32).reshape(10, 4).copy()
    views = [whole[:, 1:3], whole[::2], whole[3], whole[::-1], whole[2:3], whole.view(np.int32)[1:9], whole[4:4]]
    for view in views:
        write_bundle(tmp_path / "b.npz", [{"x": view}])
        back = read_bundle(tmp_path / "b.npz")[0]["x"]
        assert back.dtype == view.dtype and back.tolist() == view.tolist()
    write_bundle(tmp_path / "b.npz", [{"x": whole[9:]}])
    assert len(np.load(tmp_path / "b.npz")["s0.i0"]) == 1, "a view does not drag a large base along"


def test_row_of_one_scalar_comes_back(tmp_path: Path) -> None:
    write_bundle(tmp_path / "b.npz", [{"x": np.ascontiguousarray(np.array(7))}])
    assert read_bundle(tmp_path / "b.npz")[0]["x"].tolist() == [7]


def test_failed_write_leaves_no_file(tmp_path: Path) -> None:
    class Unwritable:
        def __array__(self, *_: object, **__: object) -> None:
            raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        write_bundle(tmp_path / "b.npz", [{"x": Unwritable()}])
    (tmp_path / "c.json").mkdir()
    with pytest.raises(OSError):
        write_bundle(tmp_path / "c.npz", [{"x": np.ones(1)}])
    assert not list(tmp_path.glob("*.part")) and not (tmp_path / "b.npz").exists()


def test_another_schema_is_refused(tmp_path: Path) -> None:
    write_bundle(tmp_path / "b.npz", [])
    sidecar_path(tmp_path / "b.npz").write_text(json.dumps({"schema": 99, "samples": []}))
    with pytest.raises(ValueError, match="schema 99"):
        read_bundle(tmp_path / "b.npz")


def test_picked_elements_are_bounded_spread_and_repeatable() -> None:
    array = np.arange(10_000)
    chosen = pick(array, 100)
    assert chosen.size == 100 and len(set(chosen.tolist())) == 100
    assert all(low * 100 <= value < (low + 1) * 100 for low, value in enumerate(chosen.tolist()))
    assert len({int(v) % 100 for v in chosen}) > 50, "always the same place in each stretch"
    assert pick(array, 100).tolist() == chosen.tolist() and pick(array[:50], 100).size == 50


def test_subset_keeps_its_shape(tmp_path: Path) -> None:
    write_bundle(tmp_path / "b.npz", [{"y": Subset(np.ones(5), (100, 100))}])
    back = read_bundle(tmp_path / "b.npz")[0]["y"]
    assert isinstance(back, Subset) and back.shape == (100, 100) and back.values.tolist() == [1] * 5


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ({"y": np.array([np.nan, np.inf], np.float32), "n": np.array([1])}, Reason("nothing_finite")),
        ({"y": np.array([np.nan, 1.0], np.float32)}, None),
        ({"n": np.array([1])}, None),
        ({"y": np.array([], np.float32)}, None),
    ],
)
def test_agreement_on_nothing_finite_has_a_reason(
    tmp_path: Path, outputs: dict[str, np.ndarray[Any, Any]], expected: Reason | None
) -> None:
    path = str(tmp_path / "reference.npz")
    write_bundle(path, [outputs])
    check = check_outputs(outputs, Reference(path, 0.0, 1e-3), "f32")
    assert (check.state, check.reason) == ("agrees", expected)
