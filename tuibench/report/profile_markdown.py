"""A profile as Markdown, to paste into an issue: no name in it can become markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from tuibench.core.profile import CostProfile, LossProfile, PerformanceProfile, Profile
from tuibench.insight.bar import SHARES, VALUES, Summary
from tuibench.insight.column import Column
from tuibench.insight.cost import COST_COLUMNS, arrange_costs, cost_rows
from tuibench.insight.layer import COLUMNS, arrange, layer_rows
from tuibench.insight.loss import APPROXIMATED, arrange_losses, loss_columns, loss_rows
from tuibench.insight.loss_sentence import loss_sentences
from tuibench.insight.loss_summary import summarize_loss, told_level
from tuibench.insight.sentence import help_sentence, zeros_sentence
from tuibench.insight.summary import BASELINE, FLOPS, summarize, summarize_costs
from tuibench.report import profile_loss
from tuibench.report.markdown import escape
from tuibench.report.profile_costs import total_lines
from tuibench.report.profile_heading import ProfileHeading, heading_lines
from tuibench.report.profile_lines import model_lines
from tuibench.report.profile_table import capital, left_out

_MOST_ROWS = 200
R = TypeVar("R")


def profile_markdown(profile: Profile, heading: ProfileHeading) -> str:
    """Summary, bars as a table, layers as a table; all rows are in the CSV."""
    if profile.performance is not None:
        return _joined(_performance(profile, profile.performance, heading))
    if profile.loss is not None:
        return _joined(_loss(profile.loss, heading))
    return cost_markdown(profile.costs, heading)


def cost_markdown(costs: CostProfile, heading: ProfileHeading) -> str:
    """The FLOPS profile, marked as theory."""
    return _joined(_costs(costs, heading))


def _performance(profile: Profile, measured: PerformanceProfile, heading: ProfileHeading) -> Iterator[str]:
    yield "# Performance profile"
    yield _bullets([*heading_lines(heading), *model_lines(measured)])
    yield "## Layer summaries"
    yield _bullets([capital(help_sentence(measured)), capital(zeros_sentence(measured))])
    yield from _summary(summarize(measured, BASELINE, VALUES), summarize(measured, BASELINE, SHARES))
    yield "## Layer results"
    yield from _rows(COLUMNS, arrange(layer_rows(measured, profile.costs)))


def _loss(loss: LossProfile, heading: ProfileHeading) -> Iterator[str]:
    proxy = loss.kind == APPROXIMATED
    yield "# Loss profile" + (" (approximated: a proxy, nothing was run)" if proxy else "")
    yield _bullets([*heading_lines(heading), *profile_loss.model_lines(loss), *map(capital, loss_sentences(loss))])
    if not loss.layers:
        return
    level = told_level(loss)
    if level:
        yield "## Layer summaries"
        yield from _summary(summarize_loss(loss, level, VALUES), None)
    yield "## Layer results"
    yield _bullets([profile_loss.legend(loss)])
    columns = loss_columns(loss)
    yield from _rows(columns, arrange_losses(loss_rows(loss), columns))


def _costs(costs: CostProfile, heading: ProfileHeading) -> Iterator[str]:
    yield "# FLOPS profile (theoretical)"
    yield _bullets([*heading_lines(heading), *total_lines(costs)])
    yield "## Layer summaries"
    yield from _summary(summarize_costs(costs, FLOPS, VALUES), summarize_costs(costs, FLOPS, SHARES))
    yield "## Layer results"
    yield from _rows(COST_COLUMNS, arrange_costs(cost_rows(costs)))


def _summary(shown: Summary, shares: Summary | None) -> Iterator[str]:
    if shown.bars:
        titles = ["operator", "layers", escape(shown.title), *(["%"] if shares else [])]
        rows = [[escape(bar.label), str(bar.layers), escape(bar.text)] for bar in shown.bars]
        if shares is not None:
            rows = [[*row, escape(bar.text)] for row, bar in zip(rows, shares.bars, strict=True)]
        yield _table(titles, [False, True, True, True], rows)
    if shown.words:
        yield _bullets(shown.words)


def _rows(columns: Sequence[Column[R]], rows: Sequence[R]) -> Iterator[str]:
    kept = rows[:_MOST_ROWS]
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
