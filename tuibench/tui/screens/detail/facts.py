"""Labelled facts wrapped to the width; the environment and the log of a benchmark as facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textual.containers import Horizontal
from textual.geometry import Size

from tuibench.core.engine import with_version
from tuibench.core.ids import short_id
from tuibench.core.result import RunResult
from tuibench.core.stored import StoredBenchmark
from tuibench.core.text import width_of
from tuibench.core.units import count_of, percent, seconds
from tuibench.present.ages import moment_words
from tuibench.present.command import command_of
from tuibench.present.headline import conclusions
from tuibench.present.plots.drawing import Row, Span, wrapped
from tuibench.present.reason import all_words
from tuibench.tui.screens.base import Pane
from tuibench.tui.screens.project.model import model_lines
from tuibench.tui.widgets.painted import Glyphs, LineLike, QuietContainer, safe, shown
from tuibench.tui.widgets.text_block import ScrollBlock


class DetailPane(Pane):
    """One tab; subclasses show `self.stored`."""

    def __init__(self, stored: StoredBenchmark, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.stored = stored

    @property
    def around(self) -> str:
        """The keys for the previous and the next value, joined without a blank if both are single characters."""
        keys = [self.page.shown_key(name) for name in ("previous-value", "next-value")]
        return ("" if max(map(len, keys)) == 1 else " ").join(keys)

    def step(self, by: int) -> None:
        """Select another value of the first selector."""
        raise NotImplementedError

    def action_previous_value(self) -> None:
        """Select the previous value."""
        self.step(-1)

    def action_next_value(self) -> None:
        """Select the next value."""
        self.step(1)


class Beside(QuietContainer, Horizontal):
    """A container that puts the parts of a tab side by side."""


_GLUE = "\N{NO-BREAK SPACE}"
_UNIT = re.compile(
    r"(?<=\d) (?=(?:%|ms|µs|us|s|B|kB|MB|GB|TB|cores?|items/s)(?![A-Za-z]))|(?<=batch) (?=\d)|(?<=grade) (?=[A-Z])"
)
"""Blanks between a number and its unit, where lines must not break."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact with its label; without a label the text uses the whole width."""

    label: str
    text: str
    style: str = ""
    label_style: str = "dim"
    indent: int = 0
    """Column of the text; 0 for that of the block."""


def hung(fact: Fact, indent: int, width: int, legible: Callable[[str], str] = str) -> list[Row]:
    """Return the lines of a fact, at most `width` columns; the text starts at `indent`, below a longer label."""
    label, text, indent = legible(safe(fact.label)), legible(safe(fact.text)), fact.indent or indent
    if not label:
        return [_joined(row) for row in wrapped(((_UNIT.sub(_GLUE, text), fact.style),), width)]
    above = width_of(label) >= indent
    indent = min(indent, width // 2)
    lines = [
        _joined(row) for row in wrapped(((" " * indent + _UNIT.sub(_GLUE, text), fact.style),), max(width, indent + 1))
    ]
    if above:
        return [((label, fact.label_style),), *lines]
    rest = tuple((part[indent:] if n == 0 else part, style) for n, (part, style) in enumerate(lines[0]))
    head: Span = (label + " " * (indent - width_of(label)), fact.label_style)
    return [(head, *rest), *lines[1:]]


def _joined(row: Row) -> Row:
    """Return a wrapped line as one span."""
    text = "".join(part for part, _ in row).replace(_GLUE, " ").rstrip()
    return ((text, row[-1][1] if row else ""),)


class FactBlock(ScrollBlock):
    """Facts that are wrapped again at each width."""

    def __init__(
        self,
        facts: Iterable[Fact] = (),
        indent: int = 11,
        **attributes: Any,
    ) -> None:
        super().__init__(wrap=True, **attributes)
        self._facts = tuple(facts)
        self._indent = indent

    def show_facts(self, facts: Iterable[Fact]) -> None:
        """Show these facts from the first."""
        self._first = 0
        self.update_facts(facts)

    def update_facts(self, facts: Iterable[Fact]) -> None:
        """Replace the facts and keep the scroll position."""
        self._facts = tuple(facts)
        self.show_lines(())

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines at that width, for an automatic height."""
        return len(list(self._lines(width)))

    def _laid_out(self) -> Sequence[Row]:
        width = self.size.width
        if width and self._rows_width != width:
            self._rows = list(self._lines(width))
            self._rows_width = width
        return self._rows

    def _lines(self, width: int) -> Iterator[Row]:
        for fact in self._facts:
            yield from hung(fact, self._indent, width, self.legible)


INDENT = 29
_DEEPEST = 6
_FIRST = ("env", "cpu", "versions")
_BLANK = Fact("", "")


def settings_words(stored: StoredBenchmark) -> str:
    """Return the engine with its version if known, the precision and the scenarios."""
    row, run = stored.row, stored.result
    engines = with_version(row.engines, run.versions.get(row.engines, ""))
    return " ".join(filter(None, (engines, run.spec.precision, row.scenarios)))


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
        yield Fact("", "the imported file does not describe the machine", "dim")
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
    yield from _section("warnings", all_words(run.warnings))
    yield from _section("conclusions", [found.sentence for found in conclusions(run)])
    yield from _section("note", metadata.note.splitlines())
    for cell in run.cells:
        failure = cell.failure
        if failure is not None and failure.log_tail:
            yield from _section(
                f"last output of {cell.asked.engine} while {failure.phase}", failure.log_tail.strip().splitlines()
            )
    yield from _section("command to repeat it", [command] if (command := command_of(run)) else [])


def _history(run: RunResult, rerun_of: str, now: float) -> Iterator[Fact]:
    yield _fact("measured", moment_words(run.started_utc, now) or "at an unknown time")
    yield _fact("took", seconds(run.seconds))
    yield _fact("status", run.status)
    if run.waited_s >= 1:
        yield _fact("waited for other runs", seconds(run.waited_s))
    if run.shared_host:
        yield _fact("shared the machine", "yes: results are disturbed", "warn")
    if run.foreign:
        yield _fact("measured by", f"{run.foreign}: no grade, no interval", "warn")
    if rerun_of:
        yield _fact("re-run of", short_id(rerun_of))
    if run.host:
        yield _fact("host", run.host)
    for number, session in enumerate(run.sittings if len(run.sittings) > 1 else (), 1):
        changed = (
            f"; changes since the previous session: {', '.join(all_words(session.mixed))}" if session.mixed else ""
        )
        text = f"{count_of(session.executions, 'execution')}, {moment_words(session.started_utc, now)}{changed}"
        yield _fact(f"session {number}", text)
    if isinstance(drift := run.anchor.get("drift"), (int, float)):
        yield _fact("anchor drift over the run", f"{'+' if drift >= 0 else '-'}{percent(abs(drift))}")


def _section(title: str, texts: Sequence[str]) -> Iterator[Fact]:
    if texts:
        yield _BLANK
        yield _title(title)
        yield from (Fact("", f"  {each}") for each in texts)


def _title(text: str) -> Fact:
    return Fact("", text, "title")


def _fact(name: str, value: str, style: str = "") -> Fact:
    return Fact(f"  {name}", value, style)


def _plain(line: LineLike) -> str:
    return "".join(text for text, _ in shown(line))
