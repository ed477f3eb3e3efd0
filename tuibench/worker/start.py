"""Commands that start this package's processes, in this interpreter or in an engine's own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_START = """
import sys
sys.path[:] = [place for place in sys.path if place]
from importlib import import_module, util
spec = util.spec_from_file_location("tuibench", sys.argv[1] + "/__init__.py", submodule_search_locations=[sys.argv[1]])
sys.modules["tuibench"] = util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["tuibench"])
import_module(sys.argv[2]).main()
""".strip()
"""Imports only this package from its directory: other packages there belong to another interpreter.

The current directory, where a downloaded model may bring modules, is taken off the import path.
"""


def start_command(module: str, interpreter: str = "") -> list[str]:
    """Return the command that calls `main()` of a module; `interpreter` '' is the one of this process."""
    return [interpreter or sys.executable, "-c", _START, str(_PACKAGE), module]


def start_environment(interpreter: str = "") -> dict[str, str]:
    """Return the environment of a process; variables of this interpreter do not reach another one."""
    if not interpreter:
        return dict(os.environ)
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
