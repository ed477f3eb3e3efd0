"""Node names that survive the profiler, which writes them into its JSON unescaped."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import onnx

from tuibench.model.file import is_external
from tuibench.model.graph import text, walk_nodes, walk_weights

_PLAIN = re.compile(r"[\w./:+-]{0,400}", re.ASCII)
_FILE = "named.onnx"


@dataclass(frozen=True, slots=True)
class PlainlyNamed:
    """A model file whose node names survive."""

    path: str
    notes: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    """The user's names of the renamed nodes, by number."""
    prefix: str = ""
    """The part of a new name before its number."""

    def undo(self, name: str) -> str:
        """Return a kernel's name with the user's own node names; also replace them inside longer names."""
        if not self.own:
            return name
        ours = rf"{re.escape(self.prefix)}([0-9]+)"
        return re.sub(ours, lambda found: self.own[int(found[1])] if int(found[1]) < len(self.own) else "", name)


@contextmanager
def plainly_named(model: onnx.ModelProto, path: str, run_dir: str) -> Iterator[PlainlyNamed]:
    """Yield the file to run with notes; rename the nodes of `model` to match the file.

    The user's own file if its names survive, else a copy that is deleted afterwards.
    """
    names = [text(node.name) for node in walk_nodes(model)]
    strange = [node for node in walk_nodes(model) if not _PLAIN.fullmatch(text(node.name))]
    if not strange:
        yield PlainlyNamed(path)
        return
    if any(map(is_external, walk_weights(model))):
        what = f"{len(strange)} nodes have names that the profiler cannot record: their time is in no layer"
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
