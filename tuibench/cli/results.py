"""`tuibench list`, `show` and `edit`: the saved results, and the flags that choose parts of a profile."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from typing import Any

from tuibench.cli.output import can_draw, emit, tell, width
from tuibench.cli.parser import ASCII, JSON, Action, Argument, Group, argument, reads, switch
from tuibench.cli.terminal import Interruption
from tuibench.core.errors import ExclusiveFlags, StoreError, UsageError
from tuibench.core.ids import short_id
from tuibench.core.record import to_plain
from tuibench.core.settings import kinds
from tuibench.core.settings import profile as profile_setting
from tuibench.core.settings.setting import Setting
from tuibench.core.stored import StoredBenchmark
from tuibench.core.text import show
from tuibench.present.json_export import document
from tuibench.present.listing import NEWEST, hidden_words, listing, profile_words, rows_json
from tuibench.present.profile.shown import WIDTH, Shown
from tuibench.present.summary import stored_page
from tuibench.services.api import Services


def _declare(setting: Setting) -> Argument:
    text = setting.help_text.replace("%", "%%")
    if setting.kind.is_switch:
        return argument(*setting.flags, dest=setting.name, action="store_true", help=text)
    reader = reads(setting.flags[0], setting.kind)
    return argument(*setting.flags, dest=setting.name, metavar=setting.metavar, type=reader, help=text)


PAGE = Group(tuple(map(_declare, profile_setting.PAGE)), "profile options")
"""The flags, for `show` and `export`."""


def chosen(args: argparse.Namespace) -> dict[str, Any]:
    """Return the values typed for the flags, by name."""
    names = [setting.name for setting in profile_setting.PAGE]
    return {name: given for name in names if (given := getattr(args, name)) not in (None, False)}


def refuse_choices(typed: Mapping[str, Any], code: str) -> None:
    """Raise UsageError with this code for the first typed flag, because the result shown is not a profile."""
    for setting in profile_setting.PAGE:
        if setting.name in typed:
            raise UsageError(code, flag=setting.flags[0])


def shown_of(typed: Mapping[str, Any], *, ascii_only: bool, aged: bool = False) -> Shown:
    """Return the choices, with the terminal's width or a usual one; with `aged` the page shows the age."""
    plain = ascii_only or not can_draw()
    return Shown(width=width() or WIDTH, ascii_only=plain, now=time.time() if aged else None, **typed)


SCHEMA = 1
RESULT_ID = "short id, start or end of the long one, a name, last, last~1 or ID~"
_PIPE_WIDTH = 80
_COUNT = reads("-n", kinds.Whole(1, 10**9))
_FIELDS = ("name", "note", "project")


