"""Makes the parts of a performance profile: costs, machine roofs, zero effect, layers per process, layers alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tuibench.core.cell import Estimate
from tuibench.core.engine import forms_of
from tuibench.core.profile import (
    COSTS,
    IMPOSED,
    LAYER,
    LAYERS,
    MOST_PRUNED,
    ROOFLINE,
    WHAT_IF,
    ZEROS,
    KernelRow,
    LayerRun,
    PrunedPoint,
    Roofline,
    WhatIf,
    ZeroEffect,
    split_part,
)
from tuibench.core.profile_facts import is_disturbed
from tuibench.core.reason import Failure, Reason, because
from tuibench.core.record import from_plain
from tuibench.core.spec import PRUNED, BenchmarkSpec
from tuibench.engines import factory
from tuibench.runs.base import Setup
from tuibench.runs.profile.cache import MachineCache, describe_machine
from tuibench.runs.profile.run import ProfileRun
from tuibench.runs.resumption import Disagreement, disagreement

_MACHINE: dict[str, type[Roofline] | type[ZeroEffect]] = {ROOFLINE: Roofline, ZEROS: ZeroEffect}
_MACHINE_S = {ROOFLINE: 3.0, ZEROS: 2.0}
"""Longest times; a quiet machine needs less."""
_PRUNED_S = 120.0
"""Longest time of one share of zeros: compiling a large model takes minutes."""
_ALONE_S = 2.0
"""Per layer measured alone."""
_MOST_ALONE = 20
_LEAST_SHARE = 0.01
_MOST_DEATHS = 3
_FINAL = frozenset({"model", "engine", "inputs", "timeout", "memory"})
"""Failures that another process would only repeat."""


class PerformanceRun(ProfileRun):
    """Makes the parts of a performance profile one by one."""

    def __init__(self, spec: BenchmarkSpec, setup: Setup) -> None:
        super().__init__(spec, setup)
        self._cache = MachineCache(setup.cache, setup.cpu or describe_machine(spec.engines[0]))
        self._before_ns = [run.unprofiled_us * 1e3 for run in self.parts.runs.values()]
        """Run times of earlier sessions."""

    def make(self, name: str) -> None:
        """Make the part with this name."""
        kind, number = split_part(name)
        if kind == COSTS:
            self.make_costs()
        elif kind in _MACHINE:
            self._make_of_machine(kind)
        elif kind == LAYERS:
            self._make_layers(number)
        else:
            self._make_what_if()

    def _make_of_machine(self, part: str) -> None:
        """Make a part about the machine: from the cache of the last week, or measured."""
        if part == ZEROS and factory.imposes_zeros(self.spec.engines[0]):
            self._make_pruned()
            return
        if self._lacks_alone(part):
            return
        known = self._known(part)
        if known is not None:
            self.keep(part, known, cached=True)
            return
        self.pace.begin(part)
        max_s = _MACHINE_S[part]
        request = self.placed() | {"max_s": max_s}
        if part == ROOFLINE and ZEROS not in self.parts.done and self._known(ZEROS) is None:
            # Measure both in one process, as loading takes as long as measuring.
            max_s += _MACHINE_S[ZEROS]
            request |= {"zeros_s": _MACHINE_S[ZEROS]}
        answer = self.caller.ask(part, request, expected_s=max_s)
        if isinstance(answer, Failure):
            self.fail(part, answer)
        else:
            beside = answer.pop(ZEROS, None)
            self._keep_of_machine(part, from_plain(_MACHINE[part], answer))
            if beside is not None:
                self._keep_of_machine(ZEROS, from_plain(ZeroEffect, beside))
        self.pace.end()

    def _make_pruned(self) -> None:
        """Measure this model with more and more zeros, which the engine pretends; each share is durable."""
        self.pace.begin(ZEROS)

        # The conclusion compares shares of one process.
        answer = self._ask_pruned(ZEROS, len(IMPOSED), zeros=list(IMPOSED))
        if isinstance(answer, Failure):
            self.fail(ZEROS, answer)
        else:
            self.keep(ZEROS, from_plain(ZeroEffect, answer))
        self.pace.end()

    def _ask_pruned(self, part: str, of: int, **asked: Any) -> Any:
        """Return the answer of the task `pruned`; each share is durable."""

        def hear(line: dict[str, Any]) -> None:
            if "pruned" in line:
                point = from_plain(PrunedPoint, line["pruned"])
                self.keep_piece(part, point.operator or point.layer or "model", point, level=f"{point.zeros:g}")
            self.pace.piece(sum(one.is_part == (part == WHAT_IF) for one in self.parts.pruned.values()), of)
            self.pass_between()

        request = self._layer_request() | asked
        request["for_cpus"] = request.pop("cpus")
        return self.caller.ask("pruned", request, expected_s=_PRUNED_S, hear=hear)

    def _layer_request(self) -> dict[str, Any]:
        """Return the fields of a request to time layers."""
        own = self.setup.interpreters.get(self.spec.engines[0], "")
        return self.placed() | {"runs": self.asked.runs, "max_s": self.spec.effort.limit_s, "interpreter": own}

    def _lacks_alone(self, part: str) -> bool:
        """Return whether the profile's engine cannot measure this part; record the failure if so."""
        engine = self.spec.engines[0]
        if factory.runs_ours(engine):
            return False
        self.fail(part, Failure("refused", "planning", because("not_measured_with", engine=engine)))
        return True

    def _known(self, part: str) -> Roofline | ZeroEffect | None:
        """Return the cached measurement of this machine; None if missing, unusable or to be measured again."""
        found = None if self.asked.fresh_roofs else self._cache.get(part, self.cores, _MACHINE[part])
        return found if found is not None and _is_sound(found) else None

    def _keep_of_machine(self, part: str, found: Roofline | ZeroEffect) -> None:
        """Keep the result in this profile; cache it for later ones if it is sound."""
        self.keep(part, found)
        if _is_sound(found):
            self._cache.put(part, self.cores, found)
        else:
            self._cache.forget(part, self.cores)

    def _make_layers(self, n: int) -> None:
        name = f"{LAYERS} {n}"
        final = self._final()
        if final is not None:
            self.fail(LAYERS, final, n)
            return
        self.pace.begin(name)
        max_s = self.spec.effort.limit_s
        request = self._layer_request()
        answer = self.caller.ask(
            LAYERS, request, log=name, expected_s=max_s, hear=lambda line: self.pace.hear(name, line)
        )
        if isinstance(answer, Failure):
            self.fail(LAYERS, answer, n)
        else:
            found = from_plain(LayerRun, answer)
            self._require_agreement(found)
            self.keep(LAYERS, found, n)
        self.pace.end()

    def _final(self) -> Failure | None:
        """Return the first process's failure if every further process would fail in the same way."""
        if self.parts.runs:
            return None
        earlier = [failure for name, failure in self.parts.failures.items() if split_part(name)[0] == LAYERS]
        return next((failure for failure in earlier if failure.kind in _FINAL), None)

    def _require_agreement(self, found: LayerRun) -> None:
        """Raise Disagreement if the machine's speed differs from the previous session."""
        before, self._before_ns = self._before_ns, []
        difference = disagreement(found.unprofiled_us * 1e3, before, "inference_differs") if before else None
        if difference is None:
            return
        if not self.setup.mixed:
            raise Disagreement.from_reason(difference)
        message = because("mixed", difference=difference)
        self.journal.append("warning", message=message)

    def _make_what_if(self) -> None:
        self.pace.begin(WHAT_IF)
        if self.parts.costs is None:
            self.fail(WHAT_IF, Failure("exception", "what-if", Reason("no_costs_to_choose_by")))
        else:
            went_well = [self._make_form(form) for form in self.asked.what_if]
            # Keep a recorded failure: storing a result would remove it.
            if all(went_well):
                self.keep(WHAT_IF, None)
        self.pace.end()

    def _make_form(self, form: str) -> bool:
        """Measure single layers in one form; return false if that failed."""
        engine = self.spec.engines[0]
        if form not in forms_of(engine):
            self.fail(WHAT_IF, Failure("refused", "planning", because("not_measured_with", engine=engine)))
            return False
        return self._prune_parts() if form == PRUNED else self._make_alone(form, self._heavy())

    def _prune_parts(self) -> bool:
        """Measure zeros in one operator, then in one of the heaviest layers, at a time; return false if that failed."""
        ops = {node.id: node.op for node in self.parts.costs.nodes} if self.parts.costs is not None else {}
        rows = self._products()
        by_operator: dict[str, tuple[str, ...]] = {}
        for chief, row in rows.items():
            by_operator[ops[chief]] = (*by_operator.get(ops[chief], ()), *row.nodes)
        parts = [(op, "", nodes) for op, nodes in by_operator.items()]
        parts += [("", chief, row.nodes) for chief, row in list(rows.items())[:MOST_PRUNED]]
        wanted = [
            {"operator": op, "layer": layer, "nodes": list(nodes), "zeros": zeros}
            for op, layer, nodes in parts
            for zeros in IMPOSED
        ]
        left = [one for one in wanted if (one["operator"], one["layer"], one["zeros"]) not in self.parts.pruned]
        answer = self._ask_pruned(WHAT_IF, len(wanted), parts=left) if left else None
        if isinstance(answer, Failure):
            self.fail(WHAT_IF, answer)
        return not isinstance(answer, Failure)

    def _make_alone(self, form: str, rows: Mapping[str, Sequence[str]]) -> bool:
        """Measure all rows alone; return false if that failed. Skip rows that killed a child."""
        known, deaths = self.parts.what_if, 0
        while left := {row: list(nodes) for row, nodes in rows.items() if (row, form) not in known}:
            self.pass_between()
            at: list[str] = []

            def hear(line: dict[str, Any], at: list[str] = at) -> None:
                at[:] = [str(line["at"]["id"])] if "at" in line else []
                found = line.get("what_if")
                if found is not None:
                    piece = dict(found)
                    self.keep_piece(WHAT_IF, str(piece.pop("id")), from_plain(WhatIf, piece | {"form": form}))
                    self.pace.piece(sum((row, form) in known for row in rows), len(rows))
                    self.pass_between()

            max_s = _ALONE_S * len(left)
            request = self.placed() | {"form": form, "rows": left, "max_s": max_s}
            answer = self.caller.ask(WHAT_IF, request, expected_s=max_s, hear=hear)
            if not isinstance(answer, Failure):
                return True
            deaths += 1
            # A death outside any row fails the whole part.
            if answer.kind in _FINAL - {"timeout", "memory"} or deaths > _MOST_DEATHS or not at:
                self.fail(WHAT_IF, answer)
                return False
            reason = because("alone_failed", why=answer.as_reason())
            self.keep_piece(WHAT_IF, at[0], WhatIf(form, Estimate(None, reason=reason), reason))
        return True

    def _heavy(self) -> dict[str, tuple[str, ...]]:
        """Return the nodes of each row with a relevant share of time and float products, slowest row first."""
        rows = self._products()
        total = sum(row.us for run in self._first_run() for row in run.rows) or 1.0
        heavy = {chief: row.nodes for chief, row in rows.items() if row.us / total >= _LEAST_SHARE}
        return dict(list(heavy.items())[:_MOST_ALONE])

    def _first_run(self) -> list[LayerRun]:
        return [self.parts.runs[min(self.parts.runs)]] if self.parts.runs else []

    def _products(self) -> dict[str, KernelRow]:
        """Return each row of float products by its node with the most products, slowest row first."""
        if self.parts.costs is None:
            return {}
        macs = {node.id: node.macs or 0 for node in self.parts.costs.nodes}

        def chief(row: KernelRow) -> str:
            return max(row.nodes, key=lambda node: macs.get(node, 0), default="")

        rows = [row for run in self._first_run() for row in run.rows]
        rows = [row for row in rows if row.kind == LAYER and macs.get(chief(row), 0) and not row.integer]
        return {chief(row): row for row in sorted(rows, key=lambda row: -row.us)}


def _is_sound(found: Roofline | ZeroEffect) -> bool:
    """Return whether a measurement fits for later profiles: complete and undisturbed."""
    if found.grade is None or is_disturbed(found.grade):
        return False
    if isinstance(found, Roofline):
        return None not in (found.f32_gflops, found.int8_gops, found.dram_gb_s) and bool(found.cache_gb_s)
    return found.exploits is not None
