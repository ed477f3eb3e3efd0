"""`tuibench remove`, `undo` and `trash`: move results to the trash, restore or delete them."""

from __future__ import annotations

import argparse
import time

from tuibench.cli.output import ask_confirmation, emit, tell, width
from tuibench.cli.parser import ASCII, JSON, YES, Action, argument
from tuibench.cli.terminal import Interruption
from tuibench.core.errors import ExitCode
from tuibench.core.ids import short_id
from tuibench.core.units import count_of, size
from tuibench.present.listing import listed_words, trash_json, trash_list
from tuibench.present.outcome import emptied_words, executions_words, removal_lines, restored_words
from tuibench.services.api import Services
from tuibench.services.library import Targets

_WORD = "empty"


def remove(args: argparse.Namespace, services: Services, _: Interruption) -> ExitCode:
    """Remove after a confirmation."""
    targets = services.library.targets(args.ids)
    lost = "the unsaved measurements" if targets.unsaved else ""
    if not args.yes and not ask_confirmation(_question(targets), "y", "tuibench remove", lost):
        tell("nothing was removed")
        return ExitCode.OK
    removal = services.library.remove(targets.ids, cancel=True, discard=True)
    undo_hint = "; tuibench undo restores it" if removal.entry is not None else ""
    tell("\n".join(removal_lines(removal)) + undo_hint)
    # Unsaved results still exist, whatever else was removed.
    return ExitCode.STORE if removal.unsaved else ExitCode.OK


def undo(_args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Restore the last removal."""
    tell(restored_words(services.library.undo()))


def _question(targets: Targets) -> str:
    named = [(row.id, row.name) for row in targets.rows]
    named += [(run.id, run.name) for run in (*targets.going, *targets.unsaved)]
    names = [f"{short_id(one)} {name}".strip() for one, name in named]
    question = f"remove {listed_words(names)}?"
    if targets.going:
        question += f" {listed_words([short_id(run.id) for run in targets.going])} will be cancelled."
    if targets.unsaved:
        shorts = listed_words([short_id(run.id) for run in targets.unsaved])
        question += f" Not saved: {shorts}; {executions_words(targets.unsaved)} will be deleted permanently."
    return f"{question} [y/N]"


def show_trash(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Print the removals that can be restored."""
    entries = services.library.trash()
    emit(trash_json(entries) if args.json else trash_list(entries, time.time(), width=width(), ascii_only=args.ascii))
    if not entries:
        tell("the trash is empty")


def restore(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Restore one removal."""
    tell(restored_words(services.library.restore(args.id)))


def empty(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Delete everything after a typed confirmation."""
    entries = services.library.trash()
    if not entries:
        tell("the trash is empty")
        return
    held = f"{count_of(len(entries), 'removal')}, {size(sum(entry.size_bytes for entry in entries))}"
    question = f"{held} will be deleted permanently. Type {_WORD} to confirm:"
    if not args.yes and not ask_confirmation(question, _WORD, "tuibench trash empty", "all removed results"):
        tell("nothing was deleted")
        return
    # Delete only the confirmed entries: another session may have removed more meanwhile.
    tell(emptied_words(*services.library.empty_trash([entry.id for entry in entries])))


ACTIONS = {
    "remove": Action(
        remove,
        "Move benchmarks to the trash; tuibench undo restores them. An interrupted run that was never saved is deleted "
        "permanently, after a question that names what is lost.",
        (argument("ids", nargs="+", metavar="ID", help="id of a result or run; a running one is cancelled first"), YES),
    ),
    "undo": Action(undo, "Restore the last removal of this machine."),
    "trash": Action(
        show_trash,
        "List, restore or delete removed results. They are deleted after 30 days, the oldest first above 1 GiB.",
        actions={
            "list": Action(show_trash, "List the removals, newest first.", (JSON, ASCII)),
            "restore": Action(
                restore,
                "Restore a removal with all its items.",
                (argument("id", metavar="ID", help="id of the removal, or of anything in it"),),
            ),
            "empty": Action(empty, "Delete everything in the trash permanently.", (YES,)),
        },
        defaults={"json": False, "ascii": False},
    ),
}
