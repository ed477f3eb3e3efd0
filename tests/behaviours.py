"""List what users can type, press, read and set: commands with flags, keys, JSON keys, config keys, exit codes.

python -m tests.behaviours writes tests/behaviours.txt. Each function here reads one registry; where a registry moves,
its function follows, and the list stays as it is. Facts only: names, spellings, keys and codes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

from textual.screen import Screen

from tests.fixtures.store_0_1.reader import HOSTS, unpack
from tests.fixtures.store_0_1.site.sitecustomize import replacements
from tests.tui.pilot import open_app, press, settle
from tuibench.cli.arguments import _SWITCHES
from tuibench.cli.command import COMMANDS, LATER
from tuibench.cli.parser import add_action, find_action
from tuibench.core.errors import ExitCode
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings import profile as profile_setting
from tuibench.core.settings.setting import Setting
from tuibench.present.json_export import SCHEMA_FILE
from tuibench.services.form_values import APPROXIMATED, FLOPS
from tuibench.tui import route
from tuibench.tui.app import Dashboard
from tuibench.tui.config import _KINDS
from tuibench.tui.key import KEYS
from tuibench.tui.screens.detail.screen import TABS as DETAIL_TABS
from tuibench.tui.screens.profile.page import TABS as PROFILE_TABS
from tuibench.tui.screens.project.screen import TABS as PROJECT_TABS

ROOT = Path(__file__).resolve().parent.parent
LIST = Path(__file__).resolve().parent / "behaviours.txt"
DATA = ROOT / "tuibench" / "data"
_DIALOGS = {"export": "x", "edit": "e", "palette": "colon", "help": "f1"}
"""Screens above a benchmark's, with the keys that open them; other questions use the status line."""


def list_behaviours() -> str:
    """Return the sorted lines of the list."""
    lines = {*commands(), *exit_codes(), *export_keys(), *config_keys(), *keys(), *screens()}
    return "".join(f"{line}\n" for line in sorted(lines))


def commands() -> Iterator[str]:
    """Yield every command with each of its flags and arguments."""
    tables: dict[str, Iterable[Setting]] = {
        "benchmark": benchmark_setting.settings(),
        "rerun": (*profile_setting.own(), *benchmark_setting.settings(), *benchmark_setting.RERUN),
        "profile": profile_setting.settings(),
    }
    for name, settings in tables.items():
        yield f"command {name}"
        for setting in settings:
            for spelling in setting.flags:
                yield f"command {name} {spelling} {setting.metavar or 'switch'}"
    for name in COMMANDS:
        if name not in tables:
            parser = argparse.ArgumentParser()
            subparsers = parser.add_subparsers()
            add_action(subparsers, name, find_action(name))
            yield from _of_parser(f"command {name}", subparsers.choices[name])
    yield from (f"command {name} not in this version" for name in LATER)
    yield from (f"flag {name} not in this version" for name in benchmark_setting.LATER)
    yield from (f"command dashboard {switch} switch" for switch in _SWITCHES)
    yield from (f"command {name} switch" for name in ("--version", "--help", "-h", "help"))


