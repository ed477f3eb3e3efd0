"""Words of the errors of models, profiles of them, and their child tasks."""

from __future__ import annotations

from tuibench.present.error.kind import Told

MODEL_ERRORS: dict[str, Told] = {}
