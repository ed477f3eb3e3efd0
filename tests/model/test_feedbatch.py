"""Data with items on the batch axis: samples if a batch is requested, else one batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.build import make_spec
from tuibench.core.model import Port
from tuibench.core.roles import Layout
from tuibench.core.spec import LOSS, PERFORMANCE, BenchmarkSpec, ProfileSpec
from tuibench.model.feed import FileInputs, read_inputs

IDS = Port("ids", "tensor", "int64", ("batch", "seq"))
MASK = Port("mask", "tensor", "int64", ("batch", "seq"))
SCALE = Port("scale", "tensor", "float32", ())


def load(
    tmp_path: Path,
    ports: tuple[Port, ...],
    spec: BenchmarkSpec,
    arrays: Mapping[str, Any],
    batch_dim: str | None = None,
) -> FileInputs:
    path = tmp_path / "data.npz"
    np.savez(path, **arrays)
    return read_inputs(spec, str(path), Layout(ports, batch_dim), 10**9)


def of_batch(*batches: int) -> BenchmarkSpec:
    return make_spec(Path("m.onnx"), batches=batches)


def profile(kind: str, *batches: int, samples: int = 99) -> BenchmarkSpec:
    return replace(of_batch(*batches), profile=ProfileSpec(kind, samples=samples))


def rows(found: FileInputs, name: str) -> list[Any]:
    return [sample[name].tolist() for sample in found.samples]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(batch=st.integers(1, 4), count=st.integers(2, 5))
def test_items_become_samples_of_the_requested_batch(tmp_path: Path, batch: int, count: int) -> None:
    data = np.arange(batch * count * 3).reshape(batch * count, 3)
    arrays = {"ids": data, "mask": -data, "scale": np.float32(7)}
    found = load(tmp_path, (IDS, MASK, SCALE), of_batch(batch), arrays)
    assert len(found.samples) == count
    assert np.concatenate([sample["ids"] for sample in found.samples]).tolist() == data.tolist()
    assert all((sample["mask"] == -sample["ids"]).all() and sample["scale"] == 7 for sample in found.samples)
    assert found.shapes == {"ids": (batch, 3), "mask": (batch, 3), "scale": ()}
    assert len(found.notes) == 1 and {str(count), str(batch)} <= set(found.notes[0].split())


@pytest.mark.parametrize(
    "spec",
    [of_batch(), of_batch(4), of_batch(3), of_batch(8), of_batch(1, 2), profile(PERFORMANCE)],
    ids=["none", "all", "uneven", "more", "several", "performance"],
)
def test_data_stay_one_batch_without_a_request_or_if_not_divisible(tmp_path: Path, spec: BenchmarkSpec) -> None:
    data = np.arange(12).reshape(4, 3)
    found = load(tmp_path, (IDS,), spec, {"ids": data})
    assert (rows(found, "ids"), found.notes) == ([data.tolist()], ())


def test_loss_profile_uses_items_as_samples_unless_a_batch_is_set(tmp_path: Path) -> None:
    data = np.arange(12).reshape(4, 3)
    assert rows(load(tmp_path, (IDS,), profile(LOSS), {"ids": data}), "ids") == [[row] for row in data.tolist()]
    found = load(tmp_path, (IDS,), profile(LOSS, 2), {"ids": data})
    assert rows(found, "ids") == [data[:2].tolist(), data[2:].tolist()]
    assert rows(load(tmp_path, (IDS,), profile(LOSS, 4), {"ids": data}), "ids") == [data.tolist()]


def test_loss_profile_loads_only_the_samples_it_runs(tmp_path: Path) -> None:
    scores = Port("scores", "tensor", "float32", ("batch", 2))
    data = np.array([[0, 1], [2, 3], [np.nan, 5], [6, 7]], np.float32)
    found = load(tmp_path, (scores,), profile(LOSS, samples=2), {"scores": data})
    assert rows(found, "scores") == [[[0, 1]], [[2, 3]]]
    assert len(found.notes) == 1 and {"4", "1"} <= set(found.notes[0].split())
    found = load(tmp_path, (scores,), profile(LOSS, samples=3), {"scores": data[:, None]})
    assert len(found.samples) == 3 and [note.split()[1] for note in found.notes] == ["'scores'"]


def test_each_of_several_samples_is_split(tmp_path: Path) -> None:
    data = np.arange(24).reshape(2, 4, 3)
    assert rows(load(tmp_path, (IDS,), of_batch(), {"ids": data}), "ids") == data.tolist()
    assert rows(load(tmp_path, (IDS,), of_batch(2), {"ids": data}), "ids") == data.reshape(4, 2, 3).tolist()


@pytest.mark.parametrize("address", ["batch", "ids:0"])
def test_batch_requested_as_a_dim_splits_the_data(tmp_path: Path, address: str) -> None:
    data = np.arange(12).reshape(4, 3)
    for size, count in ((2, 2), (4, 1)):
        for spec in (profile(LOSS), of_batch()):
            found = load(tmp_path, (IDS,), replace(spec, dims=((address, (size,)),)), {"ids": data})
            assert rows(found, "ids") == data.reshape(count, size, 3).tolist()


STEPS = Port("x", "tensor", "float32", ("seq", 1, 2))
NODES = Port("x", "tensor", "float32", ("num_nodes", 2))
EDGES = Port("edges", "tensor", "int64", (2, "num_edges"))
OTHERS = Port("y", "tensor", "float32", ("M", 2))


@pytest.mark.parametrize("ports", [(STEPS,), (NODES, EDGES), (NODES, OTHERS)], ids=["steps", "graph", "two counts"])
def test_axis_that_may_not_be_items_is_split_only_if_named(tmp_path: Path, ports: tuple[Port, ...]) -> None:
    sizes = {"seq": 6, "num_nodes": 6, "num_edges": 5, "M": 4}
    arrays = {
        p.name: np.ones([d if isinstance(d, int) else sizes[d or ""] for d in p.shape or ()], p.dtype) for p in ports
    }
    assert len(load(tmp_path, ports, profile(LOSS), arrays).samples) == 1
    named = load(tmp_path, ports, profile(LOSS), arrays, str((ports[0].shape or ("",))[0]))
    assert len(named.samples) == 6


def test_inputs_with_unequal_counts_are_not_split(tmp_path: Path) -> None:
    arrays = {"ids": np.zeros((4, 3), np.int64), "mask": np.zeros((2, 3), np.int64)}
    assert len(load(tmp_path, (IDS, MASK), of_batch(1), arrays).samples) == 1


def test_batch_on_another_axis_is_split_there(tmp_path: Path) -> None:
    state = Port("state", "tensor", "float32", (2, "batch", 3))
    data = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
    arrays = {"ids": np.arange(8).reshape(4, 2), "state": data}
    found = load(tmp_path, (IDS, state), of_batch(1), arrays)
    assert [sample["state"].shape for sample in found.samples] == [(2, 1, 3)] * 4
    assert found.samples[3]["state"].tolist() == data[:, 3:].tolist()
    assert found.samples[3]["state"].flags.c_contiguous


def test_absent_optional_input_stays_absent(tmp_path: Path) -> None:
    absent = Port("extra", "optional", "float32", ("batch", 2), "tensor")
    found = load(tmp_path, (IDS, absent), of_batch(1), {"ids": np.zeros((3, 2), np.int64)})
    assert [sample["extra"] for sample in found.samples] == [None] * 3


def test_model_of_batch_one_takes_several_items_as_samples(tmp_path: Path) -> None:
    picture = Port("x", "tensor", "float32", (1, 2, "width"))
    data = np.arange(24, dtype=np.float32).reshape(3, 2, 4)
    found = load(tmp_path, (picture,), of_batch(), {"x": data})
    assert rows(found, "x") == [[item] for item in data.tolist()] and found.shapes["x"] == (1, 2, 4)
