"""tools/mutants.py and tools/faults.py: faults are found, found again in another tree, and told apart by tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = '''"""A module."""

LIMIT = 3


class Box:
    """A box."""

    def fits(self, size: int, name: str = "x") -> bool:
        """Return whether it fits."""
        if size < 3 and not self.full:
            self.count += 1
            return True
        return f"{size + 1}" == name
'''
MOVED = """def other(size):
    return size < 3


class Box:
    def fits(self, size: int, name: str = "x") -> bool:
        self.log(size)
        if (
            size < 3
            and not self.full
        ):
            return True
        return f"{size + 1}" != name
"""


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> tuple[ModuleType, ModuleType]:
    """Import the two scripts as modules."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import faults
    import mutants

    return faults, mutants


def write(tree: Path, path: str, text: str) -> None:
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    (tree / path).write_text(text, encoding="utf-8")


def test_faults_of_a_function_are_found(tools: tuple[ModuleType, ModuleType]) -> None:
    faults, _ = tools
    sites = faults.find_sites(SOURCE, "box.py")
    assert {site.mutant.qualname for site in sites} == {"Box.fits"}
    changes = {(site.mutant.kind, site.mutant.before, site.mutant.after) for site in sites}
    assert changes == {
        ("condition", "size < 3 and (not self.full)", "(not (size < 3 and (not self.full)))"),
        ("boolean", "size < 3 and (not self.full)", "(size < 3 or not self.full)"),
        ("comparison", "size < 3", "(size <= 3)"),
        ("constant", "3", "4"),
        ("boolean", "not self.full", "(self.full)"),
        ("delete", "self.count += 1", "pass"),
        ("constant", "1", "2"),
        ("return", "True", "None"),
        ("boolean", "True", "False"),
        ("return", "f'{size + 1}' == name", "None"),
        ("comparison", "f'{size + 1}' == name", "(f'{size + 1}' != name)"),
    }
    data = SOURCE.encode("utf-8")
    (site,) = (one for one in sites if one.mutant.before == "size < 3")
    assert data[site.start : site.end] == b"size < 3"


def test_mutant_is_found_again_in_a_moved_function(tools: tuple[ModuleType, ModuleType], tmp_path: Path) -> None:
    faults, mutants = tools
    write(tmp_path, "tuibench/elsewhere/crate.py", MOVED)
    index = mutants.Index(tmp_path)
    by_change = {(one.mutant.kind, one.mutant.before): one.mutant for one in faults.find_sites(SOURCE, "box.py")}
    again = index.find(by_change["comparison", "size < 3"])
    assert (again.path, again.line) == ("elsewhere/crate.py", 9)
    assert index.find(by_change["delete", "self.count += 1"]) == "unmatched"
    assert index.find(by_change["comparison", "f'{size + 1}' == name"]) == "unmatched"
    write(tmp_path, "tuibench/elsewhere/chest.py", MOVED)
    assert mutants.Index(tmp_path).find(by_change["comparison", "size < 3"]) == "ambiguous"


def test_selected_tests_fit_the_time_budget(tools: tuple[ModuleType, ModuleType]) -> None:
    _, mutants = tools
    gathered = mutants.Gathered(seconds={"slow": 50.0, "quick": 1.0, "medium": 20.0})
    gathered.tests["a.py", 1] = {"slow", "quick", "medium", "failed"}
    covering = gathered.covering("a.py", 1)
    assert covering == ["quick", "medium", "slow"]
    assert mutants._affordable(covering, gathered) == ["quick", "medium"]
    assert mutants._affordable(["slow"], gathered) == ["slow"]


def test_truncated_results_are_run_again(tools: tuple[ModuleType, ModuleType], tmp_path: Path) -> None:
    _, mutants = tools
    results = tmp_path / "results"
    results.write_text('{"mutant": {"id": "one"}}\n{"mutant": {"id": "tw', encoding="utf-8")
    assert mutants.done_in(results) == {"one"}
    assert results.read_text(encoding="utf-8").count("\n") == 1


@pytest.mark.slow
def test_mutants_of_a_small_tree_are_killed_or_survive(tmp_path: Path) -> None:
    pytest.importorskip("coverage")
    tree, data, picked, results = (tmp_path / name for name in ("tree", "data", "mutants", "results"))
    write(tree, "tuibench/__init__.py", "")
    write(tree, "tuibench/stats/__init__.py", "")
    write(tree, "tuibench/stats/small.py", "def least(values):\n    return min(values) + 0\n")
    body = "from tuibench.stats.small import least\n\n\ndef test_least():\n    assert least([2, 1]) == 1\n"
    write(tree, "tests/test_small.py", body)
    script = [sys.executable, str(ROOT / "tools" / "mutants.py")]
    python = ["--python", sys.executable]
    subprocess.run([*script, "gather", *python, data, tree], check=True)
    subprocess.run([*script, "pick", data, picked, "--packages", "stats"], check=True)
    for _ in range(2):
        subprocess.run([*script, "run", *python, data, picked, results], check=True)
    found = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    statuses = {each["mutant"]["after"]: each["status"] for each in found}
    assert statuses == {"None": "killed", "(min(values) - 0)": "survived", "1": "killed"}
    assert len(found) == 3
