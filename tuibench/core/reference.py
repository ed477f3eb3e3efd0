"""A reference to a model, made from an inspection, so that its files can be compared later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tuibench.core.project import ModelReference

if TYPE_CHECKING:  # types only, as in card
    from tuibench.core.model import ModelSummary

UNCHANGED, CHANGED, GONE = "unchanged", "changed", "gone"


@dataclass(frozen=True, slots=True)
class ModelState:
    """The state of a model's files, compared with its reference."""

    state: str
    """unchanged, changed or gone."""
    file: str = ""
    """The first file that differs from the reference."""


def refer(asked: str, summary: ModelSummary) -> ModelReference | None:
    """Return the reference to an inspected model; None if the model could not be read."""
    if not summary.files:
        return None
    file, *external = summary.files
    return ModelReference(asked, file, summary.sha256, tuple(external))
