"""`tuibench edit`: the name, note and project of a benchmark."""

from __future__ import annotations

import argparse

from tuibench.cli.parser import Subparsers, reads
from tuibench.cli.session import opened, tell
from tuibench.core.errors import ExitCode, UsageError
from tuibench.core.ids import short_id
from tuibench.core.settings import kinds as value
from tuibench.core.text import show
from tuibench.services.api import Services

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


def run(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - every command gets it
    """Change the given fields."""
    given = {field: getattr(args, field) for field in _FIELDS if getattr(args, field) is not None}
    if not given:
        raise UsageError("nothing to change was given", "--name, --note and --project say what")
    with opened() as services:
        before = services.library.find(args.id)
        after = services.library.edit(before.id, **given)
        said = [_change(services, field, getattr(before, field), getattr(after, field)) for field in given]
        tell(f"{short_id(after.id)}: {'; '.join(said)}")
    return int(ExitCode.OK)


def _change(services: Services, field: str, old: str, new: str) -> str:
    """Return the change of one field in words."""
    if field == "project":
        old, new = (services.library.project_name(one) or short_id(one) if one else "" for one in (old, new))
    quoted_old, quoted_new = (f'"{show(one)}"' if one else "empty" for one in (old, new))
    if old == new:
        return f"{field} is {quoted_new}, as it was"
    return f"{field} is now {quoted_new}" + (f", was {quoted_old}" if old else "")
