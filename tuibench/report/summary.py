"""The output of a benchmark on stdout: cells, conclusions, the command to repeat it, the headline."""

from __future__ import annotations

from tuibench.core.cell import CellResult
from tuibench.core.comparison import SideBySide
from tuibench.core.run import RunResult
from tuibench.core.text import show
from tuibench.core.units import count_of
from tuibench.report.command import command_of
from tuibench.report.headline import result_headline
from tuibench.report.label import first_cell, varying
from tuibench.report.lines import cell_lines, differences, own_lines
from tuibench.report.provenance import provenance_lines
from tuibench.report.side_by_side import side_by_side
from tuibench.report.style import to_ascii
from tuibench.report.table import table
from tuibench.report.verdict import comparison_sentence


def summary(run: RunResult, ascii_only: bool = False, beside: SideBySide | None = None) -> str:
    """Return the text for stdout, with a comparison to `beside` if given; its last line is the headline."""
    lines = [*_cells(run), *_ending(run), *provenance_lines(run)]
    lines += map(comparison_sentence, run.comparisons)
    lines += [show(sentence, 500) for sentence in run.conclusions]
    lines += [f"Again: {command}"] if (command := command_of(run)) else []
    lines += ["", side_by_side(beside)] if beside is not None else []
    text = "\n".join([*lines, result_headline(run)]) + "\n"
    return to_ascii(text) if ascii_only else text


def _cells(run: RunResult) -> list[str]:
    first = first_cell(run)
    if first is None:
        return []
    others = [cell for cell in run.cells if cell is not first]
    if not others:
        return cell_lines(run, first)
    if len(others) == 1 and varying(run) == ["scenario"]:
        return [*cell_lines(run, first), *own_lines(others[0], f"{_capital(others[0])} ")]
    return [*table(run), *_shared_differences(run)]


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
    counts: dict[str, int] = {}
    for cell in run.cells:
        for text in differences(cell):
            counts[text] = counts.get(text, 0) + 1
    io = [cell.used.io for cell in run.cells if cell.used and cell.used.io != "bound"]
    for name in io:
        counts[f"I/O {show(name, 40)}"] = counts.get(f"I/O {show(name, 40)}", 0) + 1
    return [f"Not as Asked: {text} ({count} of {len(run.cells)} cells)" for text, count in counts.items()]
