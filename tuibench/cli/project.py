"""`tuibench project`: list, show, create, edit, copy and remove projects."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from tuibench.cli.following import fetcher
from tuibench.cli.output import ask_confirmation, emit, tell, width
from tuibench.cli.parser import ASCII, JSON, YES, Action, Argument, argument
from tuibench.cli.terminal import Interruption
from tuibench.core.errors import UsageError
from tuibench.core.ids import short_id, short_ids
from tuibench.core.record import to_plain
from tuibench.core.settings.model_token import resolve_model
from tuibench.core.stored import ProjectRow, held_words
from tuibench.core.text import show
from tuibench.present.listing import project_list, project_text, projects_json
from tuibench.services.api import Services
from tuibench.services.projects import Projects

_SORTS = ("modified", "created", "name")
_ID = "its name, or the short id of the list"
_LARGEST_DIM = 1 << 40


def list_projects(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Print one line per project."""
    rows = services.projects.list(args.sort, " ".join(args.words))
    if args.json:
        emit(projects_json(rows))
        return
    emit(project_list(rows, width(), args.ascii))
    if not rows:
        tell("no project matches" if args.words else "no projects yet: tuibench project new MODEL makes one")


def show_project(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Print everything about a project, and whether its models are unchanged."""
    _print(args, services.projects, services.projects.get(args.project))


def make_project(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Create a project for a readable model."""
    dims = _dims(args.dim)
    source = resolve_model(args.model, fetch=fetcher(services.projects.places, False, args.ascii))
    row = services.projects.create(source, args.name or "", args.description or "", dims)[0]
    _print(args, services.projects, row)


def edit_project(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Change only the given fields."""
    if args.name is None and args.description is None and not args.dim:
        raise UsageError("no_change_of_project")
    before = services.projects.get(args.project)
    dims = {**before.project.dims, **_dims(args.dim)} if args.dim else None
    row = services.projects.edit(before.project.id, name=args.name, description=args.description, dims=dims)
    _print(args, services.projects, row)


def copy_project(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Create a second project with the same versions."""
    _print(args, services.projects, services.projects.duplicate(args.project, args.name))


def remove_projects(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Move projects to the trash after a confirmation; if one is unknown, remove none."""
    rows = {row.project.id: row for row in map(services.projects.get, args.projects)}
    services.projects.refuse_measured(rows)
    listed = ", ".join(f"{short_id(one)} {show(row.project.name, 80)}" for one, row in rows.items())
    held = held_words(rows.values())
    if not args.yes and not ask_confirmation(f"remove {listed} with {held}? [y/N]", "y", "tuibench project remove"):
        tell("nothing was removed")
        return
    entry = services.projects.remove(*rows)
    if args.json:
        emit(json.dumps({"schema": 1, "removed": [to_plain(entry)]}, indent=2, ensure_ascii=True) + "\n")
    tell(f"moved to the trash: {listed} with {held}; tuibench undo restores it")


def _dims(texts: Sequence[str]) -> dict[str, int]:
    found = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not (equals and name and value.isascii() and value.isdigit() and int(value) <= _LARGEST_DIM):
            raise UsageError("not_a_dim", subject="--dim", given=text)
        found[name] = int(value)
    return found


def _print(args: argparse.Namespace, projects: Projects, row: ProjectRow) -> None:
    states = {version.id: projects.model_state(version) for version in row.project.versions}
    if args.json:
        emit(projects_json([row], states))
    else:
        every = short_ids(one.project.id for one in projects.list())
        emit(project_text(row, states, every.get(row.project.id, row.project.id), args.ascii))


_PROJECT = argument("project", metavar="PROJECT", help=_ID)
_FIELDS = (
    argument("--name", metavar="NAME", help="name of the project"),
    argument("--description", metavar="TEXT", help="purpose of the project"),
    argument("--dim", metavar="NAME=N", action="append", default=[], help="default size of a dim of the model"),
)
# Given before or behind the word of the action, so an action does not reset them.
_OUTPUT = tuple(Argument(one.names, {**one.options, "default": argparse.SUPPRESS}) for one in (JSON, ASCII))

ACTIONS = {
    "project": Action(
        list_projects,
        "A project contains the results of one model. Without an action, list the projects.",
        (JSON, ASCII),
        actions={
            "list": Action(
                list_projects,
                "List the projects, or those that match every WORD.",
                (
                    *_OUTPUT,
                    argument("words", nargs="*", metavar="WORD", help="word in name, description or model"),
                    argument("--sort", choices=_SORTS, default=_SORTS[0], help=f"sort order [{_SORTS[0]}]"),
                ),
            ),
            "show": Action(show_project, "Show everything about a project.", (*_OUTPUT, _PROJECT)),
            "new": Action(
                make_project,
                "Create a project for a model.",
                (
                    *_OUTPUT,
                    argument("model", metavar="MODEL", help="a file, a directory, sample, hf:ORG/REPO or https://..."),
                    *_FIELDS,
                ),
            ),
            "edit": Action(edit_project, "Change the given fields of a project.", (*_OUTPUT, _PROJECT, *_FIELDS)),
            "copy": Action(
                copy_project,
                "Copy a project without its benchmarks.",
                (*_OUTPUT, _PROJECT, argument("name", metavar="NAME", help="name of the copy")),
            ),
            "remove": Action(
                remove_projects,
                "Move projects and their benchmarks to the trash.",
                (*_OUTPUT, argument("projects", nargs="+", metavar="PROJECT", help=_ID), YES),
            ),
        },
        defaults={"words": [], "sort": _SORTS[0]},
    )
}
