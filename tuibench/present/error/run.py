"""Words of the errors of runs, engines and the machine."""

from __future__ import annotations

from tuibench.present.error.kind import Told

RUN_ERRORS: dict[str, Told] = {}
