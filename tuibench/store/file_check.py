"""Looking at one sealed file: whether it is there, sound, edited, damaged or of another form, and what mends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tuibench.core.errors import StoreDamaged, StoreError
from tuibench.store.atomic import PREVIOUS
from tuibench.store.context import Context
from tuibench.store.envelope import Unreadable, unseal
from tuibench.store.finding import Findings
from tuibench.store.quarantine import put_aside
from tuibench.store.sealed import Loaded, Sealing

Load = Callable[[str], Loaded | None]
Rewrite = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class FileCheck:
    """Verdicts on files, and what repair does about each: it adopts or puts aside, and never edits."""

    context: Context
    findings: Findings
    repair: bool

    @property
    def quiet(self) -> Sealing:
        """Reading without notices: here everything is told by the report."""
        return Sealing(self.context.files, lambda _: None, self.context.sealing.tool)

    def look(self, path: str, load: Load, accept: Rewrite) -> bool:
        """Look at a file; whether anything usable is there afterwards."""
        name = self.context.files.name(path)
        self.findings.checked += 1
        try:
            loaded = load(path)
        except StoreError as error:
            return self._damaged(path, name, error, load)
        if loaded is None:
            return False
        self.findings.read += 1
        if loaded.newer:
            self.findings.add("newer", name, f"written by a newer version ({loaded.meta.schema}): it can only be read")
        elif not loaded.sound:
            if self.repair:
                accept(path)
            detail = "edited by hand" + (": accepted, with the original in quarantine" if self.repair else "")
            self.findings.add("edited", name, detail, self.repair)
        return True

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
            self.findings.add("damaged", self.context.files.name(previous), f"previous generation{kept}", self.repair)

    def _damaged(self, path: str, name: str, error: StoreError, load: Load) -> bool:
        if not isinstance(error, StoreDamaged):
            # A link, a disk that fails: nothing that moving a file about would mend.
            self.findings.add("damaged", name, error.message)
            return True
        previous = path + PREVIOUS
        usable = self._is_usable(previous, load)
        if not self.repair:
            then = "its previous generation is sound" if usable else "nothing stands in for it"
            self.findings.add("damaged", name, f"{error.message}; {then}")
            return True
        kept = put_aside(self.context, path)
        if usable:
            self.context.files.rename(previous, path)
            self.context.files.sync_directory(path.rpartition("/")[0])
        then = "its previous generation took its place" if usable else "nothing stands in for it"
        self.findings.add("damaged", name, f"kept as {kept}; {then}", repaired=True)
        return usable

    def _is_usable(self, path: str, load: Load) -> bool:
        try:
            return load(path) is not None
        except StoreError:
            return False
