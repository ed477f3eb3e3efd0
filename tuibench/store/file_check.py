"""Looking at one sealed file: whether it is there, sound, edited, damaged or of another form, and what mends it."""

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
    """What a file is after it was looked at."""

    GONE = "gone"
    USABLE = "usable"
    NEWER = "newer"
    """Sound, and only for a newer version to look into."""


@dataclass(frozen=True, slots=True)
class FileCheck:
    """Verdicts on files, and what repair does about each: it adopts or puts aside, and never edits."""

    context: Context
    findings: Findings
    repair: bool
    journals: Collection[str] = ()
    """Runs that can say once more what they measured."""

    @property
    def quiet(self) -> Sealing:
        """Reading without notices: here everything is told by the report."""
        return Sealing(self.context.files, lambda _: None, self.context.sealing.tool)

    def look(self, path: str, load: Load, accept: Rewrite) -> State:
        """Look at a file; what is there afterwards."""
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
            self.add_newer(path, refuse_newer(name, loaded.meta.schema, loaded.meta.tool))
            return State.NEWER
        if loaded.newer:
            # No version but that one can tell whether somebody meant it.
            detail = f"of a form that this version cannot write (schema {loaded.meta.schema})"
            self.findings.add("edited", name, detail)
        elif not loaded.sound:
            if self.repair:
                accept(path)
            detail = "accepted, with the original in quarantine" if self.repair else "the repair accepts it"
            self.findings.mend("edited", name, detail, self.repair)
        return State.USABLE

    def add_newer(self, path: str, error: StoreNewer) -> None:
        """Say that only a newer version can look after a file, which is left as it is."""
        self.findings.read += 1
        name = self.context.files.name(path)
        self.findings.add(NEWER, name, drop_name(error.message, name).removeprefix("was "))

    def look_at_previous(self, path: str) -> None:
        """Look at the generation kept beside a file."""
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
            # A link, a disk that fails: nothing that moving a file about would mend.
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
        """What to add where a record is lost whose run can save it again."""
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
    """The command that saves what a run has in its journal."""
    return f"tuibench resume {short_id(ulid)} --finish saves it again from the journal of its run"
