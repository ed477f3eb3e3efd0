"""The flags that choose the rows and columns shown of a profile, for every command that shows one."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from typing import Any

from tuibench.cli.output import can_draw
from tuibench.cli.parser import Argument, Group, argument, reads
from tuibench.cli.session import width
from tuibench.core.errors import UsageError
from tuibench.core.settings import profile as profile_setting
from tuibench.core.settings.setting import Setting
from tuibench.present.profile.shown import WIDTH, Shown


def _declare(setting: Setting) -> Argument:
    text = setting.help_text.replace("%", "%%")
    if setting.kind.is_switch:
        return argument(*setting.flags, dest=setting.name, action="store_true", help=text)
    reader = reads(setting.flags[0], setting.kind)
    return argument(*setting.flags, dest=setting.name, metavar=setting.metavar, type=reader, help=text)


PAGE = Group(tuple(map(_declare, profile_setting.PAGE)), "of a profile")
"""The flags, for `show` and `export`."""


def chosen(args: argparse.Namespace) -> dict[str, Any]:
    """Return the values typed for the flags, by name."""
    names = [setting.name for setting in profile_setting.PAGE]
    return {name: given for name in names if (given := getattr(args, name)) not in (None, False)}


def refuse_choices(typed: Mapping[str, Any], why: str, hint: str = "") -> None:
    """Raise UsageError for the first typed flag, because the result shown is not a profile."""
    for setting in profile_setting.PAGE:
        if setting.name in typed:
            raise UsageError(f"{setting.flags[0]} {why}", hint)


def shown_of(typed: Mapping[str, Any], *, ascii_only: bool, aged: bool = False) -> Shown:
    """Return the choices, with the terminal's width or a usual one; with `aged` the page shows the age."""
    plain = ascii_only or not can_draw()
    return Shown(width=width() or WIDTH, ascii_only=plain, now=time.time() if aged else None, **typed)
