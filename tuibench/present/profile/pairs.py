"""Two profiles compared by layer: the command's page, its JSON, and the pairs that the screen shows."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from tuibench.core.cell import Estimate
from tuibench.core.profile import INT8, RESIDUAL, Profile
from tuibench.core.reason import Reason
from tuibench.core.record import to_plain
from tuibench.core.result import RunResult
from tuibench.core.text import cut, show
from tuibench.core.units import ms, short, table_ms
from tuibench.present.amount import amount, ratio_digits, with_interval
from tuibench.present.json_export import finite
from tuibench.present.profile.comparison import LayerPair, LossComparison, LossPair, ProfileComparison, compare_profiles
from tuibench.present.profile.loss import HARM, decibels, short_level_name
from tuibench.present.profile.page import SCHEMA, ProfileHeading, finished, heading_of, left_out, wrapped
from tuibench.present.profile.shown import TOP, WIDTH, Shown, shown_profile
from tuibench.present.profile.view import Fact
from tuibench.present.reason import export_words, reason_words
from tuibench.present.table import MAX_CHARS, NONE, Column, table_lines

_WIDEST_OP = 16
P = TypeVar("P", LayerPair, LossPair)
_NO_LEVEL = "no level is in both, so no differences are shown: profile both with the same --level"
_MOST_LEVELS = 3
"""Most levels of loss profiles shown: two columns each, beside operator and weight."""


def profile_comparison_lines(
    old: Profile,
    new: Profile,
    names: tuple[ProfileHeading, ProfileHeading],
    *,
    environment: Sequence[Reason] = (),
    width: int = WIDTH,
    ascii_only: bool = False,
    top: int | None = TOP,
) -> list[str]:
    """Return the comparison of two performance or two loss profiles; `environment` has the machines' differences."""
    lines = [f"{side}: {_named(heading)}" for side, heading in zip(("Old", "New"), names, strict=True)]
    found = compare_profiles(old, new, environment)
    if isinstance(found, ProfileComparison):
        lines += _performance(found, width, top)
    elif found is not None:
        lines += _loss(found, width, top)
    else:
        lines += ["One is a performance profile and the other a loss profile: nothing to compare"]
    return finished(lines, ascii_only)


def _performance(found: ProfileComparison, width: int, top: int | None) -> list[str]:
    ratio = f", ratio {ratio_digits(found.ratio)}" if found.ratio is not None else ""
    said = [
        f"Model: old {_amount(found.old_ms)}, new {_amount(found.new_ms)} per batch{ratio}",
        *_differences(found.words),
    ]
    lines = list(wrapped(said, width))
    kept = found.pairs if top is None else found.pairs[: max(top, 0)]
    lines += ["", *table_lines(_TIME_COLUMNS, kept, width)]
    lines += left_out(len(kept), len(found.pairs), "--top N")
    legend = (
        "Layers matched by their nodes, in order of |Δ|; ratio new / old (below 1 is faster), measured at different"
        " times; ~ where the intervals overlap"
    )
    legend += "; ? no interval" if any(_mark(pair) == "?" for pair in kept) else ""
    return [*lines, *wrapped([legend], width)]


def _pair_columns(op: int) -> tuple[Column[P], ...]:
    """Return the columns that name a layer."""
    return (
        Column("op", "op", text=lambda pair: cut(show(pair.op, 80) or "?", _WIDEST_OP), least=op),
        Column("weight", "weight", text=lambda pair: show(pair.weight, MAX_CHARS) or NONE, least=8, middle=True),
    )


def _signed(delta: float | None) -> str:
    return NONE if delta is None else f"{'+' if delta > 0 else ''}{short(delta)}"


def _rows(pair: LayerPair) -> str:
    return f"{len(pair.old)}>{len(pair.new)}" if max(len(pair.old), len(pair.new)) > 1 else ""


