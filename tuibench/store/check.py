"""Checks the whole store and repairs it without changing any user data."""

from __future__ import annotations

from collections.abc import Collection

from tuibench.core.errors import StoreReadOnly
from tuibench.core.short_id import short_id
from tuibench.core.trash import StoreReport
from tuibench.store.benchmarks import Benchmarks
from tuibench.store.context import Context
from tuibench.store.document_check import DocumentCheck
from tuibench.store.file_check import how_to_save
from tuibench.store.finding import Findings
from tuibench.store.host_check import HostCheck
from tuibench.store.layout import HostLayout
from tuibench.store.trash import Trash


def check_store(
    context: Context,
    benchmarks: Benchmarks,
    trash: Trash,
    *,
    read_data: bool,
    repair: bool,
    journals: Collection[str] = (),
) -> StoreReport:
    """Check every file; with `read_data` every byte. A repair adopts, drops or quarantines files."""
    findings = Findings(repair)
    if context.files.kind(context.files.root):
        DocumentCheck(context, findings, repair).look(read_data)
    for layout in context.hosts():
        may = repair and _is_writable(context, layout)
        HostCheck(context, benchmarks, trash, layout, findings, may, journals).look(read_data)
    _recall_lost(context, trash, findings, journals)
    return findings.report(partial=not read_data)


def _recall_lost(context: Context, trash: Trash, findings: Findings, journals: Collection[str]) -> None:
    """Report quarantined records that their run's journal can save again; they no longer count as problems."""
    if not journals:
        return
    layouts = context.hosts()
    aside = {name.split(".")[0] for layout in layouts for name in context.files.names(layout.quarantine)}
    for ulid in sorted(aside.intersection(journals).difference(trash.ids())):
        told = any(ulid in problem.path for problem in findings.problems)
        if not told and not any(context.files.kind(layout.record(ulid)) for layout in layouts):
            context.notices.say(f"{short_id(ulid)} was damaged and is put aside: {how_to_save(ulid)}")


def _is_writable(context: Context, layout: HostLayout) -> bool:
    try:
        context.check_writable(layout)
    except StoreReadOnly as error:
        context.notices.say(error.message)
        return False
    return True
