"""The flags that choose what is shown of a profile, for every command that shows one."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from typing import Any

from tuibench.cli.output import can_draw
from tuibench.cli.parser import reads
from tuibench.cli.session import width
from tuibench.core.errors import UsageError
from tuibench.report.profile_shown import WIDTH, Shown
from tuibench.request.profile_flag import PAGE_FLAGS


def add_choices(parser: argparse.ArgumentParser) -> None:
    """Let a command take them."""
    group = parser.add_argument_group("of a profile")
    for flag in PAGE_FLAGS:
        what, _, usual = flag.text.partition("; default ")
        text = (f"{what} [{usual}]" if usual else what).replace("%", "%%")
        if flag.metavar:
            reader = reads(flag.names[0], flag.read)
            group.add_argument(*flag.names, dest=flag.field, metavar=flag.metavar, type=reader, help=text)
        else:
            group.add_argument(*flag.names, dest=flag.field, action="store_true", help=text)


def chosen(args: argparse.Namespace) -> dict[str, Any]:
    """What was typed of them, by field."""
    return {flag.field: given for flag in PAGE_FLAGS if (given := getattr(args, flag.field)) not in (None, False)}


def refuse_choices(typed: Mapping[str, Any], why: str, hint: str = "") -> None:
    """Raise UsageError for the first of them, which has nothing to choose from here."""
    for flag in PAGE_FLAGS:
        if flag.field in typed:
            raise UsageError(f"{flag.names[0]} {why}", hint)


def shown_of(typed: Mapping[str, Any], *, ascii_only: bool, aged: bool = False) -> Shown:
    """For a terminal as wide as it is, elsewhere as wide as a terminal usually is; `aged` says how old a profile is."""
    plain = ascii_only or not can_draw()
    return Shown(width=width() or WIDTH, ascii_only=plain, now=time.time() if aged else None, **typed)
