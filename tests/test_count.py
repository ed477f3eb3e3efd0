"""tools/count.py counts a made-up tree as its docstring says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = '''"""What this is."""

import os


class Thing:
    """A thing."""

    size = 1
    """How big it is; the string below an attribute is code."""

    def grow(self):  # a comment
        """Whether it grew."""
        from tuibench.core import units
        from os import path

        # alone on its line
        text = """two
        lines"""
        return text
'''
TEST = """def test_one(done, cell):
    assert "3 runs were left" in done.err
    assert cell["in two words"] == find("in two words") == 1, "not so in this case"
    assert done.code == 0
"""


def count(tree: Path) -> dict[str, dict[str, Any]]:
    command = [sys.executable, str(ROOT / "tools" / "count.py"), str(tree), "--json"]
    counted: dict[str, dict[str, Any]] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return counted


def test_made_up_tree_is_counted(tmp_path: Path) -> None:
    for path, text in {
        "tuibench/core/thing.py": SOURCE,
        "tuibench/stats/other.py": SOURCE,
        "tuibench/top.py": "import os\n",
        "tests/test_one.py": TEST,
        "tests/goldens/a/b.txt": "x",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    counted = count(tmp_path)
    sizes = {"files": 1, "lines": 20, "code_lines": 10, "statements": 12, "inner_imports": 1, "riddles": 2}
    assert counted["core"] == counted["stats"] == sizes
    packages = [figures for name, figures in counted.items() if name not in ("total", "tests")]
    assert len(packages) == 3
    assert counted["total"] == {name: sum(figures[name] for figures in packages) for name in sizes}
    tests = counted["tests"]
    assert (tests["tests"], tests["asserts"], tests["prose_asserts"], tests["goldens"]) == (1, 3, 1, 1)
    assert tests["prose_share"] == round(1 / 3, 3)
