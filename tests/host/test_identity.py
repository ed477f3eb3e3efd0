from __future__ import annotations

from pathlib import Path

from tuibench.host.identity import read_machine

ID = "0123456789abcdef0123456789abcdef"


def put(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def test_a_machine_is_its_id_whatever_it_is_called(tmp_path: Path) -> None:
    put(tmp_path, "etc/machine-id", ID + "\n")
    put(tmp_path, "proc/sys/kernel/hostname", "one\n")
    before = read_machine(tmp_path, {})
    put(tmp_path, "proc/sys/kernel/hostname", "two\n")
    assert read_machine(tmp_path, {}) == before == f"machine-id {ID}"


def test_containers_of_one_image_are_told_apart_by_their_names(tmp_path: Path) -> None:
    put(tmp_path, "etc/machine-id", ID)
    put(tmp_path, ".dockerenv", "")
    put(tmp_path, "proc/sys/kernel/hostname", "one\n")
    one = read_machine(tmp_path, {})
    put(tmp_path, "proc/sys/kernel/hostname", "two\n")
    assert one != read_machine(tmp_path, {})
    assert ID in one


def test_the_bus_has_a_second_copy_and_an_image_that_never_booted_has_none(tmp_path: Path) -> None:
    put(tmp_path, "etc/machine-id", "uninitialized\n")
    put(tmp_path, "proc/sys/kernel/hostname", "one\n")
    assert read_machine(tmp_path, {}) == "host one"
    put(tmp_path, "var/lib/dbus/machine-id", ID)
    assert read_machine(tmp_path, {}) == f"machine-id {ID}"


def test_a_machine_that_says_nothing_still_has_a_name(tmp_path: Path) -> None:
    assert read_machine(tmp_path, {}) == "host unknown"
