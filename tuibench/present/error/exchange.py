"""Words of the errors of imported files; `subject` puts the file name first."""

from __future__ import annotations

import json

from tuibench.core.text import show
from tuibench.present.error.template import Fields, MessageAndHint

_EXPORT = "import takes the JSON of tuibench export ID -x FILE.json or of deepsparse.benchmark -x"
_AGAIN = "export it again; a file that was edited by hand may be invalid"
_FOREIGN = "import takes files that deepsparse.benchmark 0.10 to 1.8 wrote with -x"
_TYPES = {
    "text": "a text",
    "whole_number": "a whole number",
    "number": "a number",
    "bool": "true or false",
    "object": "an object",
    "list": "a list",
    "shapes": "a list of shapes",
}


def _given(fields: Fields) -> str:
    given = fields["given"]
    if fields["type"] is not None:
        return _TYPES[fields["type"]]
    return f"'{show(given, 60)}'" if isinstance(given, str) else json.dumps(given)


def _limit(end: float) -> str:
    return str(int(end)) if end == int(end) else f"{end:g}"


def _out_of_range(fields: Fields) -> str:
    low, high = (None if fields[name] is None else _limit(fields[name]) for name in ("low", "high"))
    allowed = f"at least {low}" if high is None else f"at most {high}" if low is None else f"{low} to {high}"
    return f"{show(fields['place'])} is {fields['given']}; allowed is {allowed}"


def _unreadable(fields: Fields) -> str:
    text = fields["text"]
    return f"cannot be read: {show(text[:1].lower() + text[1:])}"


def _other_schema(fields: Fields) -> str:
    version = fields["version"]
    who = f"tuibench {show(version, 40)}" if version else "another version of tuibench"
    newest = fields["newest"]
    return f"has schema {fields['schema']}, written by {who}; this version imports schemas up to {newest}"


EXCHANGE_ERRORS: dict[str, MessageAndHint] = {
    # The file
    "import_missing": ("does not exist", "check the name"),
    "import_unreadable": (_unreadable, ""),
    "import_no_file": ("is {kind}, not a file", "give the name of a JSON file"),
    "import_too_large": ("has more than {bytes:size}, which no export has", _EXPORT),
    "import_empty": ("is empty", "export or download it again"),
    "import_not_utf8": ("is not text: byte {byte} is not UTF-8", _EXPORT),
    "import_with_nul_bytes": ("is not text: it contains NUL bytes", _EXPORT),
    "import_web_page": (
        "looks like a web page, not like JSON",
        "download the file itself, not the page that shows it",
    ),
    "import_cut_off": ("ends in line {line}, as if cut off", "get the whole file again"),
    "import_no_json": (
        lambda fields: f"is not JSON: line {fields['line']}, column {fields['column']}: {show(fields['text'].lower())}",
        _EXPORT,
    ),
    "import_too_deep": ("is nested deeper than {levels} levels, which no export is", _EXPORT),
    "import_without_object": ("contains no JSON object", _EXPORT),
    "json_key_repeated": ("the key '{name:60}' appears twice in one object", "remove one of them"),
    "number_not_finite": (
        "{place} is not finite or too large to be a measurement",
        "give a finite number: NaN and Infinity are not part of JSON",
    ),
    "import_without_benchmark": (
        "is JSON, but not a benchmark: it has neither '{own}' nor '{foreign}'",
        _EXPORT,
    ),
    "import_key_without_object": ("its '{name}' is not an object", _AGAIN),
    "import_of_other_schema": (
        _other_schema,
        lambda fields: (
            "import it with that version, or with a newer one" if fields["schema"] > fields["newest"] else _AGAIN
        ),
    ),
    # Values of an export
    "field_missing": ("{place} is missing", _AGAIN),
    "null_without_reason": ("{place} is null, and no reason is given for it", _AGAIN),
    "value_of_other_type": (
        lambda fields: f"{show(fields['place'])} is {_given(fields)}, not {_TYPES[fields['expected']]}",
        _AGAIN,
    ),
    "none_of_names": (
        lambda fields: f"{show(fields['place'])} is {_given(fields)}, none of {', '.join(map(show, fields['names']))}",
        _AGAIN,
    ),
    "list_of_other_length": ("{place} has {count} entries, not {expected}", _AGAIN),
    "list_empty": ("{place} is empty", _AGAIN),
    "dim_without_size": ("{place}: {name:60} has no size", _AGAIN),
    "text_too_long": ("{place} is a text of {chars} characters; allowed are {most}", _AGAIN),
    "id_no_ulid": ("{place} is '{given:60}', which is not a ULID", _AGAIN),
    "key_of_other_form": ("{place} is '{given:60}', which does not have the right form", _AGAIN),
    "cell_key_repeated": ("{place} repeats the key of an earlier cell", _AGAIN),
    "number_out_of_range": (_out_of_range, _AGAIN),
    "interval_reversed": ("{place}: its interval ends before it begins", _AGAIN),
    "value_outside_interval": ("{place}: its value is outside its interval", _AGAIN),
    "impossible_bins": ("{place} has invalid histogram bins", _AGAIN),
    "percentile_without_number": ("{place} has a name that is not a number", _AGAIN),
    # Values of a file of deepsparse.benchmark
    "foreign_field_missing": ("{place} is missing", _FOREIGN),
    "foreign_value_of_other_type": (
        lambda fields: f"{show(fields['place'])} is not {_TYPES[fields['expected']]}",
        _FOREIGN,
    ),
    "foreign_number_out_of_range": (_out_of_range, _FOREIGN),
    "foreign_scenario_unknown": ("{place} is none of {names}", _FOREIGN),
}
