"""What one removal took, and from where: written before anything moves, so that a crash can be made good."""

from __future__ import annotations

import operator
import os
from dataclasses import dataclass
from typing import Any

from tuibench.core.record import from_plain, to_plain
from tuibench.core.text import show
from tuibench.store.migration import DOCUMENT
from tuibench.store.sealed import Loaded, Sealing
from tuibench.store.trouble import damaged

NAME = "manifest.json"
MOVING, RESTORING, DROPPING = ".moving", ".restoring", ".dropping"
"""What the directory of a removal is called while it is not at rest: the name is the state, and changes at once."""
STATES = (MOVING, RESTORING, DROPPING)
_TABLE = "trash"


class Outside(ValueError):
    """A path that leads out of the store."""


@dataclass(frozen=True, slots=True)
class Move:
    """One file or directory."""

    source: str
    """Where it was, relative to the store."""
    name: str
    """What it is called in the trash."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One host's part of a removal."""

    id: str
    by: str
    """The host that removed it."""
    removed_utc: str
    kind: str
    names: tuple[str, ...]
    benchmarks: tuple[str, ...]
    projects: tuple[str, ...]
    size_bytes: int
    moves: tuple[Move, ...]
    rows: tuple[dict[str, Any], ...] = ()
    """As they were listed of those whose records could not be read, and cannot tell to which project they belong."""
    sequence: int = 0
    """Place in the order of removals, which a clock that is set back does not change; 0 in manifests without one."""

    @property
    def order(self) -> tuple[int, str]:
        """Sort key, oldest removal first; ids sort by time."""
        return self.sequence, self.id


def write_manifest(sealing: Sealing, directory: str, manifest: Manifest) -> None:
    """Put the manifest into the directory of its removal."""
    sealing.write_tables(os.path.join(directory, NAME), {_TABLE: {"1": to_plain(manifest)}}, None)


def read_manifest(sealing: Sealing, directory: str) -> Manifest | None:
    """The manifest of a removal; None where none was written, StoreDamaged where it cannot be used."""
    path = os.path.join(directory, NAME)
    loaded = load_manifest(sealing, directory)
    if loaded is None:
        return None
    try:
        manifest = from_plain(Manifest, loaded.tables[_TABLE]["1"])
        for move in manifest.moves:
            _check_inside(move.source)
            _check_inside(move.name)
        operator.index(manifest.sequence)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = str(error) if isinstance(error, Outside) else "it is no list of what was removed"
        hint = "What was removed lies beside it and can be put back by hand."
        raise sealing.misfit(path, loaded, damaged(sealing.files.name(path), why, hint)) from error
    return manifest


def load_manifest(sealing: Sealing, directory: str) -> Loaded | None:
    """The file of a manifest."""
    return sealing.load(os.path.join(directory, NAME), DOCUMENT, fall_back=False)


def _check_inside(path: str) -> None:
    # A manifest that was edited must not lead a move out of the store.
    if os.path.isabs(path) or not path or ".." in path.split(os.sep):
        raise Outside(f"{show(path)} leads out of the store")
