"""`tuibench remove`, `undo` and `trash`: move results to the trash, restore or delete them."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from tuibench.cli.output import confirmed, emit, tell, width
from tuibench.cli.parser import ASCII, JSON, YES, Action, argument
from tuibench.cli.terminal import Interruption
from tuibench.core.activity import RunInfo
from tuibench.core.errors import ExitCode
from tuibench.core.ids import short_id
from tuibench.core.units import count_of, size
from tuibench.present.listing import held_words, listed_words, trash_json, trash_list
from tuibench.present.run_list import cancel_words
from tuibench.services.api import Services
from tuibench.services.library import Targets

_WORD = "empty"


def remove(args: argparse.Namespace, services: Services, _: Interruption) -> ExitCode:
    """Remove after a confirmation."""
    targets = services.library.targets(args.ids)
    if not args.yes and not confirmed(_question(targets), "y", "tuibench remove"):
        tell("nothing was removed")
        return ExitCode.OK
    removal = services.library.remove(targets.ids, cancel=True, discard=True)
    for run in removal.cancelled:
        tell(cancel_words(run) if run in removal.unsaved else f"cancelled {short_id(run.id)}")
    for run in removal.discarded:
        tell(f"deleted {short_id(run.id)} permanently: {_executions([run])}")
    if removal.entry is not None:
        tell(f"removed {held_words(removal.entry)}; tuibench undo restores it")
    elif not removal.discarded and not removal.unsaved:
        tell("nothing of it was saved, so nothing was removed")
    # Unsaved results still exist, whatever else was removed.
    return ExitCode.STORE if removal.unsaved else ExitCode.OK


def undo(_args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Restore the last removal."""
    tell(f"restored {held_words(services.library.undo())}")


def _question(targets: Targets) -> str:
    named = [(row.id, row.name) for row in targets.rows]
    named += [(run.id, run.name) for run in (*targets.going, *targets.unsaved)]
    names = [f"{short_id(one)} {name}".strip() for one, name in named]
    question = f"remove {listed_words(names)}?"
    if targets.going:
        question += f" {listed_words([short_id(run.id) for run in targets.going])} will be cancelled."
    if targets.unsaved:
        shorts = listed_words([short_id(run.id) for run in targets.unsaved])
        question += f" Not saved: {shorts}; {_executions(targets.unsaved)} will be deleted permanently."
    return f"{question} [y/N]"


def _executions(runs: Sequence[RunInfo]) -> str:
    return count_of(sum(run.executions for run in runs), "execution")


def show_trash(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Print the removals that can be restored."""
    entries = services.library.trash()
    emit(trash_json(entries) if args.json else trash_list(entries, time.time(), width=width(), ascii_only=args.ascii))
    if not entries:
        tell("the trash is empty")


def restore(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Restore one removal."""
    tell(f"restored {held_words(services.library.restore(args.id))}")


def empty(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Delete everything after a typed confirmation."""
    entries = services.library.trash()
    if not entries:
        tell("the trash is empty")
        return
    held = f"{count_of(len(entries), 'removal')}, {size(sum(entry.size_bytes for entry in entries))}"
    question = f"{held} will be deleted permanently. Type {_WORD} to confirm:"
    if not args.yes and not confirmed(question, _WORD, "tuibench trash empty"):
        tell("nothing was deleted")
        return
    # Delete only the confirmed entries: another session may have removed more meanwhile.
    count, gone = services.library.empty_trash([entry.id for entry in entries])
    tell(f"deleted {count_of(count, 'removal')}, {size(gone)}")


ACTIONS = {
    "remove": Action(
        remove,
        "Move benchmarks to the trash; tuibench undo restores them. An interrupted run that was never saved is deleted "
        "permanently, after a question that names what is lost.",
        (argument("ids", nargs="+", metavar="ID", help="what to remove; a running one is cancelled first"), YES),
    ),
    "undo": Action(undo, "Restore the last removal of this machine."),
    "trash": Action(
        show_trash,
        "List, restore or delete removed results. They are deleted after 30 days, the oldest first above 1 GiB.",
        actions={
            "list": Action(show_trash, "List what can be restored, newest first.", (JSON, ASCII)),
            "restore": Action(
                restore,
                "Restore a removal with all its items.",
                (argument("id", metavar="ID", help="of the removal, or of anything in it"),),
            ),
            "empty": Action(empty, "Delete everything in the trash permanently.", (YES,)),
        },
        defaults={"json": False, "ascii": False},
    ),
}
