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


WITHOUT_TELEMETRY = {
    "ORT_DISABLE_TELEMETRY": "1",
    "NM_DISABLE_ANALYTICS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}
"""Variables of every process that imports an engine, whatever the user's environment says."""


def start_command(module: str, interpreter: str = "") -> list[str]:
    """Return the command that calls `main()` of a module; `interpreter` '' is the one of this process."""
    return [interpreter or sys.executable, "-c", _START, str(_PACKAGE), module]


def start_environment(interpreter: str = "") -> dict[str, str]:
    """Return the environment of a process; variables of this interpreter do not reach another one."""
    own = {name: value for name, value in os.environ.items() if not (interpreter and name.startswith("PYTHON"))}
    return own | WITHOUT_TELEMETRY
