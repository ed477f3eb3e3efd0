"""Facts of an installed engine, and the progress of an installation; for lists, questions and screens."""

from __future__ import annotations

import shlex

from tuibench.core.reason import Reason
from tuibench.core.value import dataclass

INSTALLED = "installed"
AVAILABLE = "available"
"""It can be installed here."""
IMPOSSIBLE = "impossible"
"""It cannot be installed here; the reason says why."""
DAMAGED = "damaged"
"""Its installation was interrupted, or its interpreter is gone; installing it again replaces it."""
BESIDE = "beside"
"""It belongs to tuibench's own environment and can be imported there."""
MISSING = "missing"
"""It belongs to tuibench's own environment and is not installed there."""

PYTHON, DOWNLOAD, INSTALL, PROBE = "python", "download", "install", "probe"
"""The stages of an installation, in order."""


@dataclass(frozen=True, slots=True)
class EngineState:
    """One engine, or one release of it, on this machine."""

    id: str
    state: str
    release: str
    """'' if it is not known before it is installed."""
    size_bytes: int = 0
    """Size on disk, or the expected one; 0 if unknown."""
    python: str = ""
    """Version of its own interpreter; '' if it has none yet."""
    licence: str = ""
    """Code of the licence to accept; '' if there is none."""
    why: Reason | None = None
    """The cause of IMPOSSIBLE."""
    command: str = ""
    """The command that installs the engine, or what it needs first; '' for none."""
    is_beside: bool = False
    """True if it can be installed, but tuibench's own environment has the same release."""

    @property
    def is_installable(self) -> bool:
        """Return whether an installation can start."""
        return self.state in (AVAILABLE, DAMAGED)


@dataclass(frozen=True, slots=True)
class InstallOrder:
    """An installation, or a download, as it was asked for."""

    id: str
    accepts_licence: bool = False
    python: str = ""
    """Path of an interpreter, a command on PATH, or a version such as 3.11; '' finds one."""
    wheels: str = ""
    """Directory with wheels to install from, without a network; '' for the index."""
    index_url: str = ""
    """Address of the package index; '' for that of pip's own settings."""
    extra_index_urls: tuple[str, ...] = ()
    """Addresses of indexes that are asked as well."""
    target: str = ""
    """Directory of a download; '' for an installation."""

    @property
    def command(self) -> str:
        """The command with what it needs and without other options."""
        if self.target:
            return f"tuibench engines download {self.id} --to {shlex.quote(self.target)}"
        return f"tuibench engines install {self.id}"


@dataclass(frozen=True, slots=True)
class InstallProgress:
    """The present step of an installation or a download."""

    stage: str
    what: str = ""
    """A file, a package or an interpreter."""
    done: int = 0
    total: int = 0
    """Number of packages; 0 if there is nothing to count."""
