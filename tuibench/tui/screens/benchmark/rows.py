"""The lines of a list of benchmarks: columns, sorting and search."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tuibench.core import activity
from tuibench.core.activity import RunInfo, RunRow
from tuibench.core.engine import short_names
from tuibench.core.headline import Headline, HeadlineNumber, fact_texts, row_headline
from tuibench.core.ids import short_id
from tuibench.core.reason import Verdict
from tuibench.core.scenario import DEFAULT, THROUGHPUT, find
from tuibench.core.stored import DAMAGED, NEWER, BenchmarkRow
from tuibench.core.text import show
from tuibench.core.units import percent_number, seconds
from tuibench.present.ages import age
from tuibench.present.amount import amount, elsewhere_words
from tuibench.present.headline import missing_words, sensitive_words
from tuibench.present.listing import BENCHMARK_COLUMNS, Listed, headline_words
from tuibench.present.reason import reason_words
from tuibench.present.table import Column
from tuibench.present.verdict import verdict_words
from tuibench.tui.screens.run.summary import SIGNS
from tuibench.tui.widgets.painted import Glyphs
from tuibench.tui.widgets.record_table import Line, line_of

_MAX_CHARS = 60


@dataclass(frozen=True, slots=True)
class Best:
    """The texts of the columns BEST and ±."""

    text: str
    plus_minus: str = ""
    """Percent, without the sign."""
    differs: bool = False


def engine_word(engines: str) -> str:
    """Return engines for a narrow column: ort|ov."""
    return short_names(engines.split(","))


def best_of(row: BenchmarkRow, times: str = "×") -> Best:
    """Return the best time, with its cell if there are several; else the best throughput, verdict or reason."""
    if row.status == DAMAGED:
        return Best("damaged: its record cannot be read")
    if row.status == NEWER:
        return Best("written by a newer tuibench")
    found = row_headline(row)
    if found is None or not found.numbers:
        return Best(_sensitive(found) or headline_words(row))
    number, *others = found.numbers
    words = [f"{row.status} {row.measured}/{row.cells}"] if row.status != "finished" else []
    words += ["outputs differ"] if found.differs else []
    verdict = _verdict(found.verdict) if found.verdict is not None else ""
    words.append(verdict or _number(row, found, number, times))
    if not verdict:
        words += map(_amount, others)
    if row.status == "finished":
        words += missing_words(found)
    words += [elsewhere_words(found.elsewhere)] if found.elsewhere else []
    half = "" if number.half_width is None else percent_number(number.half_width)
    return Best(" · ".join(words), half, found.differs)


def order_of(row: BenchmarkRow) -> tuple[int, float]:
    """Return the sort key: times in ascending order, then items/s in descending order, then rows without numbers.

    Reads plain values, because thousands of rows are sorted at once.
    """
    numbers = row.facts.get("numbers")
    if not numbers:
        return 9, 0.0
    value = numbers[0]["value"]
    return (1, -value) if numbers[0]["metric"] == THROUGHPUT else (0, value)


def half_of(row: BenchmarkRow) -> float:
    """Return the interval of the row's number; infinity without one, which sorts it last."""
    numbers = row.facts.get("numbers")
    half: float = numbers[0].get("half_width", math.inf) if numbers else math.inf
    return half


def _amount(number: HeadlineNumber) -> str:
    return amount(number, "/s" if number.metric == THROUGHPUT else "ms", interval=False)


def _number(row: BenchmarkRow, found: Headline, number: HeadlineNumber, times: str) -> str:
    """Return the number, with its cell if there are several."""
    streams = find(number.scenario).has_streams if number.scenario else False
    sizes = {"cores": number.cores, "batch": number.batch}
    at = [str(size) for axis, size in sizes.items() if size and (not streams or axis in found.varied)]
    several = "," in row.cores or "," in row.batches
    where = [f"@{times.join(at)}"] if several and at else []
    return " ".join([_amount(number), *where, *(f"{show(name, _MAX_CHARS)}={n}" for name, n in number.dims.items())])


def _verdict(found: Verdict) -> str:
    """Return the verdict on interleaved operands, short enough for a column."""
    base, new = (short_names([show(name, _MAX_CHARS)]) for name in (found.base, found.new))
    if found.kind in ("faster", "slower"):
        return f"{new} {verdict_words(found)}"
    return f"{new}, {base} equivalent (±{found.margin * 100:g} %)" if found.kind == "equivalent" else found.kind or ""


