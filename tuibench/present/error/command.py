"""Words of the errors of the command line, ids and formats."""

from __future__ import annotations

from tuibench.core.ids import short_ids
from tuibench.core.text import show
from tuibench.core.units import count_of
from tuibench.present.error.template import Fields, MessageAndHint

_EXCLUDES = "{first} and {second} exclude each other"
_DEBUG = "--debug shows where"
_NEWER = "use that version or a newer one; the file is intact"


def _listed(fields: Fields) -> str:
    ids = fields["ids"]
    names = short_ids(ids)
    more = f" and {fields['count'] - len(ids)} more" if fields["count"] > len(ids) else ""
    return ", ".join(show(names[one]) for one in ids) + more


def _newest(fields: Fields) -> str:
    return f"the newest: {_listed(fields)}" if fields["ids"] else ""


def _past_oldest(fields: Fields) -> str:
    noun = show(fields["noun"])
    count = f"only {count_of(fields['count'], noun)}" if fields["ids"] else f"there is no {noun} yet"
    return f"{show(fields['given'], 40)}: {count}"


def _similar_flags(fields: Fields) -> str:
    similar = [show(flag, 60) for flag in fields["similar"]]
    return (
        f"did you mean {' or '.join(similar)}?" if similar else f"tuibench {show(fields['command'])} --help lists all"
    )


def _newer_run(fields: Fields) -> str:
    version = fields["version"]
    tool = f"tuibench {show(version, 30)}" if version else "a newer tuibench"
    return f"this run was written by {tool} (schema {fields['schema']}): this version cannot read it"


def _open_files(fields: Fields) -> str:
    most = fields["most"]
    return f"ulimit -n 1024 raises it in this shell (at most {'unlimited' if most is None else most})"


def _similar_command(fields: Fields) -> str:
    similar = fields["similar"]
    return f"did you mean {show(similar, 60)}?" if similar else "tuibench --help lists the commands"


def _without_asking(fields: Fields) -> str:
    lost = fields["lost"]
    return f"{fields['command']} -y skips it" + (f" and deletes {lost} permanently" if lost else "")


def _system_error(fields: Fields) -> str:
    path = fields["path"]
    return show(fields["text"]) + (f": {show(path)}" if path else "")


