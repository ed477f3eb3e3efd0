"""What differs between the machines, or the states of one machine, that two measurements were made on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tuibench.core.text import show
from tuibench.core.units import short, size

_LONGEST = 60
_UNKNOWN = "unknown"
_INDIFFERENT = frozenset({"onnx"})
"""Packages that read models and never run them."""

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Fact:
    """One thing that matters for speed: where it stands, how it is said, and whether a run may go on without it."""

    label: str
    read: Callable[[Facts], str]
    forbids: bool = False


def environment_changes(
    old_env: Facts, old_versions: Mapping[str, str], new_env: Facts, new_versions: Mapping[str, str]
) -> tuple[str, ...]:
    """A sentence for each thing that matters for speed and is not what it was; safe to print, empty where all is.

    What changes by itself, such as free memory or load, is left out; of the boot only that it was another.
    """
    found = [line for _, line in _changes(old_env, old_versions, new_env, new_versions)]
    boots = [_text(env, "kernel", "boot_id") for env in (old_env, new_env)]
    if boots[0] != boots[1] and _UNKNOWN not in boots:
        found.append("another boot of the system")
    return tuple(found)


def forbids_resume(
    old_env: Facts, old_versions: Mapping[str, str], new_env: Facts, new_versions: Mapping[str, str]
) -> tuple[str, ...]:
    """Those of the changes after which further executions would not belong to the same measurement."""
    return tuple(line for forbids, line in _changes(old_env, old_versions, new_env, new_versions) if forbids)


def _changes(
    old_env: Facts, old_versions: Mapping[str, str], new_env: Facts, new_versions: Mapping[str, str]
) -> Iterator[tuple[bool, str]]:
    for fact in _FACTS:
        old, new = fact.read(old_env), fact.read(new_env)
        if old != new:
            yield fact.forbids, f"{fact.label}: {old} → {new}"
    yield from ((False, line) for line in _instruction_sets(old_env, new_env))
    # In the order in which results list them, so that the benchmark's own version comes first.
    for name in dict.fromkeys([*old_versions, *new_versions]):
        old, new = (_short(versions.get(name) or "not installed") for versions in (old_versions, new_versions))
        if old != new and name not in _INDIFFERENT:
            yield True, f"{_short(name)}: {old} → {new}"


def _instruction_sets(old_env: Facts, new_env: Facts) -> Iterator[str]:
    """Only what came and went: the whole lists would hide it."""
    old, new = _find(old_env, "cpu", "isa"), _find(new_env, "cpu", "isa")
    if not isinstance(old, list) or not isinstance(new, list):
        return
    for word, names in (("lost", [n for n in old if n not in new]), ("gained", [n for n in new if n not in old])):
        if names:
            yield f"instruction sets {word}: {' '.join(_short(name) for name in names)}"


def _find(env: Facts, *path: str) -> Any:
    """A value in nested blocks, none of which need be there, or be a block, in what was imported."""
    value: Any = env
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _short(value: object) -> str:
    return show(value, _LONGEST)


def _text(env: Facts, *path: str) -> str:
    value = _find(env, *path)
    return _UNKNOWN if value is None else _short(f"{value:g}" if isinstance(value, float) else value)


def _plain(label: str, *path: str, forbids: bool = False) -> _Fact:
    return _Fact(label, lambda env: _text(env, *path), forbids)


def _switch(label: str, *path: str, on: str = "on", off: str = "off", forbids: bool = True) -> _Fact:
    words = {True: on, False: off, None: _UNKNOWN}

    def read(env: Facts) -> str:
        value = _find(env, *path)
        return words[value] if value is None or isinstance(value, bool) else _short(value)

    return _Fact(label, read, forbids)


def _cpu(env: Facts) -> str:
    """Brand and the numbers behind it: clouds give several processors one brand."""
    numbers = [_text(env, "cpu", name) for name in ("family", "model", "stepping")]
    return f"{_text(env, 'cpu', 'brand')} ({'/'.join(numbers)})"


def _governor(env: Facts) -> str:
    governors = _find(env, "frequency", "governors")
    if not isinstance(governors, Mapping):
        return _UNKNOWN
    return " and ".join(sorted(_short(name) for name in governors)) or _UNKNOWN


def _quota(env: Facts) -> str:
    quota = _find(env, "cgroup", "quota_cpus")
    return f"{short(quota)} CPUs" if isinstance(quota, (int, float)) else "none"


def _caches(env: Facts) -> str:
    caches = _find(env, "cpu", "caches")
    last = caches[-1] if isinstance(caches, list) and caches else None
    return f"{_text(last, 'name')} {_bytes(_find(last, 'bytes'))}" if isinstance(last, Mapping) else _UNKNOWN


def _bytes(value: object) -> str:
    """With the three digits of `size`: the memory of a virtual machine is a few kB more or less at every boot."""
    return size(value) if isinstance(value, (int, float)) else _UNKNOWN


def _isolated(env: Facts) -> str:
    isolated = _find(env, "kernel", "isolated_cpus")
    return ",".join(_short(cpu) for cpu in isolated) or "none" if isinstance(isolated, list) else _UNKNOWN


def _limit(env: Facts) -> str:
    limit = _find(env, "memory", "limit_bytes")
    return "none" if limit is None else _bytes(limit)


_FACTS = (
    _Fact("CPU", _cpu, forbids=True),
    _plain("microcode", "cpu", "microcode", forbids=True),
    _Fact("last-level cache", _caches),
    _switch("virtual machine", "cpu", "hypervisor", on="yes", off="no", forbids=False),
    _Fact("governor", _governor, forbids=True),
    _plain("frequency driver", "frequency", "driver"),
    _switch("boost", "frequency", "boost"),
    _plain("highest frequency (MHz)", "frequency", "max_mhz"),
    _switch("SMT", "cpu", "smt_active"),
    _plain("CPUs online", "cpu", "online_cpus"),
    _plain("CPUs allowed", "affinity", "cpus"),
    _plain("cores that can be used", "affinity", "usable_cores", forbids=True),
    _Fact("CPU quota", _quota, forbids=True),
    _Fact("isolated CPUs", _isolated),
    _Fact("memory", lambda env: _bytes(_find(env, "memory", "total_bytes"))),
    _Fact("memory limit", _limit),
    _Fact("container", lambda env: _short(_find(env, "container") or "none")),
    _plain("kernel", "kernel", "release", forbids=True),
    _plain("transparent huge pages", "kernel", "thp"),
    _plain("C library", "kernel", "libc"),
    _plain("Python", "python", forbids=True),
)
