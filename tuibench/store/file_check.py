"""Checks one sealed file: missing, sound, edited, damaged or newer; repairs it if asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum

from tuibench.core.errors import StoreDamaged, StoreError, StoreNewer
from tuibench.core.short_id import short_id
from tuibench.core.trash import NEWER
from tuibench.store.atomic import PREVIOUS
from tuibench.store.context import Context
from tuibench.store.envelope import Unreadable, unseal
from tuibench.store.finding import Findings
from tuibench.store.layout import RECORD
from tuibench.store.quarantine import put_aside
from tuibench.store.sealed import Loaded, Sealing
from tuibench.store.trouble import drop_name, refuse_newer

Load = Callable[[str], Loaded | None]
Rewrite = Callable[[str], None]


class State(Enum):
    """The state of a file after its check."""

    GONE = "gone"
    USABLE = "usable"
    NEWER = "newer"
    """Sound, but only a newer version can read it."""


@dataclass(frozen=True, slots=True)
class FileCheck:
    """Checks and repairs files; a repair adopts or quarantines, and never edits."""

    context: Context
    findings: Findings
    repair: bool
    journals: Collection[str] = ()
    """Runs whose journals can save their measurements again."""

    @property
    def quiet(self) -> Sealing:
        """Return a reader without notices, as the report covers everything."""
        return Sealing(self.context.files, lambda _: None, self.context.sealing.tool)

    def look(self, path: str, load: Load, accept: Rewrite) -> State:
        """Check a file; return its state afterwards."""
        name = self.context.files.name(path)
        self.findings.checked += 1
        try:
            loaded = load(path)
        except StoreNewer as error:
            self.add_newer(path, error)
            return State.NEWER
        except StoreError as error:
            return self._damaged(path, name, error, load)
        if loaded is None:
            return State.GONE
        self.findings.read += 1
        if loaded.beyond:
            self.add_newer(path, refuse_newer(name, loaded.header.schema, loaded.header.tool))
            return State.NEWER
        if loaded.newer:
            # Only the newer version can tell if the edit is valid.
            detail = f"of a form that this version cannot write (schema {loaded.header.schema})"
            self.findings.add("edited", name, detail)
        elif not loaded.sound:
            if self.repair:
                accept(path)
            detail = "accepted, with the original in quarantine" if self.repair else "the repair accepts it"
            self.findings.mend("edited", name, detail, self.repair)
        return State.USABLE

    def add_newer(self, path: str, error: StoreNewer) -> None:
        """Report a file that only a newer version can check; leave it unchanged."""
        self.findings.read += 1
        name = self.context.files.name(path)
        self.findings.add(NEWER, name, drop_name(error.message, name).removeprefix("was "))

    def look_at_previous(self, path: str) -> None:
        """Check the generation kept beside a file."""
        previous = path + PREVIOUS
        found = self.context.files.read(previous)
        if found is None:
            return
        self.findings.checked += 1
        self.findings.read += 1
        try:
            sound = unseal(found[0]).sound
        except Unreadable:
            sound = False
        if not sound:
            kept = f": kept as {put_aside(self.context, previous)}" if self.repair else ""
            self.findings.mend("damaged", self.context.files.name(previous), f"previous generation{kept}", self.repair)

    def _damaged(self, path: str, name: str, error: StoreError, load: Load) -> State:
        if not isinstance(error, StoreDamaged):
            # A link or a failing disk: moving files would not help.
            self.findings.add("damaged", name, error.message)
            return State.USABLE
        previous = path + PREVIOUS
        usable = self._is_usable(previous, load)
        if not self.repair:
            then = "its previous generation is sound" if usable else f"nothing stands in for it{self.recall(path)}"
            self.findings.mend("damaged", name, f"{error.message}; {then}", done=False)
            return State.USABLE
        kept = put_aside(self.context, path)
        if usable:
            self.context.files.rename(previous, path)
            self.context.files.sync_directory(path.rpartition("/")[0])
        then = "its previous generation took its place" if usable else f"nothing stands in for it{self.recall(path)}"
        self.findings.mend("damaged", name, f"{drop_name(error.message, name)}; kept as {kept}; {then}", True)
        return State.USABLE if usable else State.GONE

    def recall(self, path: str) -> str:
        """Return the hint for a lost record whose run can save it again."""
        ulid = os.path.basename(path).removesuffix(RECORD)
        if ulid not in self.journals:
            return ""
        return f"; {'' if self.repair else 'after a repair '}{how_to_save(ulid)}"

    def _is_usable(self, path: str, load: Load) -> bool:
        try:
            return load(path) is not None
        except StoreNewer:
            return True
        except StoreError:
            return False


def how_to_save(ulid: str) -> str:
    """Return the hint with the command that saves a run's journal."""
    return f"tuibench resume {short_id(ulid)} --finish saves it again from the journal of its run"