COMMAND_ERRORS: dict[str, MessageAndHint] = {
    # Commands
    "unknown_command": ("unknown command '{given:60}'", _similar_command),
    "unknown_action": ("unknown command '{command} {given:60}'", "{command} takes {allowed:or}"),
    "command_before_flags": (
        "{flag:60} was given before the command {command}",
        "flags come after the command: tuibench {command} {flag:60}",
    ),
    "flag_before_command": (
        "unknown flag {flag:60}",
        "flags come after the command: tuibench {command} {flag:60}",
    ),
    "arguments_refused": ("{text}", "see {command} --help"),
    "unexpected_argument": ("unexpected argument: {given:60}", "see tuibench {command} --help"),
    "benchmark_needs_model": ("benchmark needs a model", "tuibench benchmark sample measures the built-in one"),
    "dashboard_opens_one_model": (
        "the dashboard opens one model only",
        "tuibench benchmark MODEL MODEL measures several",
    ),
    "rerun_takes_one_id": (
        lambda fields: "rerun accepts one ID" if fields["count"] else "rerun needs the ID of a benchmark",
        "tuibench list shows the ids; tuibench rerun last repeats the newest",
    ),
    "no_change_of_result": ("no change was given", "give --name, --note or --project"),
    "no_change_of_project": (
        "no change was given",
        "give --name NAME, --description TEXT or --dim seq=128",
    ),
    "confirmation_needs_terminal": ("{command} needs a terminal for its confirmation", _without_asking),
    "dashboard_needs_terminal": (
        "the dashboard needs a terminal: {why}",
        "tuibench benchmark {path:100} measures from the shell",
    ),
    "stream_is_no_terminal": ("{stream} is not a terminal", ""),
    "terminal_unsupported": (
        lambda fields: f"TERM is {show(fields['term']) or 'not set'}: this terminal is not supported",
        "set TERM, such as xterm-256color",
    ),
    "dashboard_failed": ("internal error in the dashboard; runs continue", _DEBUG),
    "internal_error": ("internal error: {kind}: {text}", _DEBUG),
    "system_error": (_system_error, ""),
    # Flags of tuibench benchmark, profile and rerun
    "unknown_flag": ("unknown flag {flag:60}", _similar_flags),
    "flag_takes_no_value": ("{flag:60} takes no value", ""),
    "flag_needs_value": ("{flag:60} needs a value", "see tuibench {command} --help"),
    "export_path_twice": ("{flag} is given twice", "give it once; --json also prints to stdout"),
    "layer_excludes_json": (_EXCLUDES, "the JSON contains every layer in full"),
    "flags_exclude": (_EXCLUDES, "give one of them"),
    "detach_excludes": (_EXCLUDES, ""),
    "detach_excludes_export": (_EXCLUDES, "tuibench export ID -x FILE writes it when the run is done"),
    "theory_excludes_measuring": (_EXCLUDES, "nothing is measured"),
    "weights_exclude_size": (_EXCLUDES, "weights are the same at any size"),
    "theory_excludes_saving": (_EXCLUDES, "it is not saved; -x FILE writes it"),
    "flag_of_profiles": ("{flag} applies to profiles only", "tuibench list --profiles shows the profiles"),
    "flag_not_of_json": (
        "{flag} does not apply to JSON",
        "give a .csv or .md file; JSON has everything",
    ),
    "flag_not_of_csv": ("{flag} selects bars, and a CSV has none", "give an .md file"),
    "flag_of_other_kind": ("{flag} does not apply to a {kind}", "tuibench {kind} --help lists the flags"),
    "form_of_other_engines": (
        "--what-if {form} is not measured with {engine}",
        "tuibench profile --help lists the engines; {names:or} measures it",
    ),
    "profile_takes_one_model": (
        lambda fields: "profile accepts one model" if fields["count"] else "profile needs a model",
        "tuibench profile sample profiles the built-in one",
    ),
    # Comparisons
    "compared_with_itself": (
        "BASE and NEW are both {id:id}",
        "tuibench show {id:id} has the verdict measured in it",
    ),
    "same_benchmarks": ("BASE and NEW are both {id:id}", "tuibench list shows the others"),
    "same_profiles": ("BASE and NEW are both {id:id}", "tuibench list --profiles shows the others"),
    "not_of_a_kind": (
        "{base:id} is a {base_kind} and {new:id} a {new_kind}: compare needs two of a kind",
        "see tuibench list and tuibench list --profiles",
    ),
    "top_of_benchmark": ("--top applies to profiles only", "all cells of a benchmark are shown"),
    "model_compared": (
        "{given:60} is a model; compare accepts saved results",
        "tuibench benchmark BASE NEW measures two models interleaved and gives a verdict",
    ),
    "file_compared": ("{given:60} is a file; compare accepts saved results", "tuibench import {given:60}"),
    "engine_compared": (
        "{given:60}: one engine of a benchmark cannot be selected",
        "whole benchmarks are compared, cell by cell, engines included",
    ),
    # Ids
    "id_repeats_none": ("{noun} {id:id} repeats no other", "use the id without ~"),
    "id_past_oldest": (_past_oldest, _newest),
    "id_empty": ("no {noun} is given", _newest),
    "id_unknown": ("no {noun} is called {given:40}", _newest),
    "id_ambiguous": (
        "{given:40} matches {count:count {noun}}",
        lambda fields: f"type more characters: {_listed(fields)}",
    ),
    "no_free_id": ("no unique id after {attempts} attempts", "empty the trash, or move old benchmarks away"),
    # Files and versions
    "format_unsupported": ("{path}: {format} is not supported in this version", "use {allowed:or}"),
    "run_newer": (_newer_run, _NEWER),
    "profile_kind_unknown": ("this run is a profile of a kind unknown to this version: {kind:30}", _NEWER),
    "too_many_open_files": ("too many open files: the limit of this process is {limit}", _open_files),
}
