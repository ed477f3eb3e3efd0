"""A look at the whole store: what is wrong, and mending it without changing what anybody wrote."""

from __future__ import annotations

from tuibench.core.errors import StoreReadOnly
from tuibench.core.trash import StoreReport
from tuibench.store.benchmarks import Benchmarks
from tuibench.store.context import Context
from tuibench.store.document_check import DocumentCheck
from tuibench.store.finding import Findings
from tuibench.store.host_check import HostCheck
from tuibench.store.layout import HostLayout
from tuibench.store.trash import Trash


def check_store(
    context: Context, benchmarks: Benchmarks, trash: Trash, *, read_data: bool, repair: bool
) -> StoreReport:
    """Look at every file; at every byte with `read_data`. Repair adopts, drops or puts aside."""
    findings = Findings(repair)
    if context.files.kind(context.files.root):
        DocumentCheck(context, findings, repair).look(read_data)
    for layout in context.hosts():
        may = repair and _is_writable(context, layout)
        HostCheck(context, benchmarks, trash, layout, findings, may).look(read_data)
    return findings.report(partial=not read_data)


def _is_writable(context: Context, layout: HostLayout) -> bool:
    try:
        context.check_writable(layout)
    except StoreReadOnly as error:
        context.notices.say(error.message)
        return False
    return True
