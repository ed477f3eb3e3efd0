"""`tuibench store`: checks that stored files are unchanged, and migrates old forms."""

from __future__ import annotations

import argparse
import os
import sys
import time

from tuibench.cli.output import emit
from tuibench.cli.parser import Subparsers
from tuibench.cli.session import opened, width
from tuibench.core.stored import StoreReport
from tuibench.present.doctor import store_json, store_report
from tuibench.present.progress import ProgressPainter, Snapshot, can_repaint


def add_parser(subparsers: Subparsers) -> None:
    """Add the command and its actions."""
    parser = subparsers.add_parser("store", description="Check the store, or bring files of older versions up to date.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="check|migrate")
    check = actions.add_parser(
        "check",
        description="Look at every file of the store.",
        epilog="Exit codes: 0 nothing is wrong, or all that was is repaired; 6 damage is left.",
    )
    check.add_argument("--read-data", action="store_true", help="read every byte and compare it with its checksum")
    check.add_argument("--repair", action="store_true", help="mend what can be mended; nothing saved is deleted")
    check.set_defaults(run=check_store)
    migrate = actions.add_parser("migrate", description="Write files of older forms anew; the old ones are kept.")
    migrate.set_defaults(run=migrate_store)
    for each in (check, migrate):
        each.add_argument("--json", action="store_true", help="one JSON object instead of text")
        each.add_argument("--ascii", action="store_true", help="plain ASCII only")


def check_store(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - every command gets it
    """Check the store, print the problems and repairs, and return the exit code."""
    with opened() as services:
        return _report(args, services.library.check(read_data=args.read_data, repair=args.repair))


def migrate_store(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - as above
    """Migrate the store and print the changes."""
    painter = ProgressPainter(
        sys.stderr, time.monotonic, can_repaint(sys.stderr, os.environ.get("TERM", "")), args.ascii
    )

    def tell(done: int, total: int) -> None:
        painter.update(Snapshot(0, 0, activity=f"list rows of older results: {done} of {total}"))

    with opened() as services:
        report = services.library.migrate(tell)
        painter.clear()
        return _report(args, report)


def _report(args: argparse.Namespace, report: StoreReport) -> int:
    emit(store_json(report) if args.json else store_report(report, ascii_only=args.ascii, width=width()))
    return report.exit_code
