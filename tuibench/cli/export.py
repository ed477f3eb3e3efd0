"""`tuibench export`: a stored result as a file that others can read."""

from __future__ import annotations

import argparse

from tuibench.cli.output import emit
from tuibench.cli.parser import Subparsers
from tuibench.cli.session import opened, tell
from tuibench.core.errors import ExitCode
from tuibench.core.short_id import short_id
from tuibench.core.text import show
from tuibench.report.export import STDOUT
from tuibench.report.privacy import LEFT_OUT


def add_parser(subparsers: Subparsers) -> None:
    """Add the command and its flags."""
    parser = subparsers.add_parser(
        "export",
        description="Write a benchmark, or what a run that broke off has measured, to a file.",
        epilog=f"Left out unless --include-private: {'; '.join(LEFT_OUT)}.",
    )
    parser.add_argument(
        "id", metavar="ID", help="of the benchmark, or of a run that broke off; last is the newest saved one"
    )
    parser.add_argument(
        "-x", "--export-path", required=True, metavar="FILE", help=".csv, .md, any other name JSON, - JSON on stdout"
    )
    parser.add_argument("--include-private", action="store_true", help="leave nothing out")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - every command is told
    """Write the export."""
    with opened() as bench:
        if args.export_path == STDOUT:
            emit(bench.exchange.text(args.id, include_private=args.include_private))
            return int(ExitCode.OK)
        written = bench.exchange.export(args.id, args.export_path, include_private=args.include_private)
        left_out = "" if args.include_private else " without private paths (--include-private keeps them)"
        tell(f"wrote {short_id(written)} to {show(args.export_path)}{left_out}")
    return int(ExitCode.OK)
