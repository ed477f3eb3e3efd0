"""The Settings tab of a project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from textual.app import ComposeResult
from textual.containers import Vertical

from tuibench.core.errors import TuibenchError, UnknownId, UsageError
from tuibench.core.model import CHANGED, GONE, ModelState, ModelSummary
from tuibench.core.stored import Project, ProjectRow
from tuibench.core.units import size
from tuibench.present.ages import age, ago_words
from tuibench.present.error.words import error_line, message_words
from tuibench.services.models import Found
from tuibench.tui.screens.project.model import PREFIX, cost_lines, cost_missing, dims_of, model_lines
from tuibench.tui.widgets.choice_field import ButtonField
from tuibench.tui.widgets.field import Field, FieldColumn, TextField
from tuibench.tui.widgets.painted import LineLike
from tuibench.tui.widgets.text_block import ScrollBlock
from tuibench.tui.widgets.title_line import RuleLine

if TYPE_CHECKING:
    from tuibench.tui.screens.base import Page


class ProjectSettings(Vertical):
    """Name, description, dims and model of one project; edits apply when saved."""

    DEFAULT_CSS = """
    ProjectSettings FieldColumn { height: auto; max-height: 60%; }
    ProjectSettings #facts { height: 1fr; }
    """

    def __init__(self, project_id: str, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.project_id = project_id
        self._shown: ProjectRow | None = None
        self._base: Project | None = None
        """The project as the fields were filled; only differences from it are saved."""
        self._state: ModelState | None = None
        self._model: ModelSummary | None = None
        self._dims: tuple[str, ...] = ()
        """The model's dims, including those without a size in the project."""
        self._costs: list[LineLike] = []
        """Theoretical costs in words; empty until requested."""

    def compose(self) -> ComposeResult:
        """Yield fields, then facts."""
        with FieldColumn(id="settings-fields"):
            yield TextField("name", "name", width=0)
            yield TextField("description", "about", width=0)
            yield ButtonField("save", "Save")
        yield RuleLine()
        yield ScrollBlock(wrap=True, id="facts")

    @property
    def page(self) -> Page:
        """The screen, which calls the services."""
        return cast("Page", self.screen)

    @property
    def column(self) -> FieldColumn:
        """The fields."""
        return self.query_one(FieldColumn)

    @property
    def facts(self) -> ScrollBlock:
        """The read-only facts; movement keys scroll them."""
        return self.query_one("#facts", ScrollBlock)

    # Content

    def open(self) -> None:
        """Read the project and its model when the tab opens."""
        services, one = self.page.services, self.project_id
        self.page.request(lambda: services.projects.get(one), self._show, group="settings")
        self.page.request(
            lambda: services.projects.newest_state(one),
            self._show_state,
            group="settings-state",
        )

    def _show(self, row: ProjectRow) -> None:
        if not self.unsaved:
            # Show changes saved by others, but keep what the user is typing.
            self._fill(row.project)
        self._shown = row
        # The model may have been read before.
        self._show_dims(row.project, dict.fromkeys((*row.project.dims, *self._dims)))
        self._show_facts()

    def _fill(self, project: Project) -> None:
        self._base = project
        self._put("name", project.name)
        self._put("description", project.description)
        for key in self.column.fields:
            if key.startswith(PREFIX):
                self._put(key, _size_of(project, key.removeprefix(PREFIX)))

    def _show_state(self, state: ModelState) -> None:
        self._state = state
        self._show_facts()
        self._ask_costs(state)
        if state.state != GONE:
            services, one = self.page.services, self.project_id

            def look() -> Found:
                return services.models.find(services.projects.get(one).project.versions[-1].model.file.path)

            self.page.request(look, self._show_model, group="settings-model")

    def _show_model(self, found: Found) -> None:
        self._model, self._dims = found.summary, tuple(found.dims)
        if self._shown is not None:
            self._show_dims(self._shown.project, self._dims)
        self._show_facts()

    # Costs

    def _ask_costs(self, state: ModelState) -> None:
        """Request the model's costs; a child counts them unless cached."""
        if state.state == GONE:
            self._show_costs(cost_missing("unknown: the file is missing"))
            return
        services, one, glyphs = self.page.services, self.project_id, self.page.dashboard.glyphs
        if not self._costs:
            self._show_costs(cost_missing("counting the model's FLOPs ..."))
        self.page.request(
            lambda: cost_lines(services.theory.costs(one), glyphs),
            self._show_costs,
            group="settings-costs",
            otherwise=self._refuse_costs,
        )

    def _refuse_costs(self, error: TuibenchError) -> None:
        self._show_costs(cost_missing(f"unknown: {message_words(error)}"))

    def _show_costs(self, lines: list[LineLike]) -> None:
        self._costs = lines
        self._show_facts()

    def _put(self, name: str, text: str) -> None:
        field = self.column.fields[name]
        assert isinstance(field, TextField)
        field.put(text)

    def _show_dims(self, project: Project, names: Iterable[str]) -> None:
        there = self.column.fields
        new = [
            TextField(PREFIX + name, name, _size_of(project, name), hint="empty: default", width=16)
            for name in names
            if PREFIX + name not in there
        ]
        if new:
            self.column.mount_all(new, before=self.query_one(ButtonField))

    def show_ages(self) -> None:
        """Update the ages of the project, its versions and its last run."""
        self._show_facts()

    def _show_facts(self) -> None:
        row = self._shown
        if row is None:
            return
        now, project = self.page.dashboard.now(), row.project
        lines: list[LineLike] = [*_state_lines(self._state)]
        for version in reversed(project.versions):
            files = (version.model.file, *version.model.external)
            facts = f"{age(version.created_utc, now)}  {size(sum(file.size for file in files))}"
            lines.append(((f" {version.name:<10} ", "title"), (f"{version.model.asked}  {facts}", "")))
            is_named = version.model.asked == version.model.file.path or version.model.asked.startswith("sample")
            lines += [] if is_named else [((" " * 12, ""), (version.model.file.path, "dim"))]
            lines += [((" " * 12, ""), (version.note, "dim"))] if version.note else []
        lines += model_lines(self._model, self.page.dashboard.glyphs) if self._model is not None else []
        last = f"last run {age(row.last_run_utc, now)}" if row.last_run_utc else "never measured"
        lines += self._costs
        counts = f"{row.held}, {row.size_text} stored, {last}"
        lines.append(((f" {'stored':<10} ", "dim"), (counts, "")))
        ages = [f"made {ago_words(project.created_utc, now)}", f"changed {ago_words(project.modified_utc, now)}"]
        lines.append(((f" {'project':<10} ", "dim"), (", ".join(ages), "")))
        self.facts.show_lines(lines)

    # Saving

    def _answers(self) -> dict[str, str]:
        return {key: str(field.answer) for key, field in self.column.fields.items() if isinstance(field, TextField)}

    def _changes(self, project: Project) -> bool:
        answers = self._answers()
        dims, errors = dims_of(answers)
        kept = {name: value for name, value in project.dims.items() if PREFIX + name in answers}
        said = (answers["name"], answers["description"])
        return bool(errors) or said != (project.name, project.description) or dims != kept

    def on_field_changed(self, message: Field.Changed) -> None:
        """Show errors while typing, and whether anything is unsaved."""
        message.stop()
        if self._base is not None:
            self.column.show_errors(dims_of(self._answers())[1])
            self.query_one(ButtonField).show_hint("not saved yet" if self.unsaved else "")

    def on_field_column_finished(self, message: FieldColumn.Finished) -> None:
        """Save on enter in the last text field."""
        message.stop()
        self.save()

    def on_button_field_pressed(self, message: ButtonField.Pressed) -> None:
        """Save."""
        message.stop()
        self.save()

    @property
    def unsaved(self) -> bool:
        """True if the user typed something that is not saved."""
        return self._base is not None and self._changes(self._base)

    def save(self, then: Callable[[], object] | None = None) -> None:
        """Save the differences from the shown project, then call `then`."""
        base = self._base
        if base is None:
            return
        answers = self._answers()
        dims, errors = dims_of(answers)
        self.column.show_errors(errors)
        if errors:
            self.column.focus_field(next(iter(errors)))
            return
        kept = {name: value for name, value in base.dims.items() if PREFIX + name not in answers}
        page = self.page
        page.submit(
            lambda: page.services.projects.edit(
                base.id,
                name=answers["name"],
                description=answers["description"],
                dims={**kept, **dims},
                base=base,
            ),
            lambda row: self._saved(row, answers, then),
            otherwise=self._refuse,
        )

    def _refuse(self, error: TuibenchError) -> None:
        """Show an error that only the store detects, such as a taken name, beside the field."""
        if isinstance(error, UsageError) and not isinstance(error, UnknownId):
            self.column.show_errors({"name": error_line(error)})
            self.column.focus_field("name")
        else:
            self.page.explain(error)

    def _saved(self, row: ProjectRow, answers: Mapping[str, str], then: Callable[[], object] | None) -> None:
        self._shown, self._base = row, row.project
        if self._answers() == answers:
            # Others may have changed the other fields.
            self._fill(row.project)
        if then is not None:
            then()
            return
        self.query_one(ButtonField).show_hint("")
        if self._state is not None:
            # Other sizes have other costs.
            self._ask_costs(self._state)
        self.page.say("saved")
        self.page.dashboard.poll()
        self.page.load()


def _size_of(project: Project, dim: str) -> str:
    return str(project.dims.get(dim, ""))


def _state_lines(state: ModelState | None) -> list[LineLike]:
    """Return the state of the model, with a hint."""
    if state is None:
        return [(" reading the model ...", "dim")]
    if state.state == GONE:
        return [
            (f" ! {state.file} is missing", "bad"),
            (" restore the file, or measure it at its new path: it is recognized by its content", ""),
        ]
    if state.state == CHANGED:
        return [
            (f" ! {state.file} has changed since it was measured", "warn"),
            (" n measures it as a new version; old results stay with the old version", ""),
        ]
    return [(" the model file is unchanged", "dim")]
