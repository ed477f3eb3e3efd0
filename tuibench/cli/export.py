"""`tuibench export`: writes a saved result to a file for other programs."""

from __future__ import annotations

import argparse

from tuibench.cli.output import emit
from tuibench.cli.parser import Subparsers
from tuibench.cli.profile_choice import add_choices, chosen, refuse_choices
from tuibench.cli.session import opened, tell
from tuibench.core.errors import ExitCode
from tuibench.core.ids import short_id
from tuibench.core.text import show
from tuibench.present.export import LEFT_OUT, STDOUT, form_of
from tuibench.present.profile.shown import Shown


def add_parser(subparsers: Subparsers) -> None:
    """Add the command and its flags."""
    parser = subparsers.add_parser(
        "export",
        description="Write a benchmark or a profile, or what a run that broke off has measured, to a file.",
        epilog=f"Left out unless --include-private: {'; '.join(LEFT_OUT)}.",
    )
    parser.add_argument(
        "id", metavar="ID", help="of a benchmark, a profile, or a run that broke off; last is the newest saved one"
    )
    parser.add_argument(
        "-x", "--export-path", required=True, metavar="FILE", help=".csv, .md, any other name JSON, - JSON on stdout"
    )
    parser.add_argument("--include-private", action="store_true", help="leave nothing out")
    add_choices(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - every command gets it
    """Write the export."""
    shown = _shown(args)
    with opened() as services:
        if args.export_path == STDOUT:
            emit(services.exchange.text(args.id, include_private=args.include_private))
            return int(ExitCode.OK)
        written = services.exchange.export(args.id, args.export_path, include_private=args.include_private, shown=shown)
        left_out = "" if args.include_private else " without private paths (--include-private keeps them)"
        tell(f"wrote {short_id(written)} to {show(args.export_path)}{left_out}")
    return int(ExitCode.OK)


def _shown(args: argparse.Namespace) -> Shown | None:
    """Return the chosen parts of a profile; None for all. Raise UsageError if the form allows no choice."""
    typed = chosen(args)
    form = form_of(args.export_path)
    if form == "json":
        refuse_choices(typed, "chooses nothing of a JSON", "it has everything; .csv and .md have what is chosen")
    if form == "csv":
        bars: dict[str, object] = {name: typed[name] for name in ("summary", "display") if name in typed}
        refuse_choices(bars, "says what bars show, and a CSV has none", "an .md has them")
    return Shown(**{"top": None, **typed}) if typed else None
