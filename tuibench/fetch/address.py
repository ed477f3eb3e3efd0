"""Addresses of files: https alone, taken apart once, with the credentials kept away from what is printed."""

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
    """Where a file lies."""

    url: str
    """As it is asked for: without credentials and fragment, in ASCII."""
    host: str
    """With the port, where one is named."""
    authorization: str | None = None
    """For this host alone."""

    @property
    def shown(self) -> str:
        """For messages: no query, no control characters."""
        return show(public_name(self.url), 120)

    @property
    def key(self) -> str:
        """The name of its place in the cache."""
        return key_of(self.url)

    @property
    def file_name(self) -> str:
        """A name for the file that is safe on any disk and that engines take for a model's."""
        return safe_name(unquote(urlsplit(self.url).path.rpartition("/")[2]))


def key_of(text: str) -> str:
    """The first 16 hex digits of a sha256: short, and nothing of a foreign name reaches a path."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def safe_name(name: str) -> str:
    """`name` in letters, digits and -._ with a model's ending, never hidden, never long, never empty."""
    clean = re.sub(r"[^A-Za-z0-9._-]+", "_", name).lstrip("._-")
    stem, dot, ending = clean.rpartition(".")
    ending = f".{ending.lower()}"
    if not dot or ending not in _FORMATS:
        stem, ending = clean, _FORMATS[0]
    return (stem[:_LONGEST_NAME].rstrip(".") or "model") + ending


def parse_address(text: str) -> Address:
    """Take an address apart; UsageError where it is none."""
    shown = show(public_name(text), 120)
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise UsageError(f"{shown} holds control characters", _HINT)
    try:
        parts = urlsplit(text)
        name, port = parts.hostname or "", parts.port
        host = name.encode("idna").decode("ascii") if not name.isascii() else name
    except ValueError as error:  # of which UnicodeError is one
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
    """Where a redirect leads; only https is followed, and credentials go to no other host."""
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
