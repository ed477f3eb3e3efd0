from __future__ import annotations

from pathlib import Path

import pytest

from tuibench.host.system import find_mount, is_remote

MOUNTS = r"""
21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 21 0:30 / /home rw,relatime shared:9 - nfs4 server:/home rw,vers=4.2
31 30 254:1 / /home/local\040disk rw,relatime - xfs /dev/vdb rw
32 21 0:31 / /mnt/over rw - ext4 /dev/vdc rw
33 32 0:32 / /mnt/over rw master:3 - fuse.sshfs me@there: rw
34 21 0:33 / /mnt/plain rw - fuse.portal portal rw
nonsense
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/me/store", ("/home", "nfs4")),
        ("/homes/me", ("/", "ext4")),
        ("/home/local disk/store", ("/home/local disk", "xfs")),
        ("/mnt/over", ("/mnt/over", "fuse.sshfs")),
    ],
)
def test_path_belongs_to_the_deepest_and_last_mount(path: str, expected: tuple[str, str]) -> None:
    assert find_mount(path, MOUNTS) == expected


def test_network_file_systems_are_remote(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(MOUNTS)
    assert is_remote("/home/me", tmp_path) == "nfs4"
    assert is_remote("/mnt/over/x", tmp_path) == "fuse.sshfs"
    assert is_remote("/mnt/plain/x", tmp_path) == ""
    assert is_remote("/var", tmp_path) == ""


def test_disk_without_mountinfo_counts_as_local(tmp_path: Path) -> None:
    assert is_remote("/home", tmp_path) == ""
