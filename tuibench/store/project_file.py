"""Encodes, decodes and validates the files of projects and versions, which people edit and disks damage."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from tuibench.core.errors import StoreError, UsageError
from tuibench.core.project import FileStamp, ModelReference, Project, Version
from tuibench.core.record import from_plain, to_plain
from tuibench.core.remote import public_name, remote_scheme
from tuibench.core.text import LONGEST_NAME, show
from tuibench.store.documents import Document
from tuibench.store.trouble import cannot_show, damaged

_NOTED_APART = ("id", "versions", "generation")
_PLAIN_NAMES = ("model", "")


def encode_project(project: Project) -> dict[str, Any]:
    """Return the document of a project; versions have their own, and the id is the file's name."""
    plain: dict[str, Any] = to_plain(project)
    return {name: value for name, value in plain.items() if name not in _NOTED_APART}


def encode_version(version: Version) -> dict[str, Any]:
    """Return the document of a version."""
    plain: dict[str, Any] = to_plain(version)
    return {name: value for name, value in plain.items() if name != "id"}


def decode_project(document: Document, versions: Iterable[Version]) -> Project:
    """Return the project of a document; raise StoreDamaged if it is not valid."""
    values = {**document.values, "id": document.id, "versions": [], "generation": document.generation}
    try:
        found = from_plain(Project, values)
        texts = (found.name, found.description, found.created_utc, found.modified_utc)
        sound = _are(str, (*texts, *found.dims)) and _are(int, found.dims.values())
    except (TypeError, ValueError, AttributeError):
        sound = False
    if not sound:
        raise _misfit("projects", document)
    return Project(**{**_fields(found), "versions": tuple(versions)})


def decode_version(document: Document) -> Version:
    """Return the version of a document; raise StoreDamaged if it is not valid."""
    try:
        found = from_plain(Version, {**document.values, "id": document.id})
        texts = (found.project, found.name, found.created_utc, found.note, *found.recipe, *found.recipe.values())
        sound = _are(str, texts) and _is_reference(found.model)
    except (TypeError, ValueError, AttributeError):
        sound = False
    if not sound:
        raise _misfit("versions", document)
    return found


def check_name(name: str) -> str:
    """Return the name to store for user input; raise UsageError if it cannot be shown or typed."""
    trimmed = name.strip()
    if not trimmed:
        raise UsageError("a project needs a name", "such as --name 'resnet on the new servers'")
    if len(trimmed) > LONGEST_NAME:
        raise UsageError(f"the name has {len(trimmed)} characters", f"give one of at most {LONGEST_NAME}")
    if show(trimmed, LONGEST_NAME) != trimmed:
        raise UsageError(f"the name holds what cannot be shown: {show(trimmed, 80)}", "give one without it")
    return trimmed


def name_after(model: ModelReference) -> str:
    """Return a project name for a model: its file's name, or its directory's if the file has a generic name."""
    if remote_scheme(model.asked) in ("hf", "sample") or model.asked == "sample":
        found = model.asked.removeprefix("hf:")
    else:
        elsewhere = remote_scheme(model.asked) == "https"
        folder, file = os.path.split(public_name(model.asked).partition("?")[0] if elsewhere else model.file.path)
        stem = os.path.splitext(file)[0]
        found = (os.path.basename(folder) if stem in _PLAIN_NAMES else stem) or stem
    # Leave space for a number that makes the name unique.
    return show(found.strip(), LONGEST_NAME - 10) or "model"


def _is_reference(model: Any) -> bool:
    return (
        isinstance(model, ModelReference)
        and _are(str, (model.asked, model.sha256))
        and all(_is_stamp(stamp) for stamp in (model.file, *model.external))
    )


def _is_stamp(stamp: Any) -> bool:
    return (
        isinstance(stamp, FileStamp)
        and _are(str, (stamp.path, stamp.sha256))
        and _are(int, (stamp.size, stamp.mtime_ns))
    )


def _are(kind: type, values: Iterable[object]) -> bool:
    # isinstance would accept a bool as an int.
    return all(type(value) is kind for value in values)


def _fields(project: Project) -> Mapping[str, Any]:
    return {name: getattr(project, name) for name in Project.__dataclass_fields__}


def _misfit(kind: str, document: Document) -> StoreError:
    name = f"{kind}/{document.id}.json"
    if document.newer is not None:
        return cannot_show(name, document.newer.schema, document.newer.tool)
    return damaged(name, f"it is not what one of its {kind} looks like")
