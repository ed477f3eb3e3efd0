"""What was typed, before anything about the machine or the models is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class BenchmarkRequest:
    """One `tuibench benchmark` as typed: axes still text because their ends depend on the machine."""

    models: tuple[str, ...]
    engines: str | None = None
    scenarios: str | None = None
    cores: str | None = None
    batches: str | None = None
    sequence_lengths: str | None = None
    dims: tuple[str, ...] = ()
    """'NAME=LIST' each."""
    batch_dim: str | None = None
    streams: int | None = None
    stream_kind: str | None = None
    pin: str = "core"
    precision: str = "f32"
    io: str | None = None
    shapes: tuple[tuple[int, ...], ...] = ()
    inputs_file: str | None = None
    distinct: int = 8
    seed: int = 0
    no_check: bool = False
    time_s: float | None = None
    warmup_s: float | None = None
    executions: int | None = None
    target: float | None = None
    """A fraction: 0.02 is ±2 %."""
    quick: bool = False
    precise: bool = False
    max_time_s: float | None = None
    timeout_scale: float = 1.0
    memory_bytes: int | None = None
    keep_raw: bool = False
    export_path: str | None = None
    """'-' is stdout."""
    quiet: bool = False
    json: bool = False
    ascii: bool = False
    dry_run: bool = False
    no_save: bool = False
    name: str = ""
    note: str = ""
    project: str = ""
    detach: bool = False
    wait_s: float | None = None
    no_wait: bool = False
    share_host: bool = False
    compare_to: str | None = None
    debug: bool = False


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
    """Fields of BenchmarkRequest that were typed."""


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
