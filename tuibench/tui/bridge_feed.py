"""Whether the data that the set-up names fits its model: a child reads both, once for each that is asked for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from threading import Lock

from tuibench.core.errors import PhaseTimeout, TuibenchError, UsageError
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.text import show

_BUSY_S = 60.0
_MOST = 32
"""Answers that are kept: one goes from field to field, and back."""


class FeedGlance:
    """Remembers what was said of a file by what it is now, and of a model likewise."""

    def __init__(self, check: Callable[[BenchmarkSpec], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._check = check
        self._clock = clock
        self._again_s: dict[object, float] = {}
        """When to look again where there was no time."""
        self._known: dict[object, str] = {}
        self._turn = Lock()

    def problem(self, spec: BenchmarkSpec) -> str:
        """What is wrong with the file of inputs and what is wanted; '' where it fits, or where there is none."""
        file = spec.inputs.file
        if file is None:
            return ""
        # One child at a time: RUN asks for what the check of the last key is finding out.
        with self._turn:
            sizes = spec.batches, spec.dims, spec.sequence_lengths, spec.inputs.batch_dim
            kind = None if spec.profile is None else (spec.profile.kind, spec.profile.samples)
            asked = (_stamp(file), _stamp(spec.models[0].path), sizes, kind)
            if self._clock() < self._again_s.get(asked, 0.0):
                return ""
            if asked not in self._known:
                if len(self._known) >= _MOST:
                    self._known.clear()
                try:
                    self._known[asked] = self._ask(spec, file)
                except PhaseTimeout:
                    # Others left it no time: a later look may find out, and the run does in any case.
                    self._again_s[asked] = self._clock() + _BUSY_S
                    return ""
            return self._known[asked]

    def _ask(self, spec: BenchmarkSpec, file: str) -> str:
        try:
            self._check(spec)
        except UsageError as error:
            # The field has the flag and the name; a line of the form has no room for them.
            what = error.message.removeprefix(f"--inputs {show(file)}").removeprefix(":").strip()
            return f"{what}; {error.hint}" if error.hint else what
        except PhaseTimeout:
            raise
        except TuibenchError:
            return ""  # it is the model that cannot be read, which is said elsewhere
        return ""


def _stamp(path: str) -> object:
    try:
        found = os.stat(path)
    except OSError:
        return path
    return path, found.st_ino, found.st_size, found.st_mtime_ns
