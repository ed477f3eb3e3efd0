"""`tuibench doctor` and `store`: the machine's fitness for measuring, and the checks of stored files."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, TextIO

from tuibench.cli.output import AS_ASCII, emit, progress_painter, width
from tuibench.cli.parser import ASCII, JSON, Action, switch
from tuibench.cli.terminal import Interruption
from tuibench.core.stored import StoreReport
from tuibench.present.doctor import render_doctor, store_json, store_report
from tuibench.present.progress import Snapshot
from tuibench.services.api import Services


def run(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Examine the machine and print the findings; they do not change the exit code."""
    from tuibench.services.machine import describe_terminal  # lazy: --help must not pay for it

    facts = services.machine.fitness(services.machine.ask_engines(), describe_terminal(sys.stdout))
    report(facts, sys.stdout, as_json=args.json, private=args.include_private)


def report(facts: dict[str, Any], stream: TextIO, *, as_json: bool = False, private: bool = False) -> None:
    """Print the facts and findings as text, or as JSON without private data unless asked for."""
    if as_json:
        shown = {name: value for name, value in facts.items() if private or name != "env_private"}
        # ASCII, since a foreign name may contain escape codes.
        text = json.dumps(shown, indent=2, ensure_ascii=True) + "\n"
    else:
        text = render_doctor(facts)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, AS_ASCII).decode(encoding))
    stream.flush()


def check(args: argparse.Namespace, services: Services, _: Interruption) -> int:
    """Check the store, print the problems and repairs, and return the exit code."""
    return _report(args, services.library.check(read_data=args.read_data, repair=args.repair))


def migrate(args: argparse.Namespace, services: Services, _: Interruption) -> int:
    """Migrate the store and print the changes."""
    painter = progress_painter(args.ascii)

    def tell(done: int, total: int) -> None:
        painter.update(Snapshot(0, 0, activity=f"list rows of older results: {done} of {total}"))

    report = services.library.migrate(tell)
    painter.clear()
    return _report(args, report)


def _report(args: argparse.Namespace, report: StoreReport) -> int:
    emit(store_json(report) if args.json else store_report(report, ascii_only=args.ascii, width=width()))
    return report.exit_code


ACTIONS = {
    "doctor": Action(
        run,
        "Check this machine for measuring: facts, noise now, engines, store and terminal, and each problem with its "
        "remedy.",
        (
            JSON,
            switch(
                "--include-private",
                text="with --json: include host name, user, paths and command lines",
            ),
        ),
    ),
    "store": Action(
        None,
        "Check the store, or migrate files of older versions.",
        actions={
            "check": Action(
                check,
                "Check every file of the store.",
                (
                    switch("--read-data", text="read every byte and compare it with its checksum"),
                    switch("--repair", text="repair damage; delete no saved data"),
                    JSON,
                    ASCII,
                ),
                epilog="Exit codes: 0 no problem, or all repaired; 6 damage is left.",
            ),
            "migrate": Action(
                migrate,
                "Migrate files to the current schema, keep the originals, and complete the list rows of older results.",
                (JSON, ASCII),
            ),
        },
    ),
}
