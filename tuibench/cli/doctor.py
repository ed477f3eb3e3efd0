"""`tuibench doctor`: checks how fit this machine is for measuring; prints text or JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from tuibench.cli.output import AS_ASCII
from tuibench.core import engine
from tuibench.core.errors import ExitCode
from tuibench.services.doctor import Answers, ask_engines, describe_terminal


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its flags."""
    parser = subparsers.add_parser(
        "doctor",
        help="host facts, noise now, engines, store, terminal",
        description="Tell how fit this machine is to be measured on: facts, noise of this moment, engines, the store, "
        "and what harms a measurement with its remedy.",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument(
        "--include-private",
        action="store_true",
        help="with --json: also host name, user, paths and command lines, which are left out otherwise",
    )
    parser.set_defaults(run=run)


def run(
    args: argparse.Namespace,
    interruption: object = None,  # noqa: ARG001 - every command gets it; this one ends by itself
    *,
    engines: Sequence[str] = engine.names(),
    ask: Callable[[Sequence[str]], Answers] | None = None,
    examine: Callable[[Answers, dict[str, Any]], dict[str, Any]] | None = None,
    out: TextIO | None = None,
) -> int:
    """Examine the machine and print the findings; they do not change the exit code."""
    stream = sys.stdout if out is None else out
    facts = (examine or _examine)((ask or ask_engines)(engines), describe_terminal(stream))
    if args.json:
        if not args.include_private:
            facts.pop("env_private", None)
        # ASCII, since a foreign name may contain escape codes.
        text = json.dumps(facts, indent=2, ensure_ascii=True) + "\n"
    else:
        # lazy: --help must not pay 0.5 ms for the report
        from tuibench.present.doctor import render_doctor

        text = render_doctor(facts)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, AS_ASCII).decode(encoding))
    stream.flush()
    return int(ExitCode.OK)


def _examine(engines: Answers, terminal: dict[str, Any]) -> dict[str, Any]:
    # lazy: --help and other commands must not pay 30 ms
    from tuibench.cli.session import opened

    with opened() as services:
        return services.machine.fitness(engines, terminal)
