"""The table of commands: the module of each, and its text in `tuibench --help`.

A module declares its commands in `ACTIONS` (cli/parser.py). `benchmark`, `profile` and `rerun` use the tables of
settings instead.
"""

from __future__ import annotations

from dataclasses import dataclass

from tuibench.core import formats


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
            Command("benchmark MODEL [MODEL ...]", "measure and save the result"),
            Command("profile MODEL [flags]", "measure time or loss of each layer"),
            Command("rerun ID [flags]", "measure again and compare"),
        ),
    ),
    (
        "Runs",
        (
            Command("ps [--all]", "list runs: measuring, queued, interrupted", "runs"),
            Command("attach ID", "follow a run; Ctrl-C leaves it running", "runs"),
            Command("finish ID", "end a run after its current execution", "runs"),
            Command("extend ID [--by SEC]", "give a run more time per cell", "runs"),
            Command("cancel ID ...", "end runs at once, save their results", "runs"),
            Command("resume ID", "measure the missing part of a run", "runs"),
        ),
    ),
    (
        "Results",
        (
            Command("list [WORD ...]", "list saved results, newest first", "results"),
            Command("show ID", "show one result in full", "results"),
            Command("compare BASE NEW", "compare two results side by side", "comparison"),
            Command("edit ID", "change name, note and project of a result", "results"),
            Command("remove ID [ID ...]", "move results to the trash", "trash"),
            Command("undo", "restore the last removal", "trash"),
            Command("trash [list|restore|empty]", "list, restore or delete removed results", "trash"),
            Command("export ID -x FILE", f"write a result as {formats.titles()}", "exchange"),
            Command("import FILE [FILE ...]", "read JSON of tuibench or deepsparse.benchmark", "exchange"),
        ),
    ),
    (
        "Projects",
        (Command("project [ACTION]", "list, show, new, edit, copy, remove projects", "project"),),
    ),
    (
        "Machine and store",
        (
            Command("doctor", "check machine, noise, engines and store", "machine"),
            Command("engines [ACTION]", "list, install, test and remove engines", "engines"),
            Command("store check|migrate", "check the stored files, or migrate them", "machine"),
            Command("config", "show the config file, settings and keys", "configuration"),
        ),
    ),
)

COMMANDS = {command.name: command for _, commands in GROUPS for command in commands}

LATER = (
    "versions",
    "gate",
    "check",
    "completion",
)
"""Reserved names of commands that are not implemented."""
