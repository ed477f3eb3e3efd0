"""File of one execution's samples: a zlib stream of little-endian integers in nanoseconds, without a header.

`.z` has 32 bits each, `.z8` 64, for stalls over 4.29 s. Readers need only zlib and array.
"""

from __future__ import annotations

import os
import sys
import zlib
from array import array
from collections.abc import Iterable
from pathlib import Path

MOST_KEPT = 65_536
_SUFFIXES = {".z": "I", ".z8": "Q"}
_LARGEST = 2**32 - 1


def spans(total: int, max_samples: int = MOST_KEPT, blocks: int = 64) -> list[tuple[int, int]]:
    """Return the iterations to keep as (start, stop): all, or evenly spaced blocks of consecutive ones."""
    if total <= max_samples:
        return [(0, total)] if total else []
    length = max_samples // blocks
    gap = (total - length * blocks) / (blocks - 1)
    starts = [round(i * (length + gap)) for i in range(blocks)]
    return [(start, start + length) for start in starts]


def write_samples(path: Path, values: Iterable[int]) -> Path:
    """Write to a temporary file and rename it; return the path written, whose suffix states the width."""
    wide = array("Q", values)
    narrow = not wide or max(wide) <= _LARGEST
    samples = array("I", wide) if narrow else wide
    target = path.with_suffix(".z" if narrow else ".z8")
    if sys.byteorder == "big":
        samples.byteswap()
    partial = target.with_suffix(f"{target.suffix}.part")
    try:
        partial.write_bytes(zlib.compress(samples.tobytes(), 6))
        os.replace(partial, target)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
    return target


def read_samples(path: Path) -> array[int]:
    """Return the samples in the order measured; raise ValueError if the file has another format or is truncated."""
    code = _SUFFIXES.get(path.suffix)
    if code is None:
        raise ValueError(f"{path.name}: samples end in .z or .z8")
    samples = array(code)
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(path.read_bytes())
    except zlib.error as error:
        raise ValueError(f"{path.name}: damaged: {error}") from error
    if not stream.eof or stream.unused_data or len(raw) % samples.itemsize:
        raise ValueError(f"{path.name}: cut short, or something follows the samples")
    samples.frombytes(raw)
    if sys.byteorder == "big":
        samples.byteswap()
    return samples
