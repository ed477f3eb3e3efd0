from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.host.machine import Machine, build_system, process_on
from tuibench.cli.machine import report
from tuibench.host.checkup import examine
from tuibench.services.machine import describe_terminal

GOOD = {"name": "onnxruntime", "available": True, "version": "1.20.0", "error": None}
PROJECT = Path(__file__).parents[2]


def doctor(root: Path, *, out: io.TextIOWrapper | None = None, **options: bool) -> str:
    stream = out or io.StringIO()
    terminal = describe_terminal(stream)
    facts = examine(
        process_on((0,)), engines=[GOOD], terminal=terminal, root=root, sleep=lambda _: None, canary=lambda: 300_000
    )
    report(facts, stream, **options)
    return stream.getvalue() if isinstance(stream, io.StringIO) else ""


def test_text_report_is_complete(tmp_path: Path) -> None:
    text = doctor(tmp_path)
    assert text.startswith("CPU ")
    assert "onnxruntime 1.20.0" in text


def test_json_has_a_schema_and_leaves_out_private_data(tmp_path: Path) -> None:
    build_system(Machine(tmp_path))
    text = doctor(tmp_path, as_json=True)
    facts = json.loads(text)
    assert facts["schema"] == 1
    assert facts["engines"] == [GOOD]
    assert {"env", "noise", "findings", "terminal"} <= facts.keys()
    assert "secret-host" not in text
    assert "env_private" not in facts
    private = json.loads(doctor(tmp_path, as_json=True, private=True))["env_private"]
    assert private["hostname"] == "secret-host"


def test_json_is_ascii_only(tmp_path: Path) -> None:
    Machine(tmp_path).write("proc/sys/kernel/osrelease", "6.1-\u202e\x9b31m")
    assert doctor(tmp_path, as_json=True).isascii()


def test_doctor_on_an_ascii_stream_prints_ascii_signs(tmp_path: Path) -> None:
    raw = io.BytesIO()
    narrow = io.TextIOWrapper(raw, encoding="ascii")
    doctor(tmp_path, out=narrow)
    assert b" | " in raw.getvalue() and b"\\x" not in raw.getvalue()
    assert b"the encoding of the output is ascii" in raw.getvalue()


def test_the_parser_costs_no_heavy_import() -> None:
    script = (
        "import sys; from tuibench.cli.parser import parse_command; parse_command(['doctor']);"
        "print(*sorted(m for m in sys.modules if m.split('.')[0] in ('numpy', 'onnx',"
        " 'onnxruntime', 'rich', 'psutil', 'cpuinfo', 'subprocess') or m.startswith('tuibench.host')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=PROJECT, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("home", [None, "/proc/nowhere"])
def test_report_works_without_home_hostname_or_second_cpu(home: str | None) -> None:
    script = (
        "import os, pwd, sys\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "def nobody(uid): raise KeyError(uid)\n"
        "pwd.getpwuid = nobody\n"
        "from tuibench.cli import machine, output\n"
        "with output.open_services() as services:\n"
        "    machine.report(services.machine.fitness([], {}), sys.stdout, as_json=True)\n"
    )
    environ = {} if home is None else {"HOME": home}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=PROJECT, env=environ, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    assert facts["env"]["affinity"]["usable_cores"] == 1
    assert facts["noise"]["seconds"] >= 0.5
    assert len(facts["noise"]["busy"]) == 1
    assert not (PROJECT / "~").exists()
