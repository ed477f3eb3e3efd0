"""The manifest of a removal: its files and origins, written before any move so that a crash can be completed."""

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
"""Suffixes of a removal's directory while it is in progress; the name is the state and changes atomically."""
STATES = (MOVING, RESTORING, DROPPING)
_TABLE = "trash"


class Outside(ValueError):
    """A path leads out of the store."""


@dataclass(frozen=True, slots=True)
class Move:
    """One moved file or directory."""

    source: str
    """The original path, relative to the store."""
    name: str
    """The name in the trash."""


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
    """Index rows of unreadable records, which cannot name their project themselves."""
    sequence: int = 0
    """Position in the order of removals, independent of the clock; 0 in manifests without one."""

    @property
    def order(self) -> tuple[int, str]:
        """Return the sort key, oldest removal first; ids sort by time."""
        return self.sequence, self.id


def write_manifest(sealing: Sealing, directory: str, manifest: Manifest) -> None:
    """Write the manifest into the directory of its removal."""
    sealing.write_tables(os.path.join(directory, NAME), {_TABLE: {"1": to_plain(manifest)}}, None)


def read_manifest(sealing: Sealing, directory: str) -> Manifest | None:
    """Return the manifest of a removal, None if there is none; raise StoreDamaged if it is unusable."""
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
    """Load the file of a manifest."""
    return sealing.load(os.path.join(directory, NAME), DOCUMENT, fall_back=False)


def _check_inside(path: str) -> None:
    # An edited manifest must not lead a move out of the store.
    if os.path.isabs(path) or not path or ".." in path.split(os.sep):
        raise Outside(f"{show(path)} leads out of the store")
