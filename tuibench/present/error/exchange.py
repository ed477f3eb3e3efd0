"""Words of the errors of imported files."""

from __future__ import annotations

from tuibench.present.error.kind import Told

EXCHANGE_ERRORS: dict[str, Told] = {}
