"""Checks the package's architecture: imports, sizes and the worker's language limits."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import rules
from tuibench.core.scenario import REGISTRY

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "tuibench"
SOURCES = {p.relative_to(PACKAGE).as_posix(): p.read_text(encoding="utf-8") for p in sorted(PACKAGE.rglob("*.py"))}
TESTS = {p.relative_to(ROOT).as_posix(): p.read_text(encoding="utf-8") for p in sorted((ROOT / "tests").rglob("*.py"))}
WORKER_SIDE = {p: s for p, s in SOURCES.items() if p.split("/")[0] in rules.WORKER_SIDE}

Rule = Callable[[str, str], list[str]]


def hold(rule: Rule, sources: dict[str, str]) -> None:
    found = [line for path, source in sources.items() for line in rule(path, source)]
    assert not found, "\n".join(["", *found])


def test_imports_go_down_only() -> None:
    hold(rules.forbidden_imports, SOURCES)


def test_worker_code_is_valid_for_its_oldest_interpreter() -> None:
    assert "core/record.py" in WORKER_SIDE
    hold(rules.newer_than_worker, WORKER_SIDE)


def test_scenario_names_occur_only_in_scenario_declarations() -> None:
    names = set(REGISTRY)
    found = {
        f"{path}:{node.lineno}"
        for path, source in SOURCES.items()
        for node in rules.nodes_of(source)
        if isinstance(node, ast.Constant) and node.value in names and path != "core/scenario.py"
    }
    assert found == set()


def test_functions_and_classes_stay_small() -> None:
    hold(rules.oversized, SOURCES)
    hold(lambda path, source: rules.oversized(path, source, most=60), TESTS)


def test_public_names_have_docstrings() -> None:
    hold(rules.undocumented, SOURCES)


def test_no_exception_is_swallowed() -> None:
    hold(rules.swallowed, {**SOURCES, **TESTS})


def test_only_the_shell_prints() -> None:
    doors = ("cli/", "child.py")
    hold(rules.prints, {p: s for p, s in SOURCES.items() if not p.startswith(doors)})


def test_foreign_text_reaches_no_dashboard_markup() -> None:
    hold(rules.marked_up, {p: s for p, s in SOURCES.items() if p.startswith("tui/")})


def test_files_have_at_most_500_lines() -> None:
    lengths = {path: source.count("\n") for path, source in {**SOURCES, **TESTS}.items()}
    assert {path: count for path, count in lengths.items() if count > 500} == {}


def test_modules_import_each_other_without_cycles() -> None:
    assert rules.find_cycle(SOURCES) == []


def test_cycle_of_two_modules_is_found() -> None:
    sources = {"core/a.py": "from tuibench.core.b import x\n", "core/b.py": "from tuibench.core import a\n"}
    assert rules.find_cycle(sources) == ["tuibench.core.a", "tuibench.core.b", "tuibench.core.a"]
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from tuibench.core.a import x\n"
    assert rules.find_cycle({**sources, "core/b.py": typed}) == []


def test_every_file_has_a_room_and_every_documented_room_is_checked() -> None:
    assert {path for path in SOURCES if not rules.room_key(path)} == set()
    documented = documented_rooms()
    top = {room for room in rules.ROOMS if "/" not in room}
    assert top - {"data", "__main__", "__init__"} == set(documented)
    known = {key.split("/")[0] for key in rules.ROOMS} | {
        *("numpy", "onnx", "psutil", "cpuinfo", "rich", "textual", "tinydb", "platformdirs", "huggingface_hub"),
        "transformers",
    }
    for name, cell in documented.items():
        if cell.startswith("anything"):
            assert rules.ROOMS[name].ours == rules.ANYTHING
            continue
        keys = [key for key in rules.ROOMS if key.split("/")[0] == name]
        guarded = {word.split("/")[0] for k in keys for word in allowed(rules.ROOMS[k]) if word not in rules.ENGINES}
        words = set(re.findall(r"[a-z_]+", re.sub(r"\w+ only through child tasks", "", cell)))
        assert guarded - {name, "core"} == words & known - {"core"}, name


def documented_rooms() -> dict[str, str]:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms: dict[str, str] = {}
    for line in text[text.index("## Rooms") :].splitlines():
        if line.startswith("| `"):
            names, _, may_import = line.strip("|").split("|")
            for name in re.findall(r"`([^`]+)`", names):
                rooms[name.rstrip("/").removesuffix(".py")] = may_import.strip()
    return rooms


def allowed(room: rules.Room) -> tuple[str, ...]:
    return room.ours + room.third + room.deferred


@pytest.mark.parametrize(
    ("path", "source", "complaint"),
    [
        ("core/x.py", "import numpy\n", "core may not import numpy"),
        ("core/x.py", "def f():\n    import psutil\n", "core/x.py:2: core may not import psutil"),
        ("stats/x.py", "from tuibench.worker.sync import run\n", "stats may not import tuibench.worker.sync"),
        ("stats/x.py", "from tuibench import runner\n", "stats may not import tuibench.runner"),
        ("stats/x.py", "if TYPE_CHECKING:\n    from tuibench.runs.schedule import Plan\n", "tuibench.runs.schedule"),
        ("worker/x.py", "import tuibench.host.facts\n", "worker may not import tuibench.host.facts"),
        ("worker/x.py", "import_module('tuibench.runs.schedule')\n", "worker may not import tuibench.runs.schedule"),
        ("host/noise.py", "from tuibench.host import facts\n", "host may not import tuibench.host.facts"),
        ("host/noise.py", "import psutil\n", "host may not import psutil"),
        ("host/cpu.py", "import cpuinfo\n", "host/cpu may not import cpuinfo"),
        ("runs/x.py", "from tuibench.worker.sync import run\n", "runs may not import tuibench.worker.sync"),
        ("runs/x.py", "from tuibench.engines.fake import make\n", "runs may not import tuibench.engines.fake"),
        ("engines/onnxruntime.py", "import onnxruntime\n", "engines may not import onnxruntime"),
        ("engines/x.py", "def f():\n    import openvino\n    import onnxruntime\n", "more than one engine"),
        ("model/imports/x.py", "import onnx\n", "model/imports may not import onnx"),
        ("runner.py", "from tuibench.core.spec import BenchmarkSpec\n", "runner may not import tuibench.core.spec"),
        ("child.py", "import onnx\n", "child may not import onnx"),
        ("cli/x.py", "from tuibench.runs.schedule import plan\n", "cli may not import tuibench.runs.schedule"),
        ("tui/x.py", "def f():\n    from tuibench.store.store import Store\n", "tui may not import tuibench.store"),
        ("present/x.py", "from tuibench.services.api import Services\n", "present may not import tuibench.services"),
        ("present/__init__.py", "from tuibench.present.table import lines\n", "__init__ imports nothing"),
        ("attic/x.py", "", "stands in no room"),
    ],
)
def test_a_forbidden_import_is_reported(path: str, source: str, complaint: str) -> None:
    found = rules.forbidden_imports(path, source)
    assert any(complaint in line for line in found), found


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("core/x.py", "import json\nfrom tuibench.core.text import show\nfrom tuibench import __version__\n"),
        (
            "worker/x.py",
            "import numpy as np\nfrom tuibench.host import noise\nfrom tuibench.stats.moment import mean\n",
        ),
        ("host/facts.py", "from tuibench.host.cpu import read\n"),
        ("host/cpu.py", "def f():\n    import cpuinfo\n"),
        ("runs/x.py", "from tuibench.worker import start\nfrom tuibench.engines.factory import names\n"),
        ("engines/openvino.py", "import numpy\ndef f():\n    import openvino.properties\n"),
        (
            "runner.py",
            "if TYPE_CHECKING:\n    from tuibench.core.spec import A\ndef f():\n    import tuibench.runs.schedule\n",
        ),
        ("cli/x.py", "from tuibench.services.runs import Runs\n"),
    ],
)
def test_an_allowed_import_is_not_reported(path: str, source: str) -> None:
    assert rules.forbidden_imports(path, source) == []


@pytest.mark.parametrize(
    "source",
    [
        "from datetime import UTC\n",
        "import datetime\nnow = datetime.UTC\n",
        "import tomllib\n",
        "from typing import Self\n",
        "from enum import StrEnum\n",
        "try:\n    pass\nexcept* ValueError:\n    pass\n",
        "type Pair = tuple[int, int]\n",
        "raise ExceptionGroup('', [])\n",
    ],
)
def test_construct_unsupported_by_an_old_worker_is_reported(source: str) -> None:
    assert rules.newer_than_worker("core/x.py", source)


def test_construct_supported_by_an_old_worker_is_not_reported() -> None:
    source = "import math\nfrom typing import Any\nmatch 1:\n    case int():\n        math.sqrt(1)\n"
    assert rules.newer_than_worker("core/x.py", source) == []


def test_other_rules_report_violations() -> None:
    def function(lines: int, head: str = "") -> str:
        return "def f():" + head + "\n" + "    x = 1\n" * (lines - 1)

    assert rules.oversized("x.py", function(40)) == []
    assert rules.oversized("x.py", function(41))
    assert rules.oversized("x.py", function(60, "  # long: one table")) == []
    assert rules.oversized("x.py", function(61, "  # long: one table"))
    assert rules.oversized("x.py", "class A:\n" + "    x = 1\n" * 250)
    assert len(rules.undocumented("x.py", "class A:\n    def f(self): ...\n    def _g(self): ...\n")) == 3
    assert rules.swallowed("x.py", "try:\n    f()\nexcept Exception:\n    pass  # why\n")
    assert rules.swallowed("x.py", "try:\n    f()\nexcept Exception as e:\n    g(e)\n")
    assert not rules.swallowed("x.py", "try:\n    f()\nexcept Exception as e:  # a child's last word\n    g(e)\n")
    assert not rules.swallowed("x.py", "try:\n    f()\nexcept BaseException:\n    g()\n    raise\n")
    assert rules.prints("x.py", "print('')\n")


@pytest.mark.parametrize(
    "source",
    [
        "Static(name)\n",
        "widgets.Label(f'project {name}')\n",
        "Button(label=row.name)\n",
        "self.notify(error.message)\n",
        "Option('a' + name)\n",
        "Static(f(name))\n",
        "super().__init__(markup=True)\n",
        "Widget(markup=on)\n",
        "Content.from_markup('[b]x')\n",
    ],
)
def test_text_with_markup_is_reported(source: str) -> None:
    assert rules.marked_up("tui/x.py", source)


@pytest.mark.parametrize(
    "source", ["Static('ours')\n", "Label(show(name, 60))\n", "Widget(markup=False)\n", "f(name)\n"]
)
def test_safe_text_is_not_reported(source: str) -> None:
    assert rules.marked_up("tui/x.py", source) == []