def _mark(pair: LayerPair) -> str:
    """Return the sign for a difference that may be zero, or that has no interval."""
    # The residual is not measured and never has an interval.
    if pair.delta_ms is None or {row.kind for row in (*pair.old, *pair.new)} == {RESIDUAL}:
        return ""
    if pair.is_clear is not None:
        return "" if pair.is_clear else "~"
    timed = [side for side in (pair.old_ms, pair.new_ms) if side.value is not None]
    return "?" if any(side.low is None or side.high is None for side in timed) else ""


_TIME_COLUMNS: tuple[Column[LayerPair], ...] = (
    *_pair_columns(op=8),
    Column("old", "old ms", text=lambda pair: _time(pair.old_ms), right=True),
    Column("new", "new ms", text=lambda pair: _time(pair.new_ms), right=True),
    Column("delta", "Δ ms", text=lambda pair: _signed(pair.delta_ms), right=True),
    Column("ratio", "ratio", text=lambda pair: NONE if pair.ratio is None else ratio_digits(pair.ratio), right=True),
    Column("rows", "rows", text=_rows, right=True, rank=1),
    Column("mark", "", text=_mark),
)


def _loss(found: LossComparison, width: int, top: int | None) -> list[str]:
    unlike = found.unlike or ("" if found.shared else _NO_LEVEL)
    said = [*([f"Not compared: {unlike}"] if unlike else []), *_differences(found.words)]
    lines = list(wrapped(said, width))
    shown = _shown_levels(found)
    columns: list[Column[LossPair]] = list(_pair_columns(op=6))
    for level in shown:
        columns += [_noise_column(f"{short_level_name(level)} old", level, 0), _noise_column("new", level, 1)]
    kept = found.pairs if top is None else found.pairs[: max(top, 0)]
    lines += ["", *table_lines(columns, kept, width)]
    order = "in the order of the model" if unlike else "in order of the greatest change of noise at any level"
    legend = [f"SQNR in dB, one layer changed at a time, {order}"]
    hidden = [short_level_name(level) for level in found.levels if level not in shown]
    legend += [f"Levels not shown: {', '.join(hidden)}"] if hidden else []
    lines += left_out(len(kept), len(found.pairs), "--top N")
    return [*lines, *wrapped(legend, width)]


def _shown_levels(found: LossComparison) -> list[str]:
    """Return INT8 and the levels that most layers have on both sides, in their order."""
    levels = found.shared or found.levels

    def worth(level: str) -> tuple[bool, int, int, int]:
        known = [sum(side is not None for side in pair.noise[level]) for pair in found.pairs]
        # Later levels change a layer more.
        return level == INT8, known.count(2), known.count(1), levels.index(level)

    kept = sorted(levels, key=worth, reverse=True)[:_MOST_LEVELS]
    return [level for level in levels if level in kept]


def _noise_column(title: str, level: str, side: int) -> Column[LossPair]:
    return Column(f"{level} {side}", title, text=lambda pair: decibels(pair.noise[level][side]), right=True)


def _differences(words: Sequence[str]) -> list[str]:
    return [f"Not the same: {word}" for word in words] or ["Nothing else that matters is known to differ"]


def _named(heading: ProfileHeading) -> str:
    known = (heading.name, f"({heading.id})" if heading.id else "", heading.model, heading.started)
    return show(" ".join(filter(None, known)), MAX_CHARS) or "without a name"


def _amount(estimate: Estimate) -> str:
    return amount(estimate, "ms", "unknown")


def _time(estimate: Estimate) -> str:
    return NONE if estimate.value is None else short(estimate.value)


