"""The services: every action of the product as one typed method; prints nothing and imports no engine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tuibench.services.settings import Settings, read_settings

if TYPE_CHECKING:
    from tuibench.core.machine import Machine
    from tuibench.core.model import FetchProgress
    from tuibench.core.spec import ModelSource
    from tuibench.core.stored import StoredBenchmark
    from tuibench.host.topology import Topology
    from tuibench.services.exchange import Exchange
    from tuibench.services.library import Library
    from tuibench.services.model import Locate, Repetition
    from tuibench.services.profiles import ProfilePlan, Profiles
    from tuibench.services.projects import Projects
    from tuibench.services.runs import Runs
    from tuibench.services.watched_run import WatchedRun
    from tuibench.store.store import Store

_LOOK_S = 0.2


class Services:
    """Every action of the shell, the dashboard and Python programs."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or read_settings(os.environ)

    def topology(self) -> Topology:
        """Return the cores of this machine that this process may use."""
        from tuibench.host.topology import read_topology  # lazy: only measuring needs it

        return read_topology(os.sched_getaffinity(0))

    def machine(self, *, hidden: bool = False) -> Machine:
        """Return this machine and its engines, with `hidden` also those for tests; read only constant facts."""
        from tuibench.core import engine
        from tuibench.services.doctor import read_machine  # lazy: only forms need it

        return read_machine(self.store, engine.names(hidden=hidden))

    def load_words(self) -> str:
        """Return the load by other processes, in words; sample it for 0.2 s."""
        from tuibench.host.kernel_files import load_words, read_cpu_times  # lazy: as above

        before, began, own = read_cpu_times(), time.monotonic(), time.process_time()
        time.sleep(_LOOK_S)
        own = (time.process_time() - own) / (time.monotonic() - began)
        return load_words(before, read_cpu_times(), os.sched_getaffinity(0), own)

    def memory_room(self) -> int | None:
        """Return the available memory in bytes; None if unknown."""
        from tuibench.host.cgroup import find_groups, read_memory  # lazy: as above
        from tuibench.host.kernel_files import Tree

        tree = Tree()
        return read_memory(tree, find_groups(tree)).room_bytes

    def fetch(self, token: str, tell: Callable[[FetchProgress], None] = lambda _: None) -> ModelSource:
        """Fetch a remote model unless it is cached, and return its file; `tell` receives the progress."""
        from tuibench.services.child_call import ModelFetch  # lazy: child processes

        return ModelFetch(token, self.settings.places).carry_out(tell).source

    def check_engines(self, names: Sequence[str]) -> None:
        """Raise an error for the first name that is no engine of this version; start and import nothing."""
        from tuibench.engines import registry  # lazy: as above

        for name in names:
            registry.check(name)

    def examine(self, engines: list[dict[str, Any]], terminal: dict[str, Any]) -> dict[str, Any]:
        """Return how fit this machine is for measuring, with fixes; sample the noise for half a second."""
        from tuibench.host.checkup import examine
        from tuibench.host.cpu import read_brand  # lazy: only doctor needs it
        from tuibench.host.facts import this_process
        from tuibench.services.doctor import store_facts, store_findings

        process = this_process()
        cache = self.settings.places.cache
        facts = examine(process, engines=engines, terminal=terminal, brand=lambda boot_id: read_brand(boot_id, cache))
        store_report = store_facts(self.store, self.settings.places.data)
        facts["env_private"]["store"] = store_report.pop("private")
        facts["store"] = store_report
        found = [*facts["findings"], *store_findings(store_report)]
        return facts | {"findings": sorted(found, key=lambda finding: bool(finding["level"] != "harm"))}

    @cached_property
    def store(self) -> Store:
        """The store on disk; reads nothing until first use."""
        from tuibench.services.opening import open_store  # lazy: tinydb takes 10 ms

        return open_store(self.settings.places.data)

    def notices(self) -> tuple[str, ...]:
        """Return the store's messages for the user; () if the store was never opened."""
        return self.store.notices() if "store" in self.__dict__ else ()

    @cached_property
    def library(self) -> Library:
        """The saved benchmarks and profiles."""
        from tuibench.services.library import Library  # lazy: as above

        return Library(self.store, lambda: self.runs)

    @cached_property
    def profiles(self) -> Profiles:
        """The profiles of models."""
        from tuibench.services.profiles import Profiles  # lazy: the runner's side takes 20 ms

        return Profiles(self.settings, self.store, lambda: self.library, lambda: self.runs)

    def close(self) -> None:
        """End the child processes that count costs, so that nothing remains in TMPDIR."""
        if "profiles" in self.__dict__:
            self.profiles.close()

    def plan_run(self, run: WatchedRun) -> ProfilePlan:
        """Return the plan of a run that makes a profile."""
        return self.profiles.plan_run(run)

    @cached_property
    def exchange(self) -> Exchange:
        """Export, import and comparison."""
        from tuibench.services.exchange import Exchange  # lazy: reports and comparison take 20 ms

        return Exchange(
            self.store, self.library, lambda: self.runs, os.path.expanduser("~"), lambda: int(time.time() * 1000)
        )

    def repetition(self, stored: StoredBenchmark, locate: Locate) -> Repetition:
        """Return the models of a stored benchmark, checked for measuring them again."""
        from tuibench.services.model import Repetition  # lazy: only re-runs need its child processes

        return Repetition(stored, self.settings.places, locate)

    @cached_property
    def projects(self) -> Projects:
        """The projects, each of which groups the benchmarks of one model."""
        from tuibench.services.projects import Projects  # lazy: comes with the store, as above

        return Projects(self.settings.places, self.store, lambda: self.runs)

    @cached_property
    def runs(self) -> Runs:
        """The runs: running, waiting or interrupted."""
        from tuibench.services.runs import Runs  # lazy: the runner's side takes 20 ms

        return Runs(self.settings, self.store)
