"""Actions on benchmarks, the same on every screen, with their questions."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tuibench.core import activity
from tuibench.core.activity import RunRow, Snapshot
from tuibench.core.errors import TuibenchError, UsageError
from tuibench.core.ids import short_id
from tuibench.core.stored import DAMAGED, BenchmarkRow, Removal
from tuibench.core.text import too_long
from tuibench.core.units import count_of, seconds
from tuibench.present.error.words import message_words
from tuibench.present.outcome import export_words, removal_words
from tuibench.present.reason import reason_words
from tuibench.services.api import Services
from tuibench.services.form_values import RerunPlan
from tuibench.tui import route
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.benchmark.export import Export, ExportQuestion, carry_out
from tuibench.tui.widgets.field import TextQuestion
from tuibench.tui.widgets.status_line import Notice, confirm

if TYPE_CHECKING:
    from tuibench.tui.app import Dashboard


def remove_words(wanted: Sequence[str], going: Sequence[str], lost: Sequence[str]) -> tuple[str, str]:
    """Return the question and the word for `y`; `going` are still running, `lost` were never saved."""
    if going and lost:
        # Name permanent losses first, since the line may be cut.
        return f"Delete unsaved {_names(lost)}, cancel {_names(going)}?", "cancel and remove"
    verb = "is" if len(wanted) == 1 else "are"
    if going and len(going) < len(wanted):
        return f"Cancel {_names(going)}, and remove {_names(wanted)}?", "cancel and remove"
    if going:
        return f"{_names(wanted)} {verb} still running: cancel and remove?", "cancel and remove"
    if lost and len(lost) < len(wanted):
        return f"Delete unsaved {_names(lost)} and remove {len(wanted) - len(lost)} more?", "remove"
    if lost:
        return f"{_names(wanted)} {verb} not saved and cannot be restored: remove", "remove"
    return f"Remove {_names(wanted)}? u restores it.", "remove"


def _names(ids: Sequence[str]) -> str:
    return ", ".join(map(short_id, ids[:3])) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")


def rerun_question(plan: RerunPlan, snapshot: Snapshot | None) -> str:
    """Return cells, time, and the runs to wait for, or else the load of the machine."""
    about = f"{count_of(plan.cells, 'cell') if plan.cells else 'a profile'}, ~{seconds(plan.expected_s)}"
    behind = _behind(snapshot) or plan.busy
    host = f"after {behind}" if behind else f"host {plan.load or 'free'}"
    return f"Re-run {short_id(plan.id)}: {about}, {host}?"


def _behind(snapshot: Snapshot | None) -> str:
    """Return the current run and the number of waiting runs, as far as this session knows; '' if none."""
    ahead = snapshot.ahead if snapshot is not None else None
    if ahead is None:
        return ""
    said = short_id(ahead.run) if ahead.run else f"one of {ahead.user}"
    said += f" (~{seconds(max(ahead.eta_s, 0.0))})" if ahead.eta_s is not None else ""
    return f"{said} + {ahead.waiting} more" if ahead.waiting else said


def show_started(page: Page, run: str, notes: Sequence[str] = (), *, replace: bool = False) -> None:
    """Open the run that `page` has started and show the notes; `replace` leaves no way back to `page`.

    If the user opened another screen meanwhile, keep it and say that the run was started: keys typed there must not act
    on the run.
    """
    app = page.dashboard
    app.started = run
    app.poll()
    if app.screen is not page:
        app.page.say(f"run {short_id(run)} was started")

    def open_run() -> None:
        # Switch screens now; only the wait is a worker. The app runs it, since a replaced page's workers are cancelled.
        screen = route.run(run)
        opened = app.switch_screen(screen) if replace else app.push_screen(screen)
        app.run_worker(_tell(app, opened, notes), group="open")

    page.when_shown(open_run)


async def _tell(app: Dashboard, opened: Awaitable[object], notes: Sequence[str]) -> None:
    """Show the notes once the new page is open."""
    await opened
    if notes:
        app.page.say("; ".join(notes), "warn")


Texts = tuple[str, ...]
Change = Callable[[], str]
"""Changes something in a thread and returns the words for its success."""
_NOTHING = "no benchmark under the cursor: n measures one"


_NAMED = 3
"""Most records named in a message."""


class BenchmarkActions(Page):
    """Base class of screens with actions on benchmarks; `target` returns the selected one."""

    # Selection

    def target(self) -> str | None:
        """Return the id of the selected benchmark or run; None if there is none."""
        return None

    @property
    def kind(self) -> str:
        """The kind of profile, performance or loss; '' for benchmarks."""
        return ""

    def targets(self) -> tuple[str, ...]:
        """Return the ids to remove: the marked ones, else the one under the cursor."""
        one = self.target()
        return () if one is None else (one,)

    def marked(self) -> tuple[str, ...]:
        """Return the marked ids, in the order of the list."""
        return ()

    def with_target(self, then: Callable[[str], object]) -> None:
        """Call `then` with the selected id, or show a message if there is none; some screens ask for the id first."""
        one = self.target()
        if one is None:
            self.say(_NOTHING, "warn")
        else:
            then(one)

    def with_stored(self, then: Callable[[str], object]) -> None:
        """Call `then` with the selected id if it has a stored result; a run has one once it is saved."""

        def take(one: str) -> None:
            if self.run_of(one) is None:
                then(one)
            else:
                self.say(f"{short_id(one)} has no saved result yet", "warn")

        self.with_target(take)

    def run_of(self, one: str) -> RunRow | None:
        """Return the unsaved run with that id; None for any other id."""
        snapshot = self.dashboard.snapshot
        return next((row for row in snapshot.runs if row.info.id == one), None) if snapshot is not None else None

    def show_done(self, words: str) -> None:
        """Show the result of an action and reload."""
        self.say_after_errors(words)
        self.dashboard.poll()
        self.load()

    # Measure again

    def action_rerun(self) -> None:
        """Measure again, after a question."""
        self.with_stored(self._plan_rerun)

    def _plan_rerun(self, one: str) -> None:
        self.request(lambda: self.services.reruns.plan(one), self._ask_rerun, group="rerun", opens=True)

    def _ask_rerun(self, plan: RerunPlan) -> None:
        name = short_id(plan.id)
        if plan.error and not plan.changed:
            self.say(plan.error, "bad")
        elif plan.changed:
            self._ask(f"The model changed since {name}: measure the current one?", "measure", plan.id, True)
        else:
            only = "" if self.marked() in ((), (plan.id,)) else "Ignores marks. "
            self._ask(only + rerun_question(plan, self.dashboard.snapshot), "run", plan.id, False)

    def _ask(self, text: str, word: str, one: str, changed: bool) -> None:
        confirm(self, text, word, lambda: self._rerun(one, changed))

    def _rerun(self, one: str, changed: bool) -> None:
        self.submit(
            lambda: self.services.reruns.start(one, changed=changed), lambda started: show_started(self, *started)
        )

    def action_rerun_changed(self) -> None:
        """Open the form with the settings of the selected benchmark."""
        kind, go = self.kind, self.dashboard.go
        self.with_stored(lambda one: go(route.profile_form("", kind, one) if kind else route.form(benchmark=one)))

    # Compare

    def action_compare(self) -> None:
        """Compare two marked ones, the marked one with the cursor's, or (without marks) a re-run with its original."""
        marked = self.marked()
        one = self.target()
        if len(marked) > 2:
            self.say(f"{len(marked)} are marked: mark two to compare", "warn")
        elif len(marked) == 2:
            self._compare(*marked)
        elif len(marked) == 1 and one is not None and one != marked[0]:
            self._compare(marked[0], one)
        else:
            self.with_target(self._compare_with_past)

    def _compare(self, one: str, other: str) -> None:
        going = [name for name in (one, other) if (run := self.run_of(name)) and run.info.state in activity.ALIVE]
        if going:
            self._wait_to_compare(going[0])
            return
        # Ids begin with their time, so sorting puts the older one first.
        self.dashboard.go((route.profile_comparison if self.kind else route.comparison)(*sorted((one, other))))

    def _compare_with_past(self, one: str) -> None:
        run = self.run_of(one)
        if run is not None and run.info.state in activity.ALIVE:
            self._wait_to_compare(one)
        elif run is not None:
            self._compare_with_original(one, run.rerun_of)
        else:
            find = partial(self._compare_with_original, one)
            self.request(lambda: self.services.library.get(one).metadata.partner, find, group="compare", opens=True)

    def _compare_with_original(self, one: str, base: str | None) -> None:
        if base:
            self._compare(base, one)
        else:
            self.say(f"{short_id(one)} is not a re-run: mark another one with space, then c compares the two", "warn")

    def _wait_to_compare(self, one: str) -> None:
        keys = [self.shown_key(name) for name in ("open", "compare")]
        self.say(
            f"{short_id(one)} is still running: {keys[0]} follows it, {keys[1]} compares after it has ended", "warn"
        )

    # Remove

    def action_remove(self) -> None:
        """Move the selected records to the trash, after a question."""
        wanted = self.targets()
        if wanted:
            self._ask_remove(wanted)
        else:
            self.with_target(lambda one: self._ask_remove((one,)))

    def _ask_remove(self, wanted: tuple[str, ...]) -> None:
        runs = [run.info for run in map(self.run_of, wanted) if run is not None]
        going = [run.id for run in runs if run.state in activity.ALIVE]
        lost = [run.id for run in runs if run.state not in activity.ALIVE]
        text, word = remove_words(wanted, going, lost)
        confirm(self, text, word, lambda: self._remove(wanted, bool(going), bool(lost)))

    def _remove(self, wanted: tuple[str, ...], cancel: bool, discard: bool) -> None:
        def done(removed: Removal) -> None:
            self.dashboard.forget_runs(wanted)
            self._show_removed(removed)

        services = self.services
        work = self.dashboard.removals.removing(lambda: services.library.remove(wanted, cancel=cancel, discard=discard))
        others = " and others" if len(wanted) > _NAMED else ""
        self.say(f"removing {', '.join(map(short_id, wanted[:_NAMED]))}{others} ...")
        self.submit(work, done, otherwise=self._not_removed)

    def _not_removed(self, error: TuibenchError) -> None:
        self.explain(error)

    def _show_removed(self, removed: Removal) -> None:
        self.show_done(removal_words(removed) + ("; u restores it" if removed.entry is not None else ""))

    # Name and note

    def action_edit(self) -> None:
        """Edit name and note."""
        self.with_target(self._load_metadata)

    def _load_metadata(self, one: str) -> None:
        run = self.run_of(one)
        if run is not None:
            self.say(f"{short_id(one)} cannot be named before it is saved", "warn")
        else:
            self.request(
                lambda: _with_metadata(row_of(self.services, one)), self._ask_metadata, group="edit", opens=True
            )

    def _ask_metadata(self, row: BenchmarkRow) -> None:
        one, old = short_id(row.id), (row.name, row.note)

        def change(answers: Texts) -> Change | None:
            if answers == old:
                return None
            # Send only changed fields: others may have changed the rest meanwhile.
            name, note = (new if new != before else None for new, before in zip(answers, old, strict=True))
            self.say(f"saving {one} ...")

            def save() -> str:
                self.services.library.edit(row.id, name, note)
                return f"{one} is now called {name}" if name else f"{one} noted"

            return save

        fields = (("name", row.name), ("note", row.note))
        ask_texts(self, f"Name and note of {one}", f"{one} not saved", fields, _name_words, change)

    # Export, command and log

    def action_export(self) -> None:
        """Export to a file."""
        self.with_stored(self._ask_export)

    def _ask_export(self, one: str) -> None:
        beside = ", ignoring marks" if self.marked() not in ((), (one,)) else ""
        write = partial(_export, self.services)
        self.app.push_screen(ExportQuestion(one, beside=beside), partial(carry_out, self, write=write))

    def action_copy_command(self) -> None:
        """Copy the equivalent shell command to the clipboard and a file."""
        self.with_target(self._copy_command)

    def _copy_command(self, one: str) -> None:
        of_run = self.run_of(one) is not None
        self.copy_text(lambda: self.services.runs.command(one) if of_run else self.services.library.command(one))

    def action_log(self) -> None:
        """Show the log of the run and its processes."""
        self.with_target(self._show_log)

    def _show_log(self, one: str) -> None:
        if self.run_of(one) is None:
            self.dashboard.go((route.profile if self.kind else route.detail)(one, "log"))
        else:
            self.request(lambda: self.services.runs.log(one), partial(self._show_lines, one), group="log", opens=True)

    def _show_lines(self, one: str, lines: tuple[str, ...]) -> None:
        said = lines or ("No process output yet.",)
        self.app.push_screen(Notice(f"Log of {short_id(one)}", said))


