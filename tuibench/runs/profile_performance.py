"""The parts of a performance profile: costs, roofs and zeros of the machine, layers per process, layers alone."""

from __future__ import annotations

from typing import Any

from tuibench.core.cell import Estimate, Failure
from tuibench.core.failure import failure_words
from tuibench.core.profile import LAYER, CostProfile, KernelRow, LayerRun, Roofline, WhatIf, ZeroEffect
from tuibench.core.record import from_plain, to_plain
from tuibench.engines import registry
from tuibench.runs.profile_part import COSTS, LAYERS, ROOFLINE, WHAT_IF, ZEROS
from tuibench.runs.profile_sitting import ProfileSitting
from tuibench.runs.resumption import Disagreement, disagreement

_COST_S = 30.0
_ROOF_S, _ZEROS_S = 3.0, 2.0
_ALONE_S = 2.0
"""Per layer that is measured alone."""
_MOST_ALONE = 20
_LEAST_SHARE = 0.01
_MOST_DEATHS = 3
_FINAL = frozenset({"model", "engine", "inputs", "timeout", "memory"})
"""Kinds of failure that another process would only repeat."""


def make_costs(sitting: ProfileSitting) -> None:
    """What each node costs by its shapes; both kinds of profiles have it."""
    sitting.pace.begin(COSTS)
    spec = sitting.spec
    told = {"batch": spec.batches[0] if spec.batches else None, "dims": {name: values[0] for name, values in spec.dims}}
    answer = sitting.caller.ask("cost", told, expected_s=_COST_S)
    if isinstance(answer, Failure):
        # A model that cannot be run without optimization can still be read.
        why = f"the run without optimization failed: {failure_words(answer)}"
        sitting.setup.journal.append("warning", message=f"costs: {why}; shapes are inferred instead")
        answer = sitting.caller.ask("cost", told | {"static": why}, expected_s=_COST_S)
    if isinstance(answer, Failure):
        sitting.fail(COSTS, answer)
    else:
        sitting.keep(COSTS, from_plain(CostProfile, answer))
    sitting.pace.end()


