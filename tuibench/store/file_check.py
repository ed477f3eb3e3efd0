"""Checks one sealed file: missing, sound, edited, damaged or newer; repairs it if asked."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Collection, Iterable
from dataclasses import field, replace
from enum import Enum
from functools import partial

from tuibench.core.errors import StoreDamaged, StoreError, StoreNewer
from tuibench.core.reason import Reason, because
from tuibench.core.stored import NEWER, Problem, StoreReport
from tuibench.core.value import dataclass
from tuibench.store.atomic import PREVIOUS
from tuibench.store.benchmark_file import RecordFiles
from tuibench.store.context import PROJECTS, RECORD, SAMPLES, VERSIONS, Context, HostLayout, is_ulid
from tuibench.store.disk import drop_name, refuse_newer
from tuibench.store.documents import Sweeper
from tuibench.store.envelope import DOCUMENT, Unreadable, unseal
from tuibench.store.files import move_tree, sync_names
from tuibench.store.sealed import Loaded, Sealing
from tuibench.store.trash import NAME, load_manifest, read_manifest


@dataclass(slots=True)
class Findings:
    """Counts and problems collected during a check."""

    repair: bool = False
    """True if the check repairs; problems it then leaves cannot be repaired."""
    checked: int = 0
    read: int = 0
    migrated: int = 0
    problems: list[Problem] = field(default_factory=list)

    def copy(self) -> Findings:
        """Return a copy of the findings so far."""
        return replace(self, problems=list(self.problems))

    def reset(self, before: Findings) -> None:
        """Discard everything found since `before` was copied."""
        self.checked, self.read, self.migrated = before.checked, before.read, before.migrated
        self.problems[:] = before.problems

    def add(self, kind: str, path: str, detail: Reason) -> None:
        """Add a problem that no repair mends; `detail` need not name the file again."""
        self.problems.append(Problem(kind, path, drop_name(detail, path)))

    def mend(self, kind: str, path: str, detail: Reason, done: bool) -> None:
        """Add a problem that a repair mends or has mended."""
        mendable = not done and not self.repair
        self.problems.append(Problem(kind, path, drop_name(detail, path), done, mendable))

    def report(self, *, partial: bool = False) -> StoreReport:
        """Return the report."""
        return StoreReport(self.checked, self.read, tuple(self.problems), self.migrated, partial=partial)


def put_aside(context: Context, path: str) -> str:
    """Move a file or directory into its quarantine; return the new path relative to the store."""
    files = context.files
    directory = context.sealing.quarantine(path)
    files.make_directory(directory)
    mark = context.now_utc().replace(":", "").replace("-", "")
    target = os.path.join(directory, f"{os.path.basename(path)}.{mark}")
    number = 0
    while files.kind(target):
        number += 1
        target = os.path.join(directory, f"{os.path.basename(path)}.{mark}-{number}")
    move_tree(files, path, target)
    sync_names(files, [directory], [os.path.dirname(path)])
    return files.name(target)


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

    def look(self, path: str, load: Load, accept: Rewrite | None = None) -> State:
        """Check a file; return its state afterwards. `accept` rewrites an edited one, by default its tables."""
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
            self.findings.add("edited", name, because("edited_newer", schema=loaded.header.schema))
        elif not loaded.sound:
            if self.repair and accept is not None:
                accept(path)
            elif self.repair:
                self.quiet.write_tables(path, loaded.tables, loaded)
            detail = "edit_accepted" if self.repair else "edit_acceptable"
            self.findings.mend("edited", name, because(detail), self.repair)
        return State.USABLE

    def add_newer(self, path: str, error: StoreNewer) -> None:
        """Report a file that only a newer version can check; leave it unchanged."""
        self.findings.read += 1
        self.findings.add(NEWER, self.context.files.name(path), error.reason)

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
            self.quarantine("damaged", previous, because("previous_version"))

    def quarantine(self, kind: str, path: str, why: Reason) -> None:
        """Report a file or directory; a repair moves it to the quarantine."""
        kept = put_aside(self.context, path) if self.repair else ""
        detail = because("moved_aside", why=why, kept=kept)
        self.findings.mend(kind, self.context.files.name(path), detail, self.repair)

    def sweep(self, directories: Iterable[str]) -> None:
        """Report temporary files of dead writers; a repair removes them."""
        sweeper = Sweeper(self.context)
        for path in (path for directory in directories for path in sweeper.find(directory)):
            if self.repair:
                self.context.files.remove(path)
            self.findings.mend("leftover", self.context.files.name(path), because("writer_died"), self.repair)

    def _damaged(self, path: str, name: str, error: StoreError, load: Load) -> State:
        if not isinstance(error, StoreDamaged):
            # A link or a failing disk: moving files would not help.
            self.findings.add("damaged", name, error.reason)
            return State.USABLE
        previous = path + PREVIOUS
        usable = self._is_usable(previous, load)
        kept = put_aside(self.context, path) if self.repair else ""
        if usable and self.repair:
            self.context.files.rename(previous, path)
            self.context.files.sync_directory(path.rpartition("/")[0])
        detail = because(
            "damaged_file",
            why=drop_name(error.reason, name),
            kept=kept,
            has_previous=usable,
            run=self.run_of(path),
            repaired=self.repair,
        )
        self.findings.mend("damaged", name, detail, self.repair)
        return State.USABLE if usable or not self.repair else State.GONE

    def run_of(self, path: str) -> str:
        """Return the run whose journal can save a lost record again; '' if none can."""
        ulid = os.path.basename(path).removesuffix(RECORD)
        return ulid if ulid in self.journals else ""

    def _is_usable(self, path: str, load: Load) -> bool:
        try:
            return load(path) is not None
        except StoreNewer:
            return True
        except StoreError:
            return False


class RecordCheck:
    """Checks every byte of a benchmark."""

    def __init__(self, file: FileCheck) -> None:
        self._file = file
        self._records = RecordFiles(file.quiet)

    def look(self, path: str) -> None:
        """Check a record, its previous version and its samples; quarantine the samples of a lost record."""
        samples = path.removesuffix(".json") + SAMPLES
        found = self._file.look(path, self._records.read_strictly, self._accept)
        if found is not State.GONE:
            self._file.look_at_previous(path)
        if found is State.USABLE:
            self._look_at_samples(samples)
        elif found is State.GONE and self._file.repair and self._file.context.files.kind(samples):
            put_aside(self._file.context, samples)

    def _accept(self, path: str) -> None:
        record = self._records.read(path)
        if record is not None:
            self._records.write_metadata(path, record, record.metadata)

    def _look_at_samples(self, directory: str) -> None:
        files, findings = self._file.context.files, self._file.findings
        for name in files.names(directory):
            path = os.path.join(directory, name)
            findings.checked += 1
            try:
                found = files.read(path)
                if found is not None:
                    zlib.decompress(found[0])
                findings.read += 1
            except zlib.error:
                self._file.quarantine("damaged", path, because("samples_unreadable"))
            except StoreError as error:
                findings.add("damaged", files.name(path), error.reason)


class TrashCheck:
    """Checks every byte of every finished removal."""

    def __init__(self, file: FileCheck, confirm: Callable[[Callable[[], None]], None]) -> None:
        """`confirm` runs the check of one removal, and repeats it under the host's lock before it reports a problem."""
        self._file = file
        self._confirm = confirm
        self._record = RecordCheck(file)

    def look(self, layout: HostLayout) -> None:
        """Check each removal."""
        for name in self._file.context.files.names(layout.trash):
            if is_ulid(name):
                self._confirm(partial(self._look_at_removal, os.path.join(layout.trash, name)))

    def _look_at_removal(self, directory: str) -> None:
        files = self._file.context.files
        if not files.kind(directory):
            return  # restored or deleted since it was listed
        manifest = os.path.join(directory, NAME)
        try:
            missing = because("manifest_missing") if read_manifest(self._file.quiet, directory) is None else None
        except StoreNewer:
            # Only the newer version knows the layout; the files can still be checked.
            missing = None
        except StoreError as error:
            missing = drop_name(error.reason, files.name(manifest))
        if missing is not None:
            # Without a manifest the origins are unknown, so quarantine the whole removal.
            kept = put_aside(self._file.context, directory) if self._file.repair else ""
            detail = because("removal_moved_aside", why=missing, kept=kept)
            self._file.findings.checked += 1
            self._file.findings.mend("damaged", files.name(manifest), detail, self._file.repair)
            return
        self._file.look(manifest, self._load)
        for name in files.names(directory):
            if not name.endswith(RECORD) or name == NAME:
                continue
            path = os.path.join(directory, name)
            if name.startswith((PROJECTS, VERSIONS)):
                if self._file.look(path, self._load) is not State.GONE:
                    self._file.look_at_previous(path)
            else:
                self._record.look(path)

    def _load(self, path: str) -> Loaded | None:
        if os.path.basename(path) == NAME:
            return load_manifest(self._file.quiet, os.path.dirname(path))
        return self._file.quiet.load(path, DOCUMENT, fall_back=False)