def ask_texts(
    page: BenchmarkActions,
    heading: str,
    failed: str,
    fields: Sequence[tuple[str, str]],
    check: Callable[[Texts], str],
    change: Callable[[Texts], Change | None],
) -> None:
    """Ask for texts and carry out the change that `change` makes of them, or nothing for None.

    After an error ask again, so that the typed texts are not lost.
    """

    def show(title: str, values: Texts) -> None:
        labelled = [(label, value) for (label, _), value in zip(fields, values, strict=True)]
        page.app.push_screen(TextQuestion(title, labelled, check=check), take)

    def take(answers: Texts | None) -> None:
        work = change(answers) if answers is not None else None
        if answers is not None and work is not None:
            typed = answers
            page.submit(
                work,
                page.show_done,
                otherwise=lambda error: page.when_shown(lambda: show(f"{failed}, {message_words(error)}", typed)),
            )

    show(heading, tuple(value for _, value in fields))


def _name_words(answers: tuple[str, ...]) -> str:
    """Return what is wrong with a name; '' for nothing."""
    return reason_words(too_long(answers[0]))


def _export(services: Services, export: Export) -> str:
    path = os.path.abspath(export.path)
    one = services.exchange.export(export.benchmark, path, include_private=export.private)
    return export_words(short_id(one), path, private=export.private)


def row_of(services: Services, one: str) -> BenchmarkRow:
    """Return the row of a stored benchmark; runs in a thread, since it reads from the services."""
    library = services.library
    row = next((row for row in (*library.list(), *library.list_profiles()) if row.id == one), None)
    if row is None:
        raise UsageError("benchmark_gone", id=one)
    return row


def _with_metadata(row: BenchmarkRow) -> BenchmarkRow:
    """Return the row; raise UsageError if its record is damaged, since the name and note cannot be read."""
    if row.status == DAMAGED:
        raise UsageError("record_damaged", id=row.id)
    return row
