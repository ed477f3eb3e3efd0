"""`tuibench edit`: the name, note and project of a benchmark."""

from __future__ import annotations

import argparse

from tuibench.cli import value
from tuibench.cli.parser import Subparsers, reads
from tuibench.cli.session import opened, tell
from tuibench.core.errors import ExitCode, UsageError
from tuibench.core.short_id import short_id
from tuibench.core.text import show

_FIELDS = ("name", "note", "project")


def add_parser(subparsers: Subparsers) -> None:
    """Add the command and its flags."""
    parser = subparsers.add_parser("edit", description="Change what a benchmark is called; its result never changes.")
    parser.add_argument("id", metavar="ID", help="of the benchmark")
    parser.add_argument("--name", type=_name, metavar="TEXT", help="what lists call it; '' takes the name away")
    parser.add_argument("--note", metavar="TEXT", help="what to remember of it; '' takes the note away")
    parser.add_argument("--project", metavar="NAME", help="where it belongs; '' takes it out of its project")
    parser.set_defaults(run=run)


def _name(given: str) -> str:
    return reads("--name", value.label)(given) if given else ""


def run(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - every command is told
    """Change what is given."""
    given = {field: getattr(args, field) for field in _FIELDS if getattr(args, field) is not None}
    if not given:
        raise UsageError("nothing to change was given", "--name, --note and --project say what")
    with opened() as bench:
        row = bench.library.edit(args.id, **given)
        tell(f"{short_id(row.id)} {show(row.name)}".rstrip() + f": {' and '.join(given)} changed")
    return int(ExitCode.OK)
