"""Imports of a fresh process: few where it must start fast, heavy ones only where needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import rules

HEAVY = ("numpy", "onnx", "onnxruntime", "openvino", "textual")
PACKAGE = Path(__file__).resolve().parent.parent / "tuibench"
SAMPLE = PACKAGE / "data" / "samples" / "tiny.onnx"
REPORT = "\nimport json, sys\nprint('modules:' + json.dumps(sorted(sys.modules)), file=sys.stderr)\n"

STARTS = {
    # Signals are handled before anything else is imported.
    "processes": "import tuibench.runner, tuibench.child",
    # Thread variables are set before numpy and the engine are imported.
    "worker": "import tuibench.worker.main, tuibench.worker.stream_process",
    "runner": "import tuibench.runs.session",
    "signals": "import tuibench.cli.main",
    "version": "from tuibench.cli.main import main; main(['--version'])",
    "command's help": "from tuibench.cli.main import main; main(['doctor', '--help'])",
    "list": "from tuibench.cli.main import main; main(['list'])",
    "ps": "from tuibench.cli.main import main; main(['ps'])",
    "first rows": "from tuibench.services.api import Services; s = Services(); s.projects.list(); s.library.list()",
    "poll of runs": "from tuibench.services.api import Services; Services().monitor.look()",
    # Textual reads the environment when it is imported.
    "terminal": "import tuibench.tui.start",
    "dashboard": "import tuibench.tui.app",
}
"""Programs whose start is kept short."""

DEFERRED = {
    "child": "processes",
    "cli.arguments": "version",
    "cli.machine": "command's help",
    "cli.main": "signals",
    "cli.output": "version",
    "cli.publication": "ps",
    "cli.results": "list",
    "runner": "processes",
    "runs.replay": "poll of runs",
    "runs.result": "ps",
    "runs.session": "runner",
    "services.api": "command's help",
    "services.library": "first rows",
    "services.projects": "first rows",
    "services.runs": "poll of runs",
    "store.benchmark_file": "first rows",
    "store.store": "first rows",
    "tui.route": "dashboard",
    "tui.start": "terminal",
    "worker.main": "worker",
    "worker.stream_process": "worker",
}
"""Modules that import others of ours inside functions, and the start that these imports are kept out of.

Other imports of ours are at the top. One inside a function needs a start that loads its module and not what it imports.
"""


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


def inner_imports() -> dict[str, set[str]]:
    """Return the modules of ours that each module imports inside functions."""
    found = {
        path.relative_to(PACKAGE).as_posix().removesuffix(".py").replace("/", "."): rules.deferred_imports(
            path.read_text(encoding="utf-8")
        )
        for path in PACKAGE.rglob("*.py")
    }
    return {module: imported for module, imported in found.items() if imported}


def test_imports_inside_functions_are_found() -> None:
    source = "import tuibench.core.text\ndef f():\n    import json\n    from tuibench.cli import main\n"
    assert rules.deferred_imports(source) == {"tuibench.cli.main"}


def test_imports_inside_functions_name_the_start_that_needs_them() -> None:
    assert set(inner_imports()) == set(DEFERRED)
    assert set(DEFERRED.values()) == set(STARTS)


@pytest.mark.parametrize("start", STARTS)
def test_start_does_without_what_is_imported_inside_functions(start: str) -> None:
    loaded = modules_after(STARTS[start])
    inner = inner_imports()
    modules = [module for module, needed in DEFERRED.items() if needed == start]
    assert {f"tuibench.{module}" for module in modules} <= loaded
    assert {module: inner[module] & loaded for module in modules if inner[module] & loaded} == {}
