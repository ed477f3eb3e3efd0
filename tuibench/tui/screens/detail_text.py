"""The environment and the log of a benchmark, as facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tuibench.core.card import StoredBenchmark
from tuibench.core.run import RunResult
from tuibench.core.short_id import short_id
from tuibench.core.units import count_of, percent, seconds
from tuibench.report.age import moment_words
from tuibench.report.command import command_of
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.detail_fact import Fact
from tuibench.tui.screens.model_words import model_lines
from tuibench.tui.widgets.row import LineLike, shown

INDENT = 29
_DEEPEST = 6
_FIRST = ("env", "cpu", "versions")
_BLANK = Fact("", "")


def settings_words(stored: StoredBenchmark) -> str:
    """Return the engine with its version if known, the precision and the scenarios."""
    row, run = stored.row, stored.result
    version = run.versions.get(row.engines, "")
    return " ".join(filter(None, (row.engines, version, run.spec.precision, row.scenarios)))


def environment_facts(run: RunResult, glyphs: Glyphs) -> Iterator[Fact]:
    """Yield models, packages, then every fact about the machine by its name in exports."""
    for source, model in zip(run.spec.models, run.models, strict=False):
        yield _title(source.asked)
        yield from (Fact("", _plain(line)) for line in model_lines(model, glyphs))
        yield _BLANK
    yield _title("packages")
    yield from (_fact(name, version) for name, version in sorted(run.versions.items()))
    if not run.environment:
        yield _BLANK
        yield Fact("", "nothing is known about the machine: the file it came from does not say", "dim")
    for name, block in sorted(run.environment.items(), key=lambda item: (item[0] not in _FIRST, item[0])):
        yield _BLANK
        yield _title(str(name))
        yield from _facts(block, "", 0)


def _facts(block: Any, path: str, depth: int) -> Iterator[Fact]:
    """Yield one fact per value; nested values are named by their path."""
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
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_text(each)}" for name, each in value.items()) or "-"
    if isinstance(value, Sequence) and not isinstance(value, str):
        between = "; " if any(isinstance(each, Mapping) for each in value) else ", "
        return between.join(_text(each) for each in value) or "-"
    return str(value)


def log_facts(stored: StoredBenchmark, now: float) -> Iterator[Fact]:
    """Yield history, warnings, conclusions, output of failures, and the command that repeats the benchmark."""
    run, metadata = stored.result, stored.metadata
    yield from _history(run, metadata.rerun_of or "", now)
    for title, told in (("warnings", run.warnings), ("conclusions", run.conclusions)):
        yield from _section(title, told)
    yield from _section("note", metadata.note.splitlines())
    for cell in run.cells:
        failure = cell.failure
        if failure is not None and failure.log_tail:
            yield from _section(
                f"last words of {cell.asked.engine} in {failure.phase}", failure.log_tail.strip().splitlines()
            )
    yield from _section("measures it again", [command] if (command := command_of(run)) else [])


def _history(run: RunResult, rerun_of: str, now: float) -> Iterator[Fact]:
    yield _fact("measured", moment_words(run.started_utc, now) or "at an unknown time")
    yield _fact("took", seconds(run.seconds))
    yield _fact("status", run.status)
    if run.waited_s >= 1:
        yield _fact("waited for the machine", seconds(run.waited_s))
    if run.shared_host:
        yield _fact("beside another benchmark", "yes: numbers suffered", "warn")
    if run.foreign:
        yield _fact("measured by", f"{run.foreign}: no grade, no interval", "warn")
    if rerun_of:
        yield _fact("re-run of", short_id(rerun_of))
    if run.host:
        yield _fact("host", run.host)
    for number, session in enumerate(run.sittings if len(run.sittings) > 1 else (), 1):
        changed = f"; changed before it: {', '.join(session.mixed)}" if session.mixed else ""
        text = f"{count_of(session.executions, 'execution')}, {moment_words(session.started_utc, now)}{changed}"
        yield _fact(f"session {number}", text)
    if isinstance(drift := run.anchor.get("drift"), (int, float)):
        yield _fact("anchor drift over the run", f"{'+' if drift >= 0 else '-'}{percent(abs(drift))}")


def _section(title: str, told: Sequence[str]) -> Iterator[Fact]:
    if told:
        yield _BLANK
        yield _title(title)
        yield from (Fact("", f"  {each}") for each in told)


def _title(text: str) -> Fact:
    return Fact("", text, "title")


def _fact(name: str, value: str, style: str = "") -> Fact:
    return Fact(f"  {name}", value, style)


def _plain(line: LineLike) -> str:
    return "".join(text for text, _ in shown(line))
