"""Constructors of all screens; each imports its screen when it is first shown, to keep the first frame fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen
from textual.widget import Widget

if TYPE_CHECKING:
    from tuibench.tui.screens.base import Page

UNASSIGNED = "-"
"""Stand-in for a project id: benchmarks without a project, such as imported ones."""


def home() -> Screen[None]:
    """All projects."""
    from tuibench.tui.screens.project.home import HomeScreen

    return HomeScreen()


def new_project(path: str = "") -> Screen[None]:
    """Form for a new project: a model, its name, its dims."""
    from tuibench.tui.screens.project.new import NewProjectScreen

    return NewProjectScreen(path)


def project(project_id: str, tab: str = "benchmarks") -> Screen[None]:
    """One project: its benchmarks, its profiles, its settings."""
    from tuibench.tui.screens.project.screen import ProjectScreen

    return ProjectScreen(project_id, tab)


def unassigned() -> Screen[None]:
    """Benchmarks without a project."""
    from tuibench.tui.screens.project.screen import UnassignedScreen

    return UnassignedScreen()


def form(project_id: str = "", benchmark: str = "", path: str = "") -> Screen[None]:
    """Benchmark form: with a project's last values, a benchmark's settings, or for a model path."""
    from tuibench.tui.screens.form.screen import FormScreen

    return FormScreen(project_id, benchmark, path)


def run(run_id: str) -> Screen[None]:
    """A run in progress, or its result."""
    from tuibench.tui.screens.run.screen import RunScreen

    return RunScreen(run_id)


def detail(benchmark: str, tab: str = "", cell: str = "") -> Screen[None]:
    """One benchmark; `tab` is one of baseline, cores, batches, shapes, comparison, environment, log; `cell` a key."""
    from tuibench.tui.screens.detail.screen import DetailScreen

    return DetailScreen(benchmark, tab, cell)


def comparison(old: str, new: str) -> Screen[None]:
    """Two benchmarks side by side."""
    from tuibench.tui.screens.comparison.screen import ComparisonScreen

    return ComparisonScreen(old, new)


def profile(one: str, tab: str = "") -> Screen[None]:
    """One stored profile, of performance or loss; `tab` is one of summary, layers, depth, environment, log."""
    from tuibench.tui.screens.profile.screen import ProfileScreen

    return ProfileScreen(one, tab)


def theory(project_id: str, what: str, tab: str = "") -> Screen[None]:
    """A computed profile that every project has: FLOPS, or the approximated loss profile."""
    from tuibench.tui.screens.profile.screen import TheoryScreen

    return TheoryScreen(project_id, what, tab)


def profile_form(project_id: str = "", kind: str = "", profile: str = "") -> Screen[None]:
    """Form for new profiles: both kinds or one, or with the settings of an existing profile."""
    from tuibench.tui.screens.profile.form import ProfileFormScreen

    return ProfileFormScreen(project_id, kind, profile)


def profile_comparison(old: str, new: str) -> Screen[None]:
    """Two profiles layer by layer."""
    from tuibench.tui.screens.profile.comparison import ProfileComparisonScreen

    return ProfileComparisonScreen(old, new)


def system() -> Screen[None]:
    """This machine."""
    from tuibench.tui.screens.system import SystemScreen

    return SystemScreen()


def trash() -> Screen[None]:
    """The trash."""
    from tuibench.tui.screens.trash import TrashScreen

    return TrashScreen()


def help_for(page: Page, focused: Widget | None) -> Screen[None]:
    """The keys of a page and of its focused widget."""
    from tuibench.tui.screens.help import HelpScreen

    return HelpScreen(page, focused)
