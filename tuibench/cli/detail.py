"""`tuibench show`: one benchmark with all that is known of it."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from tuibench.cli.output import can_draw, emit
from tuibench.cli.parser import Subparsers, reads
from tuibench.cli.session import opened, tell, width
from tuibench.core.card import StoredBenchmark
from tuibench.core.errors import ExitCode, StoreError
from tuibench.core.record import to_plain
from tuibench.core.short_id import short_id
from tuibench.core.text import show
from tuibench.report.json_export import document
from tuibench.report.profile_shown import TOP, WIDTH, Shown
from tuibench.report.stored import stored_page
from tuibench.request.value import whole
from tuibench.workbench.hall import Workbench

SCHEMA = 1
_PIPE_WIDTH = 80


def add_parser(subparsers: Subparsers) -> None:
    """Add the command and its flags."""
    parser = subparsers.add_parser("show", description="Show one benchmark: its name, its conditions, its result.")
    parser.add_argument("id", metavar="ID", help="short id, any part of the long one, a name, last, last~1 or ID~")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    parser.add_argument("--samples", action="store_true", help="print only the directory with its samples")
    parser.add_argument("--no-figures", action="store_true", help="leave the figures out")
    parser.add_argument("--sort", metavar="COLUMN", default="", help="of a profile: the table of layers by this column")
    parser.add_argument("--top", metavar="N", type=reads("--top", whole(1, 100_000)), help="so many layers [20]")
    parser.add_argument("--ascii", action="store_true", help="plain ASCII only")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - every command is told
    """Print the benchmark."""
    with opened() as bench:
        if args.samples:
            return _show_samples(bench, args.id)
        stored = bench.library.get(args.id)
        project = bench.library.project_name(stored.card.project)
        if args.json:
            emit(json.dumps(_document(stored, project), indent=1, ensure_ascii=True, allow_nan=False) + "\n")
            return int(ExitCode.OK)
        if stored.row.kind:
            return _show_profile(stored, args)
        figures = None if args.no_figures else width() or _PIPE_WIDTH
        plain = args.ascii or (figures is not None and not can_draw())
        own = _own_host(bench)
        emit(stored_page(stored, time.time(), project=project, own_host=own, ascii_only=plain, figures=figures))
    return int(ExitCode.OK)


def _show_profile(stored: StoredBenchmark, args: argparse.Namespace) -> int:
    from tuibench.report.profile_page import check_sort, profile_page  # what only profiles need

    check_sort(stored.row.kind, args.sort)
    plain = args.ascii or not can_draw()
    top = TOP if args.top is None else args.top
    shown = Shown(width() or WIDTH, plain, args.sort, top, time.time())
    emit(profile_page(stored.result, stored.card, shown))
    return int(ExitCode.OK)


def _show_samples(bench: Workbench, token: str) -> int:
    row = bench.library.find(token)
    found = bench.store.benchmarks.samples(row.id)
    if found is None:
        tell(f"{short_id(row.id)} has no samples: it was imported, or they were not kept")
    else:
        emit(f"{show(found, 4096)}\n")
    return int(ExitCode.OK)


def _document(stored: StoredBenchmark, project: str) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "id": stored.row.id,
        "short_id": short_id(stored.row.id),
        "card": to_plain(stored.card),
        "project": project or None,
        "benchmark": document(stored.result),
    }


def _own_host(bench: Workbench) -> str:
    try:
        return bench.store.known_host_id or ""
    except StoreError:
        return ""