def list_results(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Print the list; an empty list is no error."""
    limit = None if args.all else args.n
    library, words = services.library, " ".join(args.words)
    noun = "profile" if args.profiles else "benchmark"
    list_rows = library.list_profiles if args.profiles else library.list
    rows = list_rows(args.project, words)
    if args.json:
        emit(rows_json(rows, limit))
    else:
        emit(listing(rows, time.time(), limit=limit, width=width(), ascii_only=args.ascii, profiles=args.profiles))
    if not rows and (args.words or args.project):
        tell(f"no match among {len(list_rows())} {noun}s")
    elif said := hidden_words(len(rows), limit, noun):
        tell(said)
    if services.store.benchmarks.facts.pending:
        tell("some older results are listed without numbers; tuibench store migrate reads all of them once")
    others = () if args.profiles else library.list_profiles(args.project, words)
    if others:
        tell(profile_words(len(others)))


def show_result(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Print the benchmark or profile."""
    typed = chosen(args)
    if "layer" in typed and args.json:
        raise ExclusiveFlags("layer_excludes_json", first="--layer", second="--json")
    if args.samples:
        _show_samples(services, args.id)
        return
    stored = services.library.get(args.id)
    project = services.library.project_name(stored.metadata.project)
    if args.json:
        emit(json.dumps(_document(stored, project), indent=1, ensure_ascii=True, allow_nan=False) + "\n")
    elif stored.row.kind:
        emit(_profile_page(stored, typed, args.ascii))
    else:
        refuse_choices(typed, "flag_of_profiles")
        figures = None if args.no_figures else width() or _PIPE_WIDTH
        plain = args.ascii or (figures is not None and not can_draw())
        own = _own_host(services)
        shown = stored_page(
            stored, time.time(), project=project, own_host=own, ascii_only=plain, figures=figures, width=width()
        )
        emit(shown)


def _profile_page(stored: StoredBenchmark, typed: dict[str, Any], ascii_only: bool) -> str:
    """Return the page of a profile, or of one layer."""
    from tuibench.present.profile.page import profile_page, settle  # lazy: only profiles need it

    profile = stored.result.profile
    shown = shown_of(typed, ascii_only=ascii_only, aged=True)
    settled = settle(stored.row.kind, shown, profile.loss if profile is not None else None)
    return profile_page(stored.result, stored.metadata, settled)


def _show_samples(services: Services, token: str) -> None:
    row = services.library.find(token)
    found = services.store.benchmarks.samples(row.id)
    if found is None:
        tell(f"{short_id(row.id)} has no samples: it was imported, or they were not kept")
    else:
        emit(f"{show(found, 4096)}\n")


def _document(stored: StoredBenchmark, project: str) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "id": stored.row.id,
        "short_id": short_id(stored.row.id),
        "card": to_plain(stored.metadata),
        "project": project or None,
        "benchmark": document(stored.result),
    }


def _own_host(services: Services) -> str:
    try:
        return services.store.known_host_id or ""
    except StoreError:
        return ""


def edit(args: argparse.Namespace, services: Services, _: Interruption) -> None:
    """Change the given fields."""
    given = {field: getattr(args, field) for field in _FIELDS if getattr(args, field) is not None}
    if not given:
        raise UsageError("no_change_of_result")
    before = services.library.find(args.id)
    after = services.library.edit(before.id, **given)
    said = [_change(services, field, getattr(before, field), getattr(after, field)) for field in given]
    tell(f"{short_id(after.id)}: {'; '.join(said)}")


def _change(services: Services, field: str, old: str, new: str) -> str:
    """Return the change of one field in words."""
    if field == "project":
        old, new = (services.library.project_name(one) or short_id(one) if one else "" for one in (old, new))
    quoted_old, quoted_new = (f'"{show(one)}"' if one else "empty" for one in (old, new))
    if old == new:
        return f"{field} is {quoted_new}, as it was"
    return f"{field} is now {quoted_new}" + (f", was {quoted_old}" if old else "")


def _name(given: str) -> str:
    return reads("--name", kinds.label)(given) if given else ""


ACTIONS = {
    "list": Action(
        list_results,
        "List the saved results, newest first.",
        (
            argument("words", nargs="*", metavar="WORD", help="show only results that match every WORD"),
            argument("--project", metavar="NAME", help="show only results of this project"),
            switch("--profiles", text="list profiles instead of benchmarks"),
            Group(
                (
                    argument("-n", type=_COUNT, default=NEWEST, metavar="N", help=f"number of results [{NEWEST}]"),
                    switch("--all", text="list all results"),
                )
            ),
            JSON,
            ASCII,
        ),
    ),
    "show": Action(
        show_result,
        "Show one benchmark or profile: name, settings and numbers.",
        (
            argument("id", metavar="ID", help=RESULT_ID),
            JSON,
            switch("--samples", text="print only the directory of the raw timings"),
            switch("--no-figures", text="omit the figures"),
            ASCII,
            PAGE,
        ),
    ),
    "edit": Action(
        edit,
        "Change the name, note or project of a benchmark; its result never changes.",
        (
            argument("id", metavar="ID", help=RESULT_ID),
            argument("--name", type=_name, metavar="TEXT", help="name in lists; '' removes it"),
            argument("--note", metavar="TEXT", help="note; '' removes it"),
            argument("--project", metavar="NAME", help="project; '' removes the result from its project"),
        ),
    ),
}