class PerformanceMaker:
    """Makes one part after the other."""

    def __init__(self, sitting: ProfileSitting) -> None:
        self._sitting = sitting
        self._parts = sitting.parts
        past = sitting.setup.past
        self._before_ns = [run.unprofiled_us * 1e3 for run in past.parts.runs.values()] if past is not None else []
        """What earlier sittings found."""

    def make(self, name: str) -> None:
        """One part, by its name."""
        part, _, number = name.partition(" ")
        if part == COSTS:
            make_costs(self._sitting)
        elif part == ROOFLINE:
            self._make_of_machine(ROOFLINE, _ROOF_S, Roofline)
        elif part == ZEROS:
            self._make_of_machine(ZEROS, _ZEROS_S, ZeroEffect)
        elif part == LAYERS:
            self._make_layers(int(number))
        else:
            self._make_what_if()

    def _make_of_machine(self, part: str, max_s: float, kind: type[Roofline] | type[ZeroEffect]) -> None:
        """What is true of the machine whatever the model; once measured it stays so."""
        sitting = self._sitting
        if self._lacks_alone(part):
            return
        known = sitting.shelf.get(part, sitting.cores)
        if known is not None:
            try:
                sitting.keep(part, from_plain(kind, known), cached=True)
                return
            except (TypeError, ValueError, KeyError, AttributeError):
                known = None  # another version wrote it, or somebody else
        sitting.pace.begin(part)
        answer = sitting.caller.ask(part, sitting.placed() | {"max_s": max_s}, expected_s=max_s)
        if isinstance(answer, Failure):
            sitting.fail(part, answer)
        else:
            found = from_plain(kind, answer)
            sitting.keep(part, found)
            if _is_whole(found):
                sitting.shelf.put(part, sitting.cores, to_plain(found))
        sitting.pace.end()

    def _lacks_alone(self, part: str) -> bool:
        """Whether the engine of this profile is not one that such a part is measured with, which is written down."""
        engine = self._sitting.spec.engines[0]
        if registry.runs_ours(engine):
            return False
        self._sitting.fail(part, Failure("refused", "planning", f"it is not measured with {engine}"))
        return True

    def _make_layers(self, n: int) -> None:
        sitting, name = self._sitting, f"{LAYERS} {n}"
        final = self._final()
        if final is not None:
            sitting.fail(LAYERS, final, n)
            return
        sitting.pace.begin(name)
        max_s = sitting.spec.effort.limit_s
        told = sitting.placed() | {"runs": sitting.asked.runs, "max_s": max_s}
        answer = sitting.caller.ask(
            LAYERS, told, log=name, expected_s=max_s, hear=lambda line: sitting.pace.hear(name, line)
        )
        if isinstance(answer, Failure):
            sitting.fail(LAYERS, answer, n)
        else:
            found = from_plain(LayerRun, answer)
            self._require_agreement(found)
            sitting.keep(LAYERS, found, n)
        sitting.pace.end()

    def _final(self) -> Failure | None:
        """Why another process would fail, too, where the first one told."""
        if self._parts.runs:
            return None
        earlier = [failure for name, failure in self._parts.failures.items() if name.startswith(LAYERS)]
        return next((failure for failure in earlier if failure.kind in _FINAL), None)

    def _require_agreement(self, found: LayerRun) -> None:
        """Raise Disagreement where the machine is not as fast as in the sitting before: times would not be of one."""
        before, self._before_ns = self._before_ns, []
        difference = disagreement(found.unprofiled_us * 1e3, before) if before else None
        if difference is None:
            return
        words = difference.replace("the anchor execution", "one inference")
        if not self._sitting.setup.mixed:
            raise Disagreement(words)
        message = f"{words}; measured on all the same, as --mixed asks"
        self._sitting.setup.journal.append("warning", message=message)

    def _make_what_if(self) -> None:
        sitting = self._sitting
        if self._lacks_alone(WHAT_IF):
            return
        sitting.pace.begin(WHAT_IF)
        if self._parts.costs is None:
            why = "what the layers cost is not known, so none can be chosen"
            sitting.fail(WHAT_IF, Failure("exception", "what-if", why))
        else:
            went_well = [self._make_alone(form, self._heavy()) for form in sitting.asked.what_if]
            # A failure that was written down stands: what is kept after it would take it back.
            if all(went_well):
                sitting.keep(WHAT_IF, None)
        sitting.pace.end()

    def _make_alone(self, form: str, nodes: list[str]) -> bool:
        """Whether all nodes could be tried in isolation; what a child dies of is left out of the next one's work."""
        sitting, deaths = self._sitting, 0
        while left := [node for node in nodes if node not in self._parts.what_if]:
            sitting.pass_between()

            def hear(line: dict[str, Any]) -> None:
                found = line.get("what_if")
                if found is not None:
                    ratio = from_plain(Estimate, found["ratio"])
                    known = WhatIf(form, ratio, str(found.get("reason") or ""))
                    sitting.keep_piece(WHAT_IF, str(found["id"]), known)
                    sitting.pace.piece(sum(node in self._parts.what_if for node in nodes), len(nodes))
                    sitting.pass_between()

            told = sitting.placed() | {"form": form, "nodes": left, "max_s": _ALONE_S * len(left)}
            answer = sitting.caller.ask(WHAT_IF, told, expected_s=_ALONE_S * len(left), hear=hear)
            if not isinstance(answer, Failure):
                return True
            deaths += 1
            left = [node for node in left if node not in self._parts.what_if]
            if answer.kind in _FINAL - {"timeout", "memory"} or deaths > _MOST_DEATHS or not left:
                sitting.fail(WHAT_IF, answer)
                return False
            words = failure_words(answer)
            sitting.keep_piece(WHAT_IF, left[0], WhatIf(form, Estimate(None, reason=words), words))
        return True

    def _heavy(self) -> list[str]:
        """The node of each row that takes time worth saving and has products to save it on, heaviest row first."""
        run = self._parts.runs[min(self._parts.runs)] if self._parts.runs else None
        if run is None or self._parts.costs is None:
            return []
        macs = {node.id: node.macs or 0 for node in self._parts.costs.nodes}
        total = sum(row.us for row in run.rows) or 1.0

        def chief(row: KernelRow) -> str:
            return max(row.nodes, key=lambda node: macs.get(node, 0), default="")

        rows = [row for row in run.rows if row.kind == LAYER and macs.get(chief(row), 0) and not row.integer]
        rows = [row for row in rows if row.us / total >= _LEAST_SHARE]
        return [chief(row) for row in sorted(rows, key=lambda row: -row.us)[:_MOST_ALONE]]


def _is_whole(found: Roofline | ZeroEffect) -> bool:
    """Whether a later profile could do with it as it is."""
    if isinstance(found, Roofline):
        return found.f32_gflops is not None and found.dram_gb_s is not None
    return found.exploits is not None
