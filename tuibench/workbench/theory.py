"""What can be said of a model without measuring: costs by shapes, losses by weights; a child finds out, once."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from functools import partial
from typing import Any

from tuibench.core.errors import ModelError, PhaseTimeout
from tuibench.core.place import Places
from tuibench.core.profile import LEVELS, CostProfile, LayerLoss, LossProfile
from tuibench.core.record import from_plain, to_plain
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.text import show
from tuibench.host.cgroup import find_groups, read_memory
from tuibench.host.tree import Tree
from tuibench.insight.loss_assembly import LossFacts, assemble_loss
from tuibench.runs.directory import make_private
from tuibench.runs.resumption import hash_inputs
from tuibench.runs.shelf import Shelf
from tuibench.workbench.asking import ask_child
from tuibench.workbench.launch import passing_directory
from tuibench.workbench.model import inspect

_FORM = 2
"""Of what is counted and how: with another one nothing that was kept is used."""
_PLACE = "theory"
_COST_S, _WEIGHTS_S = 120.0, 120.0
_PARTS = ("logs", "inputs", "work")


class _Unrun(Exception):
    """A model could not be run, and this is what can be told without."""

    def __init__(self, costs: CostProfile) -> None:
        super().__init__()
        self.costs = costs


class Theory:
    """Asks children and remembers what they said, by the content of the model and what it is fed."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._unrun: dict[str, CostProfile] = {}
        """What was inferred of models whose run failed."""
        self._last: tuple[str, CostProfile] | None = None
        """What was read or counted last: a form asks for it with every key."""
        self._costs = Shelf(places.cache / _PLACE, _FORM, partial(from_plain, CostProfile))
        self._weights = Shelf(places.cache / _PLACE, _FORM, partial(from_plain, tuple[LayerLoss, ...]))

    def costs(self, spec: BenchmarkSpec) -> CostProfile:
        """What each node costs at the one batch and dims that are asked for; ModelError where it cannot be told."""
        key = self._name("costs", spec, _feeding(spec))
        found = self._known(key) or self._unrun.get(key)
        if found is not None:
            return found
        try:
            found = self._count(spec)
        except _Unrun as poorer:
            # For this session alone: the next run may end well.
            found = self._unrun[key] = poorer.costs
        else:
            self._costs.put(key, found)
        return found

    def known_costs(self, spec: BenchmarkSpec, sha256: str) -> CostProfile | None:
        """The same where it was found out before; nothing is started for it."""
        return self._known(_key("costs", sha256, _feeding(spec)))

    def _known(self, key: str) -> CostProfile | None:
        last = self._last
        if last is None or last[0] != key:
            found = self._costs.get(key)
            if found is None:
                return None
            last = self._last = key, found
        return last[1]

    def weights(self, spec: BenchmarkSpec) -> LossProfile:
        """The approximated loss profile."""
        levels = list(spec.profile.levels if spec.profile is not None else LEVELS)
        key = self._name("weights", spec, levels)
        layers = self._weights.get(key)
        if layers is None:
            layers = from_plain(tuple[LayerLoss, ...], self._ask("weights", spec, {"levels": levels}))
            self._weights.put(key, layers)
        return assemble_loss(layers, None, LossFacts(levels=tuple(levels)))

    def _count(self, spec: BenchmarkSpec) -> CostProfile:
        try:
            return from_plain(CostProfile, self._ask("cost", spec, {}))
        except (ModelError, PhaseTimeout) as error:
            # A model that cannot be run can still be read.
            why = f"the run without optimization failed: {error.message}"
            raise _Unrun(from_plain(CostProfile, self._ask("cost", spec, {"static": why}))) from error

    def _ask(self, task: str, spec: BenchmarkSpec, more: Mapping[str, Any]) -> Any:
        source, tree = spec.models[0], Tree()
        run_dir = passing_directory()
        try:
            for part in _PARTS:
                make_private(run_dir / part)
            request = {"path": source.path, "run_dir": str(run_dir), "spec": to_plain(spec), "point": None, **more}
            request["memory_bytes"] = read_memory(tree, find_groups(tree)).room_bytes
            limit = (_COST_S if task == "cost" else _WEIGHTS_S) * spec.limits.timeout_scale
            return ask_child(task, request, what=f"{show(source.asked)}: reading its layers", timeout_s=limit)
        finally:
            shutil.rmtree(run_dir, ignore_errors=True)

    def _name(self, task: str, spec: BenchmarkSpec, fed: object) -> str:
        return _key(task, inspect(spec.models[0], self._places, spec.limits.timeout_scale).sha256, fed)


def _feeding(spec: BenchmarkSpec) -> list[object]:
    """All that decides the shapes."""
    inputs = spec.inputs
    file = hash_inputs(inputs.file)
    return [spec.batches, spec.dims, spec.sequence_lengths, inputs.shapes, inputs.batch_dim, file]


def _key(task: str, sha256: str, fed: object) -> str:
    return f"{task} {sha256[:12]} {hashlib.sha256(json.dumps([sha256, fed]).encode()).hexdigest()}"
