"""The page of a profile: heading, summary, bars and layers as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tuibench.core.errors import UsageError
from tuibench.core.ids import short_id
from tuibench.core.label import model_names
from tuibench.core.profile import LEVELS, LOSS, PERFORMANCE, CostProfile, LossProfile, Profile
from tuibench.core.result import RunResult
from tuibench.core.spec import ProfileSpec
from tuibench.core.stored import Metadata
from tuibench.core.text import cut, show, to_ascii, wrap
from tuibench.core.units import count_of, ms, seconds
from tuibench.present.ages import moment_words
from tuibench.present.headline import result_headline
from tuibench.present.plots.depth import draw_bars
from tuibench.present.plots.drawing import text_of
from tuibench.present.profile.costs import COST_COLUMNS, CostView
from tuibench.present.profile.layers import COLUMNS
from tuibench.present.profile.loss import loss_columns, loss_types
from tuibench.present.profile.loss_view import LossView
from tuibench.present.profile.performance_view import PerformanceView
from tuibench.present.profile.shown import Shown
from tuibench.present.profile.summary import (
    COST_TYPES,
    DISPLAYS,
    FLOPS,
    PRUNED_TYPES,
    SHARES,
    SUMMARY_TYPES,
    VALUES,
    Summary,
)
from tuibench.present.profile.view import ProfileView, top_rows
from tuibench.present.reason import reason_words
from tuibench.present.table import Column, as_text, column_of, table_lines


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
        yield "No layer matches that text" if shown.text else "There is no layer to show"
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


_ANY_LOSS = LossProfile("measured", "", LEVELS, (), classes=True)
"""A loss profile with every possible column."""


def view_of(profile: Profile | CostProfile | LossProfile) -> ProfileView[Any]:
    """Return the view of a stored profile or of one that needs no measurement."""
    if isinstance(profile, CostProfile):
        return CostView(profile)
    if isinstance(profile, LossProfile):
        return LossView(profile)
    if profile.performance is not None:
        return PerformanceView(profile)
    return CostView(profile.costs) if profile.loss is None else LossView(profile.loss)


def settle(kind: str, shown: Shown, loss: LossProfile | None = None) -> Shown:
    """Return the choices by their full names; raise UsageError for one that this kind of profile does not have.

    `loss` is the profile if it is known already, or an empty one with the levels that it will have.
    """
    check_sort(kind, shown.sort, loss)
    bars = {PERFORMANCE: (*SUMMARY_TYPES, *PRUNED_TYPES), LOSS: loss_types(loss or _ANY_LOSS)}.get(kind, COST_TYPES)
    # `0.9` is easier to type in a shell than `pruned 0.9`.
    shares = {_bare(name.removeprefix("pruned ")): name for name in bars}
    if kind == PERFORMANCE:
        shares |= {
            _bare(f"{start}{zeros:g}"): name for name, zeros in PRUNED_TYPES.items() for start in ("", "pruned ")
        }
    return replace(
        shown,
        summary=_named("--summary-type", shown.summary, bars, shares),
        display=_named("--value", shown.display, DISPLAYS, {"%": SHARES}),
    )


def check_sort(kind: str, sort: str, loss: LossProfile | None = None) -> None:
    """Raise UsageError if such a profile has no column of that name."""
    every: dict[str, Sequence[Column[Any]]] = {PERFORMANCE: COLUMNS, LOSS: loss_columns(loss or _ANY_LOSS)}
    known = every.get(kind, COST_COLUMNS)
    if sort and column_of(known, sort) is None:
        raise UsageError("unknown_column", given=sort, allowed=[column.key for column in known])


def _named(flag: str, typed: str, known: Sequence[str], also: Mapping[str, str]) -> str:
    if not typed:
        return ""
    found = {**also, **{_bare(name): name for name in known}}.get(_bare(typed))
    if found is None:
        raise UsageError("not_one_of", subject=flag, given=typed, allowed=known)
    return found


def _bare(name: str) -> str:
    """Return a name without case, blanks, hyphens and underscores."""
    return "".join(name.casefold().replace("-", " ").replace("_", " ").split())


SCHEMA = 1
_MAX_CHARS = 500


def heading_of(result: RunResult, metadata: Metadata | None = None, now: float | None = None) -> ProfileHeading:
    """Return the heading of a stored profile."""
    return ProfileHeading(
        name=metadata.name if metadata is not None else "",
        id=short_id(result.id),
        model=", ".join(model_names(result.spec.models)),
        started=result.started_utc if now is None else moment_words(result.started_utc, now),
        note=metadata.note if metadata is not None else "",
    )


def profile_page(
    result: RunResult, metadata: Metadata | None = None, shown: Shown | None = None, compared: str = ""
) -> str:
    """Return the page of a stored profile; its last line is the headline.

    `compared` is the page of its comparison with another profile.
    """
    shown = shown or Shown()
    profile = result.profile
    lines: list[str] = []
    if profile is not None and (profile.performance or profile.loss) is not None:
        lines = profile_lines(view_of(profile), heading_of(result, metadata, shown.now), shown)
    if shown.layer:
        return "\n".join(lines) + "\n"
    said = [f"Warning: {reason_words(warning, _MAX_CHARS)}" for warning in result.warnings]
    said += [f"Run {show(result.status, 40)}: what was measured is shown"] * (result.status != "finished")
    beside = ["", *compared.splitlines()] if compared else []
    return as_text([*lines, *beside, "", *said, result_headline(result)], shown.ascii_only)


def theory_page(found: CostProfile | LossProfile, heading: ProfileHeading, shown: Shown) -> str:
    """Return the page of an unmeasured profile: FLOPS, or approximated loss."""
    return "\n".join(profile_lines(view_of(found), heading, shown)) + "\n"


_LONG_S = 300.0


def time_lines(asked: ProfileSpec, expected_s: float | None, basis: str) -> list[str]:
    """Return the expected time and its basis; for a long one, the flags of this kind that shorten it."""
    if expected_s is None:
        return ["Time: unknown, as the time of one inference is unknown"]
    lines = [f"Time: about {seconds(expected_s)}, from {basis}"]
    return lines + ([f"That is long; shorter by {', '.join(_shorter(asked))}"] if expected_s > _LONG_S else [])


def left_line(points: int, ms_each: float) -> str:
    """Return the remaining time of a loss profile after its first change was timed; it replaces the guess."""
    left = seconds(points * ms_each / 1000)
    return f"Time: about {left} from here: {count_of(points, 'change')} of {ms(ms_each)} each, as measured just now"


def _shorter(asked: ProfileSpec) -> list[str]:
    """Return the flags of this kind that can still shorten it."""
    if asked.kind == LOSS:
        flags = (
            ("--budget", len(asked.levels) > 1 and not asked.budget),
            ("fewer levels (--level)", len(asked.levels) > 1),
            ("fewer --samples", asked.samples > 1),
        )
    else:
        flags = (
            ("no --what-if", bool(asked.what_if)),
            ("fewer --processes", asked.processes > 1),
            ("fewer --runs", asked.runs > 1),
        )
    return [*(flag for flag, helps in flags if helps), "--max-time"]
