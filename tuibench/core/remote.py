"""Names of remote models, and the form of them that may be printed and stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:  # types only: reading names does not need them
    from tuibench.core.spec import ModelSource

FETCHED = ("hf", "https")


@dataclass(frozen=True, slots=True)
class FetchProgress:
    """Progress of a download."""

    fetched: int
    total: int | None
    """None if the server does not report it."""


@dataclass(frozen=True, slots=True)
class FetchedModel:
    """A remote model that is now in the cache."""

    source: ModelSource
    name: str
    sha256: str
    """Checksum of the model file alone."""
    bytes: int
    """Bytes including the weight files."""
    fetched: int
    """Bytes that were downloaded; 0 if the cache had them."""


def is_remote(token: str) -> bool:
    """Return whether a model of this name must be fetched before it can be measured."""
    return remote_scheme(token) in FETCHED


def remote_scheme(token: str) -> str:
    """Return the text before the first colon, in lower case; '' if there is none."""
    scheme, colon, _ = token.partition(":")
    return scheme.lower() if colon else ""


def public_name(token: str) -> str:
    """Return the name without user, password and query: signed addresses contain their key there."""
    if remote_scheme(token) != "https":
        return token
    try:
        parts = urlsplit(token)
    except ValueError:
        return "https:…"
    host = parts.netloc.rpartition("@")[2]
    return f"https://{host}{parts.path}" + ("?…" if parts.query else "")
