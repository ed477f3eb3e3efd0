"""Words of the errors of actions on saved results, projects and forms."""

from __future__ import annotations

from tuibench.present.error.kind import Told

LIBRARY_ERRORS: dict[str, Told] = {}
