"""The actions on profiles: estimate, compute without measuring, start."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tuibench.core import engine
from tuibench.core.cell import Asked, p50_latency
from tuibench.core.errors import StoreError, UnknownId
from tuibench.core.ids import short_id
from tuibench.core.profile import (
    IMPOSED,
    INT8,
    LOSS,
    MOST_PRUNED,
    PERFORMANCE,
    PRUNED_RUNS,
    CostProfile,
    LossProfile,
    ProfileSpec,
)
from tuibench.core.profile_facts import WORST, count_layers, count_points, estimate_s
from tuibench.core.scenario import PROFILED
from tuibench.core.spec import EFFORTS, PRUNED, BenchmarkSpec, InputSettings, Limits, ModelSource
from tuibench.core.stored import BenchmarkRow
from tuibench.core.units import count_of, ms, scaled
from tuibench.engines import factory
from tuibench.engines.installation import require_interpreters
from tuibench.runs.profile.cache import has_roofs
from tuibench.services.forecast import FORM_WORDS, process_words
from tuibench.services.settings import Settings
from tuibench.services.theory import Theory
from tuibench.store.store import Store

if TYPE_CHECKING:  # types only: listing profiles must not import them
    from tuibench.runs.observer import RunObserver
    from tuibench.services.active_run import ActiveRun
    from tuibench.services.library import Library
    from tuibench.services.runs import RunOptions, Runs

_BEFORE_S = 2.0
"""Time to inspect a model, generate inputs and count costs."""
_ROOFS_S = 3.0
_PROCESS_S = 1.0
_ALONE_S, _MOST_ALONE = 0.7, 20
_UNPROFILED_S = 1.0
_SHARE_S, _COMPILE_S = 1.0, 0.5e-6
"""Time of one share of zeros that an engine pretends, and added time per weight; measured up to 17 M weights."""
_FLOPS_PER_CORE = 2e10
"""Estimated speed of a core, used if nothing of a model is measured yet."""
_NODE_MS = 0.001
"""Least time of a node."""
_NODE_BEFORE_S, _NODE_PROCESS_S = 0.65e-3, 0.22e-3
"""Added time per node: for inspecting and counting; for loading, profiling and reading in a process.

