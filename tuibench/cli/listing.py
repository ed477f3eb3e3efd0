"""`tuibench list`: the saved results, newest first."""

from __future__ import annotations

import argparse
import time

from tuibench.cli.output import emit
from tuibench.cli.parser import Subparsers, reads
from tuibench.cli.session import opened, tell, width
from tuibench.core.errors import ExitCode
from tuibench.core.settings import kinds as value
from tuibench.present.listing import NEWEST, hidden_words, listing, profile_listing, profile_words, rows_json

_MOST = 10**9


def add_parser(subparsers: Subparsers) -> None:
    """Add the command and its flags."""
    parser = subparsers.add_parser("list", description="List what was measured, newest first.")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only those that have every WORD in some field")
    parser.add_argument("--project", metavar="NAME", help="only those of this project")
    parser.add_argument("--profiles", action="store_true", help="profiles instead of benchmarks")
    many = parser.add_mutually_exclusive_group()
    number = reads("-n", value.Whole(1, _MOST))
    many.add_argument("-n", type=number, default=NEWEST, metavar="N", help=f"how many [{NEWEST}]")
    many.add_argument("--all", action="store_true", help="all of them")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    parser.add_argument("--ascii", action="store_true", help="plain ASCII only")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - every command gets it
    """Print the list; an empty list is no error."""
    limit = None if args.all else args.n
    with opened() as services:
        library, words = services.library, " ".join(args.words)
        noun = "profile" if args.profiles else "benchmark"
        list_rows = library.list_profiles if args.profiles else library.list
        rows = list_rows(args.project, words)
        if args.json:
            emit(rows_json(rows, limit))
        else:
            lay_out = profile_listing if args.profiles else listing
            emit(lay_out(rows, time.time(), limit=limit, width=width(), ascii_only=args.ascii))
        filtered = bool(args.words or args.project)
        if filtered and not rows:
            tell(f"none of {len(list_rows())} is meant by that")
        elif said := hidden_words(len(rows), limit, noun):
            tell(said)
        if services.store.benchmarks.facts.pending:
            tell("some older results are shown without their numbers; tuibench store migrate reads all of them once")
        others = () if args.profiles else library.list_profiles(args.project, words)
        if others:
            tell(profile_words(len(others)))
    return int(ExitCode.OK)
