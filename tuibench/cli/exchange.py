"""`tuibench export` and `import`: saved results as files."""

from __future__ import annotations

import argparse

from tuibench.cli.output import emit, tell, tell_error
from tuibench.cli.parser import Action, Argument, argument, switch
from tuibench.cli.results import PAGE, chosen, refuse_choices
from tuibench.cli.terminal import Interruption
from tuibench.core import formats
from tuibench.core.errors import TuibenchError
from tuibench.core.formats import format_of
from tuibench.core.ids import short_id
from tuibench.core.text import show
from tuibench.present.outcome import export_words
from tuibench.present.privacy import LEFT_OUT
from tuibench.present.profile.shown import Shown
from tuibench.services.api import Services
from tuibench.services.export_file import STDOUT


def export(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Write the export."""
    shown, private = _shown(args), args.include_private
    if args.export_path == STDOUT:
        emit(services.exchange.text(args.id, include_private=private))
        return
    written = services.exchange.export(args.id, args.export_path, include_private=private, shown=shown)
    kept = "" if private else " (--include-private keeps them)"
    tell(export_words(short_id(written), args.export_path, private=private) + kept)


def _shown(args: argparse.Namespace) -> Shown | None:
    """Return the chosen parts of a profile; None for all. Raise UsageError if the format allows no choice."""
    typed = chosen(args)
    form = format_of(args.export_path)
    if form == "json":
        refuse_choices(typed, "flag_not_of_json")
    if form == "csv":
        bars: dict[str, object] = {name: typed[name] for name in ("summary", "display") if name in typed}
        refuse_choices(bars, "flag_not_of_csv")
    return Shown(**{"top": None, **typed}) if typed else None


def import_files(args: argparse.Namespace, services: Services, _: Interruption) -> int:
    """Import each file and print its id; return the exit code of the first failed import."""
    code = 0
    for file in args.files:
        try:
            found = services.exchange.import_file(file)
        except TuibenchError as error:
            if len(args.files) == 1:
                raise
            tell_error(error)
            code = code or int(error.exit_code)
            continue
        short = short_id(found.row.id)
        emit(f"{short}\n")
        if found.known:
            differs = ", and differs from the file" if found.differs else ""
            tell(f"{show(file)}: {short} is in the store already{differs}; nothing was changed")
        elif found.row.foreign:
            tell(f"{show(file)}: measured by {show(found.row.foreign, 80)}, so it has no grade and no interval")
    return code


_EXPORTED = "id of a benchmark, a profile or an interrupted run; last is the newest saved one"
_PATH: Argument = argument(
    *("-x", "--export-path"),
    required=True,
    metavar="FILE",
    help=f"file to write: {formats.endings()}; - is JSON on stdout",
)

ACTIONS = {
    "export": Action(
        export,
        "Write a benchmark, a profile, or the measurements of an interrupted run to a file.",
        (
            argument("id", metavar="ID", help=_EXPORTED),
            _PATH,
            switch("--include-private", text="include private paths and names"),
            PAGE,
        ),
        epilog=f"Omitted unless --include-private: {'; '.join(LEFT_OUT)}.",
    ),
    "import": Action(
        import_files,
        "Add benchmarks to the store from JSON that tuibench export wrote, or deepsparse.benchmark 0.10 to 1.8 with "
        "-x. Existing results stay unchanged.",
        (argument("files", nargs="+", metavar="FILE", help="JSON file of a benchmark"),),
    ),
}
