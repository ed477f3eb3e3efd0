"""The store's public interface; it accesses no disk until a part is used."""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from tuibench import __version__
from tuibench.core.errors import StoreReadOnly
from tuibench.core.reason import Reason
from tuibench.core.stored import StoreReport
from tuibench.store.benchmarks import Benchmarks
from tuibench.store.context import Context, HostIdentity, Notices, is_alive
from tuibench.store.disk import Disk, retrying
from tuibench.store.documents import ProjectFiles
from tuibench.store.files import Files, probe_store
from tuibench.store.index import read_mark
from tuibench.store.lock import WAIT_S, Waiting
from tuibench.store.projects import Projects
from tuibench.store.sealed import Sealing
from tuibench.store.trash import Trash


class Store:
    """All measurements of the machines that share one data directory.

    `machine` identifies this machine; the store keeps only hashes of it.
    """

    benchmarks: Benchmarks
    projects: Projects
    trash: Trash

    def __init__(
        self,
        root: Path,
        machine: str,
        *,
        disk: Disk | None = None,
        clock: Callable[[], float] = time.time,
        entropy: Callable[[int], bytes] = secrets.token_bytes,
        timer: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        is_remote: Callable[[str], str] = lambda _: "",
        alive: Callable[[int], bool] = is_alive,
        command: str = "",
        version: str = __version__,
        wait_s: float = WAIT_S,
    ) -> None:
        node = hashlib.sha256(machine.encode("utf-8", "surrogateescape")).hexdigest()[:8]
        files = Files(os.path.abspath(root), retrying(disk if disk is not None else Disk()), node, entropy)
        notices = Notices()
        waiting = Waiting(timer, sleep, clock, command or _command(), os.uname().nodename, wait_s)
        self._identity = HostIdentity(files, machine, entropy)
        self._context = Context(
            files=files,
            sealing=Sealing(files, notices.say, version),
            waiting=waiting,
            notices=notices,
            is_remote=is_remote,
            is_alive=alive,
            host_id=self._identity.find,
        )
        self.benchmarks = Benchmarks(self._context, entropy)
        self.trash = Trash(self._context, self.benchmarks, ProjectFiles(self._context), entropy)
        self.benchmarks.attend(self.trash)
        self.projects = Projects(self._context, self.benchmarks, entropy, self._trashed_projects)

    @property
    def host_id(self) -> str:
        """Return this machine's id and create it if needed; raise StoreReadOnly if that is impossible."""
        found = self._identity.find(True)
        if found is None:
            raise StoreReadOnly("host_without_id")
        return found

    @property
    def known_host_id(self) -> str | None:
        """Return this machine's id, or None without creating it."""
        return self._identity.find(False)

    def mark(self) -> str:
        """Return a text that differs after any change; cheap enough to poll every second."""
        return f"{read_mark(self._context)} {self.benchmarks.facts.mark}".rstrip()

    def check(self, *, read_data: bool = False, repair: bool = False, journals: Collection[str] = ()) -> StoreReport:
        """Check the whole store, with `read_data` every byte; `repair` mends what it can.

        `journals` are the ids of runs that can save their measurements again if the record is lost.
        """
        from tuibench.store.check import check_store  # 4 ms that only this needs

        parts = self._context, self.benchmarks, self.trash
        return check_store(*parts, read_data=read_data, repair=repair, journals=journals)

    def migrate(self, tell: Callable[[int, int], None] = lambda _done, _total: None) -> StoreReport:
        """Rewrite every older file in the current schema, all or none, and derive missing facts of rows.

        The originals are kept. `tell` receives the rows derived and their total.
        """
        from tuibench.store.check import migrate_store  # as above

        return replace(migrate_store(self._context, self.benchmarks), derived=self.benchmarks.derive_facts(tell))

    def probe(self) -> Reason | None:
        """Return why no result could be saved; None if the store is writable and has enough space."""
        return probe_store(self._context.files)

    def _trashed_projects(self) -> tuple[str, ...]:
        return tuple(one for entry in self.trash.entries() for one in entry.projects)

    def notices(self) -> tuple[Reason, ...]:
        """Return the notices: hand edits, damage, newer schemas."""
        return tuple(self._context.notices.said)


def _command() -> str:
    return " ".join(["tuibench", *sys.argv[1:2]])