_NONE = "-"
_MOST_NODES = 40
Numbered = tuple[int, Any]
"""A pair with its place, from 1."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """The content of a comparison page; texts of pairs are made when they are asked for."""

    head: str
    """The models as a whole."""
    words: tuple[str, ...]
    """Other differences between the two."""
    columns: tuple[Column[Numbered], ...]
    rows: tuple[Numbered, ...]
    """The greatest difference first."""
    searched: tuple[str, ...]
    """Search text of each pair."""
    facts: Callable[[Any], list[Fact]]
    """Returns all facts of a pair."""

    def find(self, text: str) -> list[str]:
        """Return the keys of pairs that contain all words of a text; a key is an index."""
        words = text.casefold().split()
        return [str(n) for n, one in enumerate(self.searched) if all(word in one for word in words)]


def pairs_of(old: Profile, new: Profile, environment: Sequence[Reason]) -> Pairs | None:
    """Return the pairs of two profiles; None if they are of different kinds or empty."""
    found = compare_profiles(old, new, environment)
    if isinstance(found, ProfileComparison):
        ratio = f", ratio {short(found.ratio)}" if found.ratio is not None else ""
        whole = f"{_ms(found.old_ms.value)} → {_ms(found.new_ms.value)}{ratio}"
        head = f"one batch {whole}; layers are matched by their nodes"
        columns = (*_pairs_named(12, 14, found.pairs), *_TIMES)
        return _pairs(head, found.words, columns, found.pairs, lambda pair: pair.nodes, _time_facts)
    return None if found is None else _losses(found)


def _losses(found: LossComparison) -> Pairs:
    # INT8 figures are small and need more digits.
    levels = (
        _column(
            level, level.removeprefix("pruned "), 11 if level == INT8 else 9,
            partial(_noises, level), right=True, rank=n, wide=11,
        )
        for n, level in enumerate(found.levels)
    )  # fmt: skip

    def facts(pair: LossPair) -> list[Fact]:
        noises = [(level, _noises(level, pair), "") for level in found.levels]
        return [("operator", pair.op, "title"), ("weight", pair.weight or "none", ""), ("node", pair.id, ""), *noises]

    head = "noise / signal in %, old and new, where one layer is changed"
    words = (*([found.unlike] if found.unlike else []), *found.words)
    columns = (*_pairs_named(7, 13, found.pairs), *levels)
    return _pairs(head, words, columns, found.pairs, lambda pair: (pair.id,), facts)


def _pairs(
    head: str,
    words: tuple[str, ...],
    columns: tuple[Column[Numbered], ...],
    pairs: Sequence[LayerPair | LossPair],
    nodes: Callable[[Any], Sequence[str]],
    facts: Callable[[Any], list[Fact]],
) -> Pairs:
    searched = tuple("\n".join((pair.op, pair.weight, *nodes(pair))).casefold() for pair in pairs)
    return Pairs(head, words, columns, tuple(enumerate(pairs, 1)), searched, facts)


def _column(key: str, title: str, width: int, text: Callable[[Any], str], **more: Any) -> Column[Numbered]:
    return Column(key, title, width, lambda row: text(row[1]), **more)


def _pairs_named(op: int, weight: int, pairs: Sequence[LayerPair | LossPair]) -> tuple[Column[Numbered], ...]:
    """Return the columns that identify a pair; the first two stay visible while scrolling."""
    shared = shared_ends([pair.weight for pair in pairs])
    return (
        Column("number", "#", 4, lambda row: str(row[0]), right=True, frozen=True),
        _column("op", "op", op, lambda pair: pair.op, grow=True, wide=24, part=6, frozen=True),
        _column(
            "weight", "weight", weight, lambda pair: pair.weight or _NONE,
            grow=True, wide=48, part=3, middle=True, shared=shared,
        ),
    )  # fmt: skip


def shared_ends(names: Sequence[str]) -> tuple[str, str]:
    """Return the longest prefix and suffix of parts common to all names, which a table may drop."""
    some = [parts for name in names if (parts := name.split(".")) != [""]]
    if len(some) < 2:
        return "", ""
    least = min(map(len, some)) - 1
    first = next((n for n in range(least) if len({parts[n] for parts in some}) > 1), least)
    last = next((n for n in range(least - first) if len({parts[-1 - n] for parts in some}) > 1), least - first)
    one = some[0]
    return "".join(f"{part}." for part in one[:first]), "".join(f".{part}" for part in one[len(one) - last :])


_TIMES = (
    _column("old", "old ms", 7, lambda pair: _table_ms(pair.old_ms.value), right=True),
    _column("new", "new ms", 7, lambda pair: _table_ms(pair.new_ms.value), right=True),
    _column("delta", "differs", 8, lambda pair: _pairs_signed(pair.delta_ms), right=True),
    _column("ratio", "ratio", 6, lambda pair: _NONE if pair.ratio is None else short(pair.ratio), right=True),
    _column("clear", "clear", 5, lambda pair: {True: "yes", False: "no", None: _NONE}[pair.is_clear], rank=1),
)


def _time_facts(pair: LayerPair) -> list[Fact]:
    found: list[Fact] = [("operator", pair.op, "title"), ("weight", pair.weight or "none", "")]
    for name, estimate, rows in (("old", pair.old_ms, pair.old), ("new", pair.new_ms, pair.new)):
        reason = reason_words(estimate.reason) or "no time"
        time = reason if estimate.value is None else with_interval(_ms(estimate.value), estimate)
        kernels = ", ".join(row.kernel_op for row in rows if row.kernel_op)
        found.append((name, f"{time}{f' ({kernels})' if kernels else ''}", ""))
    return [*found, *(("node", one, "") for one in pair.nodes[:_MOST_NODES])]


def _pairs_signed(delta: float | None) -> str:
    if delta is None:
        return _NONE
    text = table_ms(delta)
    return f"{'+' if delta > 0 else ''}{text}" if float(text) else "0"


def _noises(level: str, pair: LossPair) -> str:
    return " ".join(
        _NONE if value is None else HARM if value == math.inf else f"{100 * value:.2g}" for value in pair.noise[level]
    )


def _table_ms(value: float | None) -> str:
    return _NONE if value is None else table_ms(value)


def _ms(value: float | None) -> str:
    return "unknown" if value is None else ms(value)


def comparison_page(
    old: RunResult, new: RunResult, environment: Sequence[Reason], names: tuple[str, str], shown: Shown
) -> str:
    """Return the comparison of two profiles of a kind by layer; `names` are their names."""
    if old.profile is None or new.profile is None:
        return ""
    headings = replace(heading_of(old), name=names[0]), replace(heading_of(new), name=names[1])
    lines = profile_comparison_lines(
        old.profile, new.profile, headings,
        environment=environment, width=shown.width, ascii_only=shown.ascii_only, top=shown.top,
    )  # fmt: skip
    return "\n".join(lines) + "\n"


def comparison_json(old: RunResult, new: RunResult, environment: Sequence[Reason]) -> str:
    """Return the comparison as JSON."""
    reasons: dict[str, str] = {}
    found = to_plain(_compared(old, new, environment), export_words) or {}
    body = {"schema": SCHEMA, "old_id": old.id, "new_id": new.id, "comparison": found}
    plain = finite(body, "", reasons)
    return json.dumps(plain | {"reasons": reasons}, ensure_ascii=True, allow_nan=False, indent=1) + "\n"


def count_pairs(old: RunResult, new: RunResult) -> int:
    """Return the number of compared layers, without the engine's own work; 0 means that nothing was compared."""
    found = _compared(old, new, ())
    if isinstance(found, ProfileComparison):
        return sum(bool(pair.old and pair.new and pair.nodes) for pair in found.pairs)
    return sum(pair.delta is not None for pair in found.pairs) if found is not None else 0


def _compared(
    old: RunResult, new: RunResult, environment: Sequence[Reason]
) -> ProfileComparison | LossComparison | None:
    if old.profile is None or new.profile is None:
        return None
    return compare_profiles(shown_profile(old.profile), shown_profile(new.profile), environment)
