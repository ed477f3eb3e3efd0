"""`tuibench remove` and `tuibench undo`: into the trash and back."""

from __future__ import annotations

import argparse

from tuibench.cli.parser import Subparsers
from tuibench.cli.question import confirmed
from tuibench.cli.session import opened, tell
from tuibench.core.errors import ExitCode
from tuibench.core.short_id import short_id
from tuibench.core.text import show
from tuibench.core.trash import TrashEntry
from tuibench.core.units import count_of
from tuibench.workbench.library import Targets

_SHOWN = 5


def add_parser(subparsers: Subparsers) -> None:
    """Add both commands and their flags."""
    parser = subparsers.add_parser("remove", description="Move benchmarks to the trash, from where undo brings them.")
    parser.add_argument("ids", nargs="+", metavar="ID", help="of what to remove; what still runs is cancelled first")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    parser.set_defaults(run=remove)
    parser = subparsers.add_parser("undo", description="Bring back what was removed last on this machine.")
    parser.set_defaults(run=undo)


def remove(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - every command is told
    """Remove after asking."""
    with opened() as bench:
        targets = bench.library.targets(args.ids)
        if not args.yes and not confirmed(_question(targets), "y", "tuibench remove"):
            tell("nothing was removed")
            return int(ExitCode.OK)
        removal = bench.library.remove(targets.ids, cancel=True)
        for run in removal.cancelled:
            tell(f"cancelled {short_id(run.id)}")
        if removal.entry is None:
            tell("nothing of it was saved, so there is nothing to remove")
        else:
            tell(f"removed {held_words(removal.entry)}; tuibench undo brings it back")
    return int(ExitCode.OK)


def undo(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - every command is told
    """Restore the newest removal."""
    with opened() as bench:
        tell(f"restored {held_words(bench.library.undo())}")
    return int(ExitCode.OK)


def held_words(entry: TrashEntry) -> str:
    """What a removal holds, as far as a line has room for it."""
    return _listed(entry.names) or count_of(len(entry.benchmarks), "benchmark")


def _question(targets: Targets) -> str:
    names = [f"{short_id(row.id)} {row.name}".strip() for row in targets.rows]
    names += [f"{short_id(run.id)} {run.name}".strip() for run in targets.going]
    cancels = f" {_listed([short_id(run.id) for run in targets.going])} will be cancelled." if targets.going else ""
    return f"remove {_listed(names)}?{cancels} [y/N]"


def _listed(names: tuple[str, ...] | list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(show(name, 80) for name in names[:_SHOWN]) + more