def _of_parser(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield name
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, inner in action.choices.items():
                yield from _of_parser(f"{name} {word}", inner)
            continue
        value = "switch" if action.nargs == 0 else str(action.metavar or action.dest.upper())
        choices = f" {'|'.join(map(str, action.choices))}" if action.choices else ""
        for spelling in action.option_strings or ["argument"]:
            yield f"{name} {spelling} {value}{choices}"


def exit_codes() -> Iterator[str]:
    """Yield every exit code."""
    yield from (f"exit {int(code)} {code.name.lower()}" for code in ExitCode)


def export_keys() -> Iterator[str]:
    """Yield every JSON key of an export, with its types, as a path through the schema."""
    schema = json.loads((DATA / SCHEMA_FILE).read_text(encoding="utf-8"))
    yield from (f"export {path}: {kinds}" for path, kinds in _keys(schema, schema, "", ()))


def _keys(node: Any, schema: Any, path: str, above: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for part in _parts(node, schema, above):
        for name, child in part.get("properties", {}).items():
            place = f"{path}.{name}".lstrip(".")
            yield place, "|".join(sorted({kind for each in _parts(child, schema, above) for kind in _kinds(each)}))
            yield from _keys(child, schema, place, above)
        if isinstance(part.get("items"), dict):
            yield from _keys(part["items"], schema, f"{path}[]", above)
        if isinstance(part.get("additionalProperties"), dict):
            yield from _keys(part["additionalProperties"], schema, f"{path}.*", above)


def _parts(node: Any, schema: Any, above: tuple[str, ...]) -> Iterator[Any]:
    """Yield a node of the schema with its alternatives, references resolved; a recursive node is not entered again."""
    if reference := node.get("$ref", ""):
        if above.count(reference) < 1:
            yield from _parts(schema["$defs"][reference.rpartition("/")[2]], schema, (*above, reference))
    else:
        yield node
    for alternative in (*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())):
        yield from _parts(alternative, schema, above)


def _kinds(part: Any) -> Iterator[str]:
    found = part.get("type", [])
    yield from [found] if isinstance(found, str) else found
    yield from (json.dumps(value) for value in part.get("enum", ()))
    if "const" in part:
        yield json.dumps(part["const"])


def config_keys() -> Iterator[str]:
    """Yield every key of the config file."""
    yield from (f"config [dashboard] {name} {kind.__name__}" for name, kind in _KINDS.items())
    yield from (f"config [keys] {name}" for name in KEYS)


def keys() -> Iterator[str]:
    """Yield every action of the dashboard with its default keys."""
    for key in KEYS.values():
        yield from (f"key {key.id} {each}" for each in key.keys.split(","))


def screens() -> Iterator[str]:
    """Yield every screen with each key that works there."""
    with tempfile.TemporaryDirectory() as place:
        home = unpack(Path(place))
        names = json.loads(Path(place, "names.json").read_text(encoding="utf-8"))
        with ExitStack() as patches:
            patches.enter_context(patch.dict(os.environ, {"TUIBENCH_HOME": str(home)}))
            # A key that belongs to another host cannot be removed.
            for name, function in replacements(HOSTS[0]).items():
                patches.enter_context(patch(name, function))
            found = asyncio.run(_tour({name: one for one, name in names.items()}))
    yield from (f"screen {name}: {key}" for name, heard in found.items() for key in heard)


async def _tour(ids: dict[str, str]) -> dict[str, set[str]]:
    """Visit every screen over the recorded store."""
    found: dict[str, set[str]] = {}
    async with open_app((120, 40)) as (app, pilot):
        found["home"] = heard(app)
        for name, screen in _ways(app, ids):
            app.go(screen)
            await settle(pilot)
            found.setdefault(name, set()).update(heard(app))
            for dialog, opener in _DIALOGS.items() if name == "benchmark" else ():
                depth = len(app.screen_stack)
                await press(pilot, opener)
                if len(app.screen_stack) <= depth:
                    raise RuntimeError(f"{opener} opens no {dialog}")
                found[f"dialog {dialog}"] = heard(app)
                await press(pilot, "escape")
                if len(app.screen_stack) != depth:
                    raise RuntimeError(f"escape does not close the {dialog}")
            while len(app.screen_stack) > 1:
                app.pop_screen()
                await settle(pilot)
    return found


def _ways(app: Dashboard, ids: dict[str, str]) -> Iterator[tuple[str, Screen[None]]]:
    model = str(DATA / "samples" / "tiny.onnx")
    benchmark, other = ids["cores x batches"], ids["rerun"]
    performance, loss = ids["profile"], ids["loss"]
    project = app.services.projects.get("grown").project.id
    # The only model of the recording that is on every machine.
    built_in = app.services.projects.get("sample:tiny").project.id
    yield from (("project", route.project(project, tab)) for tab in PROJECT_TABS)
    yield "loose", route.unassigned()
    yield from (("benchmark", route.detail(benchmark, tab)) for tab in DETAIL_TABS)
    yield from (("profile", route.profile(one, tab)) for one in (performance, loss) for tab in PROFILE_TABS)
    yield from (("theory", route.theory(built_in, what)) for what in (FLOPS, APPROXIMATED))
    yield "comparison", route.comparison(benchmark, other)
    yield "profile comparison", route.profile_comparison(performance, ids["profile with INT8"])
    yield "form", route.form(path=model)
    yield "profile form", route.profile_form(project)
    yield "new project", route.new_project(model)
    yield "run", route.run(ids["run killed: broken off"])
    yield "system", route.system()
    yield "trash", route.trash()


def heard(app: Dashboard) -> set[str]:
    """Return key and action for each binding of the screen in sight, its parts and the app, if it is carried out."""
    found = set()
    # A modal screen keeps the app's keys out.
    above = () if app.screen.is_modal else (app,)
    for node in (*above, app.screen, *app.screen.query("*")):
        for binding in (each for group in node._bindings.key_to_bindings.values() for each in group):
            is_missing_tab = binding.action.startswith("tab_") and node.check_action(binding.action, ()) is False
            if binding.id in KEYS and callable(getattr(node, f"action_{binding.action}", None)) and not is_missing_tab:
                found.add(f"{binding.key} {binding.id}")
    return found


if __name__ == "__main__":
    LIST.write_text(list_behaviours(), encoding="utf-8")
