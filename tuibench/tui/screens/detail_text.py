"""The environment of a benchmark and its log, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tuibench.core.card import StoredBenchmark
from tuibench.core.run import RunResult
from tuibench.core.short_id import short_id
from tuibench.core.units import count_of, percent, seconds
from tuibench.report.age import moment_words
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.model_words import model_lines
from tuibench.tui.widgets.row import LineLike

_DEEPEST = 6
_LABEL = 26
_FIRST = ("env", "cpu", "versions")


def environment_lines(run: RunResult, glyphs: Glyphs) -> list[LineLike]:
    """Models, packages, then every fact about the machine under the name it is exported by."""
    lines: list[LineLike] = []
    for source, model in zip(run.spec.models, run.models, strict=False):
        lines += [(source.asked, "title"), *model_lines(model, glyphs), ""]
    lines += [("packages", "title"), *(_fact(name, version) for name, version in sorted(run.versions.items())), ""]
    if not run.environment:
        return [*lines, ("nothing is known about the machine: the file it came from does not say", "dim")]
    for name, block in sorted(run.environment.items(), key=lambda item: (item[0] not in _FIRST, item[0])):
        lines += [(str(name), "title"), *_facts(block, "", 0), ""]
    return lines[:-1]


def _facts(block: Any, path: str, depth: int) -> Iterator[LineLike]:
    """One line per value; what is nested is named by its way."""
    if isinstance(block, Mapping) and block and depth < _DEEPEST:
        for name, value in block.items():
            yield from _facts(value, f"{path}.{name}" if path else str(name), depth + 1)
    else:
        yield _fact(path or "value", _text(block))


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_text(each) for each in value) or "-"
    return str(value)


def _fact(name: str, value: str) -> LineLike:
    return ((f"  {name:<{_LABEL}} ", "dim"), (value, ""))


def log_lines(stored: StoredBenchmark, now: float) -> list[LineLike]:
    """How it came to be, what was said on the way, what follows from it, and the command that repeats it."""
    run, card = stored.result, stored.card
    lines: list[LineLike] = [_fact("measured", moment_words(run.started_utc, now))]
    lines += [_fact("took", seconds(run.seconds)), _fact("status", run.status)]
    lines += [_fact("waited for the machine", seconds(run.waited_s))] if run.waited_s >= 1 else []
    lines += [_fact("beside another benchmark", "yes: numbers suffered")] if run.shared_host else []
    lines += [_fact("measured by", run.foreign)] if run.foreign else []
    lines += [_fact("re-run of", short_id(card.rerun_of))] if card.rerun_of else []
    lines += [_fact("host", run.host)] if run.host else []
    for number, sitting in enumerate(run.sittings if len(run.sittings) > 1 else (), 1):
        changed = f"; changed before it: {', '.join(sitting.mixed)}" if sitting.mixed else ""
        text = f"{count_of(sitting.executions, 'execution')}, {moment_words(sitting.started_utc, now)}{changed}"
        lines.append(_fact(f"sitting {number}", text))
    if isinstance(drift := run.anchor.get("drift"), (int, float)):
        lines.append(_fact("anchor drift over the run", f"{'+' if drift >= 0 else '-'}{percent(abs(drift))}"))
    for title, told in (("warnings", run.warnings), ("conclusions", run.conclusions), ("note", _note(card.note))):
        lines += ["", (title, "title"), *(f"  {each}" for each in told)] if told else []
    failed = [cell for cell in run.cells if cell.failure is not None]
    for cell in failed:
        failure = cell.failure
        if failure is not None and failure.log_tail:
            said = failure.log_tail.strip().splitlines()
            lines += ["", (f"last words of {cell.asked.engine} in {failure.phase}", "title")]
            lines += [f"  {each}" for each in said]
    again = run.again or ""
    return lines + (["", ("measures it again", "title"), f"  {again}"] if again else [])


def _note(note: str) -> tuple[str, ...]:
    return tuple(note.splitlines())
