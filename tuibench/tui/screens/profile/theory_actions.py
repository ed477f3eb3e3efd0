"""Actions on theoretical profiles: copy their command, export them."""

from __future__ import annotations

import os
from functools import partial

from tuibench.present.outcome import export_words
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.benchmark.record import Export, ExportQuestion, carry_out
from tuibench.tui.screens.profile.list import THEORIES


class TheoryActions(Page):
    """Mixin placed before `Page`; a profile is named by its project and FLOPS or APPROXIMATED."""

    def copy_theory(self, project: str, what: str) -> None:
        """Copy the shell command for the profile to the clipboard and a file."""
        self.copy_text(lambda: self.services.theory.command(project, what))

    def export_theory(self, project: str, what: str) -> None:
        """Ask for a path and export; the profile describes only the model and contains nothing private."""

        def write(export: Export) -> str:
            path = os.path.abspath(export.path)
            model = self.services.theory.export(project, what, path)
            return export_words(f"the {what} profile of {model}", path, private=True)

        name = THEORIES[what][0]
        question = ExportQuestion(what, name=name, has_private=False)
        self.app.push_screen(question, partial(carry_out, self, write=write))
