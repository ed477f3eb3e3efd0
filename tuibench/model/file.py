"""Files of a model: refuses other formats, finds external weights, caches checksums while files stay the same."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import onnx

from tuibench.core.engine import CHECKPOINT, SAFETENSORS
from tuibench.core.errors import ModelError, name_kind
from tuibench.core.reason import Reason, because
from tuibench.core.stored import FileStamp
from tuibench.core.value import dataclass
from tuibench.engines.checkpoint import checkpoint_files
from tuibench.engines.torch import PICKLE, read_kind
from tuibench.model.graph import text, walk_weights

_PROTOBUF_LIMIT = 2**31 - 1
_HEAD_BYTES = 512
_LFS = b"version https://git-lfs.github.com/spec/"
_ZIP = b"PK\x03\x04"
_MAGIC = (
    (_ZIP, "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"\x89HDF", "hdf5"),
    *((bytes((0x80, protocol)), "pickle") for protocol in (2, 3, 4, 5)),
)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A regular file whose first bytes are those of no other known format."""

    path: Path
    format: str
    """onnx, ort, pt2, torchscript or safetensors."""
    file_bytes: int
    others: tuple[Path, ...] = ()
    """Files that belong to it as well."""


def locate(path: str | os.PathLike[str], *, foreign: bool = False) -> ModelFile:
    """Check that `path`, or `model.onnx` in it, can be a model, before a parser opens it: a FIFO would block.

    `foreign` admits the files of PyTorch, which have no ONNX graph.
    """
    asked = Path(path)
    if foreign and asked.name == CHECKPOINT:
        files = checkpoint_files(asked)
        return ModelFile(asked, SAFETENSORS, sum(os.stat(one).st_size for one in files), files[1:])
    target = asked / "model.onnx" if os.path.isdir(asked) else asked
    what = because("model_file" if target == asked else "model_in_directory", path=str(asked))
    file_bytes = regular_size(target, what)
    if file_bytes == 0:
        raise ModelError("model_empty", path=str(target))
    head = read_regular(target, _HEAD_BYTES)
    kind = "ort" if head[4:8] == b"ORTM" else "onnx"
    if foreign and head.startswith(_ZIP):
        kind = read_kind(str(target)) or kind
    if kind == PICKLE:
        raise ModelError("model_is_pickled", path=str(target))
    if kind == "onnx":
        _refuse_other_formats(target, head, file_bytes)
    return ModelFile(target, kind, file_bytes)


def twin_of(path: str) -> str:
    """Return the ONNX file beside a file of another format: that of its name, or `model.onnx` of its directory."""
    file = Path(path)
    beside = file.with_name("model.onnx") if file.name == CHECKPOINT else file.with_suffix(".onnx")
    return str(beside) if beside.is_file() else ""


def regular_size(path: Path, what: Reason, extension: str = "onnx") -> int:
    """Return the size of a regular file; raise ModelError with the actual kind of any other `path`.

    `what` describes the file, and `extension` is that of the right files.
    """
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        if os.path.islink(path):
            raise ModelError("path_dangling", what=what) from None
        raise ModelError("path_missing", what=what) from None
    except (OSError, ValueError) as error:
        raise ModelError("path_unreadable", what=what, text=_reason(error)) from None
    if not stat.S_ISREG(found.st_mode):
        raise ModelError("path_not_regular", what=what, kind=name_kind(found.st_mode), extension=extension)
    return found.st_size


