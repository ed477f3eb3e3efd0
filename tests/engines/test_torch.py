"""PyTorch in its own interpreter, which writes the files that these tests measure there; run by `make test-torch`."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.build import make_cell, make_job
from tests.cli.shell import SHORT
from tests.model import bert
from tests.model.factory import save
from tests.refusal import refused
from tests.runs.child_task import call_here
from tests.test_no_connection import left_behind, watch
from tuibench.cli.main import main
from tuibench.core.cell import Execution
from tuibench.core.errors import ModelError
from tuibench.core.model import ModelSummary, Reference
from tuibench.core.reason import Failure, Reason
from tuibench.core.record import from_plain
from tuibench.engines.installation import interpreter_of
from tuibench.present.reason import reason_words
from tuibench.runs.supervision import Bounds, Supervision
from tuibench.runs.task import StopSwitch
from tuibench.worker.bundle import write_bundle
from tuibench.worker.start import start_environment

pytestmark = pytest.mark.timeout(600)  # the import of transformers alone takes seconds of CPU

Run = Callable[..., Execution | Failure]


@pytest.fixture(scope="session")
def python(engines_root: Callable[[str], Path]) -> str:
    """Return the interpreter of PyTorch."""
    return str(interpreter_of(engines_root("torch"), "torch"))


@pytest.fixture(scope="session")
def files(python: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with files of PyTorch."""
    folder = tmp_path_factory.mktemp("torch")
    script = Path(__file__).with_name("torch_files.py")
    subprocess.run([python, str(script), str(folder)], check=True, env=start_environment(python), timeout=120)
    return folder


@pytest.fixture
def run(tmp_path: Path, files: Path, python: str) -> Run:
    """Return a function that measures one of the files there."""

    def carry_out(name: str, **changes: Any) -> Execution | Failure:
        bundle = tmp_path / "inputs.npz"
        kind = np.float16 if name == "half.pt2" else np.float32
        write_bundle(bundle, [{"input": inputs(files).astype(kind)}])
        cell = make_cell(engine="torch", **changes.pop("asks", {}))
        job = make_job(tmp_path, bundle, cell, model_path=str(files / name), interpreter=python, **changes)
        return Supervision(job, Bounds(1.0, None), StopSwitch(), lambda _: None, 0).carry_out()

    return carry_out


def inputs(files: Path) -> Any:
    return np.load(files / "expected.npz")["x"]


def measured(found: Execution | Failure) -> Execution:
    """Return the execution; fail with the words of a failure."""
    assert isinstance(found, Execution), reason_words(found.message)
    return found


def failure(found: Execution | Failure, kind: str = "refused") -> Reason:
    """Return the reason of a failure of this kind."""
    assert isinstance(found, Failure) and found.message is not None
    assert found.kind == kind, reason_words(found.message)
    return found.message


@pytest.mark.parametrize(("name", "output"), [("mlp.pt2", "linear_1"), ("mlp.pt", "output0")])
def test_outputs_are_those_of_the_module(run: Run, files: Path, tmp_path: Path, name: str, output: str) -> None:
    expected = tmp_path / "reference.npz"
    write_bundle(expected, [{output: np.load(files / "expected.npz")["y"]}])
    found = measured(run(name, reference=Reference(str(expected), 0.0, 1e-5)))
    assert (found.check.state, found.used.precision, found.used.io) == ("agrees", "f32", "call")
    assert found.used.engine_version == "2.13.0+cpu"


def test_quantized_script_runs(run: Run) -> None:
    assert measured(run("int8.pt")).iterations > 0


def test_other_weights_than_float32_are_refused_unless_asked_for(run: Run) -> None:
    assert failure(run("half.pt2")).code == "other_precision_used"
    assert measured(run("half.pt2", asks={"precision": "engine-default"})).used.precision == "f16"


def test_streams_are_processes(run: Run) -> None:
    found = measured(run("mlp.pt2", asks={"scenario": "async", "streams": 2}, streams=2))
    assert (found.used.stream_kind, found.used.streams) == ("processes", 2)


