"""Saves CPU in every process that a test starts; Python imports this file before any program.

- The same answer of `tuibench.child` about the same small model costs up to 0.5 s each time, most of it imports of ONNX
  and its runtime. The first child with a request answers it itself; later children repeat its lines and files. Refusals
  and crashes are never kept.
- Compiling the methods of dataclasses takes a third of a program's start. The first process of a kind keeps the code.

Both are kept below TUIBENCH_TEST_ANSWERS for one session. The fixture `real_children` removes the variable.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # importing typing would take as long as the rest of this file
if TYPE_CHECKING:
    from typing import Any, NoReturn

VARIABLE = "TUIBENCH_TEST_ANSWERS"
_TASKS = ("inspect", "prepare", "cost", "weights")
_MOST_BYTES = 1_000_000
_PASSING = frozenset({"path", "run_dir", "parent", "memory_bytes", "cache", "cpus", "gentle", "spec", "summary"})
"""Parts of a request that the answer does not depend on, or that are looked at one by one."""
_OF_SPEC = ("inputs", "batches", "dims", "sequence_lengths", "profile", "limits")
"""Parts of a specification that the inputs of a model depend on."""
_LINES = "lines"


def _repeat_or_record(task: str, kept: str) -> None:
    """Exit with a kept answer, or let the program answer and keep that."""
    import io
    import json

    raw = sys.stdin.buffer.read()
    sys.stdin = io.TextIOWrapper(io.BytesIO(raw))
    try:
        request = json.loads(raw)
        path = request["path"] if "path" in request else request["spec"]["models"][request["model"]]["path"]
        key = _make_key(task, request, path)
    except (ValueError, LookupError, TypeError, OSError):
        return
    if key is None:
        return
    place = os.path.join(kept, key)
    try:
        lines = _repeat(place, request, path)
    except FileNotFoundError:
        _record(place, request, path)
        return
    except OSError:
        return
    while lines:
        lines = lines[os.write(1, lines) :]
    os._exit(0)


def _make_key(task: str, request: dict[str, Any], path: str) -> str | None:
    """Return the name of the answer; None if it depends on more than the model's bytes and the request."""
    import hashlib
    import json

    if os.path.getsize(path) > _MOST_BYTES:
        return None
    asked: dict[str, Any] = {name: request[name] for name in request if name not in _PASSING}
    asked |= {"task": task, "suffix": os.path.splitext(path)[1], "python": os.environ.get("PYTHONPATH")}
    if "spec" in request:
        spec, summary = request["spec"], request.get("summary") or {}
        if spec["inputs"].get("file") is not None or request.get("skip_trial"):
            return None
        asked |= {name: spec.get(name) for name in _OF_SPEC}
        asked["summary"] = {name: summary[name] for name in summary if name not in ("path", "files")}
    with open(path, "rb") as model:
        data = model.read()
    if b"location" in data:
        return None  # its weights are in files beside it
    content = hashlib.sha256(data)
    content.update(json.dumps(asked, sort_keys=True).replace(_root_of(request), "@RUN@").encode())
    return content.hexdigest()


def _root_of(request: dict[str, Any]) -> str:
    """Return the directory of the run, whose part `work` is given to children that make files for themselves."""
    return (request.get("run_dir") or "@RUN@").removesuffix("/work")


def _places(request: dict[str, Any], path: str) -> list[tuple[bytes, bytes]]:
    """Return what differs between two requests with the same answer, each beside its placeholder."""
    import json

    own = {b"@PATH@": path, b"@RUN@": _root_of(request)}
    texts = [(json.dumps(text)[1:-1].encode(), mark) for mark, text in own.items()]
    return [*texts, (b'"mtime_ns": %d' % os.stat(path).st_mtime_ns, b'"mtime_ns": @TIME@')]


