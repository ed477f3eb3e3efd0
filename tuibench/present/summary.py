"""The page of one stored benchmark: name and origin, figures, and the result as printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tuibench.core.cell import CellResult, by_work
from tuibench.core.ids import short_id
from tuibench.core.result import RunResult, RunSession, SideBySide
from tuibench.core.stored import StoredBenchmark
from tuibench.core.text import show, to_ascii
from tuibench.core.units import count_of, seconds, short
from tuibench.present.ages import moment_words
from tuibench.present.cells import (
    cell_lines,
    cell_name,
    cell_table,
    describe,
    differences,
    first_cell,
    own_lines,
    provenance_lines,
    support_lines,
    varying,
)
from tuibench.present.command import command_of
from tuibench.present.headline import conclusions, result_headline
from tuibench.present.plots.drawing import text_of
from tuibench.present.plots.figure import draw
from tuibench.present.plots.grid import coordinate_name
from tuibench.present.plots.histogram import draw_histogram, marks_of, merged_histogram
from tuibench.present.plots.scaling import Scaling, axes_of, figure_of, scaling
from tuibench.present.plots.selection import Selection, tradeoffs
from tuibench.present.reason import all_words
from tuibench.present.side_by_side import side_by_side
from tuibench.present.table import as_text, wrap_lines
from tuibench.present.verdict import verdict_sentence


def summary(
    run: RunResult, ascii_only: bool = False, beside: SideBySide | None = None, width: int | None = None
) -> str:
    """Return the text for stdout, with a comparison to `beside` if given; it ends with the headline.

    `width` is that of a terminal, at which lines are broken between words; None for a file or a pipe.
    """
    lines = [*_cells(run), *_ending(run), *provenance_lines(run)]
    lines += (verdict_sentence(found.verdict) for found in run.comparisons)
    lines += [found.sentence for found in conclusions(run)]
    # A command is never broken: it is copied.
    command = [f"Again: {words}"] if (words := command_of(run)) else []
    below = ["", *side_by_side(beside).split("\n")] if beside is not None else []
    parts = [*wrap_lines(lines, width), *command, *wrap_lines([*below, result_headline(run)], width)]
    return as_text(parts, ascii_only)


def _cells(run: RunResult) -> list[str]:
    first = first_cell(run)
    if first is None:
        return []
    others = [cell for cell in run.cells if cell is not first]
    if not others:
        return cell_lines(run, first)
    if len(others) == 1 and varying(run) == ["scenario"]:
        return [*cell_lines(run, first), *own_lines(others[0], f"{_capital(others[0])} ")]
    return [*cell_table(run), *_shared_differences(run)]


def _ending(run: RunResult) -> list[str]:
    """Return the status and the number of measured cells of an unfinished run."""
    if run.status == "finished":
        return []
    measured = sum(cell.pooled is not None for cell in run.cells)
    return [f"Run {show(run.status, 40)}: {measured} of {count_of(len(run.cells), 'cell')} measured"]


def _capital(cell: CellResult) -> str:
    return show(cell.asked.scenario.capitalize(), 20)


def _shared_differences(run: RunResult) -> list[str]:
    """Return each deviation from the request once, with the number of cells."""
    counts = Counter(text for cell in run.cells for text in differences(cell))
    counts.update(f"I/O {show(cell.used.io, 40)}" for cell in run.cells if cell.used and cell.used.io != "bound")
    lines = [f"Not as Requested: {text} ({count} of {len(run.cells)} cells)" for text, count in counts.items()]
    return lines + support_lines(run)


_NARROWEST, _WIDEST = 20, 120
_HEIGHT, _LOW, _FEW = 14, 10, 3
"""Rows of a figure, and of one with fewer than three values."""
_METRICS = {"cores": "throughput", "batch": "throughput", "shape": "latency"}
_TITLES = {"cores": "Core scaling", "batch": "Batch scaling", "shape": "Shape scaling"}
_IN_THE_TABLE = ("missing", "note")
"""Kinds of sentences about single cells, which the table beside the figures already contains."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """One figure as text with its sentences."""

    title: str
    text: str
    sentences: tuple[str, ...]


def drawings(run: RunResult, width: int, ascii_only: bool = False) -> tuple[Drawing, ...]:
    """Return all figures of a result; none if no measurement can be drawn."""
    width = min(max(width, _NARROWEST), _WIDEST)
    found = [_scaling(scaling(run, Selection(axis, metric=_METRICS[axis])), width, ascii_only) for axis in axes_of(run)]
    every = [drawing for drawing in found if drawing is not None]
    return tuple(every) if found else tuple(_histogram(run, width, ascii_only))


def _scaling(shown: Scaling, width: int, ascii_only: bool) -> Drawing | None:
    if not any(line.measured for line in shown.lines):
        return None
    fixed = shown.selection.fixed.items()
    held = [count_of(n, "core") if key == "cores" else f"{coordinate_name(key)} {n}" for key, n in fixed]
    title = ", ".join([_TITLES[shown.selection.axis], *held])
    sentences = [f"{s.kind[:1].upper()}{s.kind[1:]}: {s.text}" for s in shown.sentences if s.kind not in _IN_THE_TABLE]
    left_out = len(shown.choices.sides) - len(shown.lines)
    sentences += [f"Not drawn: {left_out} more of {len(shown.choices.sides)} sides"] if left_out else []
    figure = figure_of(shown)
    few = figure.x_ticks is not None and len(figure.x_ticks) < _FEW
    rows = draw(figure, width, _LOW if few else _HEIGHT, ascii_only=ascii_only)
    return Drawing(title, text_of(rows), tuple(sentences))


def _histogram(run: RunResult, width: int, ascii_only: bool) -> Iterator[Drawing]:
    cell = first_cell(run)
    histogram = merged_histogram(cell) if cell is not None else None
    if cell is not None and histogram is not None:
        rows = draw_histogram(histogram, width, _HEIGHT, marks=marks_of(cell), ascii_only=ascii_only)
        yield Drawing(f"Calls of {describe(run, cell)}", text_of(rows), ())


TITLE = "Best Trade-offs of Latency and Items/s"
HEAD = "ms/batch  items/s"
_FEWEST = 3
"""Fewest cells for a table: one leaves no choice, and the headline covers two."""


def tradeoff_lines(run: RunResult) -> list[str]:
    """Return a head, then a line per cell of the Pareto set; nothing if there are too few cells."""
    rows = tradeoff_rows(run)
    if len(rows) == 1:
        return [f"{rows[0][1]} is best at both"]
    return [HEAD, *(f"{figures}  {name}" for figures, name in rows)] if rows else []


def tradeoff_rows(run: RunResult, *, brief: bool = False) -> list[tuple[str, str]]:
    """Return the two numbers below `HEAD` and the name of each cell of the Pareto set.

    `brief` omits the scenario if all cells have the same and no other word precedes it.
    """
    if sum(cell.pooled is not None for cell in run.cells) < _FEWEST:
        return []
    axes = varying(run)
    scenario = not brief or any(axis in axes for axis in ("model", "engine", "scenario"))
    cells = [cell for group in by_work(run.cells) if len(group) > 1 for cell in group]
    return [
        (
            f"{_text(each.latency.value):>8} {_text(each.rate.value):>8}",
            cell_name(run, each.cell, axes).words(scenario=scenario) + ("" if each.is_sure else " (no sure gain)"),
        )
        for each in tradeoffs(cells)
    ]


def _text(value: float | None) -> str:
    return "-" if value is None else short(value)


_MAX_CHARS = 4096


def stored_page(
    stored: StoredBenchmark,
    now: float,
    *,
    project: str = "",
    own_host: str = "",
    ascii_only: bool = False,
    figures: int | None = None,
    width: int | None = None,
) -> str:
    """Return the page of `show`; `project` is the name of its project, `own_host` the id of this machine.

    `figures` is the width of the figures in columns; None omits them. `width` is that of a terminal.
    """
    lines = [f"{label}: {text}" for label, text in _facts(stored, now, project, own_host) if text]
    blocks = ["\n".join(wrap_lines(lines, width))]
    drawn = drawings(stored.result, figures, ascii_only) if figures is not None else ()
    blocks += ["\n".join([one.title, one.text, *wrap_lines(one.sentences, width)]) for one in drawn]
    choices = tradeoff_lines(stored.result)
    blocks += ["\n".join([TITLE, *choices])] if choices else []
    text = "\n\n".join(blocks) + "\n\n"
    return (to_ascii(text) if ascii_only else text) + summary(stored.result, ascii_only, width=width)


def _facts(stored: StoredBenchmark, now: float, project: str, own_host: str) -> Iterator[tuple[str, str]]:
    result, metadata = stored.result, stored.metadata
    yield "Benchmark", f"{show(short_id(result.id), 10)} ({show(result.id, 40)})"
    yield "Name", show(metadata.name, _MAX_CHARS)
    yield "Note", show(metadata.note, _MAX_CHARS)
    yield "Project", show(project or (short_id(metadata.project) if metadata.project else ""), _MAX_CHARS)
    yield "Measured", _measured(result, now)
    yield "Host", _host(result.host, own_host)
    yield "Status", "" if result.status == "finished" else show(result.status, 40)
    yield "Re-run of", show(short_id(metadata.rerun_of), 10) if metadata.rerun_of else ""
    for number, session in enumerate(result.sittings if len(result.sittings) > 1 else (), 1):
        yield f"Session {number}", _session(session, now)


def _measured(result: RunResult, now: float) -> str:
    when = moment_words(result.started_utc, now) or "at an unknown time"
    if result.foreign:
        # An imported result has only its measuring time.
        return f"{when}, for {seconds(result.seconds)}"
    waited = f", after {seconds(result.waited_s)} of waiting for another benchmark" if result.waited_s >= 1 else ""
    return f"{when}, in {seconds(result.seconds)}{waited}"


def _host(host: str, own: str) -> str:
    if not host:
        return ""
    return f"{show(host, 40)} (this machine)" if host == own else show(host, 40)


def _session(session: RunSession, now: float) -> str:
    words = [count_of(session.executions, "execution"), moment_words(session.started_utc, now)]
    words += [f"changed before it: {'; '.join(all_words(session.mixed))}"] if session.mixed else []
    return ", ".join(filter(None, words))
