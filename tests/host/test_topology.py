from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.host.machine import Machine, build_cpus
from tests.refusal import refused
from tuibench.core.errors import UsageError
from tuibench.host.topology import Core, Topology, choose_cpus, read_topology


def two_sockets() -> Topology:
    """Return 2 packages of 4 cores with 2 threads; CPU n and n + 8 share a core."""
    cores = tuple(Core(n // 4, 0, n // 4, (n, n + 8), (n, n + 8)) for n in range(8))
    return Topology(tuple(range(16)), cores, None, None, "v2")


def test_intel_with_two_sockets_and_smt_is_read(machine: Machine) -> None:
    cpus = build_cpus(machine, packages=2, cores=4, smt=2)
    topology = read_topology(cpus, machine.root)
    assert topology.cores == two_sockets().cores
    assert topology.usable_cores == 8
    assert topology.smt
    assert topology.nodes == {0: (0, 1, 2, 3, 8, 9, 10, 11), 1: (4, 5, 6, 7, 12, 13, 14, 15)}


def test_affinity_limits_cores_but_outside_siblings_are_known(machine: Machine) -> None:
    build_cpus(machine, packages=2, cores=4, smt=2)
    topology = read_topology({1, 9, 12}, machine.root)
    assert [(core.cpus, core.threads) for core in topology.cores] == [((1, 9), (1, 9)), ((12,), (4, 12))]
    assert topology.usable_cores == 2


def test_same_core_number_in_another_package_is_another_core(machine: Machine) -> None:
    for cpu, (package, core) in enumerate([(0, 0), (0, 0), (1, 0), (1, 0)]):
        machine.cpu_file(cpu, "topology/physical_package_id", package)
        machine.cpu_file(cpu, "topology/core_id", core)
    topology = read_topology(range(4), machine.root)
    assert [(core.package, core.cpus) for core in topology.cores] == [(0, (0, 1)), (1, (2, 3))]


def test_arm_without_package_and_core_numbers_has_a_core_per_cpu(machine: Machine) -> None:
    for cpu in range(4):
        machine.cpu_file(cpu, "topology/physical_package_id", -1)
        machine.cpu_file(cpu, "topology/core_id", -1)
    topology = read_topology(range(4), machine.root)
    assert [core.cpus for core in topology.cores] == [(0,), (1,), (2,), (3,)]
    assert {core.package for core in topology.cores} == {0}


def test_machine_without_topology_has_a_core_per_cpu(machine: Machine) -> None:
    topology = read_topology((0, 1, 2), machine.root)
    assert topology.usable_cores == 3
    assert choose_cpus(topology, 3, {}) == (0, 1, 2)


@pytest.mark.parametrize(
    ("quota", "usable", "default"),
    [("max", 8, 8), ("50000", 1, 1), ("150000", 2, 1), ("300000", 3, 3), ("350000", 4, 3), ("9000000", 8, 8)],
)
def test_quota_is_rounded_up_for_the_limit_and_down_for_the_default(
    machine: Machine, quota: str, usable: int, default: int
) -> None:
    cpus = build_cpus(machine, packages=2, cores=4, smt=2)
    machine.write("proc/self/cgroup", "0::/")
    machine.mount("/ /sys/fs/cgroup cgroup2 rw")
    machine.write("sys/fs/cgroup/cpu.max", f"{quota} 100000")
    machine.write("sys/fs/cgroup/cpuset.cpus.effective", "0-15")
    topology = read_topology(cpus, machine.root)
    assert topology.usable_cores == usable
    assert topology.default_cores == default
    assert topology.cpuset == cpus


def test_cpuset_of_one_cpu_has_one_core(machine: Machine) -> None:
    build_cpus(machine, packages=1, cores=4, smt=2)
    topology = read_topology([5], machine.root)
    assert topology.usable_cores == 1
    assert choose_cpus(topology, 1, {5: 1.0}) == (5,)


def test_idle_machine_gives_the_first_cores_one_thread_each() -> None:
    assert choose_cpus(two_sockets(), 3, {}) == (0, 1, 2)
    assert choose_cpus(two_sockets(), 8, {}) == tuple(range(8))


def test_noise_of_a_short_sample_does_not_change_the_choice() -> None:
    assert choose_cpus(two_sockets(), 3, {0: 0.03, 1: 0.09, 9: 0.05, 2: 0.01}) == (0, 1, 2)


def test_busy_cores_are_avoided_within_a_node() -> None:
    assert choose_cpus(two_sockets(), 2, {1: 0.9}) == (0, 2)


def test_load_on_the_sibling_thread_makes_a_core_busy() -> None:
    assert choose_cpus(two_sockets(), 2, {8: 0.9}) == (1, 2)


def test_load_on_a_thread_outside_the_affinity_makes_its_core_busy() -> None:
    cores = (Core(0, 0, 0, (0, 2), (0,)), Core(0, 0, 0, (1, 3), (1,)))
    assert choose_cpus(Topology((0, 1), cores, None, None, None), 1, {2: 1.0}) == (1,)


def test_idler_thread_of_a_core_is_chosen() -> None:
    cores = (Core(0, 0, 0, (0, 1), (0, 1)),)
    assert choose_cpus(Topology((0, 1), cores, None, None, None), 1, {0: 0.8, 1: 0.1}) == (1,)


def test_cores_come_from_one_node_if_they_fit() -> None:
    assert choose_cpus(two_sockets(), 4, {0: 0.5}) == (4, 5, 6, 7)


def test_quiet_cores_on_two_nodes_beat_busy_ones_on_one() -> None:
    busy = {0: 1.0, 1: 1.0, 2: 1.0, 4: 1.0, 5: 1.0, 6: 1.0}
    assert choose_cpus(two_sockets(), 2, busy) == (3, 7)


def test_one_package_is_preferred_if_no_node_is_large_enough(machine: Machine) -> None:
    cpus = build_cpus(machine, packages=2, cores=4, smt=1, nodes=2)
    topology = read_topology(cpus, machine.root)
    assert len(topology.nodes) == 4
    assert choose_cpus(topology, 3, {0: 0.9, 1: 0.9}) == (4, 5, 6)


def test_idler_of_two_nodes_in_a_package_is_chosen(machine: Machine) -> None:
    cpus = build_cpus(machine, packages=1, cores=8, smt=1, nodes=2)
    topology = read_topology(cpus, machine.root)
    assert choose_cpus(topology, 2, dict.fromkeys(range(4), 0.15)) == (4, 5)


def test_least_busy_cores_are_chosen_if_all_are_busy() -> None:
    busy = dict.fromkeys(range(16), 0.9) | {2: 0.4, 10: 0.4, 6: 0.5, 14: 0.5}
    assert choose_cpus(two_sockets(), 1, busy) == (2,)


@pytest.mark.parametrize("cores", [0, -1, 9, 16])
def test_zero_or_too_many_cores_are_refused(cores: int) -> None:
    with refused(UsageError, "no_core_requested" if cores < 1 else "too_many_cores", cores=cores):
        choose_cpus(two_sockets(), cores, {})


@given(
    st.integers(1, 8),
    st.dictionaries(st.integers(0, 15), st.floats(0, 1)),
)
def test_chosen_cores_are_distinct_stable_and_the_quietest(cores: int, busy: dict[int, float]) -> None:
    chosen = choose_cpus(two_sockets(), cores, busy)
    assert len({cpu % 8 for cpu in chosen}) == len(chosen) == cores
    assert chosen == choose_cpus(two_sockets(), cores, dict(reversed(busy.items())))
    worst = max(max(busy.get(cpu % 8, 0.0), busy.get(cpu % 8 + 8, 0.0)) for cpu in chosen)
    quiet = sum(max(busy.get(n, 0.0), busy.get(n + 8, 0.0)) <= 0.25 for n in range(8))
    assert quiet < cores or worst <= 0.25


def big_machine(machine: Machine) -> Topology:
    """Return 2 packages of 64 cores with 2 threads and 2 nodes each."""
    return read_topology(build_cpus(machine, packages=2, cores=64, smt=2, nodes=2), machine.root)


@pytest.mark.parametrize(("cores", "nodes"), [(1, 1), (32, 1), (33, 2), (64, 2), (65, 3), (97, 4), (128, 4)])
def test_cores_take_as_few_nodes_as_hold_them(machine: Machine, cores: int, nodes: int) -> None:
    topology = big_machine(machine)
    assert topology.nodes_for(cores) == nodes
    groups = topology.by_node(choose_cpus(topology, cores, {}))
    assert len(groups) == nodes


def test_cpus_are_grouped_by_their_nodes(machine: Machine) -> None:
    topology = big_machine(machine)
    cpus = choose_cpus(topology, 128, {})
    groups = topology.by_node(cpus)
    assert sorted(cpu for group in groups for cpu in group) == sorted(cpus)
    assert [len(group) for group in groups] == [32, 32, 32, 32]
    assert all(len({cpu // 32 for cpu in group}) == 1 for group in groups)
