"""Makes the parts of a performance profile: costs, machine roofs, zero effect, layers per process, layers alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tuibench.core.cell import Estimate
from tuibench.core.failure import Failure, failure_words
from tuibench.core.profile import LAYER, CostProfile, KernelRow, LayerRun, Roofline, WhatIf, ZeroEffect
from tuibench.core.profile_facts import is_disturbed
from tuibench.core.record import from_plain
from tuibench.engines import registry
from tuibench.runs.profile.parts import COSTS, LAYERS, ROOFLINE, WHAT_IF, ZEROS
from tuibench.runs.profile.session import NothingMeasured, ProfileSession
from tuibench.runs.resumption import Disagreement, disagreement

_COST_S = 30.0
_MACHINE: dict[str, type[Roofline] | type[ZeroEffect]] = {ROOFLINE: Roofline, ZEROS: ZeroEffect}
_MACHINE_S = {ROOFLINE: 3.0, ZEROS: 2.0}
"""Longest times; a quiet machine needs less."""
_ALONE_S = 2.0
"""Per layer measured alone."""
_MOST_ALONE = 20
_LEAST_SHARE = 0.01
_MOST_DEATHS = 3
_FINAL = frozenset({"model", "engine", "inputs", "timeout", "memory"})
"""Failures that another process would only repeat."""


def make_costs(session: ProfileSession) -> None:
    """Make the costs of each node by its shapes; both kinds of profile have this part."""
    session.pace.begin(COSTS)
    answer = session.caller.ask("cost", {}, expected_s=_COST_S)
    if isinstance(answer, Failure):
        refuse_endless(session, answer)
        # The costs of a model that cannot run unoptimized can still be inferred.
        why = f"the run without optimization failed: {failure_words(answer)}"
        session.setup.journal.append("warning", message=f"costs: {why}; shapes are inferred instead")
        answer = session.caller.ask("cost", {"static": why}, expected_s=_COST_S)
    if isinstance(answer, Failure):
        session.fail(COSTS, answer)
    else:
        session.keep(COSTS, from_plain(CostProfile, answer))
    session.pace.end()


def refuse_endless(session: ProfileSession, failure: Failure) -> None:
    """Raise NothingMeasured if the first inference hung and every later part would hang, too."""
    is_endless = (failure.kind, failure.phase) == ("timeout", "first")
    if is_endless and registry.runs_ours(session.spec.engines[0]) and not session.asked.approximate:
        raise NothingMeasured.because(failure)


class PerformanceMaker:
    """Makes the parts one by one."""

    def __init__(self, session: ProfileSession) -> None:
        self._session = session
        self._parts = session.parts
        earlier = session.setup.earlier
        self._before_ns = (
            [run.unprofiled_us * 1e3 for run in earlier.parts.runs.values()] if earlier is not None else []
        )
        """Run times of earlier sessions."""

    def make(self, name: str) -> None:
        """Make the part with this name."""
        part, _, number = name.partition(" ")
        if part == COSTS:
            make_costs(self._session)
        elif part in _MACHINE:
            self._make_of_machine(part)
        elif part == LAYERS:
            self._make_layers(int(number))
        else:
            self._make_what_if()

    def _make_of_machine(self, part: str) -> None:
        """Make a part about the machine: from the cache of the last week, or measured."""
        session = self._session
        if self._lacks_alone(part):
            return
        known = self._known(part)
        if known is not None:
            session.keep(part, known, cached=True)
            return
        session.pace.begin(part)
        max_s = _MACHINE_S[part]
        told = session.placed() | {"max_s": max_s}
        if part == ROOFLINE and ZEROS not in self._parts.done and self._known(ZEROS) is None:
            # Measure both in one process, as loading takes as long as measuring.
            max_s += _MACHINE_S[ZEROS]
            told |= {"zeros_s": _MACHINE_S[ZEROS]}
        answer = session.caller.ask(part, told, expected_s=max_s)
        if isinstance(answer, Failure):
            session.fail(part, answer)
        else:
            beside = answer.pop(ZEROS, None)
            self._keep_of_machine(part, from_plain(_MACHINE[part], answer))
            if beside is not None:
                self._keep_of_machine(ZEROS, from_plain(ZeroEffect, beside))
        session.pace.end()

    def _lacks_alone(self, part: str) -> bool:
        """Return whether the profile's engine cannot measure this part; record the failure if so."""
        engine = self._session.spec.engines[0]
        if registry.runs_ours(engine):
            return False
        self._session.fail(part, Failure("refused", "planning", f"it is not measured with {engine}"))
        return True

    def _known(self, part: str) -> Roofline | ZeroEffect | None:
        """Return the cached measurement of this machine; None if missing, unusable or to be measured again."""
        session = self._session
        found = None if session.asked.fresh_roofs else session.cache.get(part, session.cores, _MACHINE[part])
        return found if found is not None and _is_sound(found) else None

    def _keep_of_machine(self, part: str, found: Roofline | ZeroEffect) -> None:
        """Keep the result in this profile; cache it for later ones if it is sound."""
        session = self._session
        session.keep(part, found)
        if _is_sound(found):
            session.cache.put(part, session.cores, found)
        else:
            session.cache.forget(part, session.cores)

    def _make_layers(self, n: int) -> None:
        session, name = self._session, f"{LAYERS} {n}"
        final = self._final()
        if final is not None:
            session.fail(LAYERS, final, n)
            return
        session.pace.begin(name)
        max_s = session.spec.effort.limit_s
        told = session.placed() | {"runs": session.asked.runs, "max_s": max_s}
        answer = session.caller.ask(
            LAYERS, told, log=name, expected_s=max_s, hear=lambda line: session.pace.hear(name, line)
        )
        if isinstance(answer, Failure):
            session.fail(LAYERS, answer, n)
        else:
            found = from_plain(LayerRun, answer)
            self._require_agreement(found)
            session.keep(LAYERS, found, n)
        session.pace.end()

    def _final(self) -> Failure | None:
        """Return the first process's failure if every further process would fail in the same way."""
        if self._parts.runs:
            return None
        earlier = [failure for name, failure in self._parts.failures.items() if name.startswith(LAYERS)]
        return next((failure for failure in earlier if failure.kind in _FINAL), None)

    def _require_agreement(self, found: LayerRun) -> None:
        """Raise Disagreement if the machine's speed differs from the previous session."""
        before, self._before_ns = self._before_ns, []
        difference = disagreement(found.unprofiled_us * 1e3, before) if before else None
        if difference is None:
            return
        words = difference.replace("the anchor execution", "one inference")
        if not self._session.setup.mixed:
            raise Disagreement(words)
        message = f"{words}; measured on all the same, as --mixed asks"
        self._session.setup.journal.append("warning", message=message)

    def _make_what_if(self) -> None:
        session = self._session
        if self._lacks_alone(WHAT_IF):
            return
        session.pace.begin(WHAT_IF)
        if self._parts.costs is None:
            why = "what the layers cost is not known, so none can be chosen"
            session.fail(WHAT_IF, Failure("exception", "what-if", why))
        else:
            rows = self._heavy()
            went_well = [self._make_alone(form, rows) for form in session.asked.what_if]
            # Keep a recorded failure: storing a result would remove it.
            if all(went_well):
                session.keep(WHAT_IF, None)
        session.pace.end()

    def _make_alone(self, form: str, rows: Mapping[str, Sequence[str]]) -> bool:
        """Measure all rows alone; return false if that failed. Skip rows that killed a child."""
        session, known, deaths = self._session, self._parts.what_if, 0
        while left := {row: list(nodes) for row, nodes in rows.items() if (row, form) not in known}:
            session.pass_between()
            at: list[str] = []

            def hear(line: dict[str, Any], at: list[str] = at) -> None:
                at[:] = [str(line["at"]["id"])] if "at" in line else []
                found = line.get("what_if")
                if found is not None:
                    told = dict(found)
                    session.keep_piece(WHAT_IF, str(told.pop("id")), from_plain(WhatIf, told | {"form": form}))
                    session.pace.piece(sum((row, form) in known for row in rows), len(rows))
                    session.pass_between()

            max_s = _ALONE_S * len(left)
            told = session.placed() | {"form": form, "rows": left, "max_s": max_s}
            answer = session.caller.ask(WHAT_IF, told, expected_s=max_s, hear=hear)
            if not isinstance(answer, Failure):
                return True
            deaths += 1
            # A death outside any row fails the whole part.
            if answer.kind in _FINAL - {"timeout", "memory"} or deaths > _MOST_DEATHS or not at:
                session.fail(WHAT_IF, answer)
                return False
            words = failure_words(answer)
            session.keep_piece(WHAT_IF, at[0], WhatIf(form, Estimate(None, reason=words), words))
        return True

    def _heavy(self) -> dict[str, tuple[str, ...]]:
        """Return the nodes of each row with a relevant share of time and float products, slowest row first.

        Keys are each row's node with the most products.
        """
        run = self._parts.runs[min(self._parts.runs)] if self._parts.runs else None
        if run is None or self._parts.costs is None:
            return {}
        macs = {node.id: node.macs or 0 for node in self._parts.costs.nodes}
        total = sum(row.us for row in run.rows) or 1.0

        def chief(row: KernelRow) -> str:
            return max(row.nodes, key=lambda node: macs.get(node, 0), default="")

        rows = [row for row in run.rows if row.kind == LAYER and macs.get(chief(row), 0) and not row.integer]
        rows = [row for row in rows if row.us / total >= _LEAST_SHARE]
        return {chief(row): row.nodes for row in sorted(rows, key=lambda row: -row.us)[:_MOST_ALONE]}


def _is_sound(found: Roofline | ZeroEffect) -> bool:
    """Return whether a measurement fits for later profiles: complete and undisturbed."""
    if found.grade is None or is_disturbed(found.grade):
        return False
    if isinstance(found, Roofline):
        return None not in (found.f32_gflops, found.int8_gops, found.dram_gb_s) and bool(found.cache_gb_s)
    return found.exploits is not None
