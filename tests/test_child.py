"""The child as its callers see it: one request in, JSON lines out, in every case."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.model.cost.support import request_for
from tests.model.factory import BF16, F32, I64, STRING, encoder, model, save, tensor, weight
from tests.model.spec import make_spec
from tests.refusal import ChildError
from tests.runs.child_task import call_here
from tuibench.core.model import ModelSummary, Point
from tuibench.core.profile import CostProfile
from tuibench.core.reason import Reason, because
from tuibench.core.record import from_plain, to_plain
from tuibench.present.reason import reason_words
from tuibench.runs.task import StopSwitch
from tuibench.worker.bundle import read_bundle

pytestmark = pytest.mark.usefixtures("real_children")
ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Answer:
    """Output and end of a child."""

    lines: list[dict[str, Any]]
    code: int
    errors: str

    @property
    def result(self) -> Any:
        assert self.lines[-1]["ok"], self.lines[-1]
        return self.lines[-1]["result"]

    @property
    def error(self) -> ChildError:
        return ChildError.of(self.lines[-1])

    @property
    def points(self) -> list[Point]:
        return [from_plain(Point, point) for point in self.result["points"]]


def call(task: str, request: Any, **options: Any) -> Answer:
    done = subprocess.run(
        [sys.executable, "-m", "tuibench.child", task],
        input=request if isinstance(request, bytes) else json.dumps(request).encode(),
        capture_output=True,
        timeout=60,
        check=False,
        cwd=ROOT,
        **options,
    )
    done.stdout.decode("ascii")
    return Answer([json.loads(line) for line in done.stdout.splitlines()], done.returncode, done.stderr.decode())


def prepare(path: str, run_dir: Path, skip: tuple[str, ...] = (), **asked: Any) -> Answer:
    request = {"spec": to_plain(make_spec(path, **asked)), "model": 0, "run_dir": str(run_dir), "skip_trial": skip}
    return call("prepare", request)


def make_points(path: str, run_dir: Path, **asked: Any) -> list[Point]:
    """Return the result of `prepare` without a child."""
    request = {"spec": to_plain(make_spec(path, **asked)), "model": 0, "run_dir": str(run_dir)}
    answer = call_here("prepare", request, timeout_s=60, stop=StopSwitch())
    return [from_plain(Point, point) for point in answer["points"]]


def test_inspect_gives_a_summary(tmp_path: Path) -> None:
    found = from_plain(ModelSummary, call("inspect", {"path": save(encoder(), tmp_path / "m.onnx")}).result)
    assert found.nodes == 5 and found.inputs[0].name == "ids"


def test_refusals_carry_code_fields_and_exit_code(tmp_path: Path) -> None:
    answer = call("inspect", {"path": str(tmp_path / "none.onnx")})
    what = because("model_file", path=str(tmp_path / "none.onnx"))
    assert answer.code == 1 and answer.error == ChildError(because("path_missing", what=what), 3) and not answer.errors
    wrong = prepare(save(encoder(), tmp_path / "m.onnx"), tmp_path, dims=(("depth", (2,)),))
    assert wrong.error.exit_code == 2


def test_unexpected_error_is_still_an_answer() -> None:
    assert call("inspect", b"not json").error.code == "child_failed"
    assert call("inspect", {}).error.reason == because("child_failed", kind="KeyError", text="'path'")
    assert "inspect" in call("nonsense", {}).error.fields["names"]


def test_engines_are_inspected_without_failing() -> None:
    found = {engine["name"]: engine for engine in call("engines", {"names": ["onnxruntime", "nonsense"]}).result}
    assert found["onnxruntime"]["available"] and found["onnxruntime"]["version"][0].isdigit()
    why = from_plain(Reason, found["nonsense"]["error"])
    assert not found["nonsense"]["available"] and (why.code, why.fields["engine"]) == ("unknown_engine", "nonsense")


def test_a_real_model_gets_points_with_references(tmp_path: Path) -> None:
    answer = prepare(save(encoder(rows=5), tmp_path / "m.onnx"), tmp_path, batches=(1, 3), sequence_lengths=(9,))
    assert [next(iter(line)) for line in answer.lines] == ["candidate", "tried", "point"] * 2 + ["ok"]
    second = answer.points[1]
    assert second.items == 3 and second.dims == {"seq": 9} and second.chosen == {}
    feed = read_bundle(second.bundle or "")[0]
    table = np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4)
    expected = table[feed["ids"]].sum(axis=2)
    assert np.allclose(read_bundle(second.reference.file or "")[0]["y"], expected, atol=1e-5)
    assert second.reference.difference is not None and second.reference.difference < 1e-5


def identity(kind: onnx.ValueInfoProto, out: onnx.ValueInfoProto, operator: str = "Identity") -> onnx.ModelProto:
    return model([helper.make_node(operator, ["x"], ["y"])], [kind], [out])


def value(kind: onnx.TypeProto) -> onnx.ValueInfoProto:
    return helper.make_value_info("x", kind)


TENSOR = helper.make_tensor_type_proto(F32, ["b", 4])
KINDS = {
    "string": identity(tensor("x", STRING, ["n"]), tensor("y", STRING, ["n"])),
    "sequence": identity(value(helper.make_sequence_type_proto(TENSOR)), tensor("y", I64, []), "SequenceLength"),
    "optional": identity(
        value(helper.make_optional_type_proto(TENSOR)), tensor("y", onnx.TensorProto.BOOL, []), "OptionalHasElement"
    ),
    "scalar": identity(tensor("x", F32, []), tensor("y", F32, [])),
    "empty": identity(tensor("x", F32, [0, 4]), tensor("y", F32, [0, 4])),
    "no rank": identity(tensor("x", F32, None), tensor("y", F32, None)),
    "escape": model(
        [helper.make_node("Neg", ["\x1b[31m\n"], ["y"])],
        [tensor("\x1b[31m\n", F32, ["[b]\x07", 4])],
        [tensor("y", F32, None)],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_of_every_kind_run_without_a_flag(tmp_path: Path, kind: str) -> None:
    (point,) = make_points(save(KINDS[kind], tmp_path / "m.onnx"), tmp_path)
    assert point.failure is None and point.reference.file is not None, point.reference


@pytest.mark.parametrize("dims", [["b", 4], ["b", "n"]])
def test_outputs_unsupported_by_numpy_are_unchecked_and_accepted(tmp_path: Path, dims: list[Any]) -> None:
    cast = helper.make_node("Cast", ["x"], ["y"], to=BF16)
    path = save(model([cast], [tensor("x", F32, dims)], [tensor("y", BF16, None)]), tmp_path / "m.onnx")
    answer = prepare(path, tmp_path)
    assert sum("candidate" in line for line in answer.lines) == 1
    (point,) = answer.points
    assert point.failure is None and point.bundle is not None
    assert "bfloat16" in reason_words(point.reference.reason)


def test_size_refused_by_a_model_with_such_outputs_is_dropped(tmp_path: Path) -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["z"]), helper.make_node("Cast", ["z"], ["y"], to=BF16)]
    held = [weight("w0", np.ones((128, 2), np.float32)), weight("none", np.array([0]))]
    nodes.insert(0, helper.make_node("Gather", ["w0", "none"], ["w1"], axis=1))
    nodes.insert(1, helper.make_node("Identity", ["w1"], ["w"]))
    path = save(model(nodes, [tensor("x", F32, ["b", "n"])], [tensor("y", BF16, None)], held), tmp_path / "m.onnx")
    (point,) = make_points(path, tmp_path)
    assert point.chosen == {"n": 128} and "bfloat16" in reason_words(point.reference.reason)


def fatal(operand: int) -> onnx.ModelProto:
    """INT64_MIN / -1 kills the process that computes it."""
    nodes = [
        helper.make_node("Mul", ["x", "none"], ["zero"]),
        helper.make_node("Add", ["zero", "least"], ["low"]),
        helper.make_node("Sub", ["zero", "one"], ["minus"]),
        helper.make_node("Div", ["low", "minus"], ["y"]),
    ]
    weights = [
        weight("none", np.array([0])),
        weight("least", np.array([-(2**63)])),
        weight("one", np.array([operand])),
    ]
    return model(nodes, [tensor("x", I64, ["b", 4])], [tensor("y", I64, None)], weights)


def test_reference_run_that_kills_the_child_is_named_and_skippable(tmp_path: Path) -> None:
    path = save(fatal(1), tmp_path / "m.onnx")
    died = prepare(path, tmp_path)
    assert died.code == -signal.SIGFPE
    last = from_plain(Point, died.lines[-1]["candidate"])
    assert last.id == "m0p0" and Path(last.bundle or "").exists()
    (point,) = prepare(path, tmp_path, skip=("m0p0",)).points
    assert point.failure is None and point.bundle and point.reference.reason


def test_unknown_operator_is_left_to_the_workers(tmp_path: Path) -> None:
    path = save(identity(tensor("x", F32, ["b", 4]), tensor("y", F32, None), "Frobnicate"), tmp_path / "m.onnx")
    (point,) = make_points(path, tmp_path)
    assert point.failure is None and point.bundle and "Frobnicate" in reason_words(point.reference.reason)


def test_inputs_beyond_the_limit_name_the_largest(tmp_path: Path) -> None:
    path = save(encoder(), tmp_path / "m.onnx")
    request = {"spec": to_plain(make_spec(path, batches=(1_000_000,), sequence_lengths=(10_000,))), "model": 0}
    answer = call("prepare", {**request, "run_dir": str(tmp_path), "memory_bytes": 400_000_000})
    (point,) = answer.points
    assert point.failure is not None and point.failure.message is not None
    assert (point.failure.message.code, point.failure.message.fields["bytes"]) == ("input_too_large", 80 * 10**9)
    assert "-b … --dim seq=…" in reason_words(point.failure.message)


def test_memory_limit_is_set_and_child_ends_with_its_parent() -> None:
    code = (
        "import os, resource, sys\n"
        "from tuibench import child\n"
        "child._confine({'memory_bytes': 10**8, 'parent': os.getppid()})\n"
        "print(resource.getrlimit(resource.RLIMIT_AS)[0])\n"
        "child._confine({'parent': 1})\n"
        "print('alive')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    limit, *rest = done.stdout.split()
    assert 10**8 < int(limit) < 10**12
    assert not rest and done.returncode == 1, "a child whose parent is gone ends itself"


def test_memory_limit_is_nine_tenths_of_free_memory_or_the_whole_limit() -> None:
    code = (
        "import resource\n"
        "from tuibench import child\n"
        "from tuibench.worker.isolation import address_space_bytes\n"
        "for request in ({}, {'spec': {'limits': {'memory_bytes': 5 * 10**9}}}):\n"
        "    child._confine({'memory_bytes': 10**10, **request})\n"
        "    print(resource.getrlimit(resource.RLIMIT_AS)[0] - address_space_bytes())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    threads = 128 * 2**20 * len(os.sched_getaffinity(0))
    of_room, of_limit = (int(line) - threads for line in done.stdout.split())
    assert abs(of_room - 9 * 10**9) < 10**8 and abs(of_limit - 5 * 10**9) < 10**8


@pytest.mark.parametrize("task", ["inspect", "prepare"])
def test_imports_of_a_task_do_not_count_against_its_memory(task: str) -> None:
    code = (
        "import sys\n"
        "from tuibench import child\n"
        "from tuibench.worker import isolation\n"
        "isolation.limit_memory = lambda *_: sys.stderr.write(str({'numpy', 'onnx'} <= set(sys.modules)))\n"
        "child.main(sys.argv[1:])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, task], input=b"{}", capture_output=True, cwd=ROOT, check=False)
    assert done.stderr.startswith(b"True")


def test_running_out_of_memory_is_the_models_failure() -> None:
    code = (
        "from tuibench import child\n"
        "def grow(request, send):\n"
        "    return bytearray(10**12)\n"
        "child._TASKS['grow'] = grow\n"
        "child.main(['grow'])\n"
    )
    request = b'{"memory_bytes": 100000000}'
    done = subprocess.run([sys.executable, "-c", code], input=request, capture_output=True, cwd=ROOT, check=False)
    assert json.loads(done.stdout)["error"]["exit_code"] == 3


def test_output_on_fd_one_does_not_reach_the_protocol(tmp_path: Path) -> None:
    code = (
        "import os\n"
        "from tuibench import child\n"
        "child._TASKS['talk'] = lambda request, send: os.write(1, b'engine says hello') and 7\n"
        "child.main(['talk'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input=b"{}", capture_output=True, cwd=ROOT, check=False)
    assert json.loads(done.stdout) == {"ok": True, "result": 7} and b"hello" in done.stderr


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = "import sys, tuibench.child; print([m for m in ('numpy', 'onnx', 'onnxruntime') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def test_checksums_are_cached_where_the_caller_says(tmp_path: Path) -> None:
    path = save(encoder(), tmp_path / "m.onnx")
    os.utime(path, ns=(1, 1))
    request = {"path": path, "cache": str(tmp_path / "cache")}
    summary = from_plain(ModelSummary, call("inspect", request).result)
    assert summary.files[0].sha256 == summary.sha256 and summary.files[0].mtime_ns == 1
    memory = tmp_path / "cache" / "checksums.json"
    kept = json.loads(memory.read_text())
    # A wrong cached checksum shows that the cache is used.
    memory.write_text(json.dumps(dict.fromkeys(kept, "f" * 64)))
    assert from_plain(ModelSummary, call("inspect", request).result).sha256 == "f" * 64
    hashed = call("hash", {"paths": [path, str(tmp_path / "none")], "cache": str(tmp_path / "cache")}).result
    assert hashed[0]["sha256"] == "f" * 64 and hashed[1] is None
    assert call("hash", {"paths": [path]}).result[0]["sha256"] == summary.sha256


def test_costs_are_counted_on_the_shapes_of_a_run(tmp_path: Path) -> None:
    path = save(encoder(), tmp_path / "m.onnx")
    found = from_plain(CostProfile, call("cost", request_for(path, tmp_path, 3)).result)
    assert (found.shapes_from, found.batch) == (Reason("traced"), 3)
    assert found.nodes and found.unknown == 0


def test_shape_run_is_announced_before_and_after(tmp_path: Path) -> None:
    path = save(encoder(), tmp_path / "m.onnx")
    answer = call("cost", request_for(path, tmp_path, 3))
    told = [line["running"] for line in answer.lines if "running" in line]
    assert told and told == [True, False] * (len(told) // 2)


def test_costs_of_a_file_that_is_no_model_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"no model")
    assert call("cost", {"path": str(path), "run_dir": str(tmp_path)}).error.code == "model_unparsable"


def test_low_priority_task_yields_the_processor() -> None:
    code = (
        "import os\n"
        "from tuibench import child\n"
        "for gentle in (False, True):\n"
        "    child._confine({'parent': os.getppid(), 'gentle': gentle})\n"
        "    print(os.nice(0))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    usual, gentle = map(int, done.stdout.split())
    assert gentle > usual
