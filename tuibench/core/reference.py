"""From what an inspection saw to a reference that can be held against the files later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tuibench.core.project import ModelReference

if TYPE_CHECKING:  # as in card
    from tuibench.core.model import ModelSummary

UNCHANGED, CHANGED, GONE = "unchanged", "changed", "gone"


@dataclass(frozen=True, slots=True)
class ModelState:
    """What became of a model since it was referred to."""

    state: str
    """unchanged, changed or gone."""
    file: str = ""
    """The first file that is not what it was."""


def refer(asked: str, summary: ModelSummary) -> ModelReference | None:
    """The reference to a model that was inspected; None to one that could not be read."""
    if not summary.files:
        return None
    file, *external = summary.files
    return ModelReference(asked, file, summary.sha256, tuple(external))
