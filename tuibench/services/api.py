"""The façade: every action of the product as a typed method of one of its parts.

The shell, the dashboard and Python programs call the same parts. They print nothing and import no engine.
"""

from __future__ import annotations

import os
import threading
import time
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from tuibench.services.settings import Settings, read_settings

if TYPE_CHECKING:
    from tuibench.core.reason import Reason
    from tuibench.services.background_install import BackgroundInstall
    from tuibench.services.engines import Engines
    from tuibench.services.exchange import Exchange
    from tuibench.services.forms import Forms
    from tuibench.services.library import Library
    from tuibench.services.machine import MachineFacts
    from tuibench.services.models import Models
    from tuibench.services.monitor import Monitor
    from tuibench.services.profile_costs import ProjectTheory
    from tuibench.services.profile_forms import ProfileForms
    from tuibench.services.profiles import Profiles
    from tuibench.services.projects import Projects
    from tuibench.services.reruns import Reruns
    from tuibench.services.runs import Runs
    from tuibench.store.store import Store

T = TypeVar("T")


class part(cached_property[T]):  # noqa: N801 - used like property
    """A part of the services, made at its first use; threads that ask at once get the same one.

    The modules of a part are imported with it: each takes 5 to 20 ms, which the first frame and short commands spare.
    """

    def __get__(self, services: Services, owner: object = None) -> T:  # type: ignore[override]
        """Return the part."""
        with services.making:
            return super().__get__(services)


class Services:
    """Every action of the shell, the dashboard and Python programs; safe to use from several threads."""

    def __init__(self, settings: Settings | None = None, *, hidden: bool = False) -> None:
        """With `hidden`, engines that only tests use are listed, too."""
        self.settings = settings or read_settings(os.environ)
        self.hidden = hidden
        self.making = threading.RLock()

    @part
    def store(self) -> Store:
        """The store on disk; reads nothing until first use."""
        from tuibench.services.opening import open_store

        return open_store(self.settings.places.data)

    @part
    def library(self) -> Library:
        """The saved benchmarks and profiles."""
        from tuibench.services.library import Library

        return Library(self.store, lambda: self.runs)

    @part
    def projects(self) -> Projects:
        """The projects, each of which groups the benchmarks of one model."""
        from tuibench.services.projects import Projects

        return Projects(self.settings.places, self.store, lambda: self.runs)

    @part
    def runs(self) -> Runs:
        """The runs: running, waiting or interrupted."""
        from tuibench.services.runs import Runs

        return Runs(self.settings, self.store)

    @part
    def monitor(self) -> Monitor:
        """Changes of store and runs since the last look."""
        from tuibench.services.monitor import Monitor

        return Monitor(self.runs, self.store)

    @part
    def machine(self) -> MachineFacts:
        """Facts of this machine and its engines."""
        from tuibench.services.machine import MachineFacts

        return MachineFacts(self)

    @part
    def engines(self) -> Engines:
        """The engines that have an interpreter of their own, and their installation."""
        from tuibench.services.engines import Engines

        return Engines(self)

    @part
    def models(self) -> Models:
        """Models by path, name or address."""
        from tuibench.services.models import Models

        return Models(self)

    @part
    def forms(self) -> Forms:
        """Forms of benchmarks: their values, checks and starts."""
        from tuibench.services.forms import Forms

        return Forms(self)

    @part
    def reruns(self) -> Reruns:
        """Stored benchmarks and profiles, measured again."""
        from tuibench.services.reruns import Reruns

        return Reruns(self)

    @part
    def profiles(self) -> Profiles:
        """Estimates, theory and starts of profiles."""
        from tuibench.services.profiles import Profiles

        return Profiles(self.settings, self.store, lambda: self.library, lambda: self.runs)

    @part
    def profile_forms(self) -> ProfileForms:
        """Forms of profiles: their values, checks and starts."""
        from tuibench.services.profile_forms import ProfileForms

        return ProfileForms(self)

    @part
    def theory(self) -> ProjectTheory:
        """The profiles that every project has, computed without measuring."""
        from tuibench.services.profile_costs import ProjectTheory

        return ProjectTheory(self)

    @part
    def exchange(self) -> Exchange:
        """Export, import and comparison."""
        from tuibench.services.exchange import Exchange

        home = os.path.expanduser("~")
        return Exchange(self.store, self.library, lambda: self.runs, home, lambda: int(time.time() * 1000))

    def keep_copy(self, text: str) -> str:
        """Write copied text to a file, for terminals without a clipboard; return its path."""
        from tuibench.services.state_file import keep_copy

        return str(keep_copy(self.settings.places.state, text))

    def installing(self) -> BackgroundInstall | None:
        """Return the latest installation of an engine in the background; None for none."""
        return self.engines.current if "engines" in self.__dict__ else None

    def notices(self) -> tuple[Reason, ...]:
        """Return the store's notices for the user; () if the store was never opened."""
        return self.store.notices() if "store" in self.__dict__ else ()

    def close(self) -> None:
        """End the child processes that count costs or install engines, so that nothing half made remains."""
        if "profiles" in self.__dict__:
            self.profiles.close()
        if "engines" in self.__dict__:
            self.engines.close()