def open_regular(path: Path, extension: str = "onnx") -> int:
    """Open a regular file and return its descriptor; check it again once open, as the path may have changed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ModelError("path_unreadable", what=str(path), text=_reason(error)) from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise ModelError("path_not_regular", what=str(path), kind=name_kind(mode), extension=extension)
    return descriptor


def read_regular(path: Path, limit: int) -> bytes:
    """Return the first `limit` bytes of a regular file."""
    with open(open_regular(path), "rb") as file:
        try:
            return file.read(limit)
        except OSError as error:
            raise ModelError("disk_read_failed", path=str(path), text=_reason(error)) from None


def read_model(file: ModelFile) -> bytes:
    """Return a whole model without its external data; refuse one larger than protobuf allows without reading it."""
    if file.file_bytes > _PROTOBUF_LIMIT:
        raise ModelError("model_over_format_limit", path=str(file.path), bytes=file.file_bytes)
    return read_regular(file.path, file.file_bytes + 1)


def _refuse_other_formats(path: Path, head: bytes, file_bytes: int) -> None:
    if head.startswith(_LFS):
        raise ModelError("model_is_lfs_pointer", path=str(path))
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype", b"<html", b"<head", b"<?xml")):
        raise ModelError("model_is_web_page", path=str(path), bytes=file_bytes)
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            raise ModelError("model_of_other_format", path=str(path), format=kind)


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


_FILE = "checksums.json"
_MOST_KEPT = 2000
_PIECE_BYTES = 4 << 20
_YOUNG_NS = 2_000_000_000
"""A file this young may change again without a new mtime, so its checksum is not cached."""


class Checksums:
    """Checksum cache; without a directory it lasts as long as the object."""

    def __init__(self, cache: str | None = None, clock_ns: Callable[[], int] = time.time_ns) -> None:
        self._path = None if cache is None else os.path.join(cache, _FILE)
        self._clock_ns = clock_ns
        self._known = _load(self._path)
        self._new: dict[str, str] = {}
        self.read_bytes = 0
        """Bytes hashed so far."""

    def stamps(self, paths: Sequence[Path], first: bytes | None = None) -> tuple[tuple[FileStamp, ...], str]:
        """Return the stamp of each file and the sha256 of their concatenation; `first` is the first file's content."""
        found = [os.stat(path) for path in paths]
        keys = [_key(one) for one in found]
        whole = "+".join(keys) if len(keys) > 1 else keys[0]
        known = [self._known.get(key) for key in (*keys, whole)]
        if None in known:
            known = self._hash(paths, found, [*keys, whole], first)
        digests = [str(one) for one in known]
        stamps = zip(paths, found, digests[:-1], strict=True)
        return tuple(FileStamp(str(p), s.st_size, s.st_mtime_ns, d) for p, s, d in stamps), digests[-1]

    def stamp_or_none(self, path: str) -> FileStamp | None:
        """Return the stamp of one file; None if it cannot be read."""
        try:
            return self.stamps([Path(path)])[0][0]
        except (OSError, ValueError, ModelError):
            return None

    def save(self) -> None:
        """Write new checksums to the cache; ignore write errors, as the files can be hashed again."""
        if self._path is None or not self._new:
            return
        merged = {**_load(self._path), **self._new}
        kept = dict(list(merged.items())[-_MOST_KEPT:])
        temporary = f"{self._path}.{os.getpid()}.tmp"
        try:
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
            with open(os.open(temporary, flags, 0o600), "w", encoding="ascii") as handle:
                json.dump(kept, handle)
            os.replace(temporary, self._path)
        except OSError:
            return

    def _hash(
        self, paths: Sequence[Path], found: Sequence[os.stat_result], keys: list[str], first: bytes | None
    ) -> list[str | None]:
        total = hashlib.sha256()
        digests = []
        for index, path in enumerate(paths):
            own = hashlib.sha256()
            for piece in [first] if first is not None and index == 0 else _pieces(path):
                own.update(piece)
                if len(paths) > 1:
                    total.update(piece)
                self.read_bytes += len(piece)
            digests.append(own.hexdigest())
        digests.append(total.hexdigest() if len(paths) > 1 else digests[0])
        if [_key(os.stat(path)) for path in paths] != keys[:-1] or (
            first is not None and len(first) != found[0].st_size
        ):
            raise ModelError("changed_while_read", path=str(paths[0]))
        if all(self._clock_ns() - one.st_mtime_ns >= _YOUNG_NS for one in found):
            self._new.update(zip(keys, digests, strict=True))
            self._known.update(self._new)
        return list(digests)