def _sensitive(found: Headline | None) -> str:
    """Return the most sensitive layer of a complete loss profile without harmed layers."""
    facts = found.profile if found is not None else None
    whole = facts is not None and facts.layer and not facts.harmed and facts.measured == facts.asked > 0
    return sensitive_words(facts) if facts is not None and whole and found is not None else ""


SORTS = ("age", "engine", "scenario", "cores", "best", "±", "grade", "name")
"""Sort orders of `s`; the first is newest first."""
_MOST_VALUES = 3
_DAMAGED = "its record is damaged"
_SAME = "="
"""Marks a value that a re-run did not change; the first mark names the original, which may be far away."""
_STYLES = {"running": "accent", "waiting": "accent", "failed": "bad", "interrupted": "warn", "differs": "warn"}


class BenchmarkRows:
    """Runs that are not stored yet, then stored benchmarks; a row's texts are computed when it is shown."""

    columns: tuple[Column[Listed], ...] = BENCHMARK_COLUMNS

    def __init__(self, rows: Sequence[BenchmarkRow] = (), runs: Sequence[RunRow] = ()) -> None:
        self.stored = {row.id: row for row in rows}
        self.runs: dict[str, RunRow] = {}
        self._best: dict[str, Best] = {}
        self._words: dict[str, str] = {}
        self._sorted: tuple[tuple[str, bool, str], list[str]] | None = None
        self.replace_runs(runs)

    def replace_runs(self, runs: Sequence[RunRow]) -> None:
        """Replace the states of runs."""
        for old in self.runs:
            self._words.pop(old, None)
        # A run saved a moment ago is in both lists.
        self.runs = {row.info.id: row for row in runs if row.info.id not in self.stored}

    @property
    def ids(self) -> frozenset[str]:
        """The ids that can be marked: theoretical profiles cannot be compared or removed."""
        return frozenset(self.stored.keys() | self.runs.keys())

    def __len__(self) -> int:
        return len(self.stored) + len(self.runs)

    def best(self, row: BenchmarkRow, glyphs: Glyphs) -> Best:
        """Return the row's number, cached because a line is made again whenever it becomes visible."""
        if row.id not in self._best:
            self._best[row.id] = best_of(row, glyphs.times)
        return self._best[row.id]

    def keys(self, sort: str, reverse: bool, text: str) -> tuple[str, ...]:
        """Return the ids to show, in order: runs first, then the sorted benchmarks."""
        words = text.casefold().split()
        runs = [key for key in self.runs if self._has(key, words)]
        # Active runs change every second, stored benchmarks do not.
        if self._sorted is None or self._sorted[0] != (sort, reverse, text):
            self._sorted = ((sort, reverse, text), self._sort(sort, reverse, words))
        return (*runs, *self._sorted[1])

    def _sort(self, sort: str, reverse: bool, words: Sequence[str]) -> list[str]:
        rows = [key for key in self.stored if self._has(key, words)] if words else list(self.stored)
        if (order := self._order(sort)) is not None:
            # Sorting is stable, so that equal rows stay newest first.
            rows.sort(key=order, reverse=reverse)
        elif reverse:
            rows.reverse()
        return rows

    def _order(self, sort: str) -> Callable[[str], Any] | None:
        rows = self.stored
        if sort == "cores":
            known: dict[str, tuple[tuple[int, ...], ...]] = {}

            def sizes(key: str) -> tuple[tuple[int, ...], ...]:
                row = rows[key]
                both = f"{row.cores};{row.batches}"
                if both not in known:
                    known[both] = (_numbers(row.cores), _numbers(row.batches))
                return known[both]

            return sizes
        plain: Mapping[str, Callable[[BenchmarkRow], Any]] = {
            "best": order_of,
            "±": half_of,
            "engine": lambda row: row.engines,
            "scenario": lambda row: row.scenarios,
            "grade": lambda row: row.grade or "~",
            "name": lambda row: row.name.casefold() or "\U0010ffff",
        }
        return None if sort not in plain else lambda key, read=plain[sort]: read(rows[key])  # type: ignore[misc]

    def _has(self, key: str, words: Sequence[str]) -> bool:
        text = self._words.get(key)
        if text is None:
            text = self._words[key] = self._text(key)
        return all(word in text for word in words)

    def _text(self, key: str) -> str:
        """Return all searchable text of a row."""
        if key in self.runs:
            run = self.runs[key]
            info = run.info
            said = (short_id(key), info.state, info.name, run.engines, run.scenarios, run.note, *info.models)
        else:
            row = self.stored[key]
            said = (
                short_id(key), row.status, row.name, row.note, row.models, row.engines, row.scenarios,
                row.headline, row.started_utc[:10], row.foreign, *fact_texts(row.facts),
            )  # fmt: skip
        return "\n".join(said).casefold()

    def _asked(self, row: BenchmarkRow, glyphs: Glyphs) -> tuple[str, ...]:
        """Return the requested settings; for a re-run only those that differ from the original."""
        said, old = _asked_words(row, glyphs), self.stored.get(row.rerun_of)
        before = _asked_words(old, glyphs) if old is not None else said
        if old is None or said == before:
            return said
        shown, left = list(said), [at for at, one in enumerate(said) if one == before[at]]
        for at in left:
            shown[at] = _SAME + (short_id(old.id) if at == left[0] else "")
        return tuple(shown)

    def _state_of(self, row: BenchmarkRow, best: Best) -> str:
        """Return the name of its sign; '' for a complete, correct benchmark."""
        if row.status in (DAMAGED, NEWER) or not row.measured:
            return "failed"
        if row.status != "finished":
            return "interrupted"
        return "differs" if best.differs else ""

    def _run_words(self, info: RunInfo) -> str:
        return run_words(info)

    def line(self, key: str, now: float, glyphs: Glyphs, damaged: bool = False) -> Line:
        """Return one line of the table; a damaged record shows no number."""
        if key in self.runs:
            run = self.runs[key]
            state, begun = SIGNS.get(run.info.state, ""), run.info.started_utc
            asked: Sequence[str] = _asked_words(run, glyphs)
            listed = Listed(result=self._run_words(run.info), name=run.info.name, note=run.note)
            row: BenchmarkRow | RunRow = run
        else:
            row = stored = self.stored[key]
            best, begun = self.best(stored, glyphs), stored.started_utc
            state = "failed" if damaged else self._state_of(stored, best)
            asked = self._asked(stored, glyphs)
            listed = Listed(result=_DAMAGED, name=stored.name, note=stored.note)
            if not damaged:
                grade = "-" if stored.foreign else stored.grade
                listed = replace(listed, result=best.text, half=best.plus_minus, grade=grade)
        engine, scenario, sizes = asked
        listed = replace(
            listed,
            sign=getattr(glyphs, state) if state else "",
            id=short_id(key),
            age=age(begun, now),
            engine=engine,
            scenario=scenario,
            sizes=sizes,
            cores=row.cores,
            batch=row.batches,
        )
        return line_of(self.columns, key, listed, _STYLES.get(state, ""))


