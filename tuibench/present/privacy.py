"""Removal of private facts from a result before it leaves the machine: directories, and logins in addresses."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tuibench.core.record import from_plain, to_plain
from tuibench.core.result import RunResult
from tuibench.core.spec import BenchmarkSpec, ModelSource
from tuibench.core.text import show

LEFT_OUT = (
    "directories of models, inputs and samples: the file's name stays, its sha256 identifies it",
    "other absolute paths in messages and commands: the last part stays, a home directory becomes ~",
    "user, password, query and fragment of web addresses",
)
"""The facts that an export leaves out without --include-private, for help and dialogs.

No result contains host names or user names.
"""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_TOPS = frozenset(
    {"home", "root", "Users", "mnt", "media", "data", "srv", "opt", "tmp", "var", "usr", "run", "work"}
    | {"scratch", "workspace", "private", "nfs", "net", "export", "storage", "content", "etc", "lib", "lib64"}
)
"""First parts of absolute paths. Node names such as /layer1/conv/Conv look like paths, too, and must stay."""
_HOME = re.compile(r"(?<![\w.~/-])/(?:home|Users)/[^/\s'\"]+(?=/|\b)|(?<![\w.~/-])/root(?=/|\b)")
_ADDRESS = re.compile(r"https?://[^\s'\"<>]+", re.IGNORECASE)
_FILES = frozenset({"path", "file", "bundle"})
_REASON = {"code", "fields"}
_NAMES = frozenset({"name", "zero_tensors", "id", "key", "nodes", "kernels", "kernel_op", "weight", "op"})
"""Keys whose texts come from inside a model."""


def without_private(result: RunResult, home: str = "") -> RunResult:
    """Return the result without the facts of `LEFT_OUT`; `home` is the user's own, wherever it is."""
    sources = _public_sources(result.spec.models)
    scrubber = _Scrubber(_known(result.spec, sources), _tops(result.spec), home)
    plain = scrubber.walk(to_plain(result))
    cleaned = from_plain(RunResult, plain)
    return replace(cleaned, spec=replace(cleaned.spec, models=sources))


def public_name(name: str, result: RunResult, home: str = "") -> str:
    """Return a result's name without private parts, since a name may contain a path."""
    scrubber = _Scrubber(_known(result.spec, _public_sources(result.spec.models)), _tops(result.spec), home)
    return re.sub(r"\S*/\S*", lambda found: _last_part(found[0]), str(scrubber.walk(name)))


class _Scrubber:
    """Replaces paths in texts: first those that the result names, then whatever else looks like a path."""

    def __init__(self, known: Sequence[tuple[str, str]], tops: frozenset[str], home: str) -> None:
        self._exact = dict(known)
        forms = {form: new for old, new in known for form in (old, show(old, 4096))}
        # Longest first, since one path may be the beginning of another.
        self._known = [(_start(form), forms[form]) for form in sorted(forms, key=len, reverse=True)]
        self._path = re.compile(rf"(?<![\w.~/-])/(?:{'|'.join(map(re.escape, sorted(tops)))})/[^\s'\"`,;()\[\]<>|]*")
        self._home = re.compile(rf"{_start(home.rstrip('/')).pattern}(?![\w-])") if home.strip("/") else None

    def walk(self, value: Any, key: str = "") -> Any:
        """Return the same value with every text in it made public; keys stay."""
        if isinstance(value, dict) and value.keys() == _REASON:
            # The fields of a reason have names of their own: `name` may be a file.
            return {"code": value["code"], "fields": {name: self.walk(part) for name, part in value["fields"].items()}}
        if isinstance(value, dict):
            return {name: self.walk(part, name) for name, part in value.items()}
        if isinstance(value, list):
            # Names of a list under such a key stay; other parts follow their own keys.
            return [part if key in _NAMES and isinstance(part, str) else self.walk(part, key) for part in value]
        if not isinstance(value, str) or key in _NAMES or ("/" not in value):
            return value
        if key in _FILES:
            return self._exact.get(value, _last_part(value))
        return self._text(value)

    def _text(self, text: str) -> str:
        for old, new in self._known:
            text = old.sub(_say(new), text)
        text = _ADDRESS.sub(lambda found: _public_address(found[0]), text)
        text = self._home.sub("~", text) if self._home else text
        text = _HOME.sub("~", text)
        return self._path.sub(lambda found: _last_part(found[0]), text)


def _start(path: str) -> re.Pattern[str]:
    """Return a pattern for the path as a beginning: m.onnx also matches in m.onnx_data, a file beside it."""
    return re.compile(rf"(?<![\w./-]){re.escape(path)}")


def _say(text: str) -> Callable[[re.Match[str]], str]:
    """Return a replacement function, since `re` would interpret backslashes in a replacement text."""
    return lambda _: text


def _public_sources(models: Sequence[ModelSource]) -> tuple[ModelSource, ...]:
    """Return the models under their file names, numbered if two files have the same name."""
    taken: dict[str, int] = {}
    sources = []
    for model in models:
        address = _is_address(model.asked)
        name = _public_address(model.asked) if address else _last_part(model.asked)
        taken[name] = taken.get(name, 0) + 1
        if taken[name] > 1 and not address:
            stem, ending = os.path.splitext(name)
            name = f"{stem} ({taken[name]}){ending}"
        sources.append(ModelSource(name, _last_part(model.path) if address else name))
    return tuple(sources)


def _known(spec: BenchmarkSpec, public: Sequence[ModelSource]) -> list[tuple[str, str]]:
    """Return the texts that name files of this run, each with its public replacement."""
    pairs = []
    for model, clean in zip(spec.models, public, strict=True):
        pairs += [(model.asked, clean.asked), (model.path, clean.path)]
    if spec.inputs.file is not None:
        pairs.append((spec.inputs.file, _last_part(spec.inputs.file)))
    # Other files beside them are named with the same directories.
    folders = {f"{os.path.dirname(old)}/" for old, _ in pairs if os.path.isabs(old)} - {"//"}
    # A name without a directory is public already.
    return [(old, new) for old, new in pairs if old != new and "/" in old] + [(folder, "") for folder in folders]


def _tops(spec: BenchmarkSpec) -> frozenset[str]:
    files = [*(model.path for model in spec.models), spec.inputs.file or ""]
    found = {path.split("/")[1] for path in files if path.startswith("/") and path.count("/") > 1}
    return _TOPS | {top for top in found if top}


def _is_address(asked: str) -> bool:
    return bool(_SCHEME.match(asked)) and not os.path.isabs(asked)


def _public_address(address: str) -> str:
    """Return an address without user, password, query and fragment."""
    if not address.lower().startswith(("http:", "https:")):
        return address
    try:
        parts = urlsplit(address)
    except ValueError:
        return f"{address.partition(':')[0]}:"
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def _last_part(path: str) -> str:
    return os.path.basename(path.rstrip("/")) or path
