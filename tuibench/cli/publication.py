"""A result on its way out: to the file of -x first, then to stdout."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tuibench.cli.output import emit
from tuibench.cli.request import BenchmarkRequest
from tuibench.core.errors import TuibenchError, UsageError, WriteError
from tuibench.core.model import ModelSummary
from tuibench.core.run import RunResult
from tuibench.core.text import show
from tuibench.report.export import STDOUT, form_of, render, write_export
from tuibench.report.summary import summary
from tuibench.workbench.watched_run import settle_samples


def publish(request: BenchmarkRequest, result: RunResult, samples: Path | None) -> None:
    """Write the export first: what was measured must not depend on whoever reads stdout; nor on the export either."""
    keep = request.keep_raw and request.export_path not in (None, STDOUT)
    result = settle_samples(result, samples, f"{request.export_path}.samples" if keep else None)
    failed: TuibenchError | None = None
    if request.export_path is not None and request.export_path != STDOUT:
        # Files beside a model are known only once it has been read.
        beside = [path for model in result.models for path in _beside(model)]
        try:
            spare(request.export_path, beside, None)
            write_export(request.export_path, render(result, form_of(request.export_path)))
        except (WriteError, UsageError) as error:
            failed = error
    if request.json or request.export_path == STDOUT:
        emit(render(result, "json"))
    else:
        emit(summary(result, request.ascii))
    if failed is not None:
        raise failed


def spare(target: str, models: Sequence[str], inputs: str | None) -> None:
    """Refuse to write a result over what it is measured from."""
    for path in (*models, *([inputs] if inputs else [])):
        if os.path.exists(target) and os.path.samefile(target, path):
            raise UsageError(f"-x {show(target)} would overwrite {show(path)}", "give the result another name")


def _beside(model: ModelSummary) -> list[str]:
    """The files with the weights of a model that has them outside."""
    folder = os.path.dirname(model.path)
    paths = [os.path.join(folder, name) for name in model.external_files]
    return [path for path in paths if os.path.exists(path)]
