"""Differences between the environments of two measurements: machines, or states of one machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tuibench.core.engine import is_apart
from tuibench.core.reason import Reason, because
from tuibench.core.text import show
from tuibench.core.units import short, size

_MAX_CHARS = 60
_UNKNOWN = "unknown"
_INDIFFERENT = frozenset({"onnx"})
"""Packages that read models and never run them."""

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Fact:
    """One fact relevant to speed: its reader, its label, and whether a change forbids resuming."""

    label: str
    read: Callable[[Facts], str]
    forbids: bool = False


def environment_changes(
    old_env: Facts, old_versions: Mapping[str, str], new_env: Facts, new_versions: Mapping[str, str]
) -> tuple[Reason, ...]:
    """Return each changed fact relevant to speed.

    Leave out facts that change by themselves, such as free memory or load; of a reboot say only that it happened.
    """
    found = [line for _, line in _changes(old_env, old_versions, new_env, new_versions)]
    boots = [_text(env, "kernel", "boot_id") for env in (old_env, new_env)]
    if boots[0] != boots[1] and _UNKNOWN not in boots:
        found.append(Reason("rebooted"))
    return tuple(found)


def forbids_resume(
    old_env: Facts, old_versions: Mapping[str, str], new_env: Facts, new_versions: Mapping[str, str]
) -> tuple[Reason, ...]:
    """Return the changes that forbid adding further executions to a measurement."""
    return tuple(line for forbids, line in _changes(old_env, old_versions, new_env, new_versions) if forbids)


def _changes(
    old_env: Facts, old_versions: Mapping[str, str], new_env: Facts, new_versions: Mapping[str, str]
) -> Iterator[tuple[bool, Reason]]:
    for fact in _FACTS:
        old, new = fact.read(old_env), fact.read(new_env)
        if old != new:
            yield fact.forbids, because("changed", name=fact.label, old=old, new=new)
    yield from ((False, line) for line in _instruction_sets(old_env, new_env))
    # Keep the order of the results, which list the benchmark's own version first.
    for name in dict.fromkeys([*old_versions, *new_versions]):
        if is_apart(name) and not (old_versions.get(name) and new_versions.get(name)):
            continue  # an engine with its own interpreter is listed only by results that measured it
        old, new = (_short(versions.get(name) or "not installed") for versions in (old_versions, new_versions))
        if old != new and name not in _INDIFFERENT:
            yield True, because("changed", name=_short(name), old=old, new=new)


def _instruction_sets(old_env: Facts, new_env: Facts) -> Iterator[Reason]:
    """Yield only added and removed instruction sets; the whole lists would hide them."""
    old, new = _find(old_env, "cpu", "isa"), _find(new_env, "cpu", "isa")
    if not isinstance(old, list) or not isinstance(new, list):
        return
    for word, names in (("lost", [n for n in old if n not in new]), ("gained", [n for n in new if n not in old])):
        if names:
            yield because(f"isa_{word}", names=[_short(name) for name in names])


def _find(env: Facts, *path: str) -> Any:
    """Return a value in nested mappings, or None; imported data may lack any level."""
    value: Any = env
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _short(value: object) -> str:
    return show(value, _MAX_CHARS)


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
    """Return the brand with family, model and stepping, as clouds sell several processors under one brand."""
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
    """Round to three digits: a virtual machine's memory differs by a few kB at each boot."""
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
