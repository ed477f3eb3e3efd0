from __future__ import annotations

from pathlib import Path

from tuibench.host.system import read_machine

ID = "0123456789abcdef0123456789abcdef"


def put(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def test_machine_id_does_not_depend_on_the_hostname(tmp_path: Path) -> None:
    put(tmp_path, "etc/machine-id", ID + "\n")
    put(tmp_path, "proc/sys/kernel/hostname", "one\n")
    before = read_machine(tmp_path, {})
    put(tmp_path, "proc/sys/kernel/hostname", "two\n")
    assert read_machine(tmp_path, {}) == before == f"machine-id {ID}"


def test_containers_of_one_image_differ_by_hostname(tmp_path: Path) -> None:
    put(tmp_path, "etc/machine-id", ID)
    put(tmp_path, ".dockerenv", "")
    put(tmp_path, "proc/sys/kernel/hostname", "one\n")
    one = read_machine(tmp_path, {})
    put(tmp_path, "proc/sys/kernel/hostname", "two\n")
    assert one != read_machine(tmp_path, {})
    assert ID in one


def test_dbus_machine_id_is_used_if_the_main_one_is_unset(tmp_path: Path) -> None:
    put(tmp_path, "etc/machine-id", "uninitialized\n")
    put(tmp_path, "proc/sys/kernel/hostname", "one\n")
    assert read_machine(tmp_path, {}).endswith("one")
    put(tmp_path, "var/lib/dbus/machine-id", ID)
    assert read_machine(tmp_path, {}) == f"machine-id {ID}"


def test_machine_without_id_and_hostname_is_host_unknown(tmp_path: Path) -> None:
    assert read_machine(tmp_path, {}).endswith("unknown")
