"""Progress of a run that makes a profile: finished parts and the current part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tuibench.core.watch import AHEAD, DONE, LOST, NOW, Making
from tuibench.runs.profile_part import LAYERS, list_parts, name_part
from tuibench.runs.replay import Replay


def making_of(replay: Replay, latest: Mapping[str, Any]) -> Making | None:
    """Return the progress from the journal and its latest event, which is empty after the end; None for a benchmark."""
    asked = replay.spec.profile
    if asked is None:
        return None
    parts, stage, done = replay.parts, str(latest.get("stage") or ""), int(latest.get("done") or 0)
    at = name_part(stage, done + 1 if stage == LAYERS else 0)

    def state(name: str) -> str:
        if name in parts.failures:
            return LOST
        return DONE if name in parts.done else NOW if name == at else AHEAD

    pairs = tuple((name, state(name)) for name in list_parts(asked))
    return Making(str(latest.get("activity") or ""), stage, done, int(latest.get("of") or 0), pairs)
