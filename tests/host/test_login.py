from __future__ import annotations

from pathlib import Path

import pytest

from tests.host.machine import Machine
from tuibench.host.login import LogOut, read_log_out

BUILT_IN = "[Login]\n#NAutoVTs=6\n#KillUserProcesses={}\n#KillOnlyUsers=\n"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine that systemd runs."""
    machine = Machine(tmp_path)
    (tmp_path / "run/systemd/system").mkdir(parents=True)
    machine.write("proc/self/cgroup", "0::/user.slice/user-1000.slice/session-3.scope")
    return machine


def kills(machine: Machine) -> bool | None:
    return read_log_out("me", machine.root).kills


def test_without_systemd_nothing_is_known(tmp_path: Path) -> None:
    Machine(tmp_path).write("etc/systemd/logind.conf", "[Login]\nKillUserProcesses=yes")
    assert read_log_out("me", tmp_path) == LogOut(None, None, False)


def test_what_is_built_in_stands_in_a_comment(machine: Machine) -> None:
    assert kills(machine) is None
    machine.write("usr/lib/systemd/logind.conf", BUILT_IN.format("yes"))
    assert kills(machine) is True
    machine.write("etc/systemd/logind.conf", BUILT_IN.format("no"))
    assert kills(machine) is False


def test_what_is_said_counts_more_and_the_last_file_by_name_most(machine: Machine) -> None:
    machine.write("etc/systemd/logind.conf", BUILT_IN.format("no") + "KillUserProcesses = 1")
    assert kills(machine) is True
    machine.write("usr/lib/systemd/logind.conf.d/50-site.conf", "[Login]\nKillUserProcesses=no")
    assert kills(machine) is False
    machine.write("etc/systemd/logind.conf.d/60-other.conf", "[Login]\nKillUserProcesses=true")
    assert kills(machine) is True
    machine.write("run/systemd/logind.conf.d/60-other.conf", "KillUserProcesses=no")
    assert kills(machine) is True, "the file of that name in /etc hides it"
    machine.write("etc/systemd/logind.conf.d/70-nothing.conf", "#KillUserProcesses=no")
    machine.write("etc/systemd/logind.conf.d/80-no.txt", "KillUserProcesses=no")
    assert kills(machine) is True


def test_lingering_and_sessions(machine: Machine) -> None:
    assert read_log_out("me", machine.root) == LogOut(None, False, True)
    machine.write("var/lib/systemd/linger/me", "")
    machine.write("proc/self/cgroup", "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-u3.scope")
    assert read_log_out("me", machine.root) == LogOut(None, True, False)
    assert read_log_out(None, machine.root).lingers is None
    assert read_log_out("../../../etc", machine.root).lingers is None
