"""Names of nodes that survive the profiler: it writes them into its JSON as they are, quotes and all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import onnx

from tuibench.models.external import is_external
from tuibench.models.graph import text, walk_nodes, walk_weights

_PLAIN = re.compile(r"[\w./:+-]{0,400}", re.ASCII)
_FILE = "named.onnx"


@dataclass(frozen=True, slots=True)
class PlainlyNamed:
    """A file whose nodes have names that survive."""

    path: str
    notes: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    """What those are called by the user that have another name in it, in the order of their numbers."""
    prefix: str = ""
    """What stands before the numbers."""

    def undo(self, name: str) -> str:
        """A kernel's name with the user's own in place of ours, also where the engine has built one around it."""
        if not self.own:
            return name
        ours = rf"{re.escape(self.prefix)}([0-9]+)"
        return re.sub(ours, lambda found: self.own[int(found[1])] if int(found[1]) < len(self.own) else "", name)


@contextmanager
def plainly_named(model: onnx.ModelProto, path: str, run_dir: str) -> Iterator[PlainlyNamed]:
    """The file to run, and what is to be said of it; nodes of `model` are named as they are in that file.

    The user's own where its names will do, else a copy that is gone afterwards.
    """
    names = [text(node.name) for node in walk_nodes(model)]
    strange = [node for node in walk_nodes(model) if not _PLAIN.fullmatch(text(node.name))]
    if not strange:
        yield PlainlyNamed(path)
        return
    if any(map(is_external, walk_weights(model))):
        what = f"{len(strange)} nodes have names that the profiler cannot write down: their time is in no layer"
        yield PlainlyNamed(path, (what,))
        return
    prefix = "tuibench."
    while any(name.startswith(prefix) for name in names):
        prefix += "."
    own = [text(node.name) for node in strange]
    for number, node in enumerate(strange):
        node.name = f"{prefix}{number}"
    copy = Path(run_dir) / _FILE
    copy.write_bytes(model.SerializeToString())
    try:
        yield PlainlyNamed(str(copy), (), tuple(own), prefix)
    finally:
        os.unlink(copy)
