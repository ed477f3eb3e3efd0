"""Downloads one file over https into the cache, whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import http.client
import os
import re
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit
from urllib.request import HTTPSHandler, OpenerDirector, ProxyHandler, Request

from tuibench import __version__
from tuibench.core.errors import ModelError, UsageError, WriteError
from tuibench.core.model import public_name
from tuibench.core.reason import Reason, because, error_text
from tuibench.core.text import show
from tuibench.core.value import dataclass
from tuibench.model.download.cache import ModelCache

if TYPE_CHECKING:
    from hashlib import _Hash


_KEPT_SIGNS = "%/:=&?~+!$,;'@()*[]"
_FORMATS = (".onnx", ".ort")
_MAX_NAME_CHARS = 100
_MOST_TEXT_CHARS = 500


@dataclass(frozen=True, slots=True)
class Address:
    """Address of a file."""

    url: str
    """The URL to request, in ASCII, without credentials and fragment."""
    host: str
    """Host name, with the port if the address has one."""
    authorization: str | None = None
    """Header value for this host alone."""

    @property
    def public(self) -> str:
        """The address for messages, without its query."""
        return public_name(self.url)

    @property
    def key(self) -> str:
        """The name of its directory in the cache."""
        return key_of(self.url)

    @property
    def file_name(self) -> str:
        """A file name that is safe on any disk and that engines accept for a model."""
        return safe_name(unquote(urlsplit(self.url).path.rpartition("/")[2]))


def key_of(text: str) -> str:
    """Return the first 16 hex digits of a sha256: short, and no part of a foreign name reaches a path."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def safe_name(name: str) -> str:
    """Return `name` in letters, digits and -._ with a model's extension; never hidden, long or empty."""
    clean = re.sub(r"[^A-Za-z0-9._-]+", "_", name).lstrip("._-")
    stem, dot, ending = clean.rpartition(".")
    ending = f".{ending.lower()}"
    if not dot or ending not in _FORMATS:
        stem, ending = clean, _FORMATS[0]
    return (stem[:_MAX_NAME_CHARS].rstrip(".") or "model") + ending


