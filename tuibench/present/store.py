"""Words of the store's notices, of the findings of `store check`, and of what is wrong with a file."""

from __future__ import annotations

import os
from collections.abc import Callable

from tuibench.core.ids import short_id
from tuibench.core.text import show
from tuibench.present.error.template import Fields

_MAX_CHARS = 500


def name_place(path: str) -> str:
    """Return the path; 'the data directory' if a private report left it out."""
    return show(path, _MAX_CHARS) or "the data directory"


def name_file(name: str) -> str:
    """Return the name of a file of the store for a message; a path outside of the store stays as it is."""
    if os.path.isabs(name) or not name:
        return name_place(name)
    return "the directory of the store" if name == os.curdir else f"{show(name, _MAX_CHARS)} of the store"


def of_file(joint: str, rest: Callable[[Fields], str] = lambda fields: str(fields["why"])) -> Callable[[Fields], str]:
    """Return a maker of words that begin with the file, and leave it out if the reason has no `name`."""

    def make(fields: Fields) -> str:
        words = rest(fields)
        return name_file(fields["name"]) + joint + words if "name" in fields else words

    return make


def writer_words(fields: Fields) -> str:
    """Return which newer version wrote a file."""
    tool = f"tuibench {show(fields['tool'], 30)}" if fields["tool"] else "a newer tuibench"
    return f"written by {tool} (schema {fields['schema']})"


def _resume(run: str) -> str:
    return f"tuibench resume {short_id(show(run))} --finish saves it again from the journal of its run"


def _again(fields: Fields) -> str:
    """Return how the lost record of a run can be saved again, after the words before it; '' if it cannot."""
    if not fields["run"]:
        return ""
    return f"; {'' if fields['repaired'] else 'after a repair '}{_resume(fields['run'])}"


def _kept(words: str) -> Callable[[Fields], str]:
    """Return a maker of a cause, followed by where a repair moved the file."""
    return lambda fields: fields["why"] + (words + show(fields["kept"], _MAX_CHARS) if fields["kept"] else "")


def _damaged(fields: Fields) -> str:
    kept = f"; kept as {show(fields['kept'], _MAX_CHARS)}" if fields["kept"] else ""
    if fields["has_previous"]:
        then = f"its previous version {'was restored' if fields['repaired'] else 'is intact'}"
    else:
        then = f"it has no previous version{_again(fields)}"
    return f"{fields['why']}{kept}; {then}"


def _list_lost(words: str, then: str = "") -> Callable[[Fields], str]:
    return lambda fields: (
        f"{show(fields['name'], _MAX_CHARS)} {words}: the index is made from the {fields['records']} records"
        f" themselves{then}"
    )


def _column(fields: Fields) -> str:
    return f"{show(fields['column'])} of a row is not a {'number' if fields['is_number'] else 'text'}"


STORE_WORDS: dict[str, str | Callable[[Fields], str]] = {
    # What is wrong with a file
    "not_json": "not JSON",
    "no_tables": "JSON, but no tables",
    "no_documents": "tables that contain no documents",
    "not_as_written": "not as it was written",
    "head_not_json": "its header is not JSON",
    "result_not_measured": "its result is not the one that was measured",
    "tables_of_no_benchmark": "its tables are not those of a benchmark",
    "metadata_invalid": "its metadata is invalid",
    "column_missing": "a row without '{column}'",
    "column_invalid": _column,
    "row_without_number": "a row without a number",
    "document_missing": "it contains no {table}",
    "document_misshapen": "it is not a valid document of {table}",
    "no_manifest_form": "it is not the manifest of a removal",
    "path_leads_out": "{path} leads out of the store",
    "salt_misshapen": "it is not 64 hexadecimal digits",
    # What is wrong with a place or a disk
    "not_regular_file": "not a regular file",
    "not_directory": "not a directory",
    "link_or_directory": "it is a link or a directory",
    "samples_not_files": "samples must be plain files",
    "unexpected_file": "an unexpected file: {why}",
    "cause_unknown": "the system gives no reason",
    "write_not_read_back": "written data does not read back",
    "write_refused": "the disk accepts no more bytes",
    "open_to_others": "it is a link, belongs to another user, or others can write to it",
    "place_not_entered": lambda fields: f"{name_place(fields['path'])} is not a directory that can be entered",
    "place_missing": lambda fields: f"{name_place(fields['path'])} does not exist",
    "little_room": "only {bytes:size} left on the store's disk, of {needed_bytes:size} that a sweep may need",
    # Notices
    "previous_used": "{name} is damaged ({why}): its previous version is used",
    "edited_outside": "{name} was changed outside tuibench; tuibench store check --repair accepts the edit",
    "record_written_again": "{name} was damaged; it is kept as {kept} and written again",
    "record_missing": of_file(" ", lambda _: "is missing"),
    "index_missing": _list_lost("is not there"),
    "index_newer": _list_lost("has another form"),
    "index_damaged": _list_lost("is not as it was written", "; the next change keeps a copy of it in quarantine"),
    "record_in_quarantine": lambda fields: (
        f"{short_id(show(fields['run']))} was damaged and is in quarantine: {_resume(fields['run'])}"
    ),
    "model_changed": "{path} has changed: it is measured as {version} of {project:80} ({id:id})",
    "version_added": "{path} is measured as {version} of {project:80} ({id:id})",
    "no_project": "it belongs to no project: {why}",
    "named_project_made": "a project was made for it: {project:80}",
    "project_made": "a project was made for it: {project:80} ({id:id})",
    # Findings of a check
    "removal_completed": "completed",
    "removal_pending": "the next writer completes it",
    "without_record": "without a record",
    "previous_version": "previous version",
    "samples_unreadable": "the samples cannot be unpacked",
    "moved_aside": _kept(": kept as "),
    "removal_moved_aside": _kept("; the whole removal is kept as "),
    "manifest_missing": "it is not there",
    "writer_died": "left by a writer that died",
    "index_rebuilt": "{why}; rebuilt from the records",
    "index_rebuildable": "{why}; --repair rebuilds it from the records",
    "index_made": "the index is made from the records",
    "record_not_found": lambda fields: f"in the index, but the record is missing{_again(fields)}",
    "record_not_in_index": "a record that is not in the index",
    "row_differs": "the index row differs from the record",
    "edited_newer": "its schema {schema} cannot be written by this version",
    "edit_accepted": "accepted, with the original in quarantine",
    "edit_acceptable": "the repair accepts it",
    "damaged_file": _damaged,
    "header_unreadable": "its header cannot be read; tuibench store check reports the damage",
    "left_to_newer": "written by a newer version: it is left as it is",
}
