"""The settings of a project, as the second tab of its screen."""

from __future__ import annotations

from textual.containers import Vertical


class ProjectSettings(Vertical):
    """Name, description, dims and model of one project."""

    def __init__(
        self,
        project_id: str,
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.project_id = project_id