def _asked_words(row: BenchmarkRow | RunRow, glyphs: Glyphs) -> tuple[str, str, str]:
    foreign = f" ({row.foreign})" if isinstance(row, BenchmarkRow) and row.foreign else ""
    engines = engine_word(row.engines) + foreign
    return engines, scenario_word(row.scenarios), sizes_word(row.cores, row.batches, glyphs)


def run_words(info: RunInfo, *, queued: bool = True) -> str:
    """Return a run's progress, short enough for the column of numbers."""
    done = f"{info.cells_done}/{info.cells}" if info.cells else ""
    parts = "parts" if info.kind else "cells"
    if info.state == activity.RUNNING:
        left = f"~{seconds(max(info.eta_s, 0.0))}" if info.eta_s is not None else ""
        return " ".join(filter(None, (f"{done} {parts}" if done else "starting", left)))
    if info.state == activity.WAITING:
        place = ", ".join(
            ["queued"] * (queued or info.place is None) + [f"position {info.place}"] * (info.place is not None)
        )
        eta = info.holder.eta_s if info.holder is not None else None
        return place + (f", in ~{seconds(max(eta, 0.0))}" if eta is not None and info.place == 1 else "")
    words = "not saved" if info.state == activity.UNSAVED else info.state
    return " ".join(filter(None, (words, done if info.executions else "", reason_words(info.detail))))


def sizes_word(cores: str, batches: str, glyphs: Glyphs) -> str:
    """Return cores and batches in one column: 1-16×1,8,32."""
    return glyphs.times.join(filter(None, (_list_word(cores), _list_word(batches))))


def scenario_word(scenarios: str) -> str:
    """Return scenarios for a narrow column: the default pair is `both`."""
    return "both" if set(scenarios.split(",")) == set(DEFAULT) else scenarios


def _list_word(values: str) -> str:
    every = values.split(",") if values else []
    return values if len(every) <= _MOST_VALUES else f"{every[0]}-{every[-1]}"


def _numbers(values: str) -> tuple[int, ...]:
    return tuple(int(value) for value in values.split(",") if value.isdigit())
