"""Screen for a new project: reads the model while its path is typed, asks for name and dims, creates the project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from tuibench.core.errors import TuibenchError
from tuibench.core.model import FetchProgress, is_remote
from tuibench.core.stored import ProjectRow
from tuibench.core.units import size
from tuibench.present.error.words import error_line
from tuibench.services.models import Found
from tuibench.tui import key, route
from tuibench.tui.messages import Heard
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.project.model import ModelPath, dims_of, model_lines
from tuibench.tui.widgets.choice_field import ButtonField
from tuibench.tui.widgets.field import Field, FieldColumn, TextField
from tuibench.tui.widgets.painted import LineLike
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.title_line import RuleLine

LOOK_S = 0.4
"""Delay after the last key, so that not every letter starts a child that reads the model."""

MEASURE, PROFILES = "measure", "profiles"
"""Keys of the buttons that open a form for the new project."""


class _DownloadCancelled(TuibenchError):
    """The download is no longer needed: the screen was left, or another model was typed."""


class NewProjectScreen(Page):
    """The form for a new project; its input is kept until the project is created."""

    CSS_PATH = "new_project.tcss"
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [*key.bindings(only=("run-form", "set-up-profiles"))]
    words: ClassVar[Mapping[str, str]] = {**key.ONE_WORD, "run-form": "measure"}
    hints = ("next-field", "complete", "run-form", "set-up-profiles", "back", "help")
    about = (
        "A project holds the measurements of one model. Type its path: tab completes it, and the model is read as "
        "soon as you pause. The file is neither copied nor changed. A remote model (hf:ORG/REPO or https://...) is "
        "downloaded when you press enter. Enter here the sizes that the model leaves open, except its batch."
    )

    def __init__(self, path: str = "") -> None:
        super().__init__()
        self._path = path
        self._found: Found | None = None
        self._looked = self._looking = ""
        """The text that `_found` or the model field's error belongs to, and the text being read now."""
        self._named = False
        """True if the user gave the name; until then the model determines it."""
        self._suggested = ""
        """The name taken from the model."""
        self._timer: Timer | None = None
        self._wanted: str | None = None
        """Key of the pressed button while the model must be read first; None if no button waits."""
        self._making = False
        """True while the project is being created."""

    # Content

    def body(self) -> Iterable[Widget]:
        """Yield the fields, the completions of the path and the description of the model."""
        yield RuleLine()
        with FieldColumn(id="fields"):
            yield ModelPath("model", "model", self._path)
            yield TextField("name", "name", width=0)
            yield TextField("description", "about", width=0)
            yield ButtonField("measure", "Create and measure")
            yield ButtonField("make", "Create only")
            yield ButtonField("profiles", "Create and set up profiles")
        yield RuleLine()
        yield TextBlock(id="summary")

    def title_parts(self) -> tuple[str, ...]:
        """Return the path to this screen."""
        return ("tuibench", "New project")

    def on_mount(self) -> None:
        """Focus the path, or start with the given one."""
        # A given path needs no typing: enter on the focused button creates the project, even while the model is read.
        self.column.focus_field("measure" if self._path else "model")
        if self._path:
            self._look_now()

    @property
    def column(self) -> FieldColumn:
        """The column of fields."""
        return self.query_one("#fields", FieldColumn)

    def _text(self, name: str) -> str:
        return str(self.column.fields[name].answer)

    def on_field_changed(self, message: Field.Changed) -> None:
        """Handle another path or another name."""
        message.stop()
        if message.field.key == "name":
            self._named = message.field.answer not in ("", self._suggested)
        # The event of a text set by the program can arrive after the model was read.
        if message.field.key == "model" and self._text("model") not in filter(None, (self._looked, self._looking)):
            self._wanted = None
            self._forget()
            if self._timer is not None:
                self._timer.stop()
            self._timer = self.set_timer(LOOK_S, self._look_when_typed)

    def _forget(self) -> None:
        self._found, self._looked, self._looking = None, "", ""
        self.column.fields["model"].show_error("")
        self._show_summary()

    # Reading the model

    def _look_when_typed(self) -> None:
        # A partly typed address must not be fetched.
        if self._text("model") and not is_remote(self._text("model")):
            self._look_now()
        elif is_remote(self._text("model")):
            self.column.fields["model"].show_hint("")
            self._show_summary((("enter downloads and reads it", "dim"),))

    def _look_now(self, *, again: bool = False) -> None:
        """Read the model unless it was read before; `again` also retries a failed read, as the cause may be fixed."""
        text = self._text("model")
        if not text or (text == self._looked and not (again and self._found is None)) or text == self._looking:
            return
        self._looking = text
        remote = is_remote(text)
        self._show_summary((("downloading ..." if remote else "reading ...", "dim"),))

        def hear(progress: FetchProgress) -> None:
            if text != self._looking or not self.is_attached:
                # Runs in the thread that downloads; the exception ends the download.
                raise _DownloadCancelled("download_unneeded")
            self.post_message(Heard(text, progress))

        self.request(
            lambda: self.services.models.find(text, hear),
            lambda found: self._show_found(text, found),
            group="find",
            otherwise=lambda error: self._show_wrong(text, error),
        )

    def on_heard(self, message: Heard) -> None:
        """Show the progress of a download."""
        message.stop()
        if message.about == self._looking:
            progress = message.progress
            of = f" of {size(progress.total)}" if progress.total else ""
            self._show_summary(((f"downloading: {size(progress.fetched)}{of}", "dim"),))

    def _show_wrong(self, text: str, error: TuibenchError) -> None:
        if text != self._looking:
            return
        wanted = self._wanted is not None
        self._looked, self._looking, self._wanted = text, "", None
        # Do not move the focus while the user types in another field: the text would replace the path.
        if not isinstance(self.focused, Input):
            self.column.focus_field("model")
        elif wanted:
            self.say("cannot use this model: see its field", "bad")
        self.column.fields["model"].show_error(error_line(error))
        self._show_summary()

    def _show_found(self, text: str, found: Found) -> None:
        if text != self._looking:
            return
        self._found, self._looked, self._looking = found, text, ""
        self.column.fields["model"].show_error("")
        self.query_one(ModelPath).hide_candidates()
        if not self._named:
            name = self.column.fields["name"]
            assert isinstance(name, TextField)
            self._suggested = found.name
            name.put(found.name)
        self._show_dims(found)
        self._show_summary()
        if self._wanted is not None:
            self._make(self._wanted)

    def _show_dims(self, found: Found) -> None:
        for field in list(self.query(TextField)):
            if field.key.startswith("dim:") and field.key.removeprefix("dim:") not in found.dims:
                field.remove()
        there = {field.key for field in self.query(TextField)}
        new = [
            TextField(f"dim:{name}", name, hint="a size such as 128; empty: default", width=16)
            for name in found.dims
            if f"dim:{name}" not in there
        ]
        if new:
            self.column.mount_all(new, before=self.query(ButtonField).first())

    def _show_summary(self, lines: Iterable[LineLike] = ()) -> None:
        found = self._found
        if found is not None:
            lines = model_lines(found.summary, self.dashboard.glyphs)
            if found.project:
                lines = [("A project has this model already: Create opens it.", "warn"), *lines]
        self.query_one("#summary", TextBlock).show_lines(lines)

    # Creating the project

    def on_key(self, event: events.Key) -> None:
        """Read the model on enter in its field; typing alone never fetches a remote one."""
        if event.key == "enter" and self.column.fields["model"].has_focus_within:
            self._look_now(again=True)

    def on_button_field_pressed(self, message: ButtonField.Pressed) -> None:
        """Create the project."""
        message.stop()
        self._make(message.field.key)

    def action_run_form(self) -> None:
        """Create the project and open the benchmark form, from any field."""
        self._make(MEASURE)

    def action_set_up_profiles(self) -> None:
        """Create the project and open the profile form, from any field."""
        self._make(PROFILES)

    def _make(self, where: str) -> None:
        text = self._text("model")
        if not text:
            self.column.fields["model"].show_error("enter a model; sample is built in")
            self.column.focus_field("model")
        elif self._looked != text or self._found is None:
            self._wanted = where
            self._look_now(again=True)
        elif self._found.project:
            project = self._found.project
            self.when_shown(lambda: self._open(project, where))
        else:
            self._create(self._found, where)

    def _create(self, found: Found, where: str) -> None:
        fields = {field.key: str(field.answer) for field in self.query(TextField)}
        dims, errors = dims_of(fields)
        self.column.show_errors(errors)
        if errors:
            self.column.focus_field(next(iter(errors)))
            return
        if not self._making:
            self._making = True
            self._start_making(found, fields, dims, where)

    def _start_making(self, found: Found, fields: Mapping[str, str], dims: Mapping[str, int], where: str) -> None:
        name, description = fields["name"], fields["description"]

        def fail(error: TuibenchError) -> None:
            self._making = False
            self.explain(error)

        def done(row: ProjectRow) -> None:
            self.when_shown(lambda: self._open(row.project.id, where))

        # A key that reaches this page meanwhile would be lost with it.
        self.request(
            lambda: self.services.projects.create(found.source, name, description, dims)[0],
            done,
            group="create",
            otherwise=fail,
            opens=True,
        )

    def _open(self, project: str, where: str) -> None:
        dashboard = self.dashboard
        dashboard.remember(project=project)
        dashboard.go(route.project(project), replace=True)
        if where == PROFILES:
            dashboard.go(route.profile_form(project))
        if where == MEASURE:
            dashboard.go(route.form(project_id=project))
