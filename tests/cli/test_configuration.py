"""`tuibench config` as users run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import Done, Shell
from tests.cli.terminal import Terminal
from tuibench.tui.config import FILE
from tuibench.tui.key import GROUPS, KEYS

PLAIN = dict.fromkeys(("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT", "NO_COLOR", "TEXTUAL_THEME", "TEXTUAL_FPS", "LC_ALL"))
XTERM = {**PLAIN, "TERM": "xterm-256color", "LANG": "C.UTF-8", "COLORTERM": "truecolor"}


@pytest.fixture
def file(home: Path) -> Path:
    """Return the path of the config file in the test's home; its directory exists."""
    path = home / "tuibench" / "config" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def config(shell: Shell, *flags: str, **changes: str) -> Done:
    return shell.run("config", *flags, env={**XTERM, **changes})


def row(done: Done, name: str) -> list[str]:
    return next(line.split(maxsplit=2) for line in done.lines if line.split()[:1] == [name])


def test_missing_file_prints_its_path_and_creates_nothing(shell: Shell, home: Path) -> None:
    done = config(shell)
    assert (done.code, done.err) == (0, "")
    assert done.lines[0].startswith(f"{home}/tuibench/config/config.toml ")
    assert row(done, "mouse") == ["mouse", "yes", "default"]
    assert not (home / "tuibench").exists()


def test_each_setting_names_its_source(shell: Shell, file: Path) -> None:
    file.write_text('[dashboard]\ntheme = "nord"\nfps = 10\n[keys]\nremove = "ctrl+x"\n')
    done = config(shell, SSH_TTY="/dev/pts/3")
    assert (done.code, done.err) == (0, "") and done.lines[0] == str(file)
    assert row(done, "theme")[1:] == ["nord", FILE]
    assert row(done, "fps")[1:] == ["10", FILE]
    assert row(done, "mouse")[1:] == ["no", "over SSH"]
    assert done.lines[-1].startswith(f"keys: 1 of {len(KEYS)} ")


def test_terminal_that_cannot_show_the_dashboard_is_named(shell: Shell) -> None:
    assert "TERM" in config(shell, TERM="dumb").out
    assert "TERM" not in config(shell).out


def test_every_action_is_listed_with_its_keys(shell: Shell, file: Path) -> None:
    file.write_text('[keys]\nremove = "ctrl+x,?"\nhelp = "f1"\n')
    done = config(shell, "--keys")
    assert (done.code, done.err) == (0, "")
    assert [line.strip() for line in done.lines if not line.startswith(" ")] == list(GROUPS)
    assert [line.split()[0] for line in done.lines if line.startswith(" ")] == list(KEYS)
    assert row(done, "remove")[1:] == ["ctrl+x", f"? (yours)  {KEYS['remove'].text}"]
    assert "(yours)" not in " ".join(row(done, "export"))
    assert not done.out.isascii() and config(shell, "--keys", "--ascii").out.isascii()


def test_output_lines_fit_the_terminal(shell: Shell) -> None:
    piped = config(shell, "--keys")
    assert max(map(len, piped.lines)) > 80
    terminal = Terminal(shell, "config", "--keys", env=XTERM, size=(70, 24))
    assert terminal.end() == 0
    assert max(map(len, terminal.shown.splitlines())) <= 70
    assert terminal.shown.split() == piped.out.split()


def test_json_output_holds_the_settings(shell: Shell, file: Path) -> None:
    file.write_text('[dashboard]\nmouse = true\n[keys]\nremove = "ctrl+x"\n')
    document = json.loads(config(shell, "--json").out)
    assert (document["schema"], document["path"], document["exists"]) == (1, str(file), True)
    assert (document["refusal"], document["problems"]) == ("", [])
    assert {"name": "mouse", "value": True, "source": FILE} in document["settings"]
    keys = {one["id"]: one for one in document["keys"]}
    assert list(keys) == list(KEYS)
    assert keys["remove"] == {
        "id": "remove",
        "group": "benchmark",
        "keys": ["ctrl+x"],
        "source": FILE,
        "text": KEYS["remove"].text,
    }
    assert keys["palette"]["keys"] == ["colon", "ctrl+p"] and keys["palette"]["source"] == "default"


def test_wrong_file_is_explained_and_exits_2(shell: Shell, file: Path) -> None:
    file.write_text('[dashboard]\nfps = 99\ntheme = "neon"\n[keys]\nremove = "n"\n"\\u001b[2J" = "x"\n')
    for flags in ((), ("--keys",)):
        done = config(shell, *flags)
        assert done.code == 2 and done.out
        assert "99" in done.err
        assert "neon" in done.err
        assert "remove" in done.err
        assert "\x1b" not in done.out + done.err
    done = config(shell, "--json")
    assert done.code == 2 and len(json.loads(done.out)["problems"]) == len(done.err.splitlines()) == 4
