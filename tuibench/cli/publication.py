"""The page of a result, and its publication: first to the file of -x, then to stdout."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tuibench.cli.output import emit, tell, width
from tuibench.core.errors import StoreError, TuibenchError, UnknownId, UsageError, WriteError
from tuibench.core.formats import format_of
from tuibench.core.result import RunResult, SideBySide
from tuibench.core.settings.request import BenchmarkRequest
from tuibench.core.stored import Metadata
from tuibench.present.error.words import message_words
from tuibench.present.export import render
from tuibench.present.profile.page import profile_page
from tuibench.present.profile.shown import WIDTH, Shown
from tuibench.present.profile.view import UnknownLayer
from tuibench.present.summary import summary
from tuibench.services.active_run import settle_samples
from tuibench.services.api import Services
from tuibench.services.export_file import STDOUT, files_beside, spare, write_export


def page(
    result: RunResult,
    ascii_only: bool,
    beside: SideBySide | None = None,
    shown: Shown | None = None,
    metadata: Metadata | None = None,
    compared: str = "",
) -> str:
    """Return the text of a result; for a profile with the name in its metadata, and `compared`."""
    if result.spec.profile is None:
        return summary(result, ascii_only, beside, width())
    shown = shown or Shown(width() or WIDTH, ascii_only)
    try:
        return profile_page(result, metadata, shown, compared)
    except UnknownLayer as error:
        # The profile is complete, only this layer is unknown: print all of it.
        tell(message_words(error))
        return profile_page(result, metadata, replace(shown, layer=""), compared)


def publish(
    request: BenchmarkRequest,
    result: RunResult,
    samples: Path | None,
    beside: SideBySide | None = None,
    shown: Shown | None = None,
    compared: str = "",
) -> None:
    """Write the export first, since stdout may be closed; a failed export does not stop the printing."""
    keep = request.keep_raw and request.export_path not in (None, STDOUT)
    result = settle_samples(result, samples, f"{request.export_path}.samples" if keep else None)
    failed: TuibenchError | None = None
    if request.export_path is not None and request.export_path != STDOUT:
        # A model's weight files are known only once it has been read.
        files = [path for model in result.models for path in files_beside(model)]
        try:
            spare(request.export_path, files)
            write_export(request.export_path, render(result, format_of(request.export_path), beside, name=request.name))
        except (WriteError, UsageError) as error:
            failed = error
    if request.json or request.export_path == STDOUT:
        emit(render(result, "json", beside))
    else:
        emit(page(result, request.ascii, beside, shown, Metadata(name=request.name, note=request.note), compared))
    if failed is not None:
        raise failed


def name_of(services: Services, result: RunResult) -> str:
    """Return the name of a result; '' for an unsaved run."""
    try:
        return services.library.find(result.id).name
    except (UnknownId, StoreError):
        return ""


def compared_page(
    services: Services, old: RunResult, new: RunResult, ascii_only: bool = False, shown: Shown | None = None
) -> str:
    """Return the page of two profiles of one kind; '' if either has no measurements."""
    from tuibench.present.profile.pairs import comparison_page  # 20 ms that `ps` does not need

    if old.profile is None or new.profile is None or old.profile.kind != new.profile.kind:
        return ""
    names = name_of(services, old), name_of(services, new)
    shown = shown or Shown(width() or WIDTH, ascii_only)
    return comparison_page(old, new, services.exchange.differences(old, new), names, shown)
