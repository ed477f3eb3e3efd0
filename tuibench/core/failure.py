"""Failures of cells, and their words: kind, phase and reason."""

from __future__ import annotations

from dataclasses import dataclass

from tuibench.core.text import show

_PHASES = {
    "inspect": "reading the model",
    "inputs": "making inputs",
    "start": "starting the worker",
    "load": "load",
    "first": "the first inference",
    "check": "checking the outputs",
    "warmup": "warm-up",
    "timed": "timing",
}
_KINDS = {
    "refused": "refused in",
    "timeout": "timeout in",
    "memory": "out of memory in",
}
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Failure:
    """Reason why a cell or an execution has no result."""

    kind: str
    """refused, setting, signal, timeout, memory, exit, exception, inputs, engine or model.

    With refused, the engine cannot run this model; with setting, it does not support a requested setting, such as a
    precision.
    """
    phase: str
    """inspect, inputs, start, load, first, check, warmup or timed."""
    message: str
    signal: str | None = None
    log_tail: str | None = None


def failure_words(failure: Failure, limit: int = _LONGEST) -> str:
    """Return one line such as `died by SIGFPE in the first inference`, safe to print; other kinds read `failed in`."""
    phase = _PHASES.get(failure.phase) or show(failure.phase, 20)
    said = failure.message.strip()
    if failure.signal and failure.kind == "signal":
        head, said = f"died by {show(failure.signal, 20)} in", _without_death(said, failure.signal)
    else:
        head = _KINDS.get(failure.kind, "failed in")
    if failure.kind == "memory":
        said = said.removeprefix("out of memory: ").removesuffix(": out of memory")
    return f"{head} {phase}" + (f": {show(said, limit)}" if said else "")


def _without_death(said: str, signal: str) -> str:
    """Return '' if the message only repeats the signal."""
    return "" if said.endswith(f"died by {signal}") else said
