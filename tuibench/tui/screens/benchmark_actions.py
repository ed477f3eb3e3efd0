"""What the keys of a benchmark do, the same on every screen that has one under its cursor."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tuibench.core import activity
from tuibench.core.card import DAMAGED, BenchmarkRow
from tuibench.core.errors import TuibenchError, UsageError
from tuibench.core.short_id import short_id
from tuibench.core.text import too_long
from tuibench.tui import key, route
from tuibench.tui.desk import Desk, Removed, RerunPlan, RunRow
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.remove_words import remove_words
from tuibench.tui.screens.rerun_words import rerun_question
from tuibench.tui.screens.run_start import show_started
from tuibench.tui.widgets.question import Notice, ask

_NOTHING = "there is no benchmark under the cursor: n measures one"

_NAMED = 3
"""How many records are named in a line."""


class BenchmarkActions(Page):
    """To be inherited before `Page`: the screen says by `target` which benchmark is meant."""

    # Which one is meant

    def target(self) -> str | None:
        """The id of the benchmark or run that keys mean now; None where there is none."""
        return None

    @property
    def kind(self) -> str:
        """performance or loss where profiles are meant, '' for benchmarks."""
        return ""

    def targets(self) -> tuple[str, ...]:
        """What `d` takes: the marked ones where there are any, else the one under the cursor."""
        one = self.target()
        return () if one is None else (one,)

    def marked(self) -> tuple[str, ...]:
        """What is marked, in the order of the list."""
        return ()

    def with_target(self, then: Callable[[str], object]) -> None:
        """Call `then` with the id that is meant, or say that there is none; a screen that must ask for it does so."""
        one = self.target()
        if one is None:
            self.say(_NOTHING, "warn")
        else:
            then(one)

    def with_stored(self, then: Callable[[str], object]) -> None:
        """Likewise for what needs a result, which a run has once it is saved."""

        def take(one: str) -> None:
            if self.run_of(one) is None:
                then(one)
            else:
                self.say(f"{short_id(one)} has no result in the store yet, which this key needs", "warn")

        self.with_target(take)

    def run_of(self, one: str) -> RunRow | None:
        """The run of that id while it is in no list of results."""
        pulse = self.dashboard.pulse
        return next((row for row in pulse.runs if row.info.id == one), None) if pulse is not None else None

    def went_on(self, words: str) -> None:
        """Something came of a key: say it, and look at what it changed."""
        self.say_behind_errors(words)
        self.dashboard.look()
        self.load()

    # Measure again

    def action_rerun(self) -> None:
        """Measure again, after one question."""
        self.with_stored(self._plan_rerun)

    def _plan_rerun(self, one: str) -> None:
        self.ask(lambda: self.desk.plan_rerun(one), self._ask_rerun, group="rerun", opens=True)

    def _ask_rerun(self, plan: RerunPlan) -> None:
        name = short_id(plan.id)
        if plan.error and not plan.changed:
            self.say(plan.error, "bad")
        elif plan.changed:
            self._ask(f"The model changed since {name}: measure it as it is now?", "measure", plan.id, True)
        else:
            only = "" if self.marked() in ((), (plan.id,)) else "Not what is marked. "
            self._ask(only + rerun_question(plan, self.dashboard.pulse), "run", plan.id, False)

    def _ask(self, text: str, word: str, one: str, changed: bool) -> None:
        ask(self, text, {"y": word}, lambda answer: self._rerun(one, changed) if answer == "y" else None)

    def _rerun(self, one: str, changed: bool) -> None:
        self.wish(lambda: self.desk.rerun(one, changed=changed), lambda started: show_started(self, *started))

    def action_rerun_changed(self) -> None:
        """Open the form with its settings."""
        kind, go = self.kind, self.dashboard.go
        self.with_stored(lambda one: go(route.profile_form("", kind, one) if kind else route.form(benchmark=one)))

    # Compare

    def action_compare(self) -> None:
        """The two marked; one marked: with the cursor; none: with what it re-ran."""
        marked = self.marked()
        one = self.target()
        if len(marked) > 2:
            self.say(f"two can be compared, and {len(marked)} are marked", "warn")
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
        # The beginning of an id is its time.
        self.dashboard.go((route.profile_comparison if self.kind else route.comparison)(*sorted((one, other))))

    def _compare_with_past(self, one: str) -> None:
        run = self.run_of(one)
        if run is not None and run.info.state in activity.ALIVE:
            self._wait_to_compare(one)
        elif run is not None:
            self._show_past(one, run.rerun_of)
        else:
            find = partial(self._show_past, one)
            self.ask(lambda: self.desk.open(one).card.partner, find, group="compare", opens=True)

    def _show_past(self, one: str, base: str | None) -> None:
        if base:
            self._compare(base, one)
        else:
            self.say(f"{short_id(one)} is no re-run: mark another one with space, then c compares the two", "warn")

    def _wait_to_compare(self, one: str) -> None:
        app = self.dashboard
        keys = [key.shown(name, app.keymap, app.ascii_only) for name in ("open", "compare")]
        self.say(
            f"{short_id(one)} is still going on: {keys[0]} follows it, {keys[1]} compares once it has ended", "warn"
        )

    # Remove

    def action_remove(self) -> None:
        """To the trash, after one question."""
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

        def answer(key: str) -> None:
            if key == "y":
                self._remove(wanted, bool(going), bool(lost))

        ask(self, text, {"y": word}, answer)

    def _remove(self, wanted: tuple[str, ...], cancel: bool, discard: bool) -> None:
        def done(removed: Removed) -> None:
            self.dashboard.forget_runs(wanted)
            self._show_removed(removed)

        desk = self.desk
        work = self.dashboard.removals.removing(lambda: desk.remove(wanted, cancel=cancel, discard=discard))
        others = " and others" if len(wanted) > _NAMED else ""
        self.say(f"removing {', '.join(map(short_id, wanted[:_NAMED]))}{others} ...")
        self.wish(work, done, otherwise=self._not_removed)

    def _not_removed(self, error: TuibenchError) -> None:
        self.explain(error)

    def _show_removed(self, removed: Removed) -> None:
        self.went_on(removed.words + ("; u brings it back" if removed.entry is not None else ""))

    # Name and note

    def action_edit(self) -> None:
        """Name and note."""
        self.with_target(self._load_card)

    def _load_card(self, one: str) -> None:
        run = self.run_of(one)
        if run is not None:
            self.say(f"{short_id(one)} has no card yet: it can be named once it is saved", "warn")
        else:
            self.ask(lambda: _with_card(row_of(self.desk, one)), self._ask_card, group="edit", opens=True)

    def _ask_card(self, row: BenchmarkRow, typed: tuple[str, ...] | None = None, why: str = "") -> None:
        from tuibench.tui.widgets.text_question import TextQuestion  # no first frame has a use for fields

        name, note = typed or (row.name, row.note)
        heading = f"{short_id(row.id)} not saved, {why}" if why else f"Name and note of {short_id(row.id)}"
        question = TextQuestion(heading, (("name", name), ("note", note)), check=_name_words)
        self.app.push_screen(question, lambda answers: self._edit(row, answers))

    def _edit(self, row: BenchmarkRow, answers: tuple[str, ...] | None) -> None:
        if answers is None or answers == (row.name, row.note):
            return
        name, note = answers
        # What was not changed here may have been changed by others meanwhile.
        new_name, new_note = (new if new != old else None for new, old in ((name, row.name), (note, row.note)))
        done = f"{short_id(row.id)} is now called {name}" if name != row.name and name else f"{short_id(row.id)} noted"
        self.say(f"saving {short_id(row.id)} ...")
        self.wish(
            lambda: self.desk.edit(row.id, new_name, new_note),
            lambda _: self.went_on(done),
            # What was typed is not lost with it.
            otherwise=lambda error: self.when_shown(lambda: self._ask_card(row, answers, error.message)),
        )

    # Out of the dashboard

    def action_export(self) -> None:
        """To a file."""
        self.with_stored(self._ask_export)

    def _ask_export(self, one: str) -> None:
        from tuibench.tui.screens.export_question import Export, ExportQuestion, carry_out  # as above

        def write(export: Export) -> str:
            return self.desk.export(export.benchmark, export.path, private=export.private)

        beside = ", not what is marked" if self.marked() not in ((), (one,)) else ""
        self.app.push_screen(ExportQuestion(one, beside=beside), partial(carry_out, self, write=write))

    def action_copy_command(self) -> None:
        """The shell command that does the same, to the clipboard and a file."""
        self.with_target(self._copy_command)

    def _copy_command(self, one: str) -> None:
        of_run = self.run_of(one) is not None

        def find() -> tuple[str, str]:
            command = self.desk.command(run=one) if of_run else self.desk.command(benchmark=one)
            return command, self.desk.keep_copy(command)

        self.ask(find, self._show_copied, group="command")

    def _show_copied(self, found: tuple[str, str]) -> None:
        command, file = found
        self.app.copy_to_clipboard(command)
        self.say(f"copied, and kept in {file}: {command}")

    def action_log(self) -> None:
        """What the run and its processes said."""
        self.with_target(self._show_log)

    def _show_log(self, one: str) -> None:
        if self.run_of(one) is None:
            self.dashboard.go((route.profile if self.kind else route.detail)(one, "log"))
        else:
            self.ask(lambda: self.desk.run_log(one), partial(self._show_lines, one), group="log", opens=True)

    def _show_lines(self, one: str, lines: tuple[str, ...]) -> None:
        said = lines or ("Its processes have said nothing so far.",)
        self.app.push_screen(Notice(f"Log of {short_id(one)}", said))


def _name_words(answers: tuple[str, ...]) -> str:
    """What is wrong with a name; '' for nothing."""
    return too_long(answers[0])


def row_of(desk: Desk, one: str) -> BenchmarkRow:
    """The row of a stored benchmark; for a thread, as it asks the desk."""
    row = next((row for read in (desk.benchmarks, desk.profiles) for row in read("") if row.id == one), None)
    if row is None:
        raise UsageError(f"{short_id(one)} is not in the store any more", "u brings back what was removed last")
    return row


def _with_card(row: BenchmarkRow) -> BenchmarkRow:
    """The row, unless the name and note that it shows are those of a record that nobody can read."""
    if row.status == DAMAGED:
        raise UsageError(f"the record of {short_id(row.id)} is damaged", "its name cannot be changed")
    return row
