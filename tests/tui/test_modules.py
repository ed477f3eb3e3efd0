"""Imports of the dashboard's process: no screen imports an engine, onnx or numpy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import SCRIPT

HEAVY = {"numpy", "onnx", "onnxruntime", "openvino", "huggingface_hub", "requests"}
SAMPLE = Path(__file__).resolve().parents[2] / "tuibench" / "data" / "samples" / "tiny.onnx"


@pytest.mark.slow
def test_screens_import_no_heavy_module() -> None:
    command = [sys.executable, "-m", "tests.tui.through", str(SAMPLE)]
    done = subprocess.run(command, env={**os.environ, **SCRIPT}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert {"home", "detail log", "system", "form of a model", "run", "run, log"} <= set(told["seen"]), told["seen"]
    assert "tuibench.tui.screens.run.screen" in told["modules"], "it tells what was imported"
    assert {name.partition(".")[0] for name in told["modules"]} & HEAVY == set()