def test_elastic_requests_come_from_threads_of_one_process(run: Run) -> None:
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    asks = {"scenario": "elastic", "streams": 3, "cores": len(cpus)}
    found = measured(run("mlp.pt2", asks=asks, streams=3, cpus=cpus))
    assert (found.used.stream_kind, found.used.streams, found.used.threads) == ("emulated", 3, len(cpus))


def test_threads_are_those_of_the_cores_asked_for(run: Run) -> None:
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    for count in {1, len(cpus)}:
        found = measured(run("mlp.pt2", asks={"cores": count}, cpus=cpus[:count]))
        assert (found.used.threads, found.used.pinned) == (count, "core")


@pytest.mark.parametrize(("name", "kind"), [("greedy.pt", "memory"), ("harmful.pt", "signal")])
def test_script_that_fails_ends_only_its_worker(run: Run, name: str, kind: str) -> None:
    failure(run(name), kind)
    measured(run("mlp.pt"))


def link_engines(root: Path) -> None:
    """Give the test's home the engines that are installed for tests."""
    data = Path(os.environ["TUIBENCH_HOME"]) / "data"
    data.mkdir(parents=True, exist_ok=True)
    if not (data / "engines").exists():
        (data / "engines").symlink_to(root)


def inspect(path: Path, python: str) -> ModelSummary:
    """Return the summary by the child task."""
    request = {"path": str(path), "interpreters": {"torch@2.13.0+cpu": python} if python else {}}
    return from_plain(ModelSummary, call_here("inspect", request, timeout_s=60, stop=StopSwitch()))


def test_inspection_asks_the_engine_for_inputs(files: Path, python: str) -> None:
    found = inspect(files / "mlp.pt2", python)
    assert found.sha256 == hashlib.sha256((files / "mlp.pt2").read_bytes()).hexdigest()
    (port,) = found.inputs
    assert port.shape is not None
    assert (found.format, port.name, port.dtype, port.shape[1], type(port.shape[0])) == (
        *("pt2", "input", "float32", 16, str),
    )
    script = inspect(files / "mlp.pt", python)
    assert (script.format, script.inputs[0].shape) == ("torchscript", None)


def test_files_are_refused_without_the_engine_and_pickles_always(files: Path, python: str) -> None:
    with refused(ModelError, "file_needs_engine", engine="torch"):
        inspect(files / "mlp.pt2", "")
    with refused(ModelError, "model_is_pickled"):
        inspect(files / "pickle.pt", python)
    with refused(ModelError, "weights_are_pickled"):
        inspect(files / "pickled" / "config.json", python)
    with refused(ModelError, "model_wants_trust"):
        inspect(files / "trusting" / "config.json", python)
    with pytest.raises(ModelError, match="BertForTheFuture"):
        inspect(files / "unknown" / "config.json", python)
    with zipfile.ZipFile(files / "broken.pt2", "w") as archive:
        archive.writestr("broken/archive_format", b"pt2")
    with refused(ModelError, "engine_cannot_read"):
        inspect(files / "broken.pt2", python)


def test_shipped_sample_agrees_with_its_onnx_twin(engines_root: Callable[[str], Path]) -> None:
    link_engines(engines_root("torch"))
    assert main(["engines", "test", "torch"]) == 0


def test_command_measures_a_file_and_refuses_it_for_other_engines(
    files: Path, tmp_path: Path, engines_root: Callable[[str], Path]
) -> None:
    link_engines(engines_root("torch"))
    target, file = tmp_path / "result.json", str(files / "mlp.pt2")
    asks = ("-e", "onnxruntime,torch", "-s", "sync", "-ncores", "1", "-b", "4", "-x", str(target), "--no-save")
    assert main(["benchmark", file, *asks, *SHORT]) == 1
    cells = {cell["asked"]["engine"]: cell for cell in json.loads(target.read_text())["tuibench"]["cells"]}
    assert cells["onnxruntime"]["status"] == "failed"
    assert (cells["torch"]["check"]["state"], cells["torch"]["used"]["batch"]) == ("unchecked", 4)


