from __future__ import annotations

import pytest

from tests.host.machine import Machine
from tuibench.host.cgroup import find_groups, read_cpuset, read_memory, read_quota, read_throttling
from tuibench.host.kernel_files import Tree

GIB = 1 << 30


def quota_of(machine: Machine) -> float | None:
    tree = Tree(machine.root)
    return read_quota(tree, find_groups(tree))


def test_tightest_ancestor_of_version_2_sets_the_quota(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "0::/machine.slice/pod/leaf")
    machine.mount("/ /sys/fs/cgroup cgroup2 rw,nsdelegate")
    machine.write("sys/fs/cgroup/machine.slice/cpu.max", "350000 100000")
    machine.write("sys/fs/cgroup/machine.slice/pod/cpu.max", "400000 100000")
    machine.write("sys/fs/cgroup/machine.slice/pod/leaf/cpu.max", "max 100000")
    groups = find_groups(Tree(machine.root))
    assert groups.version == "v2"
    assert [path.removeprefix("/sys/fs/cgroup") for path in groups.unified] == [
        "/machine.slice/pod/leaf",
        "/machine.slice/pod",
        "/machine.slice",
        "",
    ]
    assert quota_of(machine) == 3.5


def test_cgroup_namespace_shows_its_own_root(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "0::/")
    machine.mount("/ /sys/fs/cgroup cgroup2 rw")
    machine.write("sys/fs/cgroup/cpu.max", "150000 100000")
    assert quota_of(machine) == 1.5


def test_path_outside_the_namespace_falls_back_to_the_mount(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "0::/../../other")
    machine.mount("/ /sys/fs/cgroup cgroup2 rw")
    machine.write("sys/fs/cgroup/cpu.max", "200000 100000")
    assert quota_of(machine) == 2.0


def test_version_1_in_a_container_with_host_paths_is_read(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n1:name=systemd:/docker/abc")
    machine.mount(
        "/docker/abc /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct",
        "/docker/abc /sys/fs/cgroup/memory cgroup rw,memory",
    )
    machine.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "250000")
    machine.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000")
    assert find_groups(Tree(machine.root)).version == "v1"
    assert quota_of(machine) == 2.5


def test_invisible_host_path_falls_back_to_its_ancestors(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "5:cpu:/kubepods/pod1/c1")
    machine.mount("/ /sys/fs/cgroup/cpu cgroup rw,cpu")
    machine.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000")
    machine.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000")
    assert quota_of(machine) == 0.5


def test_both_versions_count_if_both_are_mounted(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "5:cpu:/a\n0::/b")
    machine.mount("/ /sys/fs/cgroup/cpu cgroup rw,cpu", "/ /sys/fs/cgroup/unified cgroup2 rw")
    machine.write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1")
    machine.write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000")
    machine.write("sys/fs/cgroup/unified/b/cpu.max", "300000 100000")
    assert find_groups(Tree(machine.root)).version == "hybrid"
    assert quota_of(machine) == 3.0


def test_usual_mount_points_are_tried_without_mountinfo(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "0::/user.slice")
    machine.write("sys/fs/cgroup/cgroup.controllers", "cpu memory")
    machine.write("sys/fs/cgroup/user.slice/cpu.max", "100000 50000")
    assert quota_of(machine) == 2.0


def test_mount_point_with_a_space_and_deleted_group_are_read(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "0::/gone (deleted)")
    machine.mount("/ /sys/fs/c\\040g cgroup2 rw")
    machine.write("sys/fs/c g/cpu.max", "100000 100000")
    machine.write("sys/fs/c g/gone/cpu.max", "50000 100000")
    assert quota_of(machine) == 0.5


@pytest.mark.parametrize("text", ["max 100000", "", "0 100000", "100000 0", "-5 100000", "garbage", "1 2 3"])
def test_unlimited_or_invalid_quota_is_none(machine: Machine, text: str) -> None:
    machine.write("proc/self/cgroup", "0::/")
    machine.mount("/ /sys/fs/cgroup cgroup2 rw")
    machine.write("sys/fs/cgroup/cpu.max", text)
    assert quota_of(machine) is None


