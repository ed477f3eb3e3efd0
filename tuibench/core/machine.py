"""The machine as forms need it: its cores and engines."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """One engine in the form."""

    name: str
    available: bool
    version: str
    """'' if it is not installed."""
    hint: str
    """The command that installs it; '' if it is installed."""
    precisions: tuple[str, ...] = ()
    tells_layers: bool = False
    """True if it reports the time of each layer, so that it can make profiles."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Facts of this machine for forms and headers; read once, without measuring noise."""

    default_cores: int
    usable_cores: int
    node_cores: int
    isa: tuple[str, ...]
    engines: tuple[EngineChoice, ...]
    host: str = ""
    """The machine's id in the store; '' until it has one."""
