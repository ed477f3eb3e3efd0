"""Imports of a fresh process: few where it must start fast, heavy ones only where needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("numpy", "onnx", "onnxruntime", "openvino", "textual")
SAMPLE = Path(__file__).resolve().parent.parent / "tuibench" / "data" / "samples" / "tiny.onnx"
REPORT = "\nimport json, sys\nprint('modules:' + json.dumps(sorted(sys.modules)), file=sys.stderr)\n"


def modules_after(code: str) -> set[str]:
    """Run code in a new interpreter and return the names of all imported modules."""
    script = f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\n{REPORT}"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    assert done.returncode == 0, done.stderr
    listed = [line for line in done.stderr.splitlines() if line.startswith("modules:")]
    return set(json.loads(listed[-1].removeprefix("modules:")))


def test_package_import_imports_no_other_module_of_ours() -> None:
    ours = {name for name in modules_after("import tuibench") if name.split(".")[0] == "tuibench"}
    assert ours == {"tuibench"}


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_command_answers_without_heavy_imports(argument: str) -> None:
    loaded = modules_after(
        f"from tuibench.cli.main import main; sys.argv = ['tuibench', {argument!r}]; sys.exit(main())"
    )
    assert loaded & set(HEAVY) == set()


@pytest.mark.parametrize("root", ["runner", "child"])
def test_composition_root_imports_nothing_of_ours_into_a_worker(root: str) -> None:
    loaded = modules_after(f"import tuibench.{root}")
    assert {name for name in loaded if name.startswith("tuibench.")} == {f"tuibench.{root}"}
    assert loaded & set(HEAVY) == set()


@pytest.mark.usefixtures("real_children")
def test_child_imports_onnx_when_asked_to_inspect() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "tuibench.child", "inspect"]
    request = json.dumps({"path": str(SAMPLE), "memory_bytes": None, "parent": os.getpid()})
    done = subprocess.run(command, input=request, capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["ok"], answer
    assert [port["name"] for port in answer["result"]["inputs"]] == ["features"]
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "onnx" in imported
    assert imported & {"onnxruntime", "openvino", "textual"} == set()
