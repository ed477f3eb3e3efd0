"""Words of the errors of models fetched from addresses."""

from __future__ import annotations

from tuibench.present.error.kind import Told

DOWNLOAD_ERRORS: dict[str, Told] = {}
