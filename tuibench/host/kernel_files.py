"""Small kernel files below a root that tests can replace, and the load of each CPU from /proc/stat."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tuibench.core.value import dataclass

_CHUNK = 65536
_LIMIT = 4 << 20


@dataclass(frozen=True, slots=True)
class Tree:
    """Files below a root; unreadable ones read as None, because every source is missing on some machine."""

    root: Path = Path("/")

    def at(self, path: str) -> str:
        """Return the real path of `path`, given without a leading slash."""
        return os.path.join(self.root, path.lstrip("/"))

    def read(self, path: str, limit: int = _LIMIT) -> str | None:
        """Return the stripped text of a file, at most about `limit` bytes."""
        try:
            descriptor = os.open(self.at(path), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return _drain(descriptor, limit).decode("utf-8", "replace").strip()
        except OSError:
            return None
        finally:
            os.close(descriptor)

    def number(self, path: str) -> int | None:
        """Return the integer in a file."""
        return to_int(self.read(path))

    def entries(self, path: str) -> list[str]:
        """Return the sorted names in a directory; empty if it is missing."""
        try:
            return sorted(os.listdir(self.at(path)))
        except OSError:
            return []

    def exists(self, path: str) -> bool:
        """Return whether `path` exists."""
        return os.path.exists(self.at(path))


def _drain(descriptor: int, limit: int) -> bytes:
    # A file in /proc may return fewer bytes than requested long before its end.
    parts: list[bytes] = []
    size = 0
    while size < limit and (part := os.read(descriptor, min(_CHUNK, limit - size))):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def to_int(text: str | None) -> int | None:
    """Return the integer in `text`, or None."""
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def parse_cpus(text: str | None) -> tuple[int, ...]:
    """Return the numbers of a kernel list such as `0-3,8`; ignore parts that are not numbers."""
    found: set[int] = set()
    for part in (text or "").split(","):
        low, _, high = part.strip().partition("-")
        first = to_int(low)
        last = to_int(high) if high else first
        if first is not None and last is not None and last - first < 1 << 16:
            found.update(range(first, last + 1))
    return tuple(sorted(found))


def parse_pairs(text: str | None) -> dict[str, int]:
    """Return the `name number` or `name: number kB` lines of a kernel file; kB are converted to bytes."""
    pairs: dict[str, int] = {}
    for line in (text or "").splitlines():
        words = line.split()
        value = to_int(words[1]) if len(words) > 1 else None
        if value is not None:
            pairs[words[0].rstrip(":")] = value * 1024 if words[2:3] == ["kB"] else value
    return pairs


_OCTAL = re.compile(r"\\([0-7]{3})")


class Mount(NamedTuple):
    """One line of /proc/self/mountinfo."""

    root: str
    point: str
    kind: str = ""
    options: str = ""


def parse_mounts(mountinfo: str | None) -> Iterator[Mount]:
    """Yield the mounts of a process; skip lines that are cut."""
    for line in (mountinfo or "").splitlines():
        before, _, after = line.partition(" - ")
        words, kinds = before.split(), after.split()
        if len(words) >= 5 and kinds:
            root, point = (_OCTAL.sub(lambda found: chr(int(found[1], 8)), word) for word in words[3:5])
            yield Mount(root, point, kinds[0], kinds[2] if len(kinds) > 2 else "")


QUIET_CPUS = 0.5
"""Below this many busy CPUs in total the machine is quiet; a short pause has too few ticks for a lower threshold."""


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """Clock ticks of one CPU since boot."""

    busy: int
    """All time except idle and I/O wait; includes stolen time, because this machine could not use it either."""
    steal: int
    total: int


def read_cpu_times(root: Path = Path("/")) -> dict[int, CpuTimes]:
    """Read the counters of every online CPU, before and after a pause; empty without /proc/stat."""
    times: dict[int, CpuTimes] = {}
    for line in (Tree(root).read("proc/stat") or "").splitlines():
        if not line.startswith("cpu"):
            break
        words = line.split()
        cpu = to_int(words[0][3:])
        # The two fields after steal are guest time, which user time already includes.
        ticks = [to_int(word) or 0 for word in words[1:9]]
        if cpu is None or len(ticks) < 4:
            continue
        ticks += [0] * (8 - len(ticks))
        total = sum(ticks)
        times[cpu] = CpuTimes(total - ticks[3] - ticks[4], ticks[7], total)
    return times


def busy_shares(before: Mapping[int, CpuTimes], after: Mapping[int, CpuTimes]) -> dict[int, float]:
    """Return the share of time that each CPU was busy between two readings, for `choose_cpus`."""
    shares: dict[int, float] = {}
    for cpu, end in after.items():
        start = before.get(cpu)
        if start is not None:
            passed = end.total - start.total
            shares[cpu] = min(max((end.busy - start.busy) / passed, 0.0), 1.0) if passed > 0 else 0.0
    return shares


def steal_share(
    before: Mapping[int, CpuTimes], after: Mapping[int, CpuTimes], cpus: Iterable[int] | None = None
) -> float | None:
    """Return the share of `cpus`' time that a hypervisor gave to others; None if their counters did not advance."""
    both = [cpu for cpu in (after if cpus is None else cpus) if cpu in before and cpu in after]
    passed = sum(after[cpu].total - before[cpu].total for cpu in both)
    stolen = sum(after[cpu].steal - before[cpu].steal for cpu in both)
    return max(stolen, 0) / passed if passed > 0 else None


def load_words(
    before: Mapping[int, CpuTimes], after: Mapping[int, CpuTimes], cpus: Iterable[int], own: float = 0.0
) -> str:
    """Describe the load on `cpus` beyond the caller's `own` CPUs; empty if the counters are missing."""
    every = busy_shares(before, after)
    shares = [every[cpu] for cpu in cpus if cpu in every]
    if not shares:
        return ""
    others = sum(shares) - own
    return "quiet" if others < QUIET_CPUS else f"busy ({others:.1f} of {len(shares)} CPUs)"
