"""A profile as Markdown, to paste into an issue: no name in it can become markup."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from tuibench.core.profile import CostProfile, LossProfile, PerformanceProfile, Profile
from tuibench.core.spec import APPROXIMATED
from tuibench.present.markdown import escape
from tuibench.present.profile import loss_lines as profile_loss
from tuibench.present.profile.costs import COST_COLUMNS, Column
from tuibench.present.profile.layers import columns_of
from tuibench.present.profile.lines import model_lines, total_lines
from tuibench.present.profile.loss import loss_columns, loss_sentences, summarize_loss, told_level
from tuibench.present.profile.rows import (
    LayerDetail,
    ProfileHeading,
    capital,
    cost_details,
    cut,
    heading_lines,
    layer_details,
    left_out,
    loss_details,
    shown_costs,
    shown_layers,
    shown_losses,
)
from tuibench.present.profile.shown import Shown, shown_profile
from tuibench.present.profile.summary import (
    BASELINE,
    FLOPS,
    SHARES,
    VALUES,
    Summary,
    help_sentence,
    summarize,
    summarize_costs,
    zeros_sentence,
)

_MOST_ROWS = 200
R = TypeVar("R")


_WHOLE = Shown(top=None)


def profile_markdown(profile: Profile, heading: ProfileHeading, shown: Shown = _WHOLE) -> str:
    """Return summary, bars as a table and layers as a table; only the CSV has all rows."""
    profile = shown_profile(profile)
    if profile.performance is not None:
        return _joined(_performance(profile, profile.performance, heading, shown))
    if profile.loss is not None:
        return loss_markdown(profile.loss, heading, shown)
    return cost_markdown(profile.costs, heading, shown)


def cost_markdown(costs: CostProfile, heading: ProfileHeading, shown: Shown = _WHOLE) -> str:
    """Return the FLOPS profile, marked as theory."""
    return _joined(_costs(costs, heading, shown))


def loss_markdown(loss: LossProfile, heading: ProfileHeading, shown: Shown = _WHOLE) -> str:
    """Return a loss profile, measured or approximated."""
    return _joined(_loss(loss, heading, shown))


def _performance(
    profile: Profile, measured: PerformanceProfile, heading: ProfileHeading, shown: Shown
) -> Iterator[str]:
    yield "# Performance profile"
    if shown.layer:
        yield from _details(layer_details(measured, profile.costs, shown), heading, shown)
        return
    yield _bullets([*heading_lines(heading), *model_lines(measured)])
    yield "## Layer summaries"
    yield _bullets([capital(help_sentence(measured)), capital(zeros_sentence(measured))])
    yield from _summary(lambda display: summarize(measured, shown.summary or BASELINE, display), shown)
    yield "## Layer results"
    yield from _rows(columns_of(measured), shown_layers(measured, profile.costs, shown), shown)


def _loss(loss: LossProfile, heading: ProfileHeading, shown: Shown) -> Iterator[str]:
    proxy = loss.kind == APPROXIMATED
    yield "# Loss profile" + (" (approximated: a proxy, nothing was run)" if proxy else "")
    if shown.layer:
        yield from _details(loss_details(loss, shown), heading, shown)
        return
    yield _bullets([*heading_lines(heading), *profile_loss.model_lines(loss), *map(capital, loss_sentences(loss))])
    if not loss.layers:
        return
    kind = shown.summary or told_level(loss)
    if kind:
        yield "## Layer summaries"
        # Noises of layers do not add up, so they have no shares.
        usual = shown if shown.display else replace(shown, display=VALUES)
        yield from _summary(lambda display: summarize_loss(loss, kind, display), usual)
    yield "## Layer results"
    yield _bullets([profile_loss.legend(loss)])
    yield from _rows(loss_columns(loss), shown_losses(loss, shown), shown)


def _costs(costs: CostProfile, heading: ProfileHeading, shown: Shown) -> Iterator[str]:
    yield "# FLOPS profile (theoretical)"
    if shown.layer:
        yield from _details(cost_details(costs, shown), heading, shown)
        return
    yield _bullets([*heading_lines(heading), *total_lines(costs)])
    yield "## Layer summaries"
    yield from _summary(lambda display: summarize_costs(costs, shown.summary or FLOPS, display), shown)
    yield "## Layer results"
    yield from _rows(COST_COLUMNS, shown_costs(costs, shown), shown)


def _summary(summed: Callable[[str], Summary], shown: Shown) -> Iterator[str]:
    """Yield a row per operator; with values and shares if neither was chosen."""
    found = summed(shown.display or VALUES)
    if found.bars:
        titles = ["operator", "layers", escape(found.title)]
        rows = [[escape(bar.label), str(bar.layers), escape(bar.text)] for bar in found.bars]
        if not shown.display:
            titles.append("%")
            rows = [[*row, escape(bar.text)] for row, bar in zip(rows, summed(SHARES).bars, strict=True)]
        yield _table(titles, [False, True, True, True], rows)
    if found.words:
        yield _bullets(found.words)


def _details(details: Sequence[LayerDetail], heading: ProfileHeading, shown: Shown) -> Iterator[str]:
    yield _bullets(heading_lines(heading))
    kept = cut(details, shown)
    for each in kept:
        yield f"## {escape(each.title)}"
        yield _bullets(f"{label}: {value}" for label, value in each.pairs)
    if len(kept) < len(details):
        yield _bullets(left_out(len(kept), len(details), "--top N"))


def _rows(columns: Sequence[Column[R]], rows: Sequence[R], shown: Shown) -> Iterator[str]:
    # An issue gets a limited table unless the user asks for more.
    kept = cut(rows, shown if shown.top is not None else replace(shown, top=_MOST_ROWS))
    texts = [[escape(column.text(row)) for column in columns] for row in kept]
    yield _table([escape(column.title) for column in columns], [column.right for column in columns], texts)
    if len(kept) < len(rows):
        yield _bullets(left_out(len(kept), len(rows), "CSV has all"))


def _table(titles: Sequence[str], right: Sequence[bool], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---:" if is_right else "---" for _, is_right in zip(titles, right, strict=False)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (titles, rule, *rows))


def _bullets(texts: Iterable[str]) -> str:
    return "\n".join(f"- {escape(text)}" for text in texts)


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"