def parse_address(text: str) -> Address:
    """Parse an address; raise UsageError if it is invalid."""
    public = public_name(text)
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise UsageError("address_with_controls", address=public)
    try:
        parts = urlsplit(text)
        name, port = parts.hostname or "", parts.port
        host = name.encode("idna").decode("ascii") if not name.isascii() else name
    except ValueError as error:  # includes UnicodeError
        raise UsageError("no_address", address=public, text=str(error)) from None
    if parts.scheme.lower() != "https":
        raise UsageError("address_not_https", address=public)
    if not re.fullmatch(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+", host):
        raise UsageError("address_without_host", address=public)
    host = f"[{host}]" if ":" in host else host
    host = host if port is None else f"{host}:{port}"
    path, query = (quote(part, safe=_KEPT_SIGNS) for part in (parts.path or "/", parts.query))
    return Address(urlunsplit(("https", host, path, query, "")), host, _basic(parts.username, parts.password))


def follow(address: Address, location: str | None) -> Address:
    """Return the target of a redirect; allow only https, and pass credentials to no other host."""
    if not location:
        raise ModelError("redirect_to_nowhere", host=address.host, address=address.public)
    try:
        goal = urljoin(address.url, location)
        scheme = urlsplit(goal).scheme.lower()
    except ValueError:
        goal, scheme = location, ""
    if scheme != "https":
        raise ModelError("redirect_not_https", host=address.host, target=public_name(goal))
    try:
        found = parse_address(goal)
    except UsageError as error:
        raise ModelError("redirect_to_invalid_address", host=address.host, why=error.reason) from None
    return Address(found.url, found.host, address.authorization if found.host == address.host else None)


def _basic(user: str | None, password: str | None) -> str | None:
    if user is None:
        return None
    pair = f"{unquote(user)}:{unquote(password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode("ascii")


_MOVED = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 10


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's response whose body has not been read."""

    status: int
    address: Address
    """The final address, after all redirects."""
    body_bytes: int | None
    """The declared length; None if undeclared."""
    raw: http.client.HTTPResponse

    def read(self, max_bytes: int) -> bytes:
        """Return up to `max_bytes` received bytes; b'' at the end."""
        return self.raw.read1(max_bytes)

    def close(self) -> None:
        """Close the connection."""
        self.raw.close()


class Web:
    """Sends requests over https, through the proxy in the environment."""

    def __init__(self, stall_s: float) -> None:
        self._stall_s = stall_s
        self._opener = OpenerDirector()
        # Use only these two handlers: the default opener would also open http:, ftp: and file:.
        self._opener.add_handler(ProxyHandler())
        self._opener.add_handler(HTTPSHandler(context=ssl.create_default_context()))
        self._opener.addheaders = [("User-Agent", f"tuibench/{__version__}"), ("Accept-Encoding", "identity")]

    def ask(self, address: Address) -> Answer:
        """Return the response to a GET if its status is 200; raise an error for any other status."""
        for _ in range(_MOST_REDIRECTS + 1):
            answer = self._once(address)
            if answer.status in _MOVED:
                answer.close()
                address = follow(address, answer.raw.headers.get("Location"))
                continue
            if answer.status != 200:
                answer.close()
                raise _refused(answer)
            return answer
        raise ModelError("too_many_redirects", address=address.public, host=address.host, count=_MOST_REDIRECTS)

    def _once(self, address: Address) -> Answer:
        request = Request(address.url)
        if address.authorization is not None:
            request.add_unredirected_header("Authorization", address.authorization)
        try:
            raw = self._opener.open(request, timeout=self._stall_s)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _unreachable(address, error, self._stall_s) from None
        if not isinstance(raw, http.client.HTTPResponse):
            raise ModelError("address_without_handler", address=address.public)
        declared = raw.headers.get("Content-Length", "")
        return Answer(
            status=raw.status,
            address=address,
            body_bytes=int(declared) if declared.isascii() and declared.isdigit() else None,
            raw=raw,
        )


def network_cause(error: Exception, stall_s: float) -> Reason:
    """Return the cause of a network error."""
    reason = error.reason if isinstance(error, URLError) and isinstance(error.reason, Exception) else error
    if isinstance(reason, TimeoutError):
        return because("no_data", s=stall_s)
    if isinstance(reason, http.client.IncompleteRead):
        return Reason("connection_closed")
    return error_text((getattr(reason, "strerror", None) or str(reason) or type(reason).__name__)[:_MOST_TEXT_CHARS])


def _unreachable(address: Address, error: Exception, stall_s: float) -> ModelError:
    reason = getattr(error, "reason", error)
    if isinstance(reason, ssl.SSLCertVerificationError):
        return ModelError("invalid_certificate", host=address.host, text=reason.verify_message)
    return ModelError("address_unreachable", address=address.public, why=network_cause(error, stall_s))


def _refused(answer: Answer) -> ModelError:
    status, address = answer.status, answer.address
    if status in (401, 403, 407):
        return ModelError("access_refused", address=address.public, status=status)
    if status in (404, 410):
        return ModelError("no_such_remote_file", address=address.public, status=status)
    said = f"{status} {answer.raw.reason or ''}".strip()
    if status == 429 or status >= 500:
        return ModelError("server_unavailable", address=address.public, host=address.host, text=said)
    return ModelError("unexpected_response", address=address.public, text=said)


_PIECE_BYTES = 1 << 18
_LOOK_EVERY_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class DownloadLimits:
    """Limits of one download."""

    stall_s: float = 30.0
    most_bytes: int = 1 << 31
    """Largest model: a protobuf file cannot be longer."""
    spare_bytes: int = 200_000_000
    """Disk space that must stay free."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file to fetch, with its size and checksum if known."""

    address: Address
    name: str
    bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A file in the cache."""

    path: str
    bytes: int
    sha256: str
    fetched: int
    """Bytes downloaded for it in this call."""


@dataclass(frozen=True)
class Download:
    """Downloads one file."""

    wanted: RemoteFile
    cache: ModelCache
    web: Web
    limits: DownloadLimits
    tell: Callable[[int, int | None], None]
    """Called with the bytes received and the total."""

    def carry_out(self) -> CachedFile:
        """Return the file; download it unless it is cached. A failed download leaves no file behind."""
        here = find_cached(self.cache, self.wanted.name)
        if here is not None:
            return here
        answer = self.web.ask(self.wanted.address)
        try:
            return self._receive_all(answer)
        except BaseException:
            self.cache.forget(f"{self.wanted.name}.part")
            raise
        finally:
            answer.close()

    def _receive_all(self, answer: Answer) -> CachedFile:
        # Remove the remains of a killed process, or a link that somebody planted.
        self.cache.forget(f"{self.wanted.name}.part")
        self._check_size(answer.body_bytes)
        digest = hashlib.sha256()
        with open(self.cache.open_part(self.wanted.name), "wb", buffering=0) as part:
            arrived = self._receive(answer, part.fileno(), digest)
            os.fsync(part.fileno())
        return self._finish(digest.hexdigest(), arrived)

    def _receive(self, answer: Answer, part: int, digest: _Hash) -> int:
        have = looked = 0
        total = answer.body_bytes
        self.tell(have, total)
        while total is None or have < total:
            try:
                piece = answer.read(_PIECE_BYTES if total is None else min(_PIECE_BYTES, total - have))
            except (OSError, http.client.HTTPException) as error:
                raise self._interrupted(have, total, network_cause(error, self.limits.stall_s)) from None
            if not piece:
                break
            if have + len(piece) > self.limits.most_bytes:
                raise self._too_long(self.limits.most_bytes, is_least=True)
            if have - looked >= _LOOK_EVERY_BYTES:
                looked = have
                self._check_room(0)
            _write_all(part, piece)
            digest.update(piece)
            have += len(piece)
            self.tell(have, total)
        if total is not None and have < total:
            raise self._interrupted(have, total, Reason("connection_closed"))
        return have

    def _finish(self, sha256: str, arrived: int) -> CachedFile:
        expected = self.wanted.sha256
        if expected not in (None, sha256):
            raise ModelError("download_differs", address=self._public, sha256=sha256, expected=expected)
        note = {"address": show(self._public, 120), "bytes": arrived, "sha256": sha256}
        self.cache.write_note(self.wanted.name, note)
        self.cache.finish(self.wanted.name)
        return CachedFile(self.cache.path(self.wanted.name), arrived, sha256, arrived)

    def _check_size(self, total: int | None) -> None:
        if total is None:
            self._check_room(0)
            return
        if total > self.limits.most_bytes:
            raise self._too_long(total)
        if self.wanted.bytes not in (None, total):
            raise ModelError("download_of_other_size", address=self._public, bytes=total, expected=self.wanted.bytes)
        self._check_room(total)

    def _check_room(self, needed: int) -> None:
        free = self.cache.free_bytes() - self.limits.spare_bytes
        if needed > free or free < 0:
            place = {"address": self._public, "path": self.cache.directory}
            raise WriteError("no_room_for_download", **place, bytes=needed, free_bytes=max(free, 0))

    def _too_long(self, found: int, is_least: bool = False) -> ModelError:
        return ModelError("download_too_long", address=self._public, bytes=found, is_least=is_least)

    def _interrupted(self, have: int, total: int | None, reason: Reason) -> ModelError:
        return ModelError("download_interrupted", address=self._public, why=reason, bytes=have, of_bytes=total)

    @property
    def _public(self) -> str:
        return self.wanted.address.public


def find_cached(cache: ModelCache, name: str) -> CachedFile | None:
    """Return a file that was fetched earlier and is complete, else None."""
    note = cache.read_note(name)
    path = cache.path(name)
    if not isinstance(note.get("sha256"), str) or note.get("bytes") != cache.size(path):
        return None
    return CachedFile(path, int(note["bytes"]), note["sha256"], 0)


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
