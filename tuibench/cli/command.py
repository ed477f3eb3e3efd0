"""The table of commands: the module of each, and its text in `tuibench --help`.

A module has `add_parser(subparsers)`, which adds each command that names it here. The default `run` of a command is
`run(args, interruption)`. `benchmark` and `rerun` use the table of flags instead.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One command; its usage begins with its name."""

    usage: str
    text: str
    module: str = ""
    """Module in tuibench.cli; '' for commands that `arguments` parses itself."""

    @property
    def name(self) -> str:
        """The word typed after `tuibench`."""
        return self.usage.split()[0]


GROUPS: tuple[tuple[str, tuple[Command, ...]], ...] = (
    (
        "Measure",
        (
            Command("benchmark MODEL [MODEL ...]", "measure, and keep the result"),
            Command("profile MODEL [flags]", "where the time goes, layer by layer"),
            Command("rerun ID [flags]", "measure again, and show both side by side"),
        ),
    ),
    (
        "Runs",
        (
            Command("ps [--all]", "runs: measuring, waiting, broken off", "ps"),
            Command("attach ID", "follow a run; Ctrl-C leaves it going", "attach"),
            Command("finish ID", "end a run well, with what it has", "finish"),
            Command("extend ID [--by SEC]", "give a run more time per cell", "extend"),
            Command("cancel ID ...", "end runs, keeping what they measured", "cancel"),
            Command("resume ID", "measure what is missing of a broken run", "resume"),
        ),
    ),
    (
        "Results",
        (
            Command("list [WORD ...]", "what was measured, newest first", "listing"),
            Command("show ID", "one of them, with all that is known of it", "detail"),
            Command("compare BASE NEW", "two of them, side by side", "comparison"),
            Command("edit ID", "its name, note and project", "card"),
            Command("remove ID [ID ...]", "move to the trash", "removal"),
            Command("undo", "bring back what was removed last", "removal"),
            Command("trash [list|restore|empty]", "what was removed", "trash"),
            Command("export ID -x FILE", "as JSON, CSV or Markdown", "export"),
            Command("import FILE [FILE ...]", "from such JSON, or deepsparse.benchmark's", "intake"),
        ),
    ),
    (
        "Projects",
        (Command("project [ACTION]", "list, show, new, edit, copy, remove", "project"),),
    ),
    (
        "Machine and store",
        (
            Command("doctor", "this machine, noise, engines, store", "doctor"),
            Command("store check|migrate", "whether all is as it was written", "store"),
            Command("config", "the config file, its settings and keys", "configuration"),
        ),
    ),
)

COMMANDS = {command.name: command for _, commands in GROUPS for command in commands}

LATER = (
    "versions",
    "gate",
    "check",
    "engines",
    "completion",
)
"""Reserved names of commands that are not implemented."""
