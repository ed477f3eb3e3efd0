"""The child task `import`: reads a foreign JSON file within limits, our own export or another tool's."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import stat
from collections.abc import Iterator
from typing import Any

from tuibench.core.cell import CellResult, Samples
from tuibench.core.errors import UsageError, name_kind
from tuibench.core.model import Point
from tuibench.core.reason import Reason
from tuibench.core.record import from_plain
from tuibench.core.result import RunResult
from tuibench.core.schema import BENCHMARK, PROFILE
from tuibench.model.imports import deepsparse
from tuibench.model.imports.checks import MOST_SHOWN, InvalidImport, find_impossible, restore

MOST_BYTES = 64_000_000
MOST_DEPTH = 50
LARGEST = 2.0**63
_MOST_DIGITS = 20


def load_document(path: str, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """Return the object in a file; raise InvalidImport if it is no regular file, too large, or invalid JSON."""
    text = _decode(_read(path, most_bytes))
    twice: list[str] = []

    def gather(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs) and not twice:
            seen: set[str] = set()
            for name, _ in pairs:
                twice.extend([name] if name in seen else [])
                seen.add(name)
        return found

    try:
        # Convert NaN, infinities and oversized integers to values that `_check_limits` reports with their place.
        document = json.loads(text, object_pairs_hook=gather, parse_constant=_not_finite, parse_int=_parse_int)
    except json.JSONDecodeError as error:
        raise _no_json(text, error) from error
    except RecursionError as error:
        raise _too_deep() from error
    if twice:
        raise InvalidImport("json_key_repeated", name=twice[0])
    if not isinstance(document, dict):
        raise InvalidImport("import_without_object")
    _check_limits(document)
    return document


def _read(path: str, most_bytes: int) -> bytes:
    try:
        mode = os.stat(path).st_mode
        # Opening a device can have effects, so check first; then check the opened file again.
        if stat.S_ISREG(mode):
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(descriptor, "rb") as file:
                mode = os.fstat(descriptor).st_mode
                data = file.read(most_bytes + 1) if stat.S_ISREG(mode) else b""
    except FileNotFoundError as error:
        raise InvalidImport("import_missing") from error
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InvalidImport("import_unreadable", text=reason) from error
    if not stat.S_ISREG(mode):
        raise InvalidImport("import_no_file", kind=name_kind(mode))
    if len(data) > most_bytes:
        raise InvalidImport("import_too_large", bytes=most_bytes)
    return data


def _decode(data: bytes) -> str:
    if not data.strip():
        raise InvalidImport("import_empty")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidImport("import_not_utf8", byte=error.start) from error
    if "\0" in text:
        raise InvalidImport("import_with_nul_bytes")
    return text


def _no_json(text: str, error: json.JSONDecodeError) -> InvalidImport:
    if text.lstrip().startswith("<"):
        return InvalidImport("import_web_page")
    if error.pos >= len(text.rstrip()):
        return InvalidImport("import_cut_off", line=error.lineno)
    return InvalidImport("import_no_json", line=error.lineno, column=error.colno, text=error.msg)


def _too_deep() -> InvalidImport:
    return InvalidImport("import_too_deep", levels=MOST_DEPTH)


def _not_finite(name: str) -> float:
    return float(name.lower())


def _parse_int(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MOST_DIGITS else math.inf


def _check_limits(document: dict[str, Any]) -> None:
    """Check depth and size of numbers, so that later code can rely on them; the file size bounds its texts."""
    queue: list[tuple[Any, str, int]] = [(document, "", 0)]
    while queue:
        value, place, depth = queue.pop()
        if depth > MOST_DEPTH:
            raise _too_deep()
        if isinstance(value, (int, float)) and not abs(value) < LARGEST:
            raise InvalidImport("number_not_finite", place=place)
        queue += [(part, where, depth + 1) for part, where in _parts(value, place)]


def _parts(value: Any, place: str) -> Iterator[tuple[Any, str]]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield part, f"{place}.{name[:MOST_SHOWN]}" if place else name[:MOST_SHOWN]
    elif isinstance(value, list):
        # Build places only for wrong figures: a series has thousands of them.
        wrong = (isinstance(p, (str, dict, list)) or not abs(p or 0) < LARGEST for p in value)
        yield from ((part, f"{place}[{i}]") for i, (part, look) in enumerate(zip(value, wrong, strict=True)) if look)


def read_result(path: str, most_bytes: int = MOST_BYTES) -> RunResult:
    """Return the result in an export or in a file of deepsparse.benchmark; open no path named in the file."""
    try:
        document = load_document(path, most_bytes)
        if KEY in document:
            return read_own(document)
        if deepsparse.KEY in document:
            return deepsparse.read_deepsparse(document)
        raise InvalidImport("import_without_benchmark", own=KEY, foreign=deepsparse.KEY)
    except InvalidImport as refusal:
        fields = {"subject": f"{path}:", **refusal.reason.fields}
        raise UsageError.from_reason(Reason(refusal.reason.code, fields)) from refusal


KEY = "tuibench"
"""Key of all of tuibench's own data in an export."""


def read_own(document: dict[str, Any]) -> RunResult:
    """Return the result in an export; raise InvalidImport with the place of the first problem."""
    own = document[KEY]
    if not isinstance(own, dict):
        raise InvalidImport("import_key_without_object", name=KEY)
    _check_version(own, document.get("version"))
    reasons = restore(dict[str, str], own.get("reasons"), f"{KEY}.reasons", {})
    result = from_plain(RunResult, restore(RunResult, own, KEY, reasons))
    problem = find_impossible(result)
    if problem is not None:
        raise InvalidImport.from_reason(problem)
    return _without_files(result)


def _check_version(own: dict[str, Any], version: object) -> None:
    number = own.get("schema")
    if not isinstance(number, int) or isinstance(number, bool):
        raise InvalidImport("field_missing", place=f"{KEY}.schema")
    if not BENCHMARK <= number <= PROFILE:
        writer = version[:MOST_SHOWN] if isinstance(version, str) else None
        raise InvalidImport("import_of_other_schema", schema=number, version=writer, newest=PROFILE)


def _without_files(result: RunResult) -> RunResult:
    """Return the result without file names, so that no file is ever opened because a foreign file names it."""
    return dataclasses.replace(
        result, cells=tuple(_cell_without_files(cell) for cell in result.cells),
        points=tuple(_point_without_files(point) for point in result.points),
    )  # fmt: skip


def _cell_without_files(cell: CellResult) -> CellResult:
    executions = tuple(dataclasses.replace(e, samples=_without_file(e.samples)) for e in cell.executions)
    samples = _without_file(cell.samples) if cell.samples is not None else None
    return dataclasses.replace(cell, executions=executions, samples=samples)


def _without_file(samples: Samples) -> Samples:
    return dataclasses.replace(samples, file=None)


def _point_without_files(point: Point) -> Point:
    return dataclasses.replace(point, bundle=None, reference=dataclasses.replace(point.reference, file=None))
