"""`tuibench trash`: lists, restores or deletes removed items."""

from __future__ import annotations

import argparse
import time

from tuibench.cli.output import emit
from tuibench.cli.parser import Subparsers
from tuibench.cli.session import confirmed, opened, tell, width
from tuibench.core.errors import ExitCode
from tuibench.core.units import count_of, size
from tuibench.present.listing import held_words, trash_json, trash_list

_WORD = "empty"


def add_parser(subparsers: Subparsers) -> None:
    """Add the command and its actions."""
    parser = subparsers.add_parser(
        "trash",
        description="What was removed. It goes for good after 30 days, or the oldest first above 1 GiB.",
    )
    parser.set_defaults(run=show_trash, json=False, ascii=False)
    actions = parser.add_subparsers(dest="action", metavar="list|restore|empty")
    listed = actions.add_parser("list", description="List what can come back, newest first.")
    listed.add_argument("--json", action="store_true", help="one JSON object instead of text")
    listed.add_argument("--ascii", action="store_true", help="plain ASCII only")
    listed.set_defaults(run=show_trash)
    restore = actions.add_parser("restore", description="Bring a removal back, and all that went with it.")
    restore.add_argument("id", metavar="ID", help="of the removal, or of anything in it")
    restore.set_defaults(run=restore_entry)
    empty = actions.add_parser("empty", description="Delete what is in the trash for good.")
    empty.add_argument("-y", "--yes", action="store_true", help="do not ask")
    empty.set_defaults(run=empty_trash)


def show_trash(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - every command gets it
    """Print the removals that can be restored."""
    with opened() as services:
        entries = services.library.trash()
        emit(
            trash_json(entries) if args.json else trash_list(entries, time.time(), width=width(), ascii_only=args.ascii)
        )
        if not entries:
            tell("the trash is empty")
    return int(ExitCode.OK)


def restore_entry(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - every command gets it
    """Restore one removal."""
    with opened() as services:
        tell(f"restored {held_words(services.library.restore(args.id))}")
    return int(ExitCode.OK)


def empty_trash(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - every command gets it
    """Delete everything after a typed confirmation."""
    with opened() as services:
        entries = services.library.trash()
        held = f"{count_of(len(entries), 'removal')}, {size(sum(entry.size_bytes for entry in entries))}"
        if not entries:
            tell("the trash is empty")
        elif not args.yes and not confirmed(
            f"{held} will be gone for good. Type {_WORD} to go on:", _WORD, "tuibench trash empty"
        ):
            tell("nothing was deleted")
        else:
            # Delete only the confirmed entries: another session may have removed more meanwhile.
            count, gone = services.library.empty_trash([entry.id for entry in entries])
            tell(f"deleted {count_of(count, 'removal')}, {size(gone)}")
    return int(ExitCode.OK)
