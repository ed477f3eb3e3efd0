"""`tuibench remove` and `tuibench undo`: move to the trash and restore."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tuibench.cli.parser import Subparsers
from tuibench.cli.session import confirmed, opened, tell
from tuibench.core.activity import RunInfo
from tuibench.core.errors import ExitCode
from tuibench.core.ids import short_id
from tuibench.core.units import count_of
from tuibench.present.listing import held_words, listed_words
from tuibench.present.run_list import cancel_words
from tuibench.services.library import Targets


def add_parser(subparsers: Subparsers) -> None:
    """Add both commands and their flags."""
    parser = subparsers.add_parser(
        "remove",
        description="Move benchmarks to the trash, from where undo brings them. A run that broke off and was never "
        "saved goes for good, after a question that says what of it is lost.",
    )
    parser.add_argument("ids", nargs="+", metavar="ID", help="of what to remove; what still runs is cancelled first")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    parser.set_defaults(run=remove)
    parser = subparsers.add_parser("undo", description="Bring back what was removed last on this machine.")
    parser.set_defaults(run=undo)


def remove(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - every command gets it
    """Remove after a confirmation."""
    with opened() as services:
        targets = services.library.targets(args.ids)
        if not args.yes and not confirmed(_question(targets), "y", "tuibench remove"):
            tell("nothing was removed")
            return int(ExitCode.OK)
        removal = services.library.remove(targets.ids, cancel=True, discard=True)
        for run in removal.cancelled:
            tell(cancel_words(run) if run in removal.unsaved else f"cancelled {short_id(run.id)}")
        for run in removal.discarded:
            tell(f"removed {short_id(run.id)} for good: {_executions([run])}")
        if removal.entry is not None:
            tell(f"removed {held_words(removal.entry)}; tuibench undo brings it back")
        elif not removal.discarded and not removal.unsaved:
            tell("nothing of it was saved, so there is nothing to remove")
    # Unsaved results still exist, whatever else was removed.
    return int(ExitCode.STORE if removal.unsaved else ExitCode.OK)


def undo(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - every command gets it
    """Restore the last removal."""
    with opened() as services:
        tell(f"restored {held_words(services.library.undo())}")
    return int(ExitCode.OK)


def _question(targets: Targets) -> str:
    names = [f"{short_id(row.id)} {row.name}".strip() for row in targets.rows]
    names += [f"{short_id(run.id)} {run.name}".strip() for run in (*targets.going, *targets.unsaved)]
    cancels = (
        f" {listed_words([short_id(run.id) for run in targets.going])} will be cancelled." if targets.going else ""
    )
    lost = ""
    if targets.unsaved:
        shorts = listed_words([short_id(run.id) for run in targets.unsaved])
        lost = f" Of {shorts} nothing is saved: {_executions(targets.unsaved)} will be gone for good."
    return f"remove {listed_words(names)}?{cancels}{lost} [y/N]"


def _executions(runs: Sequence[RunInfo]) -> str:
    return count_of(sum(run.executions for run in runs), "execution")
