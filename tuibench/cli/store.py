"""`tuibench store`: checks that stored files are unchanged, and migrates old forms."""

from __future__ import annotations

import argparse
import os
import sys
import time

from tuibench.cli.output import emit
from tuibench.cli.parser import ASCII, JSON, Action, switch
from tuibench.cli.session import width
from tuibench.cli.terminal import Interruption
from tuibench.core.stored import StoreReport
from tuibench.present.doctor import store_json, store_report
from tuibench.present.progress import ProgressPainter, Snapshot, can_repaint
from tuibench.services.api import Services


def check(args: argparse.Namespace, services: Services, _: Interruption) -> int:
    """Check the store, print the problems and repairs, and return the exit code."""
    return _report(args, services.library.check(read_data=args.read_data, repair=args.repair))


def migrate(args: argparse.Namespace, services: Services, _: Interruption) -> int:
    """Migrate the store and print the changes."""
    in_place = can_repaint(sys.stderr, os.environ.get("TERM", ""))
    painter = ProgressPainter(sys.stderr, time.monotonic, in_place, args.ascii)

    def tell(done: int, total: int) -> None:
        painter.update(Snapshot(0, 0, activity=f"list rows of older results: {done} of {total}"))

    report = services.library.migrate(tell)
    painter.clear()
    return _report(args, report)


def _report(args: argparse.Namespace, report: StoreReport) -> int:
    emit(store_json(report) if args.json else store_report(report, ascii_only=args.ascii, width=width()))
    return report.exit_code


ACTIONS = {
    "store": Action(
        None,
        "Check the store, or migrate files of older versions.",
        actions={
            "check": Action(
                check,
                "Check every file of the store.",
                (
                    switch("--read-data", text="read every byte and compare it with its checksum"),
                    switch("--repair", text="repair what can be repaired; nothing saved is deleted"),
                    JSON,
                    ASCII,
                ),
                epilog="Exit codes: 0 no problem, or all repaired; 6 damage is left.",
            ),
            "migrate": Action(
                migrate,
                "Write files of older forms anew, keep the old ones, and complete list rows of older results.",
                (JSON, ASCII),
            ),
        },
    )
}
