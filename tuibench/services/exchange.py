"""Export, import and comparison of results."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tuibench.core import activity
from tuibench.core.errors import StoreError, TuibenchError, UnknownId, UsageError
from tuibench.core.formats import format_of
from tuibench.core.ids import LENGTH, make_ulid
from tuibench.core.reason import Reason
from tuibench.core.record import from_plain
from tuibench.core.result import RunResult, SideBySide
from tuibench.core.stored import BenchmarkRow, Metadata
from tuibench.present.export import render
from tuibench.present.privacy import public_name, without_private
from tuibench.present.profile.comparison import OTHER_FILES
from tuibench.present.profile.shown import Shown
from tuibench.runs.comparison import compare_results
from tuibench.runs.journal import NONSENSE
from tuibench.runs.result import settle_samples
from tuibench.services.export_file import check_target, files_beside, spare, write_export
from tuibench.services.library import Library, run_facts
from tuibench.services.models import ask_child
from tuibench.services.saving import result_of
from tuibench.store.store import Store

if TYPE_CHECKING:
    from tuibench.services.runs import Runs

_IMPORT_S = 120.0
_RANDOM = 16
"""Characters of an id after its time."""
_TRIES = 100


@dataclass(frozen=True, slots=True)
class Imported:
    """A benchmark imported from a file."""

    row: BenchmarkRow
    known: bool
    """True if it was in the store already; nothing was changed."""
    differs: bool = False
    """True if the stored benchmark of that id differs from the file."""


class Exchange:
    """Moves results into and out of the store; `home` is the user's home directory, `now_ms` the clock."""

    def __init__(
        self, store: Store, library: Library, runs: Callable[[], Runs], home: str, now_ms: Callable[[], int]
    ) -> None:
        self._store = store
        self._library = library
        self._runs = runs
        self._home = home
        self._now_ms = now_ms

    def result(self, token: str) -> RunResult:
        """Return the result for a token, from the store or from an unsaved run."""
        return self._named(token)[0]

    def _named(self, token: str) -> tuple[RunResult, str]:
        """Return the same with the user's name for it."""
        try:
            stored = self._library.get(token)
            return stored.result, stored.metadata.name
        except (UnknownId, StoreError) as error:
            # With an unreadable store, `last` cannot be resolved; a run by its id still can.
            by_place = isinstance(error, StoreError) and token.strip().lower().startswith("last")
            unsaved = None if by_place else self._unsaved(token)
            if unsaved is None:
                raise
            if not unsaved.cells and unsaved.profile is None:
                raise UsageError("without_measurements", given=token, **run_facts(self._runs().info(token))) from None
            return unsaved, ""

    def text(self, token: str, form: str = "json", *, include_private: bool = False) -> str:
        """Return an export as text: json, csv or markdown."""
        return self._text(*self._named(token), form, include_private)

    def export(self, token: str, path: str, *, include_private: bool = False, shown: Shown | None = None) -> str:
        """Write an export atomically, in the form of the file's ending; return the id of its result.

        `shown` selects the parts of a profile.
        """
        form = format_of(path)
        result, name = self._named(token)
        spec = result.spec
        beside = [file for model in result.models for file in files_beside(model)]
        spare(path, [*(model.path for model in spec.models), *beside, *filter(None, [spec.inputs.file])])
        check_target(path)
        write_export(path, self._text(result, name, form, include_private, shown))
        return result.id

    def import_file(self, path: str) -> Imported:
        """Import a file that `export` or deepsparse.benchmark wrote; an existing benchmark stays unchanged."""
        plain = ask_child(
            "import",
            {"path": os.path.abspath(path)},
            file=path,
            timeout_s=_IMPORT_S,
            kind=UsageError,
        )
        result = from_plain(RunResult, plain)
        if not result.id:
            result = replace(result, id=self._id_of(plain))
        for row in self._store.benchmarks.rows():
            if row.id == result.id:
                return Imported(row, True, differs=self._differs(result))
        for entry in self._store.trash.entries():
            if result.id in entry.benchmarks:
                raise UsageError("file_in_trash", path=path, id=result.id)
        self._require_no_resumable_run(path, result.id)
        return Imported(self._store.benchmarks.add(result, Metadata(project=self._project_of(result))), False)

    def _require_no_resumable_run(self, path: str, run_id: str) -> None:
        """Raise UsageError if the result is of a run here that continues or can be resumed: it would count as saved."""
        try:
            info = self._runs().info(run_id)
        except UnknownId:
            return
        if info.resumable or info.state in activity.ALIVE:
            raise UsageError("file_of_run", path=path, run=run_id, state=info.state)

    def side_by_side(self, old_token: str, new_token: str) -> SideBySide:
        """Compare two results cell by cell."""
        return self.compare(self.result(old_token), self.result(new_token))

    def compare(self, old: RunResult, new: RunResult) -> SideBySide:
        """Compare two loaded results."""
        return compare_results(old, new)

    def differences(self, old: RunResult, new: RunResult) -> tuple[Reason, ...]:
        """Return the differences of two profiles outside their layers: models, machines, versions."""
        files = [result.models[0].sha256 if result.models else "" for result in (old, new)]
        return (*((OTHER_FILES,) if files[0] != files[1] else ()), *compare_results(old, new).environment)

    def _unsaved(self, token: str) -> RunResult | None:
        runs = self._runs()
        try:
            info = runs.info(token)
        except UnknownId:
            return None
        if info.state in activity.ALIVE:
            raise UsageError("run_still_running", run=info.id)
        try:
            return result_of(runs.directory(info.id))
        except NONSENSE as error:
            raise TuibenchError("journal_unread", run=info.id, why=info.detail) from error

    def _text(self, result: RunResult, name: str, form: str, include_private: bool, shown: Shown | None = None) -> str:
        # Samples are not exported, so remove their paths.
        result = settle_samples(result, None, None)
        if not include_private:
            result, name = without_private(result, self._home), public_name(name, result, self._home)
        return render(result, form, shown=shown, name=name)

    def _differs(self, result: RunResult) -> bool:
        """Return whether it differs from the stored result, without what an export leaves out."""
        try:
            stored = self._store.benchmarks.get(result.id).result
        except StoreError:
            return True
        both = (without_private(settle_samples(one, None, None), self._home) for one in (stored, result))
        return len({render(one, "json") for one in both}) > 1

    def _id_of(self, plain: dict[str, Any]) -> str:
        """Return an id derived from the content, so that a second import of the file is recognized."""
        content = json.dumps(plain, sort_keys=True).encode()
        known = {row.id[-_RANDOM:]: row.id for row in self._store.benchmarks.rows()}
        known |= {one[-_RANDOM:]: one for entry in self._store.trash.entries() for one in entry.benchmarks}
        ends = {one[-LENGTH:] for one in known}
        for attempt in range(_TRIES):
            drawn = make_ulid(self._now_ms(), hashlib.sha256(b"%d:%b" % (attempt, content)).digest()[:10])
            if drawn[-_RANDOM:] in known:
                return known[drawn[-_RANDOM:]]
            # Draw again if another benchmark has the same short id.
            if drawn[-LENGTH:] not in ends:
                return drawn
        raise TuibenchError("no_free_id", attempts=_TRIES)

    def _project_of(self, result: RunResult) -> str | None:
        """Return the project that already has the model; an import creates none, as its model is not here."""
        sha256 = result.models[0].sha256 if result.models else ""
        found = self._store.projects.find(sha256) if sha256 else None
        return None if found is None else found.id