def read_safetensors(path: Path) -> dict[str, Any]:
    """Return the float32 tensors of a file: eight bytes of length, a header as JSON, and the data."""
    data = path.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    header = {name: one for name, one in json.loads(data[8:end]).items() if name != "__metadata__"}
    ranges = {name: slice(*(end + at for at in one["data_offsets"])) for name, one in header.items()}
    return {name: np.frombuffer(data[ranges[name]], np.float32).reshape(one["shape"]) for name, one in header.items()}


def measure(engines_root: Callable[[str], Path], target: Path, *arguments: str) -> dict[str, Any]:
    """Return the cells of a run by their engines; the exit code is that of a run without a failure."""
    link_engines(engines_root("torch"))
    asks = ("-s", "sync", "-ncores", "1", "-x", str(target), "--no-save")
    assert main(["benchmark", *arguments, *asks, *SHORT]) == 0
    return {cell["asked"]["engine"]: cell for cell in json.loads(target.read_text())["tuibench"]["cells"]}


def sha256_of(folder: Path) -> str:
    """Return the sha256 over the configuration and the weights of a directory."""
    whole = b"".join((folder / name).read_bytes() for name in ("config.json", "model.safetensors"))
    return hashlib.sha256(whole).hexdigest()


def models_of(folder: Path) -> list[dict[str, Any]]:
    """Return the models of the result that was written last."""
    return list(json.loads((folder / "result.json").read_text())["tuibench"]["models"])


def test_directory_with_onnx_and_safetensors_agrees_in_both_engines(
    files: Path, tmp_path: Path, engines_root: Callable[[str], Path]
) -> None:
    folder = tmp_path / "both"
    shutil.copytree(files / "bert", folder)
    size = bert.Size(layers=2, hidden=32, heads=2, inside=64, words=50, places=64)
    built = bert.bert(size=size, weights=read_safetensors(folder / "model.safetensors"))
    save(built, folder / "model.onnx")
    asks = ("-e", "onnxruntime,torch", "-seq_len", "16", "-b", "2")
    cells = measure(engines_root, tmp_path / "result.json", str(folder), *asks)
    for cell in cells.values():
        assert (cell["check"]["state"], cell["used"]["precision"], cell["used"]["batch"]) == ("agrees", "f32", 2)
    assert cells["torch"]["check"]["difference"] > 0
    own, twin = sha256_of(folder), hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
    assert cells["torch"]["used"]["details"]["weights_sha256"] == own
    assert [one["sha256"] for one in models_of(tmp_path)] == [twin]
    alone = measure(engines_root, tmp_path / "result.json", str(folder), "-e", "torch", *asks[2:])["torch"]
    assert (alone["check"]["state"], alone["used"]["batch"]) == ("agrees", 2)
    assert [one["sha256"] for one in models_of(tmp_path)] == [own]


@pytest.mark.parametrize("name", ["bert", "half", "vit"])
def test_directory_without_onnx_runs_unchecked_in_float32(
    files: Path, tmp_path: Path, engines_root: Callable[[str], Path], name: str
) -> None:
    cell = measure(engines_root, tmp_path / "result.json", str(files / name), "-e", "torch")["torch"]
    assert (cell["check"]["state"], cell["used"]["precision"]) == ("unchecked", "f32")


def test_identity_of_a_directory_covers_configuration_and_weights(files: Path, python: str) -> None:
    found = inspect(files / "bert" / "config.json", python)
    assert [Path(one.path).name for one in found.files] == ["config.json", "model.safetensors"]
    assert found.sha256 == sha256_of(files / "bert")
    assert [port.name for port in found.inputs] == ["input_ids", "attention_mask", "token_type_ids"]


@pytest.mark.usefixtures("python")
@pytest.mark.parametrize("name", ["bert", "mlp.pt2", "mlp.pt"])
def test_model_is_read_and_measured_without_the_network(files: Path, tmp_path: Path, name: str) -> None:
    asks = ("-e", "torch", "-s", "async", "-nstreams", "2", "--no-save")
    shapes = ("-shapes", "[2,16]") if name == "mlp.pt" else ()
    command = (sys.executable, "-P", "-m", "tuibench", "benchmark", str(files / name), *asks, *shapes, *SHORT)
    code, attempts, output = watch(tmp_path, *command)
    assert (code, attempts, left_behind(tmp_path)) == (0, 0, []), output
