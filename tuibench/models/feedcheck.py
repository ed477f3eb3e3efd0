"""Whether a file of inputs fits a model, found out before anything is started with it."""

from __future__ import annotations

from tuibench.core.errors import UsageError
from tuibench.core.model import ModelSummary
from tuibench.core.spec import BenchmarkSpec
from tuibench.models.dim import expand
from tuibench.models.feedbatch import read_inputs
from tuibench.models.layout import Layout


def check_feeds(spec: BenchmarkSpec, summary: ModelSummary, available_bytes: int) -> None:
    """Raise UsageError where a run of `spec` would end with its file: by the very rules that a run goes by."""
    if spec.inputs.file is None:
        return
    layout = Layout(summary.inputs, spec.inputs.batch_dim)
    found = read_inputs(spec, spec.inputs.file, layout, available_bytes)
    problem = next((request.problem for request in expand(spec, 0, layout, found.shapes) if request.problem), None)
    if problem is not None:
        raise UsageError(problem)
