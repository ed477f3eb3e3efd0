"""A profile as text: model summary, bars per operator, layers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tuibench.core.text import cut, show, wrap
from tuibench.core.units import count_of
from tuibench.present.column import Column, table_lines
from tuibench.present.plots.bars import draw_bars
from tuibench.present.plots.drawing import text_of
from tuibench.present.profile.shown import Shown
from tuibench.present.profile.summary import FLOPS, VALUES, Summary
from tuibench.present.profile.view import ProfileView, top_rows
from tuibench.present.table import to_ascii


@dataclass(frozen=True, slots=True)
class ProfileHeading:
    """The known names of a profile and its model."""

    name: str = ""
    id: str = ""
    model: str = ""
    started: str = ""
    note: str = ""


def heading_lines(heading: ProfileHeading) -> list[str]:
    """Return the heading as lines, without unknown parts."""
    name, short = show(heading.name), show(heading.id)
    named = f"{name} ({short})" if name and short else name or short
    pairs = (
        ("Profile", named),
        ("Model", show(heading.model, 4096)),
        ("Started", show(heading.started)),
        ("Note", show(heading.note, 4096)),
    )
    return [f"{label}: {value}" for label, value in pairs if value]


_MOST_BARS = 12
_WIDE = 100
"""Terminal width from which more than the narrow table is shown."""
_NARROWEST = 20
_LABEL = 22


def profile_lines(view: ProfileView[Any], heading: ProfileHeading, shown: Shown | None = None) -> list[str]:
    """Return all sections of a profile, or the details of one layer."""
    shown = shown or Shown()
    lines = _detail_lines(view, heading, shown) if shown.layer else list(_page_lines(view, heading, shown))
    return finished(lines, shown.ascii_only)


def _page_lines(view: ProfileView[Any], heading: ProfileHeading, shown: Shown) -> Iterator[str]:
    yield view.title
    yield from heading_lines(heading)
    yield from wrapped(view.model_lines(), shown.width)
    if not view.rows:
        yield from ("", view.nothing) if view.nothing else ()
        return
    yield ""
    conclusions = view.conclusions()
    if conclusions:
        yield "Layer summaries"
        yield from wrapped(map(capital, conclusions), shown.width)
    kind = shown.summary or view.usual
    found = view.summarize(kind, shown.display or VALUES)
    # A page that states the definition of FLOPs above the bars does not repeat it below them.
    found = found if conclusions or found.kind != FLOPS else replace(found, words=())
    if kind and (found.bars or shown.summary or not conclusions):
        yield from ("",) if conclusions else ()
        yield from _bar_lines(found, shown)
        yield ""
    elif conclusions:
        yield ""
    yield f"Layer results{view.origin}" + (f" with '{show(shown.text, 60)}'" if shown.text else "")
    rows = view.selected(shown)
    kept = top_rows(rows, shown)
    if kept:
        yield from _layer_table(view, kept, shown.width)
    else:
        yield "No layer holds that text" if shown.text else "There is no layer to show"
    yield from left_out(len(kept), len(rows), "--top N")
    yield from wrapped(view.legend(kept), shown.width)


def _layer_table(view: ProfileView[Any], rows: Sequence[Any], width: int) -> list[str]:
    """Return a line of titles and one per row; below 100 columns only the first columns, with names cut."""
    columns = view.columns if width >= _WIDE else map(_limited, view.columns[: view.narrow])
    return table_lines(list(columns), rows, width)


def _limited(column: Column[Any]) -> Column[Any]:
    most = column.most
    return column if most is None else replace(column, text=lambda row: cut(column.text(row), most))


def _bar_lines(found: Summary, shown: Shown) -> Iterator[str]:
    """Yield the bars of a summary with its notes; without bars, the reason."""
    if not found.bars and not found.words:
        yield f"{found.title}: none"
        return
    yield f"{found.title}:"
    bars = [(bar.label, bar.length, bar.text) for bar in found.bars[:_MOST_BARS]]
    yield from text_of(draw_bars(bars, shown.width, shown.ascii_only)).splitlines()
    if (more := len(found.bars) - _MOST_BARS) > 0:
        yield f"and {count_of(more, 'more operator')}"
    yield from wrapped(found.words, shown.width)


def _detail_lines(view: ProfileView[Any], heading: ProfileHeading, shown: Shown) -> list[str]:
    """Return layers one after the other, each with a line per detail."""
    details = view.details(shown)
    kept = top_rows(details, shown)
    lines = [*filter(None, (view.detail_title,)), *heading_lines(heading)]
    room = max(shown.width - _LABEL - 2, _NARROWEST)
    for each in kept:
        lines += ["", each.title]
        for label, value in each.pairs:
            first, *more = wrap(value, room) or [""]
            lines += [f"  {label:<{_LABEL}}{first}", *(f"{'':<{_LABEL + 2}}{line}" for line in more)]
    return [*lines, *left_out(len(kept), len(details), "--top N")]


def left_out(shown: int, of: int, how: str) -> list[str]:
    """Return a line about the rows that are not shown, and how to see them."""
    return [f"{of - shown} more rows ({how})"] if shown < of else []


def wrapped(texts: Iterable[str], width: int) -> Iterator[str]:
    """Yield each sentence on as many lines as it needs, all but the first indented."""
    for text in texts:
        # Keep a number and its per cent sign on one line.
        lines = wrap(text.replace(" %", "\u00a0%"), max(width, _NARROWEST), "  ")
        yield from (line.replace("\u00a0", " ") for line in lines or [""])


def finished(lines: Sequence[str], ascii_only: bool) -> list[str]:
    """Return the lines, in ASCII if requested."""
    return [to_ascii(line) for line in lines] if ascii_only else list(lines)


def capital(text: str) -> str:
    """Return a sentence with a capital first letter."""
    return f"{text[:1].upper()}{text[1:]}"
