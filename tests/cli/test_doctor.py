from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.host.machine import Machine, build_system, process_on
from tuibench.cli.doctor import add_parser, run
from tuibench.host.checkup import examine

GOOD = {"name": "onnxruntime", "available": True, "version": "1.20.0", "error": None}
PROJECT = Path(__file__).parents[2]


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    return parser.parse_args(["doctor", *words])


def doctor(root: Path, *words: str, out: io.TextIOWrapper | io.StringIO | None = None) -> tuple[int, str]:
    stream = out or io.StringIO()

    def look(engines: list[dict[str, Any]], terminal: dict[str, Any]) -> dict[str, Any]:
        return examine(
            process_on((0,)),
            engines=engines,
            terminal=terminal,
            root=root,
            sleep=lambda _: None,
            canary=lambda: 300_000,
        )

    args = parse(*words)
    code = args.run(
        args, engines=["onnxruntime"], ask=lambda names: [GOOD | {"name": names[0]}], examine=look, out=stream
    )
    return code, stream.getvalue() if isinstance(stream, io.StringIO) else ""


def test_doctor_command_calls_this_module() -> None:
    assert parse().run is run


def test_text_report_is_complete(tmp_path: Path) -> None:
    code, text = doctor(tmp_path)
    assert code == 0
    assert text.startswith("CPU ")
    assert "onnxruntime 1.20.0" in text


def test_json_has_a_schema_and_leaves_out_private_data(tmp_path: Path) -> None:
    build_system(Machine(tmp_path))
    code, text = doctor(tmp_path, "--json")
    facts = json.loads(text)
    assert code == 0
    assert facts["schema"] == 1
    assert facts["engines"] == [GOOD]
    assert {"env", "noise", "findings", "terminal"} <= facts.keys()
    assert "secret-host" not in text
    assert "env_private" not in facts
    private = json.loads(doctor(tmp_path, "--json", "--include-private")[1])["env_private"]
    assert private["hostname"] == "secret-host"


def test_json_is_ascii_only(tmp_path: Path) -> None:
    Machine(tmp_path).write("proc/sys/kernel/osrelease", "6.1-\u202e\x9b31m")
    assert doctor(tmp_path, "--json")[1].isascii()


def test_doctor_on_an_ascii_stream_prints_ascii_signs(tmp_path: Path) -> None:
    raw = io.BytesIO()
    narrow = io.TextIOWrapper(raw, encoding="ascii")
    code, _ = doctor(tmp_path, out=narrow)
    assert code == 0
    assert b" | " in raw.getvalue() and b"\\x" not in raw.getvalue()
    assert b"the encoding of the output is ascii" in raw.getvalue()


def test_the_parser_costs_no_heavy_import() -> None:
    script = (
        "import argparse, sys; from tuibench.cli.doctor import add_parser;"
        "add_parser(argparse.ArgumentParser().add_subparsers());"
        "print(*sorted(m for m in sys.modules if m.split('.')[0] in ('numpy', 'onnx',"
        " 'onnxruntime', 'rich', 'psutil', 'cpuinfo', 'subprocess') or m.startswith('tuibench.host')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=PROJECT, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("home", [None, "/proc/nowhere"])
def test_report_works_without_home_hostname_or_second_cpu(home: str | None) -> None:
    script = (
        "import argparse, os, pwd, sys\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "def nobody(uid): raise KeyError(uid)\n"
        "pwd.getpwuid = nobody\n"
        "from tuibench.cli import doctor\n"
        "parser = argparse.ArgumentParser()\n"
        "doctor.add_parser(parser.add_subparsers())\n"
        "sys.exit(doctor.run(parser.parse_args(['doctor', '--json']), ask=lambda names: []))\n"
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
