"""Server conditions: no home, no user entry, one CPU, no space, closed or unusual streams."""

from __future__ import annotations

import os
import pty
import re
import resource
import select
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.shell import AS_STRANGER, SHORT, STRANGER, Done, Environment, Shell
from tests.cli.test_bad_input_model import hold_a_refusal
from tests.cli.test_end_to_end_sweep import load
from tests.engines.make import mlp
from tests.store.data import make_id, make_small
from tuibench.cli.output import AS_ASCII
from tuibench.core.stored import Metadata
from tuibench.core.text import to_ascii
from tuibench.services.api import Services

ROOT = Path(__file__).resolve().parents[2]
SYNC = ("sample:tiny", "-e", "fake", "-s", "sync", "-ncores", "1")
NOBODY = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can become somebody else"
)
HOMELESS: Environment = dict.fromkeys(
    ("HOME", "TUIBENCH_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR")
)


@pytest.fixture
def shell(real_shell: Shell) -> Shell:
    """Run each command in its own process, because this module tests that process."""
    return real_shell


def tree(folder: Path) -> list[str]:
    """Return everything below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_command_without_a_home_prints_whole_lines_to_a_pipe_of_any_width(shell: Shell) -> None:
    done = shell.benchmark("sample:tiny", "-s", "sync", "-ncores", "1", "-b", "1,2", env={**HOMELESS, "COLUMNS": "20"})
    assert done.code == 0, done.err
    assert done.lines[0].split()[0] == "batch" and len(done.lines[0]) > 20


def test_command_writes_nothing_to_a_home(shell: Shell, home: Path, folder: Path) -> None:
    model = mlp().save(folder)
    before = (tree(home), tree(folder))
    done = shell.benchmark(model, cwd=folder)
    assert done.code == 0, done.err
    assert (tree(home), tree(folder)) == before


@NOBODY
def test_uid_without_entry_and_read_only_home_are_supported(shell: Shell, home: Path) -> None:
    shell.tmp.chmod(0o777)
    done = shell.benchmark("sample:tiny", "-s", "sync", "--json", env={**HOMELESS, "HOME": str(home)}, wrap=AS_STRANGER)
    assert done.code == 0, done.err
    assert load(done.out)["tuibench"]["cells"][0]["check"]["state"] == "agrees"


@NOBODY
@pytest.mark.parametrize(
    "command", [("config",), ("import", "x.json"), ("list",), ("ps",), ("doctor",), ("benchmark", *SYNC), ()]
)
def test_temporary_directory_made_by_another_user_is_refused(shell: Shell, command: tuple[str, ...]) -> None:
    shell.tmp.chmod(0o777)
    planted = shell.tmp / f"tuibench-{STRANGER}"
    planted.mkdir()
    planted.chmod(0o777)
    done = shell.run(*command, env=HOMELESS, wrap=AS_STRANGER)
    hold_a_refusal(done, 6, "cannot be used")
    planted.rmdir()  # nothing was written to it


def test_cores_are_those_of_the_affinity_mask(shell: Shell) -> None:
    cpu = max(os.sched_getaffinity(0))
    done = shell.benchmark(*SYNC[:5], "--json", before=lambda: os.sched_setaffinity(0, {cpu}))
    cell = load(done.out)["tuibench"]["cells"][0]
    assert (cell["asked"]["cores"], cell["used"]["cpus"]) == (1, [cpu])
    assert f"CPU {cpu}," in done.err
    more = shell.benchmark(*SYNC[:5], "-ncores", "2", before=lambda: os.sched_setaffinity(0, {cpu}))
    hold_a_refusal(more, 2, "-ncores takes 1 to 1")


@pytest.mark.parametrize("kind", ["missing", "a file"])
def test_unusable_temporary_directory_exits_6(shell: Shell, folder: Path, kind: str) -> None:
    place = folder / "place"
    if kind == "a file":
        place.write_text("", encoding="ascii")
    hold_a_refusal(shell.benchmark(*SYNC, env={"TMPDIR": str(place)}), 6, "place")


@NOBODY
def test_temporary_directory_of_another_user_exits_6(shell: Shell) -> None:
    shell.tmp.chmod(0o755)
    hold_a_refusal(shell.benchmark(*SYNC, wrap=AS_STRANGER), 6, "ermission denied")


@pytest.mark.parametrize("closed", ["0", "1", "2", "012"])
def test_closed_standard_descriptors_are_tolerated(shell: Shell, folder: Path, closed: str) -> None:
    target = folder / "out.json"
    redirections = " ".join(f"{number}>&-" for number in closed)
    done = shell.benchmark(*SYNC, "-x", str(target), wrap=("sh", "-c", f'exec "$@" {redirections}', "sh"))
    assert done.code == (141 if "1" in closed else 0)
    assert "Traceback" not in done.err and (done.err == "" or "2" not in closed)
    assert load(target.read_text(encoding="ascii"))["tuibench"]["status"] == "finished"
    assert done.out == "" if "1" in closed else done.lines[-1].startswith("0.5")


def test_full_disk_behind_stdout_exits_6_with_one_line(shell: Shell) -> None:
    with open("/dev/full", "wb") as full:
        done = shell.run("benchmark", *SYNC, *SHORT, "-q", stdout=full)
    assert done.code == 6
    assert len(done.err.splitlines()) == 1 and "space" in done.err


@pytest.mark.parametrize("flags", [pytest.param((), marks=pytest.mark.slow), ("--ascii",)])
def test_ascii_terminal_gets_ascii(shell: Shell, flags: tuple[str, ...]) -> None:
    env = {"LC_ALL": "C", "LANG": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    flags = (*SYNC[:3], "-s", "sync", "-ncores", "1", "-b", "1,2", *flags)
    done = shell.run("benchmark", *flags, "--executions", "3", "-t", "0.15", "-w", "0.05", env=env)
    assert done.code == 0, done.err
    assert (done.out + done.err).isascii()
    assert "+-" in done.out and "\\x" not in done.out + done.err


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("command", ["list", "show last", "compare 0001 0002", "trash", "doctor"])
def test_ascii_streams_get_the_output_of_the_ascii_option(shell: Shell, command: str) -> None:
    store = Services().store
    for number in (1, 2, 3):
        store.benchmarks.add(make_small(number), Metadata(name="a · b"))
    store.trash.remove([make_id(3)])
    env = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = shell.run(*command.split(), env=env)
    assert done.code == 0 and done.out.isascii() and not re.search(r"\\[xu][0-9a-f]{2}", done.out + done.err)
    if command not in ("doctor", "trash"):
        assert done.out == shell.run(*command.split(), "--ascii", env=env).out


def test_each_encoding_keeps_the_characters_it_has() -> None:
    text = "1 µs ±2 % → é\u2028"
    assert text.encode("latin-1", AS_ASCII) == b"1 \xb5s \xb12 % -> \xe9\\u2028"
    assert text.encode("ascii", AS_ASCII).decode() == to_ascii(text)
    assert text.encode("utf-8", AS_ASCII).decode() == text


class Terminal:
    """The other end of a pseudo-terminal."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        self.chunks: list[bytes] = []

    def read(self, process: subprocess.Popen[bytes]) -> bytes:
        """Read until the process ends."""
        os.close(self.slave)
        while True:
            ready, _, _ = select.select([self.master], [], [], 30)
            try:
                data = os.read(self.master, 65536) if ready else b""
            except OSError:
                data = b""  # Linux reports the last writer's exit this way
            if not data:
                break
            self.chunks.append(data)
        process.wait(timeout=30)
        os.close(self.master)
        return b"".join(self.chunks)


