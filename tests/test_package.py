"""The package as users get it: the README commands and the contents of a built wheel."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import tuibench
from tests.conftest import REAL_ENVIRONMENT

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_begins_with_two_commands_and_ci_runs_the_second() -> None:
    first_screen = "\n".join(README.splitlines()[:24])
    commands = re.findall(r"```sh\n(.*?)\n```", first_screen, re.DOTALL)
    assert len(commands) == 2
    assert all("\n" not in command for command in commands)
    measure, test = commands
    assert measure.startswith("python3 -m venv .venv && ")
    assert measure.endswith(" && .venv/bin/tuibench benchmark sample")
    assert test.endswith(" && .venv-test/bin/python -m pytest -n 2 --dist loadfile")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    pattern = re.search(r"grep -E '(.+)' README\.md", script)
    assert pattern is not None
    found = subprocess.run(
        ["grep", "-E", pattern[1], "README.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout == test + "\n"
    assert 'eval "$command"' in script


def test_readme_links_have_existing_targets() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_lower_bounds_can_all_be_pinned() -> None:
    done = subprocess.run([sys.executable, "tools/lowest.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = done.stdout.split()
    extras = [line for name in ("hf", "openvino") for line in declared["optional-dependencies"][name]]
    assert len(pins) == len(declared["dependencies"]) + len(extras)
    assert all(re.fullmatch(r"[a-z_-]+==[0-9.]+", pin) for pin in pins)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_wheel_has_its_data_and_a_new_environment_finds_it(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", str(tmp_path), "."]
    subprocess.run(pip, cwd=ROOT, env=REAL_ENVIRONMENT, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    package = ROOT / "tuibench"
    data = [p for p in package.rglob("*") if p.suffix in (".onnx", ".json", ".typed", ".py")]
    assert {p.relative_to(ROOT).as_posix() for p in data} <= held
    assert {"tuibench/py.typed", "tuibench/data/samples/cnn.onnx"} <= held
    assert not any(name.startswith(("tests/", "tools/", "docs/")) for name in held)

    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    install: list[str | Path] = [python, "-m", "pip", "install", "-q", "--no-deps", wheel]
    environment = {**REAL_ENVIRONMENT, "PYTHONPATH": ""}
    subprocess.run(install, cwd=tmp_path, env=environment, check=True)
    code = "import tuibench, importlib.metadata as m; print(tuibench.__version__, m.version('tuibench'))"
    seen = subprocess.run(
        [python, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert seen.stdout.split() == [tuibench.__version__] * 2
    assert (tmp_path / "venv" / "bin" / "tuibench").exists()
