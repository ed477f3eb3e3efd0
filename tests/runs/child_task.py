"""Runs a child's task inside the test's process, for tests about other subjects."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from tuibench import child
from tuibench.runs.task import StopSwitch


def call_here(
    task: str,
    request: dict[str, Any],
    *,
    timeout_s: float,
    stop: StopSwitch,
    log_path: str = os.devnull,
    on_line: Callable[[dict[str, Any]], float | None] | None = None,
) -> Any:
    """Run a task as a child would and raise its refusal; nothing ends a task that does not return."""

    def send(line: dict[str, Any]) -> None:
        if on_line is not None:
            on_line(json.loads(json.dumps(line)))

    return json.loads(json.dumps(child._TASKS[task](json.loads(json.dumps(request)), send)))
