"""Paths below the root of a store; names come from ids, never from user input."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from tuibench.core.errors import UnknownId
from tuibench.core.text import show

SALT = "salt"
HOSTS = "hosts"
PROJECTS = "projects"
VERSIONS = "versions"
RECORDS = "records"
TRASH = "trash"
QUARANTINE = "quarantine"
INDEX = "tuibench.json"
LOCK = ".lock"
RECORD = ".json"
SAMPLES = ".samples"

_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_HOST = re.compile(r"[0-9a-f]{16}")


def is_ulid(name: str) -> bool:
    """Return whether a name is an id of the store."""
    return _ULID.fullmatch(name) is not None


def is_host(name: str) -> bool:
    """Return whether a name is a host id."""
    return _HOST.fullmatch(name) is not None


def check_ulid(name: str) -> str:
    """Return the name for use in a path; raise UnknownId if it is not an id."""
    if not is_ulid(name):
        raise UnknownId(
            f"{show(name, 60)!r} is not an id", "Ids have 26 letters and digits; `tuibench list` shows them."
        )
    return name


@dataclass(frozen=True, slots=True)
class HostLayout:
    """The paths of one host's data."""

    directory: str

    @property
    def id(self) -> str:
        """Return the host's id."""
        return os.path.basename(self.directory)

    @property
    def index(self) -> str:
        """Return the index of its benchmarks."""
        return os.path.join(self.directory, INDEX)

    @property
    def lock(self) -> str:
        """Return the writers' lock file, which is never removed."""
        return self.index + LOCK

    @property
    def records(self) -> str:
        """Return the directory of record directories."""
        return os.path.join(self.directory, RECORDS)

    @property
    def trash(self) -> str:
        """Return the directory of removals."""
        return os.path.join(self.directory, TRASH)

    @property
    def quarantine(self) -> str:
        """Return the directory of damaged files."""
        return os.path.join(self.directory, QUARANTINE)

    def directory_of(self, ulid: str) -> str:
        """Return the directory of a record; the id's last two characters spread records evenly."""
        return os.path.join(self.records, check_ulid(ulid)[-2:].lower())

    def record(self, ulid: str) -> str:
        """Return the file of a record."""
        return os.path.join(self.directory_of(ulid), ulid + RECORD)

    def samples(self, ulid: str) -> str:
        """Return the directory of its samples."""
        return os.path.join(self.directory_of(ulid), ulid + SAMPLES)
