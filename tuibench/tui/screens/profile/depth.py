"""A figure of one value per layer over the depth of the model, with a cursor that names its layer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from tuibench.core.profile import LAYER, PerformanceProfile
from tuibench.core.profile_facts import total_ms, untold_words
from tuibench.core.units import ms, percent, scaled, size
from tuibench.present.plots.depth import Depth as Plotted
from tuibench.present.plots.depth import draw_depth
from tuibench.present.plots.drawing import Row as Drawn
from tuibench.present.profile.estimate import layer_gains
from tuibench.present.profile.layers import LayerRow
from tuibench.present.profile.summary import (
    BASELINE,
    BYTES,
    COST_TYPES,
    FLOPS,
    INT8_TIME,
    LOG,
    PARAMETERS,
    POTENTIAL,
    POTENTIAL_SHARE,
    PRUNED,
    SHARES,
    summarize,
    whole_of,
)
from tuibench.tui import key
from tuibench.tui.screens.profile.book import Book, Depth
from tuibench.tui.screens.profile.pane import ChoicePane
from tuibench.tui.widgets.row import Row, shown
from tuibench.tui.widgets.text_block import Moving, TextBlock
from tuibench.tui.widgets.title_line import RuleLine, SelectorLine


class DepthFigure(Moving):
    """The plot; the keys of lists move its cursor."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings("open")

    class Moved(Message):
        """Posted when the cursor moves to another layer."""

    class Opened(Message):
        """Posted on enter on a layer."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._depth = Depth("", (), (), ())
        self._figure: Plotted | None = None
        self._rows: tuple[Drawn, ...] = ()
        self._drawn_for: object = None
        self.at = 0

    def show_depth(self, depth: Depth) -> None:
        """Show new values and keep the cursor on its layer."""
        held = self.under
        self._depth = depth
        self._figure = Plotted(depth.values, self.legible(depth.title), log=depth.log)
        if depth.empty:
            self._figure = replace(self._figure, empty=self.legible(depth.empty))
        self.at = depth.keys.index(held) if held in depth.keys else 0
        self._drawn_for = None
        self.move(0)

    @property
    def under(self) -> str:
        """Key of the layer under the cursor; '' if there is none."""
        return self._depth.keys[self.at] if self.at < len(self._depth.keys) else ""

    @property
    def page(self) -> int:
        """A tenth of all layers."""
        return max(len(self._depth.keys) // 10, 1) + 1

    def move(self, by: int) -> None:
        """Move the cursor by this many layers."""
        self.at = min(max(self.at + by, 0), max(len(self._depth.keys) - 1, 0))
        self.repaint()
        self.post_message(self.Moved())

    def move_to_end(self, last: bool) -> None:
        """Move to the first or last layer."""
        self.move(len(self._depth.keys) if last else -len(self._depth.keys))

    def action_open(self) -> None:
        """Open the layer under the cursor."""
        if self.under:
            self.post_message(self.Opened())

    def row(self, y: int) -> Row:
        """Return line `y` of the figure, which fills the widget."""
        wanted = (self.size, self.at)
        if self._figure is not None and wanted != self._drawn_for:
            ascii_only = bool(getattr(self.app, "ascii_only", False))
            self._rows = draw_depth(self._figure, *self.size, cursor=self.at, ascii_only=ascii_only)
            self._drawn_for = wanted
        return shown(self._rows[y]) if y < len(self._rows) else ()


class DepthPane(ChoicePane):
    """The Depth tab: selectors, figure, and the layer under the cursor."""

    def __init__(self, book: Book, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(book, id=id)
        self._depth: Depth | None = None

    def compose(self) -> ComposeResult:
        """Yield the selectors, the figure and the layer's lines."""
        yield SelectorLine(id="choices")
        yield RuleLine()
        yield DepthFigure(id="depth-figure")
        yield RuleLine()
        yield TextBlock(id="depth-layer")

    def on_mount(self) -> None:
        """Show the last choice."""
        self.take_up()

    @property
    def figure(self) -> DepthFigure:
        """The plot."""
        return self.query_one(DepthFigure)

    def draw(self) -> None:
        """Draw the chosen values."""
        self._depth = self.book.depth(self.chosen_kind, self.chosen_display)
        self.figure.show_depth(self._depth)

    def on_depth_figure_moved(self, message: DepthFigure.Moved) -> None:
        """Show the layer under the cursor."""
        message.stop()
        depth, figure = self._depth, self.figure
        block = self.query_one("#depth-layer", TextBlock)
        if depth is None or not figure.under:
            block.show_lines(())
            return
        glyphs = self.dashboard.glyphs
        first = f" {figure.at + 1} of {len(depth.keys)}  {depth.texts[figure.at]}"
        block.show_lines([(first, "title"), *self.book.brief(figure.under, glyphs)[:2]])

    def on_depth_figure_opened(self, message: DepthFigure.Opened) -> None:
        """Show all facts of the layer."""
        message.stop()
        self.open_layer(self.figure.under)


