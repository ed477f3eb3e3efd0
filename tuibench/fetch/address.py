"""Addresses of files: https only, with the credentials kept apart from the printed address."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

from tuibench.core.errors import ModelError, UsageError
from tuibench.core.remote import public_name
from tuibench.core.text import show

_KEPT_SIGNS = "%/:=&?~+!$,;'@()*[]"
_FORMATS = (".onnx", ".ort")
_LONGEST_NAME = 100
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
    return (stem[:_LONGEST_NAME].rstrip(".") or "model") + ending


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
        what = f"{address.host} redirects to {show(goal, 80)}, and nothing but https: is followed"
        raise ModelError(what, "download the file by a way you trust and give its path")
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
