"""Names of nodes that survive the profiler: it writes them into its JSON as they are, quotes and all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import onnx

from tuibench.models.external import is_external
from tuibench.models.graph import text, walk_nodes, walk_weights

_PLAIN = re.compile(r"[\w./:+-]{0,400}", re.ASCII)
_FILE = "named.onnx"


@contextmanager
def plainly_named(model: onnx.ModelProto, path: str, run_dir: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The file to run, and what is to be said of it; nodes of `model` are named as they are in that file.

    The user's own where its names will do, else a copy that is gone afterwards.
    """
    strange = [node for node in walk_nodes(model) if not _PLAIN.fullmatch(text(node.name))]
    if not strange:
        yield path, ()
        return
    if any(map(is_external, walk_weights(model))):
        what = f"{len(strange)} nodes have names that the profiler cannot write down: their time is in no layer"
        yield path, (what,)
        return
    for number, node in enumerate(strange):
        node.name = f"tuibench.{number}"
    copy = Path(run_dir) / _FILE
    copy.write_bytes(model.SerializeToString())
    try:
        yield str(copy), ()
    finally:
        os.unlink(copy)
