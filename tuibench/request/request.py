"""A command as typed, before anything about the machine or the models is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tuibench.core import benchmark_setting


class BenchmarkRequest:
    """One `tuibench benchmark` as typed: its models, and a value for each setting by name.

    Axes are still text, because their ends depend on the machine.
    """

    __slots__ = ("given", "models")

    def __init__(self, models: tuple[str, ...], **given: Any) -> None:
        unknown = given.keys() - benchmark_setting.by_name()
        if unknown:
            raise TypeError(f"no setting: {', '.join(sorted(unknown))}")
        self.models = models
        self.given: Mapping[str, Any] = given

    def __getattr__(self, name: str) -> Any:
        known = benchmark_setting.by_name().get(name) if not name.startswith("_") else None
        if known is None:
            raise AttributeError(name)
        return self.given.get(name, known.default)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BenchmarkRequest):
            return NotImplemented
        return self.models == other.models and self._values() == other._values()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"BenchmarkRequest({self.models!r}, **{dict(self.given)!r})"

    def _values(self) -> dict[str, Any]:
        return {one.name: self.given.get(one.name, one.default) for one in benchmark_setting.settings()}


@dataclass(frozen=True, slots=True)
class RerunRequest:
    """One `tuibench rerun` as typed."""

    token: str
    """The benchmark to repeat."""
    changed: bool
    """Whether a model may have changed."""
    paths: tuple[str, ...]
    """Where models lie now."""
    given: Mapping[str, Any]
    """Values of settings that were typed, by name."""


@dataclass(frozen=True, slots=True)
class DashboardRequest:
    """`tuibench` alone, or with a model."""

    path: str = ""
    """A model whose form is shown first; '' for the projects."""
    mouse: bool | None = None
    """None leaves it to the terminal and the config file."""
    ascii: bool = False
    debug: bool = False


@dataclass(frozen=True, slots=True)
class Info:
    """Text that was asked for instead of work: help, the version, the list of samples."""

    text: str
