"""`tuibench project`: list, show, create, edit, copy and remove projects."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence

from tuibench.cli.following import fetcher
from tuibench.cli.output import emit
from tuibench.cli.parser import Subparsers
from tuibench.cli.session import confirmed, opened, tell, width
from tuibench.core.errors import ExitCode, UsageError
from tuibench.core.ids import short_id, short_ids
from tuibench.core.record import to_plain
from tuibench.core.settings.model_token import resolve_model
from tuibench.core.stored import ProjectRow, held_words
from tuibench.core.text import show
from tuibench.present.listing import project_list, project_text, projects_json
from tuibench.services.projects import Projects

_SORTS = ("modified", "created", "name")
_PROJECT = "its name, or the short id that the list shows"
_LARGEST_DIM = 1 << 40

Action = Callable[[argparse.Namespace, Projects], None]


def add_parser(subparsers: Subparsers) -> None:
    """Add the command, its actions and their flags."""
    parser = subparsers.add_parser(
        "project",
        help="list, make and change projects",
        description="A project keeps together what was measured of one model. Without an action they are listed.",
    )
    _finish(parser, list_projects)
    parser.set_defaults(words=[], sort=_SORTS[0])
    actions = parser.add_subparsers(dest="action", metavar="ACTION")

    def add(name: str, action: Action, text: str) -> argparse.ArgumentParser:
        added = actions.add_parser(name, help=text, description=f"{text[:1].upper()}{text[1:]}.")
        _finish(added, action)
        return added

    listed = add("list", list_projects, "list the projects, or those with all of the given words")
    listed.add_argument("words", nargs="*", metavar="WORD", help="to be found in names, descriptions and models")
    listed.add_argument("--sort", choices=_SORTS, default=_SORTS[0], help="by what (default: %(default)s)")
    add("show", show_project, "show all about a project").add_argument("project", metavar="PROJECT", help=_PROJECT)
    made = add("new", make_project, "make a project of a model")
    made.add_argument("model", metavar="MODEL", help="a file, a directory, sample, hf:ORG/REPO[/FILE] or https://…")
    _add_fields(made)
    edited = add("edit", edit_project, "change what is given of a project")
    edited.add_argument("project", metavar="PROJECT", help=_PROJECT)
    _add_fields(edited)
    copied = add("copy", copy_project, "make a second project of the same versions; benchmarks stay with the first")
    copied.add_argument("project", metavar="PROJECT", help=_PROJECT)
    copied.add_argument("name", metavar="NAME", help="of the copy")
    removed = add("remove", remove_projects, "move projects and their benchmarks to the trash")
    removed.add_argument("projects", nargs="+", metavar="PROJECT", help=_PROJECT)
    removed.add_argument("-y", "--yes", action="store_true", help="do not ask")


def list_projects(args: argparse.Namespace, projects: Projects) -> None:
    """Print one line per project."""
    rows = projects.list(args.sort, " ".join(args.words))
    if args.json:
        emit(projects_json(rows))
        return
    emit(project_list(rows, width(), args.ascii))
    if not rows:
        tell("no project has these words" if args.words else "no projects yet: tuibench project new MODEL makes one")


def show_project(args: argparse.Namespace, projects: Projects) -> None:
    """Print everything about a project, and whether its models are unchanged."""
    _print(args, projects, projects.get(args.project))


def make_project(args: argparse.Namespace, projects: Projects) -> None:
    """Create a project for a readable model."""
    dims = _dims(args.dim)
    source = resolve_model(args.model, fetch=fetcher(projects.places, False, args.ascii))
    row, _ = projects.create(source, args.name or "", args.description or "", dims)
    _print(args, projects, row)


def edit_project(args: argparse.Namespace, projects: Projects) -> None:
    """Change only the given fields."""
    if args.name is None and args.description is None and not args.dim:
        raise UsageError("nothing to change was given", "such as --name NAME, --description TEXT or --dim seq=128")
    before = projects.get(args.project)
    dims = {**before.project.dims, **_dims(args.dim)} if args.dim else None
    row = projects.edit(before.project.id, name=args.name, description=args.description, dims=dims)
    _print(args, projects, row)


def copy_project(args: argparse.Namespace, projects: Projects) -> None:
    """Create a second project with the same versions."""
    _print(args, projects, projects.duplicate(args.project, args.name))


def remove_projects(args: argparse.Namespace, projects: Projects) -> None:
    """Move projects to the trash after a confirmation; if one is unknown, remove none."""
    rows = {row.project.id: row for row in map(projects.get, args.projects)}
    projects.refuse_measured(rows)
    listed = ", ".join(f"{short_id(one)} {show(row.project.name, 80)}" for one, row in rows.items())
    held = held_words(rows.values())
    if not args.yes and not confirmed(f"remove {listed} with {held}? [y/N]", "y", "tuibench project remove"):
        tell("nothing was removed")
        return
    entry = projects.remove(*rows)
    if args.json:
        emit(json.dumps({"schema": 1, "removed": [to_plain(entry)]}, indent=2, ensure_ascii=True) + "\n")
    tell(f"moved to the trash: {listed} with {held}; tuibench undo brings it back")


def _add_fields(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", metavar="NAME", help="what it is called")
    parser.add_argument("--description", metavar="TEXT", help="what it is for")
    parser.add_argument("--dim", metavar="NAME=N", action="append", default=[], help="a dim of the model to remember")


def _finish(parser: argparse.ArgumentParser, action: Action) -> None:
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON object")
    parser.add_argument("--ascii", action="store_true", default=argparse.SUPPRESS, help="print ASCII only")

    def run(args: argparse.Namespace, interruption: object = None) -> int:  # noqa: ARG001 - nothing here takes long
        for flag in ("json", "ascii"):
            setattr(args, flag, getattr(args, flag, False))
        with opened() as services:
            action(args, services.projects)
        return int(ExitCode.OK)

    parser.set_defaults(run=run)


def _dims(texts: Sequence[str]) -> dict[str, int]:
    found = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not (equals and name and value.isascii() and value.isdigit() and int(value) <= _LARGEST_DIM):
            raise UsageError(f"--dim takes NAME=N, not {show(text, 60)}", "such as --dim seq=128")
        found[name] = int(value)
    return found


def _print(args: argparse.Namespace, projects: Projects, row: ProjectRow) -> None:
    states = {version.id: projects.model_state(version) for version in row.project.versions}
    if args.json:
        emit(projects_json([row], states))
    else:
        every = short_ids(one.project.id for one in projects.list())
        emit(project_text(row, states, every.get(row.project.id, row.project.id), args.ascii))