Measured on chains of 5,000 to 60,000 products; the longest take a minute.
"""
_LOOKED_AT = 20
"""Newest benchmarks of a model that are read for an estimate."""


@dataclass(frozen=True, slots=True)
class ProfilePlan:
    """The estimate for a profile before the start."""

    seconds: float | None
    """Estimated time; None if nothing is known of the model yet."""
    words: tuple[str, ...]
    """The steps in words."""
    basis: str = ""
    """The basis of the estimate, measured or guessed; '' if there is no estimate."""


class Profiles:
    """The actions on profiles that differ from benchmarks; reading, editing and removing are the same."""

    def __init__(
        self, settings: Settings, store: Store, library: Callable[[], Library], runs: Callable[[], Runs]
    ) -> None:
        self._places = settings.places
        self._store = store
        self._library = library
        self._runs = runs
        self._theory = Theory(settings.places, settings.host_lock)

    def check_engine(self, engine: str) -> None:
        """Raise EngineError for an engine that does not report times per layer, or is not installed."""
        factory.check_timed(engine)
        require_interpreters(self._places.engines, [engine])

    def close(self) -> None:
        """End the child processes that count costs."""
        self._theory.close()

    def costs(
        self, model: ModelSource | str, batch: int | None = None, dims: Mapping[str, int] | None = None
    ) -> CostProfile:
        """Return the theoretical costs of a model at a batch and dims; later calls only inspect the model."""
        return self.costs_of(theory_spec(model, PERFORMANCE, batch, dims))

    def costs_of(self, spec: BenchmarkSpec) -> CostProfile:
        """Return the same for a specification."""
        return self._theory.costs(spec)

    def count(self, spec: BenchmarkSpec) -> tuple[CostProfile, str]:
        """Return the same with the checksum of the counted model."""
        return self._theory.count(spec)

    def weights(self, model: ModelSource | str) -> LossProfile:
        """Return the approximated loss profile of a model."""
        return self.weights_of(theory_spec(model, LOSS))

    def weights_of(self, spec: BenchmarkSpec) -> LossProfile:
        """Return the same for a specification."""
        return self._theory.weights(spec)

    def count_layers(self, spec: BenchmarkSpec) -> int:
        """Return the layer count of a loss profile; a child reads the weights unless cached."""
        levels = ProfileSpec(LOSS, approximate=True)  # the same levels as a project's pages, so that the cache hits
        return len(self._theory.weights(replace(spec, profile=levels)).layers)

    def plan(
        self, spec: BenchmarkSpec, sha256: str = "", costs: CostProfile | None = None, layers: int | None = None
    ) -> ProfilePlan:
        """Estimate a profile from earlier measurements of the model, else from its costs; start nothing.

        `layers` is the layer count of a loss profile, if the weights were read.
        """
        asked = spec.profile or ProfileSpec(PERFORMANCE)
        costs = costs or (self._theory.known_costs(spec, sha256) if sha256 else None)
        each_ms, basis = self._inference_ms(spec, sha256, costs)
        if asked.kind == LOSS:
            layers = layers if layers is not None or costs is None else count_layers(costs) or None
            plan = _plan_loss(asked, costs, layers, (each_ms, basis))
        else:
            knows_roofs = has_roofs(str(self._places.cache), spec.cores[0]) and not asked.fresh_roofs
            plan = _plan_performance(asked, costs, (each_ms, basis), knows_roofs)
            plan = _with_zeros(plan, costs, asked, each_ms) if factory.imposes_zeros(spec.engines[0]) else plan
        most = spec.limits.max_time_s
        if plan.seconds is None or most is None or plan.seconds <= most:
            return plan
        return replace(plan, seconds=most, basis=f"{plan.basis}; --max-time ends it before all is made")

    def plan_anew(self, spec: BenchmarkSpec) -> ProfilePlan:
        """Inspect the model first, then estimate."""
        costs = self._theory.costs(spec)
        asked = spec.profile or ProfileSpec(PERFORMANCE)
        layers = self.count_layers(spec) if asked.kind == LOSS and not count_layers(costs) else None
        return self.plan(spec, self._theory.sha256(spec), costs, layers)

    def plan_run(self, run: RunObserver) -> ProfilePlan:
        """Estimate from a run, using the facts of its model known so far."""
        replay, weights = run.replay, run.replay.parts.weights
        sha256 = "".join(model.sha256 for model in replay.models[:1])
        return self.plan(replay.spec, sha256, replay.parts.costs, len(weights) if weights is not None else None)

    def start(self, spec: BenchmarkSpec, options: RunOptions) -> tuple[ActiveRun, tuple[str, ...]]:
        """Start a runner that ends with this process unless detached; return it with messages for the user."""
        self.check_engine(spec.engines[0])
        return self._runs().start(spec, options)

    def launch(self, spec: BenchmarkSpec, options: RunOptions) -> tuple[str, tuple[str, ...]]:
        """Start the same as a detached run; return its id and messages for the user."""
        self.check_engine(spec.engines[0])
        return self._runs().launch(spec, options)

    def rows(self, project: str | None = None, kind: str = "") -> tuple[BenchmarkRow, ...]:
        """Return the stored profiles, newest first, optionally of one project or one kind."""
        return tuple(row for row in self._library().list_profiles(project) if kind in ("", row.kind))

    def _inference_ms(self, spec: BenchmarkSpec, sha256: str, costs: CostProfile | None) -> tuple[float | None, str]:
        """Return the estimated time of one inference and its source in words."""
        for row in self._rows_of(sha256)[:_LOOKED_AT]:
            found = self._measured_ms(row.id, spec)
            if found is not None:
                return found, f"one inference of {ms(found)}, as measured before ({short_id(row.id)})"
        # A model that computes nothing for its inputs still spends time on its nodes.
        if costs is not None and (costs.flops or (costs.nodes and not costs.unknown)):
            guess = max(1e3 * costs.flops / (_FLOPS_PER_CORE * spec.cores[0]), _NODE_MS * len(costs.nodes))
            return guess, f"one inference of {ms(guess)}, guessed by its {scaled(costs.flops)} FLOPs{_many(costs)}"
        return None, ""

    def _rows_of(self, sha256: str) -> list[BenchmarkRow]:
        """Return the benchmarks of a model, newest first; none if the store fails, since this is only an estimate."""
        try:
            rows = self._store.benchmarks.rows() if sha256 else ()
        except StoreError:
            return []
        return [row for row in rows if row.model_sha256 == sha256 and row.kind != LOSS]

    def _measured_ms(self, one: str, spec: BenchmarkSpec) -> float | None:
        try:
            result = self._store.benchmarks.get(one).result
        except (StoreError, UnknownId):
            return None
        profiled = result.profile.performance if result.profile is not None else None
        if profiled is not None:
            return profiled.ms.value if _is_same(result.spec, spec) else None
        for cell in result.cells:
            p50 = p50_latency(cell)
            if p50.value is not None and _is_alike(cell.asked, spec):
                return p50.value
        return None


def _is_alike(asked: Asked, spec: BenchmarkSpec) -> bool:
    """Return whether a cell measured what a profile will run: engine, cores, batch and every requested size."""
    batches = (spec.batches[0],) if spec.batches else (None, 1)
    same = (asked.scenario, asked.engine, asked.precision) == (PROFILED, spec.engines[0], spec.precision)
    sizes = all(asked.dims.get(name) == values[0] for name, values in spec.dims)
    lengths = set(spec.sequence_lengths[:1]) <= set(asked.dims.values())
    return same and asked.cores == spec.cores[0] and asked.batch in batches and sizes and lengths


def _is_same(made: BenchmarkSpec, spec: BenchmarkSpec) -> bool:
    """Return whether two profiles run the same; both have one value per option, typed alike."""
    return all(
        getattr(made, field) == getattr(spec, field)
        for field in ("engines", "cores", "batches", "dims", "sequence_lengths", "precision")
    )


def theory_spec(
    model: ModelSource | str, kind: str, batch: int | None = None, dims: Mapping[str, int] | None = None
) -> BenchmarkSpec:
    """Return the specification of a profile that measures nothing."""
    source = ModelSource(model, model) if isinstance(model, str) else model
    return BenchmarkSpec(
        models=(source,), engines=(engine.DEFAULT,), scenarios=(PROFILED,), cores=(1,),
        batches=(batch,) if batch else (), dims=tuple((name, (size,)) for name, size in (dims or {}).items()),
        sequence_lengths=(), streams=None, stream_kind=None, pin="core", precision="f32", io=None,
        effort=EFFORTS["default"], inputs=InputSettings(), limits=Limits(), check=False,
        profile=ProfileSpec(kind, approximate=kind == LOSS),
    )  # fmt: skip


def _plan_performance(
    asked: ProfileSpec, costs: CostProfile | None, inference: tuple[float | None, str], has_roofs: bool
) -> ProfilePlan:
    each_ms, basis = inference
    words = [f"{process_words(asked)} of {count_of(asked.runs, 'profiled run')} each"]
    words += [] if has_roofs else ["peak speeds of this machine (cached for a week)"]
    words += [FORM_WORDS[form] for form in asked.what_if]
    if each_ms is None:
        return ProfilePlan(None, tuple(words))
    each_s = each_ms / 1e3
    nodes = len(costs.nodes) if costs is not None else 0
    process_s = _PROCESS_S + nodes * _NODE_PROCESS_S + (2 + asked.runs) * each_s * 1.1 + max(_UNPROFILED_S, 10 * each_s)
    seconds = _BEFORE_S + nodes * _NODE_BEFORE_S + (0.0 if has_roofs else _ROOFS_S) + asked.processes * process_s
    if INT8 in asked.what_if:
        # A layer without products gains nothing from integers.
        products = sum(bool(node.macs) for node in costs.nodes) if costs is not None else _MOST_ALONE
        seconds += min(products, _MOST_ALONE) * _ALONE_S
    return ProfilePlan(seconds, tuple(words), basis)


def _with_zeros(plan: ProfilePlan, costs: CostProfile | None, asked: ProfileSpec, each_ms: float | None) -> ProfilePlan:
    """Add the shares of zeros that the engine pretends: each compiles the model again."""
    words = (*plan.words, f"the model with {len(IMPOSED)} shares of zeros")
    if plan.seconds is None or costs is None:
        return replace(plan, words=words, seconds=None)
    each_s = _SHARE_S + costs.parameters * _COMPILE_S + min(asked.runs, PRUNED_RUNS) * (each_ms or 0.0) / 1e3
    products = Counter(node.op for node in costs.nodes if node.macs and PRUNED in asked.what_if)
    parts = len(products) + min(MOST_PRUNED, products.total())
    return replace(plan, seconds=plan.seconds + (1 + parts) * len(IMPOSED) * each_s, words=words)


def _plan_loss(
    asked: ProfileSpec, costs: CostProfile | None, layers: int | None, inference: tuple[float | None, str]
) -> ProfilePlan:
    each_ms, basis = inference
    if layers == 0:
        return ProfilePlan(_BEFORE_S, ("no layer with weights that could be changed",), "having no layer to change")
    words = [f"{count_of(len(asked.levels), 'level')} on {count_of(asked.samples, 'sample')}"]
    words += [f"the {WORST} worst layers at every level, the others at one"] if asked.budget else []
    if layers is None or each_ms is None:
        return ProfilePlan(None, tuple(words))
    points = count_points(layers, len(asked.levels), asked.budget)
    nodes_s = len(costs.nodes) * (_NODE_BEFORE_S + _NODE_PROCESS_S) if costs is not None else 0.0
    seconds = _BEFORE_S + _PROCESS_S + nodes_s + estimate_s(points, asked.samples, each_ms)
    return ProfilePlan(math.ceil(seconds), (f"{count_of(layers, 'layer')}, {words[0]}", *words[1:]), basis)


def _many(costs: CostProfile) -> str:
    """Return the node count in words if the nodes dominate the time."""
    count = len(costs.nodes)
    return f" and {count_of(count, 'node')}" if count * _NODE_BEFORE_S > _BEFORE_S else ""
