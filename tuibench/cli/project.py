"""`tuibench project`: list, show, make, edit, copy and remove projects."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tuibench.cli.output import emit
from tuibench.core.errors import ExitCode, UsageError
from tuibench.core.text import show
from tuibench.core.units import count_of

if TYPE_CHECKING:
    from tuibench.core.project import ProjectRow
    from tuibench.workbench.projects import Projects

_SORTS = ("modified", "created", "name")
_PROJECT = "its name, or the short id that the list shows"
_LARGEST_DIM = 1 << 40

Action = Callable[[argparse.Namespace], int]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
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


def list_projects(args: argparse.Namespace) -> int:
    """Print a line per project."""
    from tuibench.report.project_list import WIDTH, project_list, projects_json

    projects = _open()
    rows = projects.list(args.sort, " ".join(args.words))
    if args.json:
        emit(projects_json(rows))
    else:
        # A pipe may want to look for what 80 columns would cut off.
        emit(project_list(rows, WIDTH if sys.stdout.isatty() else None, args.ascii))
        if not rows:
            _say(
                "no project has these words" if args.words else "no projects yet: tuibench project new MODEL makes one"
            )
    return _end(projects)


def show_project(args: argparse.Namespace) -> int:
    """Print everything about a project, and whether its models are what they were."""
    projects = _open()
    return _print(args, projects, projects.get(args.project))


def make_project(args: argparse.Namespace) -> int:
    """Make a project of a model that can be read."""
    from tuibench.cli.fetching import fetcher
    from tuibench.cli.model_token import resolve_model

    dims = _dims(args.dim)
    projects = _open()
    source = resolve_model(args.model, fetch=fetcher(projects.places, False, args.ascii))
    row, _ = projects.create(source, args.name or "", args.description or "", dims)
    return _print(args, projects, row)


def edit_project(args: argparse.Namespace) -> int:
    """Change what was given, and nothing else."""
    if args.name is None and args.description is None and not args.dim:
        raise UsageError("nothing to change was given", "such as --name NAME, --description TEXT or --dim seq=128")
    projects = _open()
    before = projects.get(args.project)
    dims = {**before.project.dims, **_dims(args.dim)} if args.dim else None
    row = projects.edit(before.project.id, name=args.name, description=args.description, dims=dims)
    return _print(args, projects, row)


def copy_project(args: argparse.Namespace) -> int:
    """Make a second project of the same versions."""
    projects = _open()
    return _print(args, projects, projects.duplicate(args.project, args.name))


def remove_projects(args: argparse.Namespace) -> int:
    """Move projects to the trash, all of them or, where one is not known, none."""
    from tuibench.core.record import to_plain

    projects = _open()
    found = [projects.get(token).project.id for token in args.projects]
    entries = [projects.remove(one) for one in dict.fromkeys(found)]
    if args.json:
        emit(json.dumps({"schema": 1, "removed": to_plain(entries)}, indent=2, ensure_ascii=True) + "\n")
    for entry in entries:
        held = count_of(len(entry.benchmarks), "benchmark")
        _say(f"moved to the trash: {', '.join(show(name, 100) for name in entry.names[-1:])} with {held}")
    _say("tuibench undo brings the last one back")
    return _end(projects)


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
        return action(args)

    parser.set_defaults(run=run)


def _dims(texts: Sequence[str]) -> dict[str, int]:
    found = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not (equals and name and value.isascii() and value.isdigit() and int(value) <= _LARGEST_DIM):
            raise UsageError(f"--dim takes NAME=N, not {show(text, 60)}", "such as --dim seq=128")
        found[name] = int(value)
    return found


def _print(args: argparse.Namespace, projects: Projects, row: ProjectRow) -> int:
    from tuibench.core.short_id import short_ids
    from tuibench.report.project_list import project_text, projects_json

    states = {version.id: projects.model_state(version) for version in row.project.versions}
    if args.json:
        emit(projects_json([row], states))
    else:
        every: dict[str, Any] = short_ids(one.project.id for one in projects.list())
        emit(project_text(row, states, every.get(row.project.id, row.project.id), args.ascii))
    return _end(projects)


def _open() -> Projects:
    # The workbench, 40 ms that --help has no use for.
    from tuibench.workbench.hall import Workbench

    return Workbench().projects


def _end(projects: Projects) -> int:
    for notice in projects.notices():
        _say(notice)
    return int(ExitCode.OK)


def _say(text: str) -> None:
    print(f"tuibench: {show(text, 1000)}", file=sys.stderr)
