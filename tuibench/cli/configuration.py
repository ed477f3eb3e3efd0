"""`tuibench config`: the dashboard's config file, its settings in this terminal, and every key."""

from __future__ import annotations

import argparse
import json
import os
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tuibench.cli.output import emit, tell, width
from tuibench.cli.parser import ASCII, Action, switch
from tuibench.cli.terminal import Interruption
from tuibench.core.errors import ExitCode
from tuibench.core.text import show, to_ascii
from tuibench.present.reason import reason_words
from tuibench.services.api import Services
from tuibench.tui.config import DEFAULT, FILE, Config, Setting, list_settings, read_config, refusal_of
from tuibench.tui.key import GROUPS, KEYS, all_shown
from tuibench.tui.start import check_theme, config_path

SCHEMA = 1
_ENDLESS, _LEAST = 10_000, 20
"""Columns without a terminal, and of the narrowest text."""


def show_settings(args: argparse.Namespace, services: Services, _: Interruption) -> ExitCode:
    """Print the settings; return 2 if the file is wrong."""
    path = config_path(services.settings.places)
    config = check_theme(read_config(path))
    if args.json:
        emit(json.dumps(_document(path, config), indent=2, ensure_ascii=True) + "\n")
    else:
        text = "".join(f"{line}\n" for line in (_key_lines(config, args.ascii) if args.keys else _lines(path, config)))
        emit(to_ascii(text) if args.ascii else text)
    for problem in config.problems:
        tell(f"tuibench: {show(str(path))}: {problem}")
    return ExitCode.USAGE if config.problems else ExitCode.OK


def _lines(path: Path, config: Config) -> Iterator[str]:
    yield f"{show(str(path), 4096)}{'' if path.exists() else ' (missing: defaults apply)'}"
    if refusal := refusal_of(os.environ):
        yield f"the dashboard cannot be shown here: {reason_words(refusal)}"
    yield ""
    yield from _columns([(one.name, _word(one), one.source) for one in list_settings(os.environ, config)])
    own = f"{len(config.keys)} of {len(KEYS)} actions from the config file" if config.keys else "defaults"
    yield ""
    yield f"keys: {own}; --keys lists them"


def _word(setting: Setting) -> str:
    return ("yes" if setting.value else "no") if isinstance(setting.value, bool) else show(setting.value, 40)


def _key_lines(config: Config, ascii_only: bool) -> Iterator[str]:
    rows = []
    for title, group in GROUPS.items():
        rows.append((title, "", ""))
        rows += [(f"  {one.id}", _keys_of(one.id, config, ascii_only), one.text) for one in group]
    yield from (line.rstrip() for line in _columns(rows))


def _keys_of(key_id: str, config: Config, ascii_only: bool) -> str:
    return all_shown(key_id, config.keys, ascii_only) + (" (yours)" if key_id in config.keys else "")


def _columns(rows: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """Yield aligned lines; on a terminal the last column wraps at its width, elsewhere never."""
    first, second = (max(len(row[i]) for row in rows) for i in (0, 1))
    room = (width() or _ENDLESS) - first - second - 4
    for left, middle, right in rows:
        for number, part in enumerate(textwrap.wrap(right, max(room, _LEAST)) or [""]):
            heads = ("", "") if number else (left, middle)
            yield f"{heads[0]:<{first}}  {heads[1]:<{second}}  {part}"


def _document(path: Path, config: Config) -> dict[str, Any]:
    settings = list_settings(os.environ, config)
    keys = [
        {
            "id": one.id,
            "group": title,
            "keys": (config.keys.get(one.id) or one.keys).split(","),
            "source": FILE if one.id in config.keys else DEFAULT,
            "text": one.text,
        }
        for title, group in GROUPS.items()
        for one in group
    ]
    return {
        "schema": SCHEMA,
        "path": str(path),
        "exists": path.exists(),
        "refusal": reason_words(refusal_of(os.environ)),
        "settings": [{"name": one.name, "value": one.value, "source": one.source} for one in settings],
        "keys": keys,
        "problems": [f"{show(str(path))}: {problem}" for problem in config.problems],
    }


ACTIONS = {
    "config": Action(
        show_settings,
        "Print the path of the dashboard's config file, and each setting with its source: the file, the environment, "
        "the terminal or the default. Nothing is written. Exit code 2 if the file is wrong.",
        (
            switch("--keys", text="list every action of the dashboard with its keys"),
            switch("--json", text="print one JSON object instead of text, keys included"),
            ASCII,
        ),
    )
}
