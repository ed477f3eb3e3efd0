"""Comparison of two profiles of one kind, with the operators and sizes that only whole profiles have."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core.profile import CostProfile, Profile
from tuibench.core.run import RunResult
from tuibench.insight.comparison import OTHER_FILES, ProfileComparison, compare_performance
from tuibench.insight.loss_comparison import LossComparison, compare_loss


def compare_profiles(
    old: Profile, new: Profile, environment: Sequence[str] = ()
) -> ProfileComparison | LossComparison | None:
    """Compare by layer; None if their kinds differ. `environment` has the differences between the two machines."""
    if old.performance is not None and new.performance is not None:
        operators = _operators(old.costs), _operators(new.costs)
        return compare_performance(old.performance, new.performance, environment, operators)
    if old.loss is not None and new.loss is not None:
        return compare_loss(old.loss, new.loss, environment, (_sizes(old.costs), _sizes(new.costs)))
    return None


def other_models(old: RunResult, new: RunResult) -> tuple[str, ...]:
    """Return a note if two profiles are of different files."""
    files = [result.models[0].sha256 if result.models else "" for result in (old, new)]
    if files[0] == files[1]:
        return ()
    return (OTHER_FILES,)


def _operators(costs: CostProfile) -> dict[str, str]:
    return {node.id: node.op for node in costs.nodes}


def _sizes(costs: CostProfile) -> str:
    batch = [f"batch {costs.batch}"] if costs.batch is not None else []
    return " ".join([*batch, *(f"{name}={size}" for name, size in sorted(costs.dims.items()))])
