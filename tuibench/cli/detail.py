"""`tuibench show`: one benchmark or profile with all its facts."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from tuibench.cli.output import can_draw, emit
from tuibench.cli.parser import Subparsers
from tuibench.cli.profile_choice import add_choices, chosen, refuse_choices, shown_of
from tuibench.cli.session import opened, tell, width
from tuibench.core.errors import ExitCode, StoreError, UsageError
from tuibench.core.ids import short_id
from tuibench.core.record import to_plain
from tuibench.core.stored import StoredBenchmark
from tuibench.core.text import show
from tuibench.present.json_export import document
from tuibench.present.profile.shown import Shown
from tuibench.present.summary import stored_page
from tuibench.services.api import Services

SCHEMA = 1
_PIPE_WIDTH = 80


def add_parser(subparsers: Subparsers) -> None:
    """Add the command and its flags."""
    parser = subparsers.add_parser(
        "show", description="Show one benchmark or profile: its name, its conditions, its result."
    )
    parser.add_argument("id", metavar="ID", help="short id, any part of the long one, a name, last, last~1 or ID~")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    parser.add_argument("--samples", action="store_true", help="print only the directory with its samples")
    parser.add_argument("--no-figures", action="store_true", help="leave the figures out")
    parser.add_argument("--ascii", action="store_true", help="plain ASCII only")
    add_choices(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - every command gets it
    """Print the benchmark or profile."""
    typed = chosen(args)
    if "layer" in typed and args.json:
        raise UsageError("--layer and --json exclude each other", "the JSON has all that is known of every layer")
    with opened() as services:
        if args.samples:
            return _show_samples(services, args.id)
        stored = services.library.get(args.id)
        project = services.library.project_name(stored.metadata.project)
        if args.json:
            emit(json.dumps(_document(stored, project), indent=1, ensure_ascii=True, allow_nan=False) + "\n")
            return int(ExitCode.OK)
        if stored.row.kind:
            emit(_profile_page(stored, shown_of(typed, ascii_only=args.ascii, aged=True)))
            return int(ExitCode.OK)
        refuse_choices(typed, "says nothing of a benchmark", "tuibench list --profiles shows what it says something of")
        figures = None if args.no_figures else width() or _PIPE_WIDTH
        plain = args.ascii or (figures is not None and not can_draw())
        own = _own_host(services)
        emit(stored_page(stored, time.time(), project=project, own_host=own, ascii_only=plain, figures=figures))
    return int(ExitCode.OK)


def _profile_page(stored: StoredBenchmark, shown: Shown) -> str:
    """Return the page of a profile, or of one layer."""
    from tuibench.present.profile.kind import settle  # lazy: only profiles need it
    from tuibench.present.profile.page import profile_page

    profile = stored.result.profile
    settled = settle(stored.row.kind, shown, profile.loss if profile is not None else None)
    return profile_page(stored.result, stored.metadata, settled)


def _show_samples(services: Services, token: str) -> int:
    row = services.library.find(token)
    found = services.store.benchmarks.samples(row.id)
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
        "card": to_plain(stored.metadata),
        "project": project or None,
        "benchmark": document(stored.result),
    }


def _own_host(services: Services) -> str:
    try:
        return services.store.known_host_id or ""
    except StoreError:
        return ""
