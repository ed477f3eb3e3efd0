"""The child task `fetch`: an https address or `hf:ORG/REPO[/FILE]` becomes a cached file."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tuibench.core.errors import EngineError, ModelError, TuibenchError, UsageError
from tuibench.core.model import FETCHED, public_name, remote_scheme
from tuibench.core.reason import because
from tuibench.model.download.cache import ModelCache, cannot_write
from tuibench.model.download.file import (
    Address,
    CachedFile,
    Download,
    DownloadLimits,
    RemoteFile,
    Web,
    find_cached,
    key_of,
    parse_address,
    safe_name,
)

if TYPE_CHECKING:
    from types import ModuleType


_NOTE = "hub"
_MOST_NAMED = 8
_SILENT = {
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
}

File = dict[str, Any]


def resolve_files(token: str, cache: ModelCache, timeout_s: float) -> list[RemoteFile]:
    """Return the model, then its weight files; ask the hub only while a file is missing."""
    repo, file = split_token(token)
    note = cache.read_note(_NOTE)
    if not _is_whole(note):
        note = _look_up(repo, file, timeout_s)
        cache.write_note(_NOTE, note)
    names = _local_names(note["files"])
    if all(find_cached(cache, name) for name in names):
        return [_wanted(Address("", "hf"), file, name) for file, name in zip(note["files"], names, strict=True)]
    hub = _library()
    found = []
    for entry, name in zip(note["files"], names, strict=True):
        address = parse_address(hub.hf_hub_url(repo, entry["path"], revision=note["commit"]))
        token_of_user = hub.get_token()
        bearer = f"Bearer {token_of_user}" if token_of_user else None
        found.append(_wanted(Address(address.url, address.host, bearer), entry, name))
    return found


def split_token(token: str) -> tuple[str, str]:
    """Return repository and file of a token; the file is '' if the token has none."""
    parts = token.partition(":")[2].split("/")
    word = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
    if len(parts) < 2 or not all(word.fullmatch(part) for part in parts[:2]):
        raise UsageError("token_without_repository", token=token)
    if any(part in ("", ".", "..") or not part.isprintable() for part in parts[2:]):
        raise UsageError("token_without_file", token=token)
    return "/".join(parts[:2]), "/".join(parts[2:])


def choose(repo: str, file: str, files: list[File]) -> File:
    """Return the requested file; raise an error that lists the models if it is missing or ambiguous."""
    models = [entry for entry in files if entry["path"].lower().endswith((".onnx", ".ort"))]
    named = [because("remote_file", path=entry["path"], bytes=entry["bytes"] or 0) for entry in models[:_MOST_NAMED]]
    known: dict[str, Any] = {"repository": repo, "models": named, "more": len(models) - len(named)}
    if file:
        found = next((entry for entry in files if entry["path"] == file), None)
        if found is None:
            raise ModelError("repository_without_file", file=file, **known)
        return found
    if not models:
        raise ModelError("repository_without_model", repository=repo)
    if len(models) > 1:
        raise UsageError("repository_with_several", count=len(models), **known)
    return models[0]


def find_data(model: File, files: list[File]) -> list[File]:
    """Return the weight files beside a model, found by the names that exporters use."""
    folder, _, name = model["path"].rpartition("/")
    stem = name.rpartition(".")[0]
    beside = [entry for entry in files if entry["path"].rpartition("/")[0] == folder and entry is not model]
    alone = not any(entry["path"].lower().endswith(".onnx") for entry in beside)

    def belongs(entry: File) -> bool:
        other = entry["path"].rpartition("/")[2]
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}", other):
            return False
        own = other.startswith((f"{name}_data", f"{name}.data")) or other in (f"{stem}.data", f"{stem}.bin")
        return own or (alone and other.endswith((".data", "_data")))

    return [entry for entry in beside if belongs(entry)]


def _look_up(repo: str, file: str, timeout_s: float) -> dict[str, Any]:
    hub = _library()
    try:
        info = hub.HfApi().model_info(repo, files_metadata=True, timeout=timeout_s)
        files = [_describe(sibling) for sibling in info.siblings or ()]
    except Exception as error:  # its HTTP client, and the errors it raises, change between versions
        raise _explain(repo, error) from error
    model = choose(repo, file, files)
    return {"repo": repo, "commit": str(info.sha), "files": [model, *find_data(model, files)]}


def _describe(sibling: Any) -> File:
    stored = getattr(sibling, "lfs", None)
    sha256 = stored.get("sha256") if isinstance(stored, dict) else getattr(stored, "sha256", None)
    return {"path": str(sibling.rfilename), "bytes": getattr(sibling, "size", None), "sha256": sha256}


def _explain(repo: str, error: Exception) -> TuibenchError:
    kind = type(error).__name__
    if kind == "GatedRepoError":
        return ModelError("repository_gated", repository=repo)
    if kind == "RepositoryNotFoundError" or getattr(getattr(error, "response", None), "status_code", 0) == 404:
        return ModelError("repository_missing", repository=repo)
    said = str(error).strip().splitlines()[0] if str(error).strip() else kind
    return ModelError("hub_unreachable", repository=repo, text=said)


def _library() -> ModuleType:
    os.environ.update(_SILENT)
    try:
        import huggingface_hub
    except ImportError as error:
        raise EngineError("hub_package_missing", text=str(error)) from error
    return huggingface_hub


def _is_whole(note: dict[str, Any]) -> bool:
    files = note.get("files")
    return isinstance(files, list) and bool(files) and isinstance(note.get("commit"), str)


def _local_names(files: list[File]) -> list[str]:
    """Return the names in the cache; data files keep theirs, because the model refers to them."""
    names = [entry["path"].rpartition("/")[2] for entry in files]
    return [safe_name(names[0]), *names[1:]]


def _wanted(address: Address, entry: File, name: str) -> RemoteFile:
    return RemoteFile(address, name, entry["bytes"], entry["sha256"])


_SPEAK_EVERY_S = 0.2

Send = Callable[[dict[str, Any]], None]


class ProgressMeter:
    """Sends {"fetched", "total"} a few times a second, and always at the start and end of a file."""

    def __init__(self, send: Send, clock: Callable[[], float] = time.monotonic) -> None:
        self._send = send
        self._clock = clock
        self._spoken_at = float("-inf")

    def at(self, fetched: int, total: int | None) -> None:
        """Report the progress."""
        now = self._clock()
        if fetched == 0 or fetched == total or now - self._spoken_at >= _SPEAK_EVERY_S:
            self._spoken_at = now
            self._send({"fetched": fetched, "total": total})


def fetch(request: dict[str, Any], send: Send) -> dict[str, Any]:
    """Fetch a model: takes {address, cache, stall_s?, most_bytes?, spare_bytes?}, returns path, checksum and sizes."""
    token = str(request["address"])
    limits = DownloadLimits()
    given = {name: request[name] for name in ("stall_s", "most_bytes", "spare_bytes") if name in request}
    limits = replace(limits, **given)
    scheme = remote_scheme(token)
    if scheme not in FETCHED:
        raise UsageError("address_not_fetched", address=public_name(token))
    address = parse_address(token) if scheme == "https" else None
    cache = ModelCache(str(request["cache"]), address.key if address is not None else key_of(token))
    web = Web(limits.stall_s)
    try:
        with cache.locked():
            if address is not None:
                wanted = [RemoteFile(address, address.file_name)]
            else:
                wanted = resolve_files(token, cache, limits.stall_s)
            kept = _fetch_all(wanted, cache, web, limits, ProgressMeter(send))
    except OSError as error:
        # Network errors are already raised as other types; the rest are disk errors.
        raise cannot_write(cache.directory, error) from error
    return {
        "path": kept[0].path,
        "name": wanted[0].name,
        "sha256": kept[0].sha256,
        "bytes": sum(one.bytes for one in kept),
        "fetched": sum(one.fetched for one in kept),
    }


def _fetch_all(
    wanted: list[RemoteFile], cache: ModelCache, web: Web, limits: DownloadLimits, meter: ProgressMeter
) -> list[CachedFile]:
    """Fetch all files of a model; report one progress for all."""
    kept: list[CachedFile] = []
    after = [one.bytes for one in wanted[1:]]
    for index, one in enumerate(wanted):
        before = sum(done.bytes for done in kept)
        rest = after[index:]

        def tell(fetched: int, total: int | None, before: int = before, rest: list[int | None] = rest) -> None:
            known = None if total is None or None in rest else before + total + sum(b for b in rest if b is not None)
            meter.at(before + fetched, known)

        # The weights beside a model may be longer than the format allows for the model itself.
        bounds = limits if index == 0 or one.bytes is None else replace(limits, most_bytes=one.bytes)
        kept.append(Download(one, cache, web, bounds, tell).carry_out())
    return kept
