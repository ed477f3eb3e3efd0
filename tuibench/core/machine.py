"""The machine that a form is filled in for, and its engines."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """One engine of the form."""

    name: str
    available: bool
    version: str
    """'' where it is not installed."""
    hint: str
    """How to get it, where it is not."""
    precisions: tuple[str, ...] = ()
    tells_layers: bool = False
    """Whether profiles can be made with it: it says how long each layer takes."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What forms and headers say of this machine; read once, without looking at noise."""

    default_cores: int
    usable_cores: int
    node_cores: int
    isa: tuple[str, ...]
    engines: tuple[EngineChoice, ...]
    host: str = ""
    """Its id in the store; '' before there is one."""
