"""Names of models that lie elsewhere, and the form of them that may be printed and stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:  # names alone need none
    from tuibench.core.spec import ModelSource

FETCHED = ("hf", "https")


@dataclass(frozen=True, slots=True)
class FetchProgress:
    """How much of a model is here."""

    fetched: int
    total: int | None
    """None where the server does not say."""


@dataclass(frozen=True, slots=True)
class FetchedModel:
    """A model from elsewhere that lies in the cache now."""

    source: ModelSource
    name: str
    sha256: str
    """Of the model's own file."""
    bytes: int
    """With the files of its weights."""
    fetched: int
    """How many of them crossed the network; 0 where it was here already."""


def is_remote(token: str) -> bool:
    """Whether a model of this name is to be fetched before it can be measured."""
    return remote_scheme(token) in FETCHED


def remote_scheme(token: str) -> str:
    """What stands before the first colon, in lower case; '' where there is none."""
    scheme, colon, _ = token.partition(":")
    return scheme.lower() if colon else ""


def public_name(token: str) -> str:
    """The name without what may be secret: user, password and query, for signed addresses hold their key in it."""
    if remote_scheme(token) != "https":
        return token
    try:
        parts = urlsplit(token)
    except ValueError:
        return "https:…"
    host = parts.netloc.rpartition("@")[2]
    return f"https://{host}{parts.path}" + ("?…" if parts.query else "")