_TIMES = (BASELINE, POTENTIAL, INT8_TIME, PRUNED)


def unit_of(kind: str) -> Callable[[float], str]:
    """Return the formatter for a quantity."""
    if kind in _TIMES:
        return ms
    return {POTENTIAL_SHARE: percent, BYTES: size}.get(kind, scaled)


def over_depth(
    title: str,
    keys: Sequence[str],
    values: Sequence[float | None],
    unit: Callable[[float], str],
    display: str,
    total: float | None = None,
) -> Depth:
    """Return values, logarithms, or shares of `total`, by default of their sum."""
    total = math.fsum(value for value in values if value is not None) if total is None else total
    shown: list[float | None] = list(values)
    if display == SHARES and total:
        shown = [100 * value / total if value is not None else None for value in values]
        title = f"{title}, % of total"
    elif unit is percent:
        # Scale to percent, so that axis and texts agree.
        shown = [100 * value if value is not None else None for value in values]
        title = title if "%" in title else f"{title}, %"
    return Depth(title, tuple(keys), tuple(shown), _Texts(values, unit, total, display), display == LOG)


class _Texts(Sequence[str]):
    """Formats a text on access: a model may have thousands of layers."""

    def __init__(
        self, values: Sequence[float | None], unit: Callable[[float], str], total: float, display: str
    ) -> None:
        self._values, self._unit, self._total, self._display = values, unit, total, display

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, at: int) -> str:  # type: ignore[override]
        value = self._values[at]
        if value is None:
            return "unknown"
        return percent(value / self._total) if self._display == SHARES and self._total else self._unit(value)


def layer_depth(profile: PerformanceProfile, rows: Sequence[LayerRow], kind: str, display: str) -> Depth:
    """Return the depth of a performance profile: timed layers in the model's order, without the engine's own work."""
    timed = [row for row in rows if row.layer.kind == LAYER and row.layer.ms.value is not None]
    keys, values = [row.layer.key for row in timed], _values(profile, timed, kind)
    found = over_depth(kind, keys, values, unit_of(kind), display, whole_of(profile, kind))
    if any(value is not None for value in values):
        return found
    return replace(found, empty=_why_none(profile, timed, kind))


def _why_none(profile: PerformanceProfile, timed: Sequence[LayerRow], kind: str) -> str:
    """Return why no layer has a value; '' if unknown."""
    summary = summarize(profile, kind)
    # For other quantities the summary's words describe its method, not a reason.
    is_told = kind in (INT8_TIME, PRUNED) or (profile.below_resolution and kind not in COST_TYPES)
    if kind in (POTENTIAL, POTENTIAL_SHARE) and timed and untold_words(profile):
        return untold_words(profile)
    if is_told and not summary.bars:
        return " ".join(summary.words)
    if not timed:
        return "no layer was timed"
    return f"{kind} are known of no layer" if kind in COST_TYPES else ""


def _values(profile: PerformanceProfile, rows: Sequence[LayerRow], kind: str) -> list[float | None]:
    if kind in (POTENTIAL, POTENTIAL_SHARE):
        gains, total = layer_gains(profile), total_ms(profile)
        saved = [None if row.ms is None else gains[row.layer.key].potential_ms for row in rows]
        return saved if kind == POTENTIAL or not total else [None if one is None else one / total for one in saved]
    if kind == PRUNED:
        effect = profile.zero_effect
        ratio = effect.ratio.value if effect is not None and effect.exploits else None
        return [None if ratio is None or row.ms is None else row.ms * (ratio if row.layer.macs else 1) for row in rows]
    pick: dict[str, Callable[[LayerRow], float | None]] = {
        BASELINE: lambda row: row.ms,
        INT8_TIME: lambda row: row.int8_ms,
        FLOPS: lambda row: row.layer.flops,
        BYTES: lambda row: row.layer.bytes_moved,
        PARAMETERS: lambda row: row.layer.parameters,
    }
    return [pick[kind](row) for row in rows]