def on_a_terminal(shell: Shell, *flags: str, term: str = "xterm") -> tuple[str, bytes, int]:
    """Run with a terminal as stderr; return its terminal output, its stdout and its exit code."""
    terminal = Terminal()
    env = {"TUIBENCH_FAKE": '{"default": {"latency_us": 1000}}', "TERM": term}
    process = shell.start("benchmark", *SYNC, *flags, env=env, stderr=terminal.slave)
    painted = terminal.read(process)
    out, _ = process.communicate()
    return painted.decode(), out, process.returncode


def test_terminal_shows_a_progress_line_that_is_cleared_at_the_end(shell: Shell) -> None:
    painted, out, code = on_a_terminal(shell, "--executions", "3", "-t", "2.4", "-w", "0.1")
    assert code == 0
    assert b"\x1b" not in painted.encode() and b"\r" not in out
    lines = [part for part in painted.split("\r") if "left" in part]
    assert len(lines) >= 2
    assert "sync, 1 core, batch 1" in painted and "1.0" in painted
    assert max(len(line.rstrip()) for line in lines) <= 79
    assert screen(painted)[-1] == ""


def test_dumb_terminal_gets_whole_lines_only(shell: Shell) -> None:
    painted, _, code = on_a_terminal(shell, *SHORT, term="dumb")
    assert code == 0
    assert "\r" not in painted.replace("\r\n", "\n")
    assert "sync, 1 core, batch 1: " in painted


