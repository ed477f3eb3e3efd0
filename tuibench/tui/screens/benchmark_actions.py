"""What the keys of a benchmark do, the same on every screen that has one under its cursor."""

from __future__ import annotations

from tuibench.tui.screens.base import Page


class BenchmarkActions(Page):
    """To be inherited before `Page`: the screen says by `target` which benchmark is meant."""

    def target(self) -> str | None:
        """The id of the benchmark or run that keys mean now; None where there is none."""
        return None

    def targets(self) -> tuple[str, ...]:
        """What `d` takes: the marked ones where there are any, else the one under the cursor."""
        one = self.target()
        return () if one is None else (one,)

    def marked(self) -> tuple[str, ...]:
        """What is marked, in the order of the list."""
        return ()

    def action_rerun(self) -> None:
        """Measure again, after one question."""

    def action_rerun_changed(self) -> None:
        """Open the form with its settings."""

    def action_compare(self) -> None:
        """The two marked; one marked: with the cursor; none: with what it re-ran."""

    def action_remove(self) -> None:
        """To the trash, after one question."""

    def action_edit(self) -> None:
        """Name and note."""

    def action_export(self) -> None:
        """To a file."""

    def action_copy_command(self) -> None:
        """The shell command that does the same, to the clipboard and a file."""

    def action_log(self) -> None:
        """What the run and its processes said."""
