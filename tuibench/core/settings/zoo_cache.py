"""Models that SparseZoo left on this machine: its host no longer exists, its cache may."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import islice

from tuibench.core.errors import UsageError

_PLACES = ("deployment/model.onnx", "model.onnx")
_DEPTH = 3
_MOST = 500
"""Most directories that are looked at."""
_LISTED = 8


def find_cached(stub: str, environ: Mapping[str, str] = os.environ) -> str:
    """Return the model in a folder named like the last part of a stub; raise UsageError if there is not exactly one.

    The identity of a stub was known to the host only.
    """
    wanted = stub.removeprefix("zoo:").rstrip("/").rpartition("/")[2]
    cached = list(cached_models(environ))
    found = [path for folder, path in cached if folder == wanted]
    if len(found) != 1:
        paths = found or [path for _, path in cached]
        code = "zoo_ambiguous" if found else "zoo_not_cached"
        raise UsageError(code, model=stub, paths=paths[:_LISTED], more=max(len(paths) - _LISTED, 0))
    return found[0]


def cached_models(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield folder name and model file of each model in the cache, in the order of their paths."""
    root = environ.get("SPARSEZOO_MODELS_PATH") or os.path.expanduser("~/.cache/sparsezoo")
    for folder, names, _ in islice(os.walk(root), _MOST):
        names[:] = sorted(names) if os.path.relpath(folder, root).count(os.sep) < _DEPTH - 1 else []
        if path := next((path for place in _PLACES if os.path.isfile(path := os.path.join(folder, place))), ""):
            names.clear()
            yield os.path.basename(folder), path
