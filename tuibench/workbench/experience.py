"""What earlier benchmarks of a project say about the next one: how much memory cells took, and which of them failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tuibench.core.cell import Asked
from tuibench.core.failure import failure_words
from tuibench.core.run import RunResult
from tuibench.core.short_id import short_id
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.text import show
from tuibench.core.units import count_of

_MOST_FAILURES = 3
_LONGEST = 60
_USUAL = "f32"

_Place = tuple[str, str, int, int | None, str, tuple[tuple[str, int], ...]]
"""Engine, scenario, cores, batch, precision, sizes of dims."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A cell that failed when it was tried last."""

    asked: Asked
    chosen: frozenset[str]
    """Dims whose sizes somebody asked for; the others had those that the model runs at by itself."""
    words: str


@dataclass(frozen=True, slots=True)
class Experience:
    """Of one model; newest first, and what is newer counts."""

    peaks: Mapping[tuple[str, int | None], int] = field(default_factory=dict)
    """Bytes of the largest worker, by engine and batch."""
    failures: Mapping[_Place, Failed] = field(default_factory=dict)
    """Cells that have no result."""

    def peak(self, spec: BenchmarkSpec) -> int | None:
        """The most that a cell of `spec` is known to have taken."""
        batches = spec.batches or (None, 1)
        known = [self.peaks.get((engine, batch)) for engine in spec.engines for batch in batches]
        return max((peak for peak in known if peak is not None), default=None)

    def warnings(self, spec: BenchmarkSpec) -> tuple[str, ...]:
        """Cells of `spec` that failed the last time, at most three of them by name."""
        met = [failed.words for failed in self.failures.values() if _is_asked(failed, spec)]
        more = len(met) - _MOST_FAILURES
        return (*met[:_MOST_FAILURES], *([f"{count_of(more, 'more cell')} failed before"] if more > 0 else ()))


def learn(results: Iterable[RunResult], sha256: str = "") -> Experience:
    """What some results say, newest first; of the model of that content where one is given."""
    peaks: dict[tuple[str, int | None], int] = {}
    failures: dict[_Place, Failed] = {}
    seen: set[_Place] = set()
    for result in results:
        if result.foreign:
            continue  # what it counted as memory, and what as a cell, is not known
        for cell in result.cells:
            asked = cell.asked
            if sha256 and asked.model_sha256 != sha256:
                continue
            place = _place(asked)
            if cell.memory_bytes:
                known = peaks.get((asked.engine, asked.batch), 0)
                peaks[asked.engine, asked.batch] = max(known, *cell.memory_bytes.values())
            if place not in seen and cell.failure is not None:
                words = f"{_call(asked)} failed in {short_id(result.id)}: {failure_words(cell.failure)}"
                failures[place] = Failed(asked, _chosen(asked, result.spec), words)
            seen.add(place)
    return Experience(peaks, failures)


def _place(asked: Asked) -> _Place:
    dims = tuple(sorted(asked.dims.items()))
    return asked.engine, asked.scenario, asked.cores, asked.batch, asked.precision, dims


def _chosen(asked: Asked, spec: BenchmarkSpec) -> frozenset[str]:
    named, sizes = dict(spec.dims), _unnamed_sizes(spec)
    return frozenset(name for name, size in asked.dims.items() if name in named or size in sizes)


def _is_asked(failed: Failed, spec: BenchmarkSpec) -> bool:
    asked = failed.asked
    return (
        asked.engine in spec.engines
        and asked.scenario in spec.scenarios
        and asked.cores in spec.cores
        and (asked.batch in spec.batches or (not spec.batches and asked.batch in (None, 1)))
        and asked.precision == spec.precision
        and _are_sizes(failed, spec)
    )


def _are_sizes(failed: Failed, spec: BenchmarkSpec) -> bool:
    """Whether the dims would have these sizes again; which of them count tokens is not known here."""
    named, sizes = dict(spec.dims), failed.asked.dims
    if any(sizes[name] not in named[name] for name in sizes.keys() & named.keys()):
        return False
    others = sizes.keys() - named.keys()
    if lengths := _unnamed_sizes(spec):
        # An empty past is not among the lengths that somebody asks for.
        return all(sizes[name] in lengths for name in others if sizes[name])
    return others.isdisjoint(failed.chosen)


def _unnamed_sizes(spec: BenchmarkSpec) -> set[int]:
    """What -seq_len and -shapes ask for, of whichever dim."""
    return {*spec.sequence_lengths, *(size for shape in spec.inputs.shapes for size in shape)}


def _call(asked: Asked) -> str:
    words = f"{show(asked.engine, _LONGEST)} {show(asked.scenario, _LONGEST)} on {count_of(asked.cores, 'core')}"
    words += "" if asked.batch is None else f" × batch {asked.batch}"
    sizes = [f"{show(name, _LONGEST)}={size}" for name, size in asked.dims.items()]
    return ", ".join([words, *sizes, *([show(asked.precision, _LONGEST)] if asked.precision != _USUAL else [])])