def _repeat(place: str, request: dict[str, Any], path: str) -> bytes:
    """Copy the kept files into the run's directory and return the kept lines."""
    with open(os.path.join(place, _LINES), "rb") as stream:
        lines = stream.read()
    for name in os.listdir(place):
        if name != _LINES:
            with open(os.path.join(place, name), "rb") as source:
                content = source.read()
            target = os.open(os.path.join(request["run_dir"], name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(target, "wb") as copy:
                copy.write(content)
    for text, mark in _places(request, path):
        lines = lines.replace(mark, text)
    return lines


def _record(place: str, request: dict[str, Any], path: str) -> None:
    """Keep what the program sends, and its files, when it ends."""
    import atexit

    sent: list[bytes] = []
    write = os.write
    directory: str = request.get("run_dir") or ""
    before = set(os.listdir(directory)) if directory else set()

    def write_and_note(descriptor: int, data: Any) -> int:
        done = write(descriptor, data)
        if descriptor > 2:
            sent.append(bytes(data[:done]))
        return done

    def keep() -> None:
        partial = f"{place}.{os.getpid()}"
        try:
            lines = b"".join(sent)
            for text, mark in _places(request, path):
                lines = lines.replace(text, mark)
            if not _is_repeatable(lines, path):
                return
            os.mkdir(partial)
            for name in set(os.listdir(directory)) - before if directory else ():
                with open(os.path.join(directory, name), "rb") as file, open(os.path.join(partial, name), "wb") as copy:
                    copy.write(file.read())
            with open(os.path.join(partial, _LINES), "wb") as stream:
                stream.write(lines)
            os.rename(partial, place)
        except OSError:
            return  # the model or the run is gone, or another process was first

    os.write = write_and_note
    atexit.register(keep)


def _is_repeatable(lines: bytes, path: str) -> bool:
    """Return whether the task succeeded and another file with these bytes would get the same lines."""
    if not lines or not lines.splitlines()[-1].startswith(b'{"ok": true'):
        return False
    return os.path.basename(path).encode() not in lines


def _keep_dataclasses(kept: str, program: str) -> None:
    """Compile each method of a dataclass once per session and kind of program."""
    import atexit
    import builtins
    import dataclasses
    import marshal

    name = "".join(char for char in program if char.isalnum() or char in "-.")[:60]
    place = os.path.join(kept, f"{sys.implementation.cache_tag}-{name}")
    try:
        with open(place, "rb") as stream:
            codes: dict[str, Any] = marshal.load(stream)
    except (OSError, ValueError, EOFError):
        codes = {}
    known = len(codes)

    def execute(text: str, variables: dict[str, Any], result: dict[str, Any]) -> None:
        code = codes.get(text)
        if code is None:
            code = codes[text] = compile(text, "<string>", "exec")
        builtins.exec(code, variables, result)  # noqa: S102 - dataclasses itself calls exec here

    def keep() -> None:
        if len(codes) == known:
            return
        partial = f"{place}.{os.getpid()}"
        try:
            with open(partial, "wb") as stream:
                marshal.dump(codes, stream)
            os.rename(partial, place)
        except OSError:
            return  # the session is over

    exit_now = os._exit

    def keep_and_exit(status: int) -> NoReturn:
        keep()
        exit_now(status)

    dataclasses.exec = execute  # type: ignore[attr-defined]
    os._exit = keep_and_exit
    atexit.register(keep)


if VARIABLE in os.environ:
    if sys.orig_argv[-3:-1] == ["-m", "tuibench.child"] and sys.orig_argv[-1] in _TASKS:
        _repeat_or_record(sys.orig_argv[-1], os.environ[VARIABLE])
    if any(part.split(".")[0] == "tuibench" for part in sys.orig_argv[1:4]):
        _keep_dataclasses(os.environ[VARIABLE], "-".join(sys.orig_argv[1:4]))
    elif sys.orig_argv[-1] == "tuibench.worker.main":
        _keep_dataclasses(os.environ[VARIABLE], "worker")
