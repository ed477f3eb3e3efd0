"""Words of the errors of the command line, settings, dims and ids."""

from __future__ import annotations

from tuibench.present.error.kind import Told

COMMAND_ERRORS: dict[str, Told] = {}
