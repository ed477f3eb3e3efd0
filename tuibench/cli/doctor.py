"""`tuibench doctor`: checks how fit this machine is for measuring; prints text or JSON."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any, TextIO

from tuibench.cli.output import AS_ASCII
from tuibench.cli.parser import JSON, Action, switch
from tuibench.core import engine

if TYPE_CHECKING:  # types only: the services take 30 ms
    from tuibench.cli.terminal import Interruption
    from tuibench.services.api import Services


def run(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Examine the machine and print the findings; they do not change the exit code."""
    from tuibench.services.doctor import ask_engines, describe_terminal  # lazy: --help must not pay for it

    facts = services.machine.fitness(ask_engines(engine.names()), describe_terminal(sys.stdout))
    report(facts, sys.stdout, as_json=args.json, private=args.include_private)


def report(facts: dict[str, Any], stream: TextIO, *, as_json: bool = False, private: bool = False) -> None:
    """Print the facts and findings as text, or as JSON without private data unless asked for."""
    if as_json:
        shown = {name: value for name, value in facts.items() if private or name != "env_private"}
        # ASCII, since a foreign name may contain escape codes.
        text = json.dumps(shown, indent=2, ensure_ascii=True) + "\n"
    else:
        from tuibench.present.doctor import render_doctor  # lazy: --help must not pay for it

        text = render_doctor(facts)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, AS_ASCII).decode(encoding))
    stream.flush()


ACTIONS = {
    "doctor": Action(
        run,
        "Check this machine for measuring: facts, noise now, engines, store and terminal, and each problem with its "
        "remedy.",
        (
            JSON,
            switch(
                "--include-private",
                text="with --json: also host name, user, paths and command lines, which are omitted otherwise",
            ),
        ),
    )
}
