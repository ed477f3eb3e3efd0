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
from tuibench.core.text import show
from tuibench.core.units import size
from tuibench.core.value import dataclass
from tuibench.model.download.cache import ModelCache

if TYPE_CHECKING:
    from hashlib import _Hash


_KEPT_SIGNS = "%/:=&?~+!$,;'@()*[]"
_FORMATS = (".onnx", ".ort")
_MAX_NAME_CHARS = 100
_HINT = "an address is https://HOST/PATH"


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
    def shown(self) -> str:
        """The address for messages, without query and control characters."""
        return show(public_name(self.url), 120)

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
    shown = show(public_name(text), 120)
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise UsageError(f"{shown} holds control characters", _HINT)
    try:
        parts = urlsplit(text)
        name, port = parts.hostname or "", parts.port
        host = name.encode("idna").decode("ascii") if not name.isascii() else name
    except ValueError as error:  # includes UnicodeError
        raise UsageError(f"{shown} is no address: {show(error, 80)}", _HINT) from None
    if parts.scheme.lower() != "https":
        raise UsageError(f"{shown} is not https", _HINT)
    if not re.fullmatch(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+", host):
        raise UsageError(f"{shown} names no host", _HINT)
    host = f"[{host}]" if ":" in host else host
    host = host if port is None else f"{host}:{port}"
    path, query = (quote(part, safe=_KEPT_SIGNS) for part in (parts.path or "/", parts.query))
    return Address(urlunsplit(("https", host, path, query, "")), host, _basic(parts.username, parts.password))


def follow(address: Address, location: str | None) -> Address:
    """Return the target of a redirect; allow only https, and pass credentials to no other host."""
    if not location:
        raise ModelError(f"{address.host} redirects {address.shown} to nowhere", "try another address")
    try:
        goal = urljoin(address.url, location)
        scheme = urlsplit(goal).scheme.lower()
    except ValueError:
        goal, scheme = location, ""
    if scheme != "https":
        what = f"{address.host} redirects to {show(goal, 80)}, but only https: is allowed"
        raise ModelError(what, "download the file yourself and give its path")
    try:
        found = parse_address(goal)
    except UsageError as error:
        raise ModelError(f"{address.host} redirects to no address: {error.message}", "try another address") from None
    return Address(found.url, found.host, address.authorization if found.host == address.host else None)


def _basic(user: str | None, password: str | None) -> str | None:
    if user is None:
        return None
    pair = f"{unquote(user)}:{unquote(password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode("ascii")


_MOVED = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 10
_OFFLINE = "check the connection; a proxy is taken from HTTPS_PROXY"


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
        what = f"{address.host} redirects more than {_MOST_REDIRECTS} times"
        raise ModelError(f"{address.shown}: {what}", "try another address")

    def _once(self, address: Address) -> Answer:
        request = Request(address.url)
        if address.authorization is not None:
            request.add_unredirected_header("Authorization", address.authorization)
        try:
            raw = self._opener.open(request, timeout=self._stall_s)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _unreachable(address, error, self._stall_s) from None
        if not isinstance(raw, http.client.HTTPResponse):
            raise ModelError(f"{address.shown}: no handler for this address", "try another address")
        declared = raw.headers.get("Content-Length", "")
        return Answer(
            status=raw.status,
            address=address,
            body_bytes=int(declared) if declared.isascii() and declared.isdigit() else None,
            raw=raw,
        )


def why(error: Exception, stall_s: float) -> str:
    """Return a network error in a few words."""
    reason = error.reason if isinstance(error, URLError) and isinstance(error.reason, Exception) else error
    if isinstance(reason, TimeoutError):
        return f"no data for {stall_s:g} s"
    if isinstance(reason, http.client.IncompleteRead):
        return "the connection was closed"
    return show(getattr(reason, "strerror", None) or str(reason) or type(reason).__name__, 120)


def _unreachable(address: Address, error: Exception, stall_s: float) -> ModelError:
    reason = getattr(error, "reason", error)
    if isinstance(reason, ssl.SSLCertVerificationError):
        what = f"{address.host} has an invalid certificate: {show(reason.verify_message, 120)}"
        return ModelError(what, "SSL_CERT_FILE names a file with certificates of your own authority")
    return ModelError(f"{address.shown} cannot be reached: {why(error, stall_s)}", _OFFLINE)


def _refused(answer: Answer) -> ModelError:
    status, shown = answer.status, answer.address.shown
    if status in (401, 403, 407):
        return ModelError(f"{shown}: access refused ({status})", "log in there, download it and give its path")
    if status in (404, 410):
        return ModelError(f"{shown}: there is no such file ({status})", "check the address")
    said = f"{status} {show(answer.raw.reason or '', 60)}".strip()
    if status == 429 or status >= 500:
        return ModelError(f"{shown}: {answer.address.host} cannot serve it now ({said})", "try again later")
    return ModelError(f"{shown}: the server answered {said}", "check the address")


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
                raise self._interrupted(have, total, why(error, self.limits.stall_s)) from None
            if not piece:
                break
            if have + len(piece) > self.limits.most_bytes:
                raise self._too_long(f"more than {size(self.limits.most_bytes)}")
            if have - looked >= _LOOK_EVERY_BYTES:
                looked = have
                self._check_room(0)
            _write_all(part, piece)
            digest.update(piece)
            have += len(piece)
            self.tell(have, total)
        if total is not None and have < total:
            raise self._interrupted(have, total, "the connection was closed")
        return have

    def _finish(self, sha256: str, arrived: int) -> CachedFile:
        expected = self.wanted.sha256
        if expected not in (None, sha256):
            what = f"{self._shown} arrived as {sha256[:12]}… instead of {show(expected, 12)}"
            raise ModelError(what, "it changed during the download; fetch it again")
        note = {"address": self._shown, "bytes": arrived, "sha256": sha256}
        self.cache.write_note(self.wanted.name, note)
        self.cache.finish(self.wanted.name)
        return CachedFile(self.cache.path(self.wanted.name), arrived, sha256, arrived)

    def _check_size(self, total: int | None) -> None:
        if total is None:
            self._check_room(0)
            return
        if total > self.limits.most_bytes:
            raise self._too_long(size(total))
        if self.wanted.bytes not in (None, total):
            what = f"{self._shown} has {total} bytes instead of {self.wanted.bytes}"
            raise ModelError(what, "the repository has changed; fetch it again")
        self._check_room(total)

    def _check_room(self, needed: int) -> None:
        free = self.cache.free_bytes() - self.limits.spare_bytes
        if needed > free or free < 0:
            room = f"{size(max(free, 0))} can be used in {show(self.cache.directory)}"
            what = f"{self._shown} needs {size(needed)} more, and {room}" if needed else f"{self._shown}: {room}"
            raise WriteError(what, "free some space, or set TUIBENCH_HOME elsewhere")

    def _too_long(self, found: str) -> ModelError:
        what = f"{self._shown} has {found}, more than the 2 GB that a model's format can hold"
        return ModelError(what, "check that the address is that of a model")

    def _interrupted(self, have: int, total: int | None, reason: str) -> ModelError:
        of = "" if total is None else f" of {size(total)}"
        return ModelError(
            f"the download of {self._shown} was interrupted ({reason}) after {size(have)}{of}", "try it again"
        )

    @property
    def _shown(self) -> str:
        return self.wanted.address.shown


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
