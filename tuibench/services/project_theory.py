"""The profiles that every project has: costs by shapes, losses by weights; computed whenever they are shown."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from tuibench.core.label import model_names
from tuibench.core.profile import CostProfile, LossProfile
from tuibench.core.spec import ModelSource
from tuibench.core.stored import Project
from tuibench.present.command import token_of
from tuibench.present.export import check_target, form_of, spare, write_export
from tuibench.present.profile.export import theory_json, theory_text
from tuibench.present.profile.page import ProfileHeading
from tuibench.services.profile_values import FLOPS

if TYPE_CHECKING:
    from tuibench.services.api import Services


class ProjectTheory:
    """Theoretical profiles of a project's newest model; a child reads the model unless they are cached."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def source(self, project: str) -> ModelSource:
        """Return the file of the project's newest version, at its present place."""
        return self._services.models.locate(token_of(newest(self._services.projects.get(project).project)))

    def costs(self, project: str) -> CostProfile:
        """Return the theoretical costs."""
        dims = self._services.projects.get(project).project.dims
        return self._services.profiles.costs(self.source(project), None, dims)

    def approximated(self, project: str) -> LossProfile:
        """Return the losses estimated from the weights alone."""
        return self._services.profiles.weights(self.source(project))

    def export(self, project: str, what: str, path: str) -> str:
        """Write FLOPS or APPROXIMATED in the format of the path's ending; return the model's name."""
        source = self.source(project)
        # Check the target first: reading the model takes a moment.
        check_target(path)
        known = self._services.projects.get(project).project.versions[-1].model
        spare(path, [source.path, *(one.path for one in known.external)])
        found = self.costs(project) if what == FLOPS else self.approximated(project)
        name, form = model_names([source])[0], form_of(path)
        heading = ProfileHeading(model=name)
        write_export(path, theory_json(what, name, found) if form == "json" else theory_text(found, heading, form))
        return name

    def command(self, project: str, what: str) -> str:
        """Return the equivalent shell command."""
        known = self._services.projects.get(project).project
        token = token_of(newest(known))
        flags = ["--flops"] if what == FLOPS else ["--loss", "--approximate"]
        # Weights are the same at every size.
        dims = [f"--dim={name}={value}" for name, value in known.dims.items()] if what == FLOPS else []
        guard = ["--"] if token.startswith("-") else []
        return shlex.join(["tuibench", "profile", *flags, *dims, *guard, token])


def newest(project: Project) -> ModelSource:
    """Return the newest model of a project, at the place where it was measured."""
    model = project.versions[-1].model
    return ModelSource(model.asked, model.file.path)