def screen(painted: str) -> list[str]:
    """Return the lines that a terminal would show, without trailing blanks."""
    lines, row, column = [""], 0, 0
    for char in painted:
        if char == "\n":
            row += 1
            lines.append("")
        elif char == "\r":
            column = 0
            continue
        else:
            line = lines[row].ljust(column)
            lines[row] = line[:column] + char + line[column + 1 :]
            column += 1
    return [line.rstrip() for line in lines]


def test_terminal_hangup_cancels_the_run_and_writes_the_export(shell: Shell, folder: Path) -> None:
    target = folder / "out.json"
    master, slave = pty.openpty()

    def own() -> None:
        os.setsid()
        os.close(os.open(os.ttyname(slave), os.O_RDWR))

    flags = ("--executions", "50", "-t", "5", "-w", "0.05", "-x", str(target))
    process = shell.start("benchmark", *SYNC, *flags, before=own, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    shell.wait_for("execution_done", n=2)
    os.close(master)
    assert process.wait(timeout=10) == 129
    document = load(target.read_text(encoding="ascii"))["tuibench"]
    assert document["status"] == "cancelled" and len(document["cells"][0]["executions"]) >= 2


@pytest.mark.parametrize("path", [".", pytest.param("", marks=pytest.mark.slow)])
def test_clone_works_from_its_own_directory(shell: Shell, path: str) -> None:
    done = shell.benchmark(*SYNC, env={"PYTHONPATH": path or None}, cwd=ROOT)
    assert done.code == 0, done.err


HELP: dict[str, tuple[str, ...]] = {
    "nothing": (),
    "--help": ("--help",),
    "help benchmark": ("help", "benchmark"),
    "benchmark --help": ("benchmark", "--help"),
    "-h": ("-h",),
}


def in_a_deleted_directory(shell: Shell, folder: Path, *arguments: str) -> Done:
    """Return a command's result from a deleted working directory."""
    (folder / "gone").mkdir()

    def leave() -> None:
        os.chdir(folder / "gone")
        os.rmdir(folder / "gone")

    return shell.benchmark(*arguments, before=leave)


def test_relative_model_in_a_deleted_directory_exits_3(shell: Shell, folder: Path) -> None:
    done = in_a_deleted_directory(shell, folder, "./x.onnx", *SYNC[1:])
    assert (done.code, done.out) == (3, "")
    assert "./x.onnx" in done.err
    inputs = in_a_deleted_directory(shell, folder, *SYNC, "--inputs", "x.npz")
    assert (inputs.code, "--inputs" in inputs.err) == (2, True)
    assert in_a_deleted_directory(shell, folder, *SYNC).code == 0


@pytest.mark.parametrize("limit", [6, 12])
def test_too_few_descriptors_error_names_the_limit(shell: Shell, limit: int) -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    done = shell.benchmark(*SYNC, before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most)))
    assert (done.code, done.out) == (6, "")
    assert f" {limit}\n" in done.err
    assert "ulimit -n" in done.err and "TMPDIR" not in done.err