def test_machine_without_cgroups_has_no_limits(machine: Machine) -> None:
    tree = Tree(machine.root)
    groups = find_groups(tree)
    assert groups.version is None
    assert read_quota(tree, groups) is None
    assert read_throttling(tree, groups) is None
    assert read_cpuset(tree, groups) is None
    assert read_memory(tree, groups).room_bytes is None


def test_cpusets_of_both_versions_are_read(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "3:cpuset:/a")
    machine.mount("/ /sys/fs/cgroup/cpuset cgroup rw,cpuset")
    machine.write("sys/fs/cgroup/cpuset/a/cpuset.cpus", "4-5")
    tree = Tree(machine.root)
    assert read_cpuset(tree, find_groups(tree)) == (4, 5)
    machine.mount("/ /sys/fs/cgroup/cpuset cgroup rw,cpuset", "/ /sys/fs/cgroup/unified cgroup2 rw")
    machine.write("sys/fs/cgroup/unified/cpuset.cpus.effective", "5")
    assert read_cpuset(tree, find_groups(tree)) == (5,)


def test_throttling_of_all_ancestors_adds_up_in_microseconds(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "5:cpu:/a\n0::/b")
    machine.mount("/ /sys/fs/cgroup/cpu cgroup rw,cpu", "/ /sys/fs/cgroup/unified cgroup2 rw")
    machine.write("sys/fs/cgroup/cpu/a/cpu.stat", "nr_periods 9\nnr_throttled 2\nthrottled_time 3000000")
    machine.write("sys/fs/cgroup/unified/b/cpu.stat", "usage_usec 5\nnr_throttled 1\nthrottled_usec 400")
    machine.write("sys/fs/cgroup/unified/cpu.stat", "usage_usec 5")
    tree = Tree(machine.root)
    throttling = read_throttling(tree, find_groups(tree))
    assert throttling is not None
    assert (throttling.times, throttling.us) == (3, 3400)


def test_memory_room_is_the_tightest_groups_and_includes_idle_cache(machine: Machine) -> None:
    machine.write("proc/meminfo", f"MemTotal: {64 << 20} kB\nMemAvailable: {32 << 20} kB")
    machine.write("proc/self/cgroup", "0::/pod/c")
    machine.mount("/ /sys/fs/cgroup cgroup2 rw")
    machine.write("sys/fs/cgroup/pod/memory.max", 4 * GIB)
    machine.write("sys/fs/cgroup/pod/memory.current", 3 * GIB)
    machine.write("sys/fs/cgroup/pod/memory.stat", f"anon 5\ninactive_file {GIB}")
    machine.write("sys/fs/cgroup/pod/c/memory.max", "max")
    tree = Tree(machine.root)
    room = read_memory(tree, find_groups(tree))
    assert (room.total_bytes, room.available_bytes) == (64 * GIB, 32 * GIB)
    assert (room.limit_bytes, room.room_bytes) == (4 * GIB, 2 * GIB)


def test_largest_version_1_limit_is_none_and_the_machine_bounds_room(machine: Machine) -> None:
    machine.write("proc/meminfo", "MemTotal: 2000 kB\nMemFree: 1000 kB")
    machine.write("proc/self/cgroup", "4:memory:/")
    machine.mount("/ /sys/fs/cgroup/memory cgroup rw,memory")
    machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", 9223372036854771712)
    tree = Tree(machine.root)
    room = read_memory(tree, find_groups(tree))
    assert (room.limit_bytes, room.room_bytes) == (None, 1000 * 1024)


def test_group_over_its_limit_has_no_memory_room(machine: Machine) -> None:
    machine.write("proc/meminfo", "MemAvailable: 1000 kB")
    machine.write("proc/self/cgroup", "4:memory:/")
    machine.mount("/ /sys/fs/cgroup/memory cgroup rw,memory")
    machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", 100)
    machine.write("sys/fs/cgroup/memory/memory.usage_in_bytes", 200)
    tree = Tree(machine.root)
    assert read_memory(tree, find_groups(tree)).room_bytes == 0
