"""Implements the profile part of the dashboard's API: lists, theoretical costs and set-up of profiles."""

from __future__ import annotations

import os
import shlex
import threading
from typing import TYPE_CHECKING

from tuibench.core.text import show
from tuibench.tui.desk import LOOSE
from tuibench.tui.desk_profile import FLOPS

if TYPE_CHECKING:
    from tuibench.core.profile import CostProfile, LossProfile
    from tuibench.core.stored import BenchmarkRow, StoredBenchmark
    from tuibench.services.api import Services
    from tuibench.tui.bridge_profile_form import ProfileStarter
    from tuibench.tui.bridge_start import Starter
    from tuibench.tui.desk_profile import ProfileCheck, ProfileStart, ProfileValues


class ProfileBridge:
    """The profile part of a Bridge; modules that only forms need are imported in a worker."""

    _services: Services
    _making: threading.RLock
    _made_profiler: ProfileStarter | None = None

    @property
    def _starter(self) -> Starter:
        raise NotImplementedError

    @property
    def _profiler(self) -> ProfileStarter:
        from tuibench.tui.bridge_profile_form import ProfileStarter

        with self._making:
            self._made_profiler = self._made_profiler or ProfileStarter(self._services, self._starter)
            return self._made_profiler

    def profiles(self, project: str) -> tuple[BenchmarkRow, ...]:
        """See ProfileDesk."""
        if project == LOOSE:
            return self._services.library.list_loose(profiles=True)
        return self._services.library.list_profiles(project or None)

    def costs(self, project: str) -> CostProfile:
        """See ProfileDesk."""
        return self._profiler.costs(project)

    def approximated(self, project: str) -> LossProfile:
        """See ProfileDesk."""
        return self._services.profiles.weights(self._profiler.source(project))

    def profile_form(self, project: str, profile: str = "") -> ProfileStart:
        """See ProfileDesk."""
        return self._profiler.form(project, profile)

    def check_profile(self, values: ProfileValues, project: str, rerun_of: str = "") -> ProfileCheck:
        """See ProfileDesk."""
        return self._profiler.check(values, project, rerun_of)

    def weigh_profile(self, values: ProfileValues, project: str, rerun_of: str = "") -> None:
        """See ProfileDesk."""
        self._profiler.weigh(values, project, rerun_of)

    def start_profile(
        self, values: ProfileValues, project: str, rerun_of: str = ""
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """See ProfileDesk."""
        return self._profiler.start(values, project, rerun_of)

    def export_theory(self, project: str, what: str, path: str) -> str:
        """See ProfileDesk."""
        from tuibench.core.label import model_names
        from tuibench.present.export import check_target, spare, write_export

        target = os.path.abspath(os.path.expanduser(path.strip()))
        source = self._profiler.source(project)
        # Check the target first: reading the model takes a moment.
        check_target(target)
        known = self._services.projects.get(project).project.versions[-1].model
        spare(target, [source.path, *(one.path for one in known.external)])
        found = self.costs(project) if what == FLOPS else self.approximated(project)
        name = model_names([source])[0]
        write_export(target, _written(found, what, name, target))
        return f"wrote the {what} profile of {name} to {show(target)}"

    def differences(self, old: StoredBenchmark, new: StoredBenchmark) -> tuple[str, ...]:
        """See ProfileDesk."""
        return self._services.exchange.differences(old.result, new.result)

    def theory_command(self, project: str, what: str) -> str:
        """See ProfileDesk."""
        from tuibench.core.spec import ModelSource
        from tuibench.present.command import token_of

        known = self._services.projects.get(project).project
        model = known.versions[-1].model
        token = token_of(ModelSource(model.asked, model.file.path))
        words = (
            ["tuibench", "profile", "--flops"] if what == FLOPS else ["tuibench", "profile", "--loss", "--approximate"]
        )
        # Weights are the same at every size.
        words += [f"--dim={name}={value}" for name, value in known.dims.items()] if what == FLOPS else []
        return shlex.join([*words, *(["--"] if token.startswith("-") else []), token])


def _written(found: CostProfile | LossProfile, what: str, model: str, path: str) -> str:
    """Return the profile in the format that the path's ending names."""
    from tuibench.present.export import form_of
    from tuibench.present.profile.lines import ProfileHeading
    from tuibench.present.profile.page import theory_json, theory_text

    form = form_of(path)
    return theory_json(what, model, found) if form == "json" else theory_text(found, ProfileHeading(model=model), form)
