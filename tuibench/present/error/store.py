"""Words of the errors of the store."""

from __future__ import annotations

from tuibench.present.error.kind import Told

STORE_ERRORS: dict[str, Told] = {}