def _pieces(path: Path) -> Iterator[bytes]:
    with open(open_regular(path), "rb", buffering=0) as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _key(found: os.stat_result) -> str:
    return f"{found.st_dev}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"


def _load(path: str | None) -> dict[str, str]:
    """Return the cached checksums; none if the cache is missing or damaged."""
    if path is None:
        return {}
    try:
        with open(path, encoding="ascii") as handle:
            found = json.load(handle)
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {key: value for key, value in found.items() if isinstance(value, str) and len(value) == 64}


_CHUNK_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Extent:
    """Position of one weight's bytes."""

    path: Path
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class ExternalData:
    """All files that the weights of a model refer to, checked to be readable and long enough."""

    files: tuple[Path, ...]
    locations: tuple[str, ...]
    """Names in the model, in the order of `files`."""
    total_bytes: int


def check_external(model: onnx.ModelProto, model_path: Path) -> ExternalData:
    """Find the files of all external weights; raise ModelError if one is missing, too short or in another directory."""
    sizes: dict[Path, int] = {}
    locations: dict[Path, str] = {}
    for tensor in walk_weights(model):
        if is_external(tensor):
            found = extent(tensor, model_path, sizes)
            locations.setdefault(found.path, _entries(tensor).get("location", ""))
    files = tuple(sorted(locations))
    return ExternalData(files, tuple(locations[f] for f in files), sum(sizes[f] for f in files))


def is_external(tensor: onnx.TensorProto) -> bool:
    """Return whether the bytes of a weight are outside the model file."""
    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL)


def extent(tensor: onnx.TensorProto, model_path: Path, sizes: dict[Path, int]) -> Extent:
    """Return the position of one external weight; `sizes` caches the sizes of checked files."""
    entries = _entries(tensor)
    path = _resolve(entries.get("location", ""), model_path)
    if path not in sizes:
        sizes[path] = regular_size(path, because("external_data", path=str(path), model=str(model_path)))
    try:
        offset = int(entries.get("offset") or 0)
        length = int(entries["length"]) if entries.get("length") else sizes[path] - offset
    except ValueError:
        offset = length = -1
    if offset < 0 or length < 0 or offset + length > sizes[path]:
        place = {"offset": offset, "length": length, "bytes": sizes[path]}
        raise ModelError("external_data_too_short", path=str(path), name=text(tensor.name), **place)
    return Extent(path, offset, length)


def read_chunks(path: Path, offset: int, length: int, chunk_bytes: int = _CHUNK_BYTES) -> Iterator[bytes]:
    """Yield the bytes of an extent in pieces, so that memory stays bounded."""
    with open(open_regular(path), "rb") as file:
        file.seek(offset)
        left = length
        while left > 0:
            piece = file.read(min(left, chunk_bytes))
            if not piece:
                raise ModelError("external_data_shrank", path=str(path))
            left -= len(piece)
            yield piece


def _entries(tensor: onnx.TensorProto) -> dict[str, str]:
    return {text(entry.key): text(entry.value) for entry in tensor.external_data}


def _resolve(location: str, model_path: Path) -> Path:
    if not location or "\0" in location:
        raise ModelError("external_data_no_name", path=str(model_path), location=location)
    # A download cache links both files to blobs elsewhere, so the blobs' own directory is allowed too.
    homes = {os.path.realpath(model_path.parent), os.path.dirname(os.path.realpath(model_path))}
    joined = os.path.normpath(os.path.join(model_path.parent, location))
    real = os.path.realpath(joined)
    named_inside = not os.path.isabs(location) and ".." not in Path(location).parts
    if not named_inside or not any(os.path.commonpath([home, real]) == home for home in homes):
        raise ModelError("external_data_outside", path=str(model_path), location=location)
    return Path(joined)
