"""Words of the errors of installing, testing and removing engines, and of the licences to accept."""

from __future__ import annotations

from tuibench.core.engine import is_apart
from tuibench.core.text import show
from tuibench.present.error.template import Fields, MessageAndHint

TERMS = {"deepsparse_community": "development and testing, no production"}
"""What a licence permits, by the code of a recipe."""
_NAMES = {"deepsparse_community": "Neural Magic DeepSparse Community License"}
LICENCES = {code: f"{name}: {TERMS[code]}" for code, name in _NAMES.items()}
"""Words of the licence that the user accepts, by the code of a recipe."""
LICENCE_ADDRESSES = {"deepsparse_community": "https://github.com/neuralmagic/deepsparse/blob/main/LICENSE"}
"""Where a licence can be read, as the metadata of the package says."""
_OFFLINE = (
    "without a network: tuibench engines download {engine} --to DIR elsewhere, then tuibench engines install {engine} "
    "--wheels DIR"
)
_REFERENCE = "tuibench engines test onnxruntime tests the engine that it is compared with"
_OTHER_INDEX = "{command} --index-url URL asks another index"


def licence_words(code: str) -> str:
    """Return the name of a licence and what it permits."""
    return LICENCES.get(code, show(code, 80))


def _differs(fields: Fields) -> str:
    if fields["difference"] is None:
        return f"its outputs could not be compared with those of ONNX Runtime ({fields['why']})"
    by = f"{fields['difference']:.1e}, tolerance {fields['tolerance']:.1e}"
    return f"its outputs differ from those of ONNX Runtime by {by}"


def _broken(fields: Fields) -> str:
    engine = show(fields["engine"])
    return (
        f"tuibench engines remove {engine} removes it" if is_apart(engine) else "tuibench doctor examines the machine"
    )


def _other_hash(fields: Fields) -> str:
    engine = show(fields["engine"])
    if fields["wheels"]:
        return f"tuibench engines download {engine} --to DIR downloads the files again"
    return f"{fields['command']} --index-url URL asks another index"


def _beside(fields: Fields) -> str:
    own = f"{fields['command']} installs it"
    engine, lowest = show(fields["engine"]), fields["lowest"]
    return f"{own}; from {lowest}: tuibench engines install {engine}@RELEASE" if lowest else own


ENGINE_ERRORS: dict[str, MessageAndHint] = {
    # Before an installation
    "engine_is_beside": ("{engine} belongs to tuibench's own environment", _beside),
    "engine_installed_already": ("{engine} is installed already", ""),
    "licence_not_accepted": (
        lambda fields: f"{show(fields['engine'])} has a licence to accept: {licence_words(fields['licence'])}",
        "the same command with --accept-licence accepts it",
    ),
    "licence_declined": ("{engine}: the licence was not accepted", "the same command asks again"),
    "installation_cancelled": ("{engine}: the installation was cancelled; nothing of it is left", ""),
    "installation_left": (
        "{engine}: the installation was cancelled; what is left of it is not used",
        "tuibench engines remove {engine} removes it",
    ),
    "download_cancelled": ("{engine}: the download was cancelled; complete files stay", ""),
    "engine_test_cancelled": ("{engine}: the test was cancelled", ""),
    "no_wheel_directory": ("--wheels {path} is not a directory", "tuibench engines download NAME --to DIR fills one"),
    "wheels_exclude_index": ("--wheels cannot be combined with --index-url or --extra-index-url", ""),
    "engine_other_machine": ("{engine} exists for {wanted} only; this machine is {machine}", "measure it elsewhere"),
    # Interpreters
    "not_an_interpreter": (
        "--python {path:120} is not a CPython that can make virtual environments",
        "give a path, a command on PATH such as python3.11, or a version such as 3.11",
    ),
    "python_unfit": (
        "{engine} needs Python {pythons:versions}; --python is {version}",
        "leave --python out, and one is found",
    ),
    "series_not_found": (
        "Python {series} was not found on PATH, in pyenv or in uv",
        "install it, or leave --python out: {engine} runs with Python {pythons:versions}",
    ),
    "no_fitting_python": (
        "{engine} needs Python {pythons:versions}, and none was found on PATH, in pyenv or in uv",
        "install one, or name one: tuibench engines install {engine} --python PATH",
    ),
    "no_pip": ("tuibench's own Python has neither pip nor ensurepip", "install python3-venv, or pip into it"),
    # Index and wheels
    "release_unknown": (
        "the index has no {engine} {release:40} for this machine",
        "the newest for Python {pythons:versions}: {known}",
    ),
    "build_missing": (
        "the index has no build {release} of {engine}, and others need CUDA",
        "{command} --extra-index-url {index} also asks an index that has it",
    ),
    "no_wheel_for_python": (
        "{engine}: the index has no fitting wheel of {package:60} for Python {pythons:versions}",
        _OTHER_INDEX,
    ),
    "wheel_missing": (
        "{path:120} has no fitting wheel of {package:60} for Python {pythons:versions}",
        "tuibench engines download {engine} --to DIR fetches all of them",
    ),
    "wheel_hash_differs": (
        "a file of {engine} differs from its recipe: {file:120} has another sha256 and is not used",
        _other_hash,
    ),
    "index_refused": (
        "the package index refused the request for {engine} (status {status})",
        _OTHER_INDEX,
    ),
    "index_unreachable": ("the package index cannot be reached for {engine}: {text:120}", _OFFLINE),
    "pip_failed": ("pip failed for {engine}: {text:300}", "{command} tries again"),
    "engine_disk_full": (
        "the disk is full: {engine} was not installed, and nothing of it is left",
        "free some space, then {command}",
    ),
    "download_disk_full": (
        "the disk is full: packages of {engine} are missing; complete files stay",
        "free some space, then {command}",
    ),
    # Comparison with ONNX Runtime, in an installation and in a test
    "probe_failed": ("{engine} was not installed: it failed on a small model: {why}", _REFERENCE),
    "probe_differs": (
        lambda fields: f"{show(fields['engine'])} was not installed: {_differs(fields)}",
        _REFERENCE,
    ),
    "test_failed": ("{engine} failed on a small model: {why}", _broken),
    "test_differs": (lambda fields: f"{show(fields['engine'])}: {_differs(fields)}", _broken),
    # Use
    "engine_in_use": ("{engine} is used by run {run:id}", "tuibench cancel {run:id} ends the run"),
    "engine_being_changed": (
        "{engine} is in use, or is being installed or removed by another command",
        "try again when it is done; tuibench ps lists the runs",
    ),
    # States of lists
    "only_for_machine": ("for {wanted} only", ""),
    "no_python_for": ("needs Python {pythons:versions}", ""),
}
