"""The fed inputs as lines: facts common to all points of a model once, then the parts that vary."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

from tuibench.core.failure import Failure, failure_words
from tuibench.core.model import FedInput, Point
from tuibench.core.text import show

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

_MOST_VALUES = 6
_MOST_HOWS = 3


def feed_lines(points: Sequence[Point], names: Sequence[str], *, rotating: bool = True) -> list[str]:
    """Return every fed input and every chosen dim; `names` are the names of the models, in their order.

    `rotating` adds the number of samples that a benchmark rotates over.
    """
    several = len({point.model for point in points}) > 1
    lines: list[str] = []
    for index in dict.fromkeys(point.model for point in points):
        name = show(names[index], 60) if index < len(names) else ""
        own = [point for point in points if point.model == index]
        lines += [f"{name}: {line}" if several else line for line in _lines_of_model(own)]
    counts = dict.fromkeys(str(point.distinct) for point in points if point.failure is None and point.distinct > 1)
    if counts and rotating:
        lines.append(f"Rotating over {' or '.join(counts)} samples (--distinct-inputs 1 for the hot loop)")
    return lines


def failure_of(point: Point) -> str:
    """Return why a point has no inputs; '' if it has some."""
    if point.failure is None:
        return ""
    failure = Failure(*point.failure)
    return show(failure.message, 300) if failure.kind == "inputs" else failure_words(failure)


def _lines_of_model(points: Sequence[Point]) -> Iterator[str]:
    fed = [point for point in points if point.failure is None]
    for name in dict.fromkeys(one.name for point in fed or points for one in point.inputs):
        yield from _input_lines(name, [one for point in fed or points for one in point.inputs if one.name == name])
    for name in dict.fromkeys(name for point in points for name in point.chosen):
        values = _values(point.chosen[name] for point in points if name in point.chosen)
        yield f"Chosen: {show(name, 60)} = {values} (--dim {show(name, 60)}=N changes it)"
    for note, of in _group(points, lambda point: point.notes):
        yield f"{_place(of, points)}{show(note, 300)}"
    for why, of in _group(points, lambda point: tuple(filter(None, [failure_of(point)]))):
        place = _place(of, points)
        yield f"{'' if why.startswith(place) else place}No inputs: {why}"


def _input_lines(name: str, fed: Sequence[FedInput]) -> Iterator[str]:
    """Yield one line, or several if the points differ in more than lengths."""
    for (dtype, rank), _ in _group(fed, lambda one: ((one.dtype, len(one.shape)),)):
        alike = [one for one in fed if (one.dtype, len(one.shape)) == (dtype, rank)]
        shape = ", ".join(_values(sizes) for sizes in zip(*(one.shape for one in alike), strict=True))
        hows = list(dict.fromkeys(show(one.how, 200) for one in alike))
        how = "; ".join(hows[:_MOST_HOWS]) + ("; …" if len(hows) > _MOST_HOWS else "")
        yield f"Input '{show(name, 100)}': {show(dtype, 40)} [{shape}], {how}"


def _values(sizes: Iterable[int]) -> str:
    """Return `224` if all are equal, `1-20` for consecutive numbers, `1/8/32` for others."""
    different = sorted(set(sizes))
    if len(different) > 2 and all(b - a == 1 for a, b in pairwise(different)):
        return f"{different[0]}-{different[-1]}"
    if len(different) > _MOST_VALUES:
        return "/".join([*map(str, different[: _MOST_VALUES - 2]), "…", str(different[-1])])
    return "/".join(map(str, different))


def _place(of: Sequence[Point], points: Sequence[Point]) -> str:
    """Return a prefix that names the points of a line; '' if it is about all points."""
    if len(of) == len(points):
        return ""
    batches = _values(point.batch for point in of if point.batch is not None)
    words = [f"batch {batches}"] if batches else []
    words += [
        f"{show(name, 24)}={_values(point.dims[name] for point in of if name in point.dims)}"
        for name in dict.fromkeys(name for point in of for name in point.dims)
    ]
    return f"{' '.join(words) or 'one point'}: "


def _group(things: Sequence[T], keys: Callable[[T], Iterable[K]]) -> list[tuple[K, list[T]]]:
    """Return each key once, in the order of its first thing, with all things that have it."""
    groups: dict[K, list[T]] = {}
    for thing in things:
        for key in dict.fromkeys(keys(thing)):
            groups.setdefault(key, []).append(thing)
    return list(groups.items())
