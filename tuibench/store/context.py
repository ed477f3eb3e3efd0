"""What all parts of a store share: its files, its locks, its clock, and what it has to say."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tuibench.core.errors import StoreDamaged, StoreReadOnly
from tuibench.store.files import Files
from tuibench.store.layout import HOSTS, HostLayout, is_host
from tuibench.store.lock import StoreLock, Waiting
from tuibench.store.sealed import Sealing


@dataclass(slots=True)
class Notices:
    """What the store met on its way and told nobody yet: hand edits, damage, newer forms. Each is said once."""

    said: dict[str, None] = field(default_factory=dict)

    def say(self, notice: str) -> None:
        """Add a notice."""
        self.said[notice] = None


@dataclass(frozen=True, slots=True)
class Context:
    """Made once per store, handed to each of its parts."""

    files: Files
    sealing: Sealing
    waiting: Waiting
    notices: Notices
    is_remote: Callable[[str], str]
    """The kind of the network file system that a path lies on, '' on a local one."""
    is_alive: Callable[[int], bool]
    """Whether there is a process of that number."""
    host_id: Callable[[bool], str | None]
    """This host's id; made where True is given and there is none."""
    locks: dict[str, StoreLock] = field(default_factory=dict)

    @property
    def hosts_directory(self) -> str:
        """The directory of hosts."""
        return os.path.join(self.files.root, HOSTS)

    def hosts(self) -> list[HostLayout]:
        """Every host that has a part, this one first."""
        own = self._own_id()
        names = [name for name in self.files.names(self.hosts_directory) if is_host(name)]
        # A link to somewhere else is no part of this store.
        found = [name for name in names if self.files.kind(os.path.join(self.hosts_directory, name)) == "directory"]
        return [self.layout(name) for name in sorted(found, key=lambda name: (name != own, name))]

    def _own_id(self) -> str | None:
        # Reading takes no salt: a damaged one must not hide what was measured.
        try:
            return self.host_id(False)
        except StoreDamaged as error:
            self.notices.say(str(error))
            return None

    def layout(self, host: str) -> HostLayout:
        """The paths of a host."""
        return HostLayout(os.path.join(self.hosts_directory, host))

    def own(self) -> HostLayout:
        """The paths of this host, whose id is made if need be."""
        return self.layout(self.host_id(True) or "")

    def lock(self, path: str) -> StoreLock:
        """The lock that lies at a path, one object per store."""
        return self.locks.setdefault(path, StoreLock(self.files, path, self.waiting))

    def check_writable(self, layout: HostLayout) -> None:
        """StoreReadOnly for the part of another host where a lock of ours would not keep that host out."""
        if layout.id == self._own_id():
            return
        if kind := self.is_remote(layout.directory):
            raise StoreReadOnly(
                f"what host {layout.id} measured can only be changed there: the store lies on {kind}",
                "Run the command on that machine.",
            )

    def now_utc(self) -> str:
        """The time as records have it."""
        return datetime.fromtimestamp(self.waiting.clock(), tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def now_ms(self) -> int:
        """The time as ids have it."""
        return int(self.waiting.clock() * 1000)


def is_alive(pid: int) -> bool:
    """Whether there is a process of that number, be it another user's."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
