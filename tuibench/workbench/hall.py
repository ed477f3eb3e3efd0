"""The hall: every action of the product as one typed method; it prints nothing and imports no engine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tuibench.workbench.setting import Settings, read_settings

if TYPE_CHECKING:
    from tuibench.core.card import StoredBenchmark
    from tuibench.core.machine import Machine
    from tuibench.core.remote import FetchProgress
    from tuibench.core.spec import ModelSource
    from tuibench.host.topology import Topology
    from tuibench.store.store import Store
    from tuibench.workbench.exchange import Exchange
    from tuibench.workbench.library import Library
    from tuibench.workbench.profiles import ProfilePlan, Profiles
    from tuibench.workbench.projects import Projects
    from tuibench.workbench.repetition import Locate, Repetition
    from tuibench.workbench.runs import Runs
    from tuibench.workbench.watched_run import WatchedRun

_LOOK_S = 0.2


class Workbench:
    """What the shell, the dashboard and Python programs can ask for."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or read_settings(os.environ)

    def topology(self) -> Topology:
        """The cores of this machine that this process may use."""
        from tuibench.host.topology import read_topology  # what only measuring needs

        return read_topology(os.sched_getaffinity(0))

    def machine(self, *, hidden: bool = False) -> Machine:
        """This machine and its engines, with `hidden` those for tests, too; reads what does not change."""
        from tuibench.core import engine
        from tuibench.workbench.equipment import read_machine  # what only forms need

        return read_machine(self.store, engine.names(hidden=hidden))

    def load_words(self) -> str:
        """Whether others are at work on this machine now, in words; takes a moment to look."""
        from tuibench.host.load import load_words, read_cpu_times  # as above

        before, began, own = read_cpu_times(), time.monotonic(), time.process_time()
        time.sleep(_LOOK_S)
        own = (time.process_time() - own) / (time.monotonic() - began)
        return load_words(before, read_cpu_times(), os.sched_getaffinity(0), own)

    def memory_room(self) -> int | None:
        """Bytes that can be had now, None where that cannot be told."""
        from tuibench.host.cgroup import find_groups, read_memory  # as above
        from tuibench.host.tree import Tree

        tree = Tree()
        return read_memory(tree, find_groups(tree)).room_bytes

    def fetch(self, token: str, tell: Callable[[FetchProgress], None] = lambda _: None) -> ModelSource:
        """The file of a model that lies elsewhere, fetched unless it is here; `tell` hears how far it is."""
        from tuibench.workbench.fetching import ModelFetch  # children and their limits

        return ModelFetch(token, self.settings.places).carry_out(tell).source

    def check_engines(self, names: Sequence[str]) -> None:
        """Raise for the first name that is no engine of this version; nothing is started or imported for it."""
        from tuibench.engines import registry  # as above

        for name in names:
            registry.check(name)

    def examine(self, engines: list[dict[str, Any]], terminal: dict[str, Any]) -> dict[str, Any]:
        """How fit this machine is to be measured on, with what to mend; takes half a second to look at the noise."""
        from tuibench.host.brand import read_brand  # what only doctor needs
        from tuibench.host.checkup import examine
        from tuibench.host.facts import this_process
        from tuibench.workbench.stock import find_in_stock, take_stock

        process = this_process()
        cache = self.settings.places.cache
        facts = examine(process, engines=engines, terminal=terminal, brand=lambda boot_id: read_brand(boot_id, cache))
        stock = take_stock(self.store, self.settings.places.data)
        facts["env_private"]["store"] = stock.pop("private")
        facts["store"] = stock
        found = [*facts["findings"], *find_in_stock(stock)]
        return facts | {"findings": sorted(found, key=lambda finding: bool(finding["level"] != "harm"))}

    @cached_property
    def store(self) -> Store:
        """What was measured, as it lies on disk; nothing is read before it is asked for."""
        from tuibench.workbench.opening import open_store  # tinydb: 10 ms

        return open_store(self.settings.places.data)

    def notices(self) -> tuple[str, ...]:
        """What the store met so far that somebody should know; () where it was never opened."""
        return self.store.notices() if "store" in self.__dict__ else ()

    @cached_property
    def library(self) -> Library:
        """What was measured and kept."""
        from tuibench.workbench.library import Library  # as above

        return Library(self.store, lambda: self.runs)

    @cached_property
    def profiles(self) -> Profiles:
        """What tells the layers of a model apart."""
        from tuibench.workbench.profiles import Profiles  # the runner's side: 20 ms

        return Profiles(self.settings, self.store, lambda: self.library, lambda: self.runs)

    def close(self) -> None:
        """End what this process still counts, so that it leaves nothing in TMPDIR."""
        if "profiles" in self.__dict__:
            self.profiles.close()

    def plan_run(self, run: WatchedRun) -> ProfilePlan:
        """What a run will take that makes a profile; asked of no other."""
        return self.profiles.plan_run(run)

    @cached_property
    def exchange(self) -> Exchange:
        """What leaves the store, comes in, and is held against each other."""
        from tuibench.workbench.exchange import Exchange  # reports and comparison: 20 ms

        return Exchange(
            self.store, self.library, lambda: self.runs, os.path.expanduser("~"), lambda: int(time.time() * 1000)
        )

    def repetition(self, stored: StoredBenchmark, locate: Locate) -> Repetition:
        """The models of a stored benchmark, looked at whether they can be measured again."""
        from tuibench.workbench.repetition import Repetition  # children and their limits: for re-runs alone

        return Repetition(stored, self.settings.places, locate)

    @cached_property
    def projects(self) -> Projects:
        """What keeps benchmarks of one model together."""
        from tuibench.workbench.projects import Projects  # with the store, as above

        return Projects(self.settings.places, self.store, lambda: self.runs)

    @cached_property
    def runs(self) -> Runs:
        """What measures, waits, or broke off."""
        from tuibench.workbench.runs import Runs  # the runner's side: 20 ms

        return Runs(self.settings, self.store)
