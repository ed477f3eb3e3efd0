"""Removal of private facts from a result before it leaves the machine: directories, and logins in addresses."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tuibench.core.errors import UsageError, WriteError
from tuibench.core.model import ModelSummary
from tuibench.core.record import from_plain, to_plain
from tuibench.core.result import RunResult, SideBySide
from tuibench.core.spec import BenchmarkSpec, ModelSource
from tuibench.core.text import show
from tuibench.present.profile.shown import Shown

STDOUT = "-"


def form_of(path: str) -> str:
    """Return json, csv or markdown, by the ending of the name."""
    ending = os.path.splitext(path)[1].lower()
    if ending in (".html", ".htm"):
        raise UsageError(f"{show(path)}: HTML is not in this version", "use .md, .csv or .json")
    return {".csv": "csv", ".md": "markdown"}.get(ending, "json")


def render(
    run: RunResult, form: str, beside: SideBySide | None = None, shown: Shown | None = None, name: str = ""
) -> str:
    """Return the text of an export in a format; only JSON can include another result beside it.

    `shown` chooses the part of a profile, and `name` is the profile's name.
    """
    if form != "json" and run.spec.profile is not None:
        from tuibench.present.profile.export import profile_text  # as below

        return profile_text(run, form, shown, name)
    if shown is not None:
        raise UsageError("of a benchmark nothing can be chosen", "--sort, --filter and the like are of a profile")
    if form == "csv":
        from tuibench.present.csv_export import dumps as to_csv  # only one format needs each module

        return to_csv(run)
    if form == "markdown":
        from tuibench.present.markdown import dumps as to_markdown  # as above

        return to_markdown(run)
    from tuibench.present.json_export import dumps as to_json  # as above

    return to_json(run, beside)


def spare(target: str, files: Iterable[str]) -> None:
    """Raise UsageError if the export would overwrite a file that was measured."""
    for path in files:
        if os.path.exists(target) and os.path.exists(path) and os.path.samefile(target, path):
            raise UsageError(f"-x {show(target)} would overwrite {show(path)}", "give the result another name")


def files_beside(model: ModelSummary) -> list[str]:
    """Return the existing files with the weights of a model that are stored outside of it."""
    folder = os.path.dirname(model.path)
    paths = [os.path.join(folder, name) for name in model.external_files]
    return [path for path in paths if os.path.exists(path)]


def check_target(path: str) -> None:
    """Raise an error if no file can be written there: create and remove one beside it. Call before measuring."""
    form_of(path)
    if path == STDOUT:
        return
    target = _target(path)
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    except (OSError, ValueError) as error:
        raise _failed(path, error) from error
    if stat.S_ISDIR(mode):
        raise WriteError(f"{show(path)} is a directory", "give a file name for -x")
    if not stat.S_ISREG(mode):
        # Renaming over a device or a pipe would replace it with a file.
        raise WriteError(f"{show(path)} is not a regular file", "use -x - for stdout")
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise WriteError(f"{show(path)} is read-only", "make it writable or give another name")
    try:
        descriptor, temporary = _open_beside(target)
        os.close(descriptor)
        os.unlink(temporary)
    except (OSError, ValueError) as error:
        raise _failed(path, error) from error


def write_export(path: str, text: str) -> None:
    """Write a file atomically: a reader sees either the old content or the complete new one."""
    target = _target(path)
    try:
        descriptor, temporary = _open_beside(target)
        try:
            with os.fdopen(descriptor, "wb") as file:
                if (mode := _mode_of(target)) is not None:
                    # Set before writing, so that private content is private at every moment.
                    os.fchmod(file.fileno(), mode)
                file.write(text.encode("utf-8", "backslashreplace"))
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
        _sync_directory(os.path.dirname(target))
    except (OSError, ValueError) as error:
        raise _failed(path, error) from error


def _target(path: str) -> str:
    # The file behind a link is replaced, not the link.
    try:
        return os.path.realpath(path)
    except (OSError, ValueError) as error:
        raise _failed(path, error) from error


def _mode_of(target: str) -> int | None:
    """Return the permissions of the existing file; None if there is none."""
    try:
        return stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        return None


def _open_beside(target: str) -> tuple[int, str]:
    if os.path.exists(os.path.dirname(target)) and len(os.fsencode(os.path.basename(target))) > 255:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    temporary = os.path.join(os.path.dirname(target), f".tuibench-{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(temporary, flags, 0o666), temporary


def _sync_directory(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems cannot sync a directory; the file itself is synced already.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _failed(path: str, error: Exception) -> WriteError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    missing = isinstance(error, FileNotFoundError)
    hint = "make its directory first" if missing else "give another place with -x"
    return WriteError(f"{show(path)} cannot be written: {reason[:1].lower()}{reason[1:]}", hint)


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
