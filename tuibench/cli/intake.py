"""`tuibench import`: imports results from files into the store."""

from __future__ import annotations

import argparse

from tuibench.cli.output import emit
from tuibench.cli.parser import Subparsers
from tuibench.cli.session import opened, tell
from tuibench.core.errors import ExitCode, TuibenchError
from tuibench.core.ids import short_id
from tuibench.core.text import show


def add_parser(subparsers: Subparsers) -> None:
    """Add the command and its flags."""
    parser = subparsers.add_parser(
        "import",
        description="Take benchmarks into the store from what tuibench export wrote as JSON, or deepsparse.benchmark "
        "0.10 to 1.8 with -x. What is there already stays as it is.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="JSON of a benchmark")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - every command gets it
    """Import each file and print its id; return the exit code of the first failed import."""
    code = int(ExitCode.OK)
    with opened() as services:
        for file in args.files:
            try:
                found = services.exchange.import_file(file)
            except TuibenchError as error:
                if len(args.files) == 1:
                    raise
                tell(f"tuibench: {show(error.message, 1000)}" + (f"\n  {show(error.hint, 1000)}" if error.hint else ""))
                code = code or int(error.exit_code)
                continue
            short = short_id(found.row.id)
            emit(f"{short}\n")
            if found.known:
                differs = ", and is not what the file says" if found.differs else ""
                tell(f"{show(file)}: {short} is in the store already{differs}; nothing was changed")
            elif found.row.foreign:
                tell(f"{show(file)}: measured by {show(found.row.foreign, 80)}, so it has no grade and no interval")
    return code
