"""Commands as typed, before the machine and the models are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tuibench.core import benchmark_setting


class BenchmarkRequest:
    """A `tuibench benchmark` command as typed: its models, and the values of settings by name.

    Axes are still text, because their upper ends depend on the machine.
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
    """A `tuibench rerun` command as typed."""

    token: str
    """The benchmark to repeat."""
    changed: bool
    """True if a changed model may be measured."""
    paths: tuple[str, ...]
    """Present paths of the models."""
    given: Mapping[str, Any]
    """Values of the typed settings, by name."""


@dataclass(frozen=True, slots=True)
class DashboardRequest:
    """A `tuibench` command that opens the dashboard, with or without a model."""

    path: str = ""
    """A model whose form opens first; '' opens the list of projects."""
    mouse: bool | None = None
    """None: by the terminal and the config file."""
    ascii: bool = False
    debug: bool = False


@dataclass(frozen=True, slots=True)
class Info:
    """Text printed instead of measuring: help, the version, the list of samples."""

    text: str
