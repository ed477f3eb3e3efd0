"""Words of the errors of the store."""

from __future__ import annotations

from tuibench.core.text import show
from tuibench.present.error.template import Fields, MessageAndHint, Words
from tuibench.present.store import name_place, of_file, writer_words

_READABLE = "what is in the store can still be read and exported"
_QUARANTINE = "tuibench store check --read-data --repair moves it to quarantine; other files stay unchanged"
_BESIDE = "the removed files are {where}; restore them by hand"
_ROOM = "make room on that disk, or empty the trash: tuibench trash empty"
_PROJECTS = "tuibench project list shows the ids"
_IDS = "tuibench list shows the ids"
_LATER = "try again in a moment"
_READ_FIRST = "read the current version, then change it"


def _at_root(words: str) -> Words:
    return lambda fields: f"{words} {name_place(fields['root'])}"


def _no_place(fields: Fields) -> str:
    why = f": {fields['why']}" if fields["why"] else ""
    return f"no store can be made in {name_place(fields['root'])}{why}"


def _forbidden_hint(fields: Fields) -> str:
    return _READABLE if fields["readable"] else f"this user may not read it: ls -ld {show(fields['path'])} shows why"


def _busy(fields: Fields) -> str:
    there = f" on {show(fields['host'], 60)}" if fields["host"] else ""
    return (
        f"the store is busy: pid {fields['pid']}{there}, {show(fields['command'], 80)}, for {fields['s']:.0f} s, since"
        f" {fields['since']} UTC"
    )


STORE_ERRORS: dict[str, MessageAndHint] = {
    # The place of the store and its disk
    "home_unusable": ("{path} cannot be used: {why}", "set TUIBENCH_HOME to a directory of your own"),
    "store_read_only": (_at_root("the store is read-only:"), _READABLE),
    "store_disk_full": (
        _at_root("the disk of the store is full:"),
        _ROOM,
    ),
    "store_quota_used": (
        _at_root("the quota of the store is used up:"),
        _ROOM,
    ),
    "no_place_for_store": (_no_place, "set TUIBENCH_HOME to another directory"),
    "store_file_forbidden": (of_file(": "), _forbidden_hint),
    "store_call_failed": (of_file(": "), "tuibench store check reports damage"),
    "store_path_blocked": (of_file(": "), "inspect it and move it away"),
    "no_free_name": (of_file(": ", lambda _: "no free name"), "tuibench store check finds leftovers"),
    "host_without_id": ("this machine has no id in the store", "make the data directory writable once"),
    "other_host_only": (
        "results of host {host} can only be changed there: the store is on {file_system}",
        "run the command on that machine",
    ),
    # Other writers
    "store_busy_here": ("the store is busy: another part of this session is writing", _LATER),
    "store_locked": ("the store is locked by another process", _LATER),
    "store_busy": (_busy, "try again when it is done"),
    "store_holder_suspended": (
        lambda fields: f"{_busy(fields)}; it is suspended",
        "kill -CONT {pid} resumes it, kill -KILL {pid} ends it",
    ),
    "changed_meanwhile": (
        "{name:60} was changed by another session meanwhile",
        _READ_FIRST,
    ),
    "removed_meanwhile": ("{name:60} was removed meanwhile", _READ_FIRST),
    # Damaged files, and those of newer versions
    "store_file_damaged": (of_file(" is damaged: "), _QUARANTINE),
    "salt_damaged": (
        of_file(" is damaged: "),
        "restore it from a backup, or remove it without loss of data: this machine then counts as a new host",
    ),
    "manifest_damaged": (of_file(" is damaged: "), _BESIDE.format(where="next to it")),
    "manifest_lost": (of_file(" ", lambda _: "has lost its manifest"), _BESIDE.format(where="in it")),
    "record_form_unknown": (
        of_file(" ", lambda _: "has a form that this version cannot read"),
        "use the version that wrote it",
    ),
    "index_form_unknown": ("the layout of the index is unknown to this version", ""),
    "index_row_invalid": ("it contains an invalid row: {why}", ""),
    "newer_read_only": (
        of_file(" was ", lambda fields: f"{writer_words(fields)}: this version can read but not change it"),
        "use that version, or a newer one, to change it",
    ),
    "newer_not_shown": (
        of_file(" was ", lambda fields: f"{writer_words(fields)}: this version cannot show it"),
        "use that version or a newer one; the file is intact",
    ),
    # Benchmarks, projects and removals
    "no_ulid": ("'{id:60}' is not an id", "an id has 26 letters and digits; tuibench list shows the ids"),
    "no_such_benchmark": ("no benchmark has the id {id:60}", _IDS),
    "benchmark_removed": ("no benchmark has the id {id:60}", "another session has removed it meanwhile"),
    "no_such_project": ("no project has the id {id:60}", _PROJECTS),
    "project_name_taken": ("a project is called {name:80} already: {id:id}", "give another name"),
    "project_name_missing": ("a project needs a name", "such as --name 'resnet on the new servers'"),
    "project_name_unprintable": ("the name contains unprintable characters: {name:80}", "give a name without them"),
    "no_such_removal": ("nothing in the trash has the id {id:60}", "tuibench trash list shows the removals"),
    "restore_blocked": (
        of_file(" ", lambda _: "exists again, so the removed one cannot be restored"),
        "remove the existing file first",
    ),
}
