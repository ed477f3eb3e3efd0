"""Paths of a store, and everything its parts share: files, locks, clock and notices."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from datetime import UTC, datetime

from tuibench.core.errors import StoreDamaged, StoreNewer, StoreReadOnly, UnknownId
from tuibench.core.reason import Reason, because
from tuibench.core.value import dataclass
from tuibench.store.files import Files
from tuibench.store.lock import StoreLock, Waiting
from tuibench.store.sealed import QUARANTINE, Sealing

SALT = "salt"
HOSTS = "hosts"
PROJECTS = "projects"
VERSIONS = "versions"
RECORDS = "records"
TRASH = "trash"
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


def ulid_in(name: str) -> str:
    """Return the id in the name of a record or document; '' for any other file."""
    ulid = name.removesuffix(RECORD)
    return ulid if name.endswith(RECORD) and is_ulid(ulid) else ""


def check_ulid(name: str) -> str:
    """Return the name for use in a path; raise UnknownId if it is not an id."""
    if not is_ulid(name):
        raise UnknownId("no_ulid", id=name)
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


@dataclass(slots=True)
class Notices:
    """Notices not yet shown to the user, each once: hand edits, damage, newer schemas."""

    said: dict[Reason, None] = field(default_factory=dict)

    def say(self, notice: Reason) -> None:
        """Add a notice."""
        self.said[notice] = None

    @contextmanager
    def saying_damage(self) -> Iterator[None]:
        """Skip the rest of the block at a damaged or newer file, and add a notice about it."""
        try:
            yield
        except (StoreDamaged, StoreNewer) as error:
            self.say(error.reason)


@dataclass(frozen=True, slots=True)
class Context:
    """Created once per store and passed to each part."""

    files: Files
    sealing: Sealing
    waiting: Waiting
    notices: Notices
    is_remote: Callable[[str], str]
    """Returns the kind of network file system that holds a path, '' for a local one."""
    is_alive: Callable[[int], bool]
    """Returns whether a process with this pid exists."""
    host_id: Callable[[bool], str | None]
    """Returns this host's id; creates a missing one if called with True."""
    locks: dict[str, StoreLock] = field(default_factory=dict)

    @property
    def hosts_directory(self) -> str:
        """Return the directory of hosts."""
        return os.path.join(self.files.root, HOSTS)

    def hosts(self) -> list[HostLayout]:
        """Return every host with data, this one first."""
        own = self._own_id()
        names = [name for name in self.files.names(self.hosts_directory) if is_host(name)]
        # A link to another place is not part of this store.
        found = [name for name in names if self.files.kind(os.path.join(self.hosts_directory, name)) == "directory"]
        return [self.layout(name) for name in sorted(found, key=lambda name: (name != own, name))]

    def writable_hosts(self, *, quiet: bool = False) -> list[HostLayout]:
        """Return the hosts whose data may be changed here; unless `quiet`, add a notice for each other one."""
        found = []
        for layout in self.hosts():
            try:
                self.check_writable(layout)
                found.append(layout)
            except StoreReadOnly as error:
                if not quiet:
                    self.notices.say(error.reason)
        return found

    def _own_id(self) -> str | None:
        # Reading creates no salt: a damaged one must not hide the measurements.
        try:
            return self.host_id(False)
        except StoreDamaged as error:
            self.notices.say(error.reason)
            return None

    def layout(self, host: str) -> HostLayout:
        """Return the paths of a host."""
        return HostLayout(os.path.join(self.hosts_directory, host))

    def own(self) -> HostLayout:
        """Return the paths of this host; create its id if needed."""
        return self.layout(self.host_id(True) or "")

    def lock(self, path: str) -> StoreLock:
        """Return the lock at a path, one object per store."""
        return self.locks.setdefault(path, StoreLock(self.files, path, self.waiting))

    def check_writable(self, layout: HostLayout) -> None:
        """Raise StoreReadOnly for another host's data on a file system where our lock does not exclude that host."""
        if layout.id == self._own_id():
            return
        if kind := self.is_remote(layout.directory):
            raise StoreReadOnly("other_host_only", host=layout.id, file_system=kind)

    def now_utc(self) -> str:
        """Return the time in the format of records."""
        return datetime.fromtimestamp(self.waiting.clock(), tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def now_ms(self) -> int:
        """Return the time in the format of ids."""
        return int(self.waiting.clock() * 1000)


def is_alive(pid: int) -> bool:
    """Return whether a process with this pid exists, of any user."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


_BYTES = 32
_FORM = re.compile(rb"[0-9a-f]{64}\n?")


class HostIdentity:
    """This host's id in this store: the first 16 hex digits of an HMAC over the machine's identity."""

    def __init__(self, files: Files, machine: str, entropy: Callable[[int], bytes]) -> None:
        self._files = files
        self._machine = machine
        self._entropy = entropy
        self._id: str | None = None

    def find(self, make: bool) -> str | None:
        """Return the id; None if the store has no salt and `make` is false."""
        if self._id is None:
            salt = self._read()
            if salt is None and make:
                path = os.path.join(self._files.root, SALT)
                # If several processes start at once the first one wins, and all read the salt from disk.
                self._files.put_first(path, self._entropy(_BYTES).hex().encode("ascii") + b"\n")
                salt = self._read()
            if salt is not None:
                self._id = hmac.new(salt, self._machine.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()[
                    :16
                ]
        return self._id

    def _read(self) -> bytes | None:
        found = self._files.read(os.path.join(self._files.root, SALT))
        if found is None:
            return None
        if not _FORM.fullmatch(found[0]):
            raise StoreDamaged("salt_damaged", name=SALT, why=because("salt_misshapen"))
        return bytes.fromhex(found[0].decode("ascii"))
