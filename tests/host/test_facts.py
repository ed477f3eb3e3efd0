from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.host.machine import (
    AMD_FLAGS,
    INTEL_FLAGS,
    Machine,
    build_arm_cpuinfo,
    build_cpuinfo,
    build_cpus,
    build_frequency,
    build_system,
    process_on,
)
from tuibench.host.facts import PACKAGES, read_facts, read_versions, this_process

MAX_OPENS_AT_256_CPUS = 600


def env_of(host: Machine, cpus: tuple[int, ...], **changes: object) -> dict[str, Any]:
    env: dict[str, Any] = read_facts(process_on(cpus, **changes), host.root)["env"]
    return env


def test_intel_server_with_two_sockets_is_described(machine: Machine) -> None:
    build_system(machine)
    cpus = build_cpus(machine, packages=2, cores=16, smt=2)
    build_cpuinfo(machine, cpus, brand="Intel(R) Xeon(R) Gold 6430", vendor="GenuineIntel", flags=INTEL_FLAGS)
    build_frequency(machine, cpus, "powersave")
    machine.write("sys/devices/system/cpu/intel_pstate/no_turbo", 0)
    machine.write("sys/class/dmi/id/product_name", "PowerEdge R760")
    env = env_of(machine, cpus)
    caches = env["cpu"].pop("caches")
    assert env["cpu"] == {
        "brand": "Intel(R) Xeon(R) Gold 6430",
        "vendor": "GenuineIntel",
        "family": "6",
        "model": "143",
        "stepping": "8",
        "microcode": "0x2b0005c0",
        "isa": [
            *("avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "avx_vnni"),
            *("amx_tile", "amx_int8", "amx_bf16"),
        ],
        "hypervisor": False,
        "online_cpus": 64,
        "packages": 2,
        "cores": 32,
        "threads": 64,
        "smt_active": True,
        "numa_nodes": {"0": "0-15,32-47", "1": "16-31,48-63"},
    }
    assert caches == [
        {"name": "L1d", "bytes": 49152, "shared_by": 2, "count": 32},
        {"name": "L1i", "bytes": 32768, "shared_by": 2, "count": 32},
        {"name": "L2", "bytes": 2097152, "shared_by": 2, "count": 32},
        {"name": "L3", "bytes": 33554432, "shared_by": 32, "count": 2},
    ]
    assert env["frequency"] == {
        "driver": "intel_pstate",
        "governors": {"powersave": 64},
        "boost": True,
        "min_mhz": 800.0,
        "max_mhz": 3800.0,
        "current_mhz": 2400.0,
    }
    assert env["memory"]["swap_used_bytes"] == 500 * 1024
    assert env["kernel"]["thp"] == "madvise"
    assert env["kernel"]["product"] == "PowerEdge R760"
    assert env["affinity"] == {
        "cpus": "0-63",
        "physical_cores": 32,
        "usable_cores": 32,
        "default_cores": 32,
        "cpuset": None,
    }
    assert env["container"] is None


def test_amd_has_one_level_3_cache_per_complex(machine: Machine) -> None:
    build_system(machine)
    cpus = build_cpus(machine, packages=1, cores=16, smt=1, nodes=2, cores_per_l3=4)
    build_cpuinfo(machine, cpus, brand="AMD EPYC 9124", vendor="AuthenticAMD", flags=AMD_FLAGS)
    machine.write("sys/devices/system/cpu/cpufreq/boost", 1)
    env = env_of(machine, cpus)
    assert env["cpu"]["caches"][-1] == {"name": "L3", "bytes": 33554432, "shared_by": 4, "count": 4}
    assert env["cpu"]["numa_nodes"] == {"0": "0-7", "1": "8-15"}
    assert env["frequency"]["boost"] is True
    assert env["cpu"]["smt_active"] is False
    assert env_of(machine, (0, 4, 8, 9))["cpu"]["caches"][-1]["count"] == 3


def test_arm_has_features_and_numbers_but_no_brand(machine: Machine) -> None:
    build_system(machine)
    cpus = build_cpus(machine, packages=1, cores=4, smt=1)
    build_arm_cpuinfo(machine, cpus)
    env = env_of(machine, cpus, machine="aarch64")
    assert env["cpu"]["brand"] is None
    assert "/proc/cpuinfo" in env["missing"]["cpu.brand"]
    assert env["cpu"]["isa"] == ["asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve"]
    assert (env["cpu"]["vendor"], env["cpu"]["model"], env["cpu"]["family"]) == ("0x41", "0xd40", "8")
    assert env["cpu"]["hypervisor"] is None
    assert "cpu.hypervisor" in env["missing"]


def test_virtual_machine_without_cpufreq_gives_the_reason(machine: Machine) -> None:
    build_system(machine)
    build_cpuinfo(machine, (0,), brand="AMD EPYC", vendor="AuthenticAMD", flags=f"{AMD_FLAGS} hypervisor")
    env = env_of(machine, (0,))
    assert env["cpu"]["hypervisor"] is True
    assert env["frequency"]["governors"] is None
    assert "virtual" in env["missing"]["frequency.governors"]


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_container_with_a_quota_is_described(machine: Machine, version: str) -> None:
    build_system(machine)
    cpus = build_cpus(machine, packages=1, cores=8, smt=1)
    machine.write(".dockerenv", "")
    if version == "v2":
        machine.write("proc/self/cgroup", "0::/")
        machine.mount("/ /sys/fs/cgroup cgroup2 rw")
        machine.write("sys/fs/cgroup/cpu.max", "150000 100000")
        machine.write("sys/fs/cgroup/cpu.stat", "nr_throttled 4\nthrottled_usec 900")
        machine.write("sys/fs/cgroup/memory.max", 1 << 30)
    else:
        machine.write("proc/self/cgroup", "4:cpu,cpuacct:/docker/x\n3:memory:/docker/x")
        machine.mount(
            "/docker/x /sys/fs/cgroup/cpu cgroup rw,cpu,cpuacct", "/docker/x /sys/fs/cgroup/mem cgroup rw,memory"
        )
        machine.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", 150000)
        machine.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", 100000)
        machine.write("sys/fs/cgroup/cpu/cpu.stat", "nr_throttled 4\nthrottled_time 900000")
        machine.write("sys/fs/cgroup/mem/memory.limit_in_bytes", 1 << 30)
    env = env_of(machine, cpus)
    assert env["cgroup"] == {"version": version, "quota_cpus": 1.5, "throttled_times": 4, "throttled_us": 900}
    assert env["memory"]["limit_bytes"] == 1 << 30
    assert env["affinity"]["usable_cores"] == 2
    assert env["container"] == "docker"
    assert "cgroup.quota_cpus" not in env["missing"]


def test_cpuset_of_one_cpu_is_described(machine: Machine) -> None:
    build_system(machine)
    build_cpus(machine, packages=1, cores=4, smt=2)
    env = env_of(machine, (6,))
    assert env["affinity"] == {"cpus": "6", "physical_cores": 1, "usable_cores": 1, "default_cores": 1, "cpuset": None}
    assert env["cpu"]["online_cpus"] == 8
    assert env["cpu"]["caches"][0]["count"] == 1


def test_machine_without_readable_files_lists_all_as_missing(machine: Machine) -> None:
    env = env_of(machine, (0, 1), libc=None)
    assert env["memory"]["room_bytes"] is None
    assert env["kernel"]["pressure"] is False
    assert env["kernel"]["schedstat"] is False
    unknown = {
        f"{block}.{name}"
        for block, values in env.items()
        if isinstance(values, dict) and block not in ("missing", "versions")
        for name, value in values.items()
        if value is None
    }
    assert unknown == set(env["missing"])
    assert {"frequency.driver", "frequency.max_mhz", "memory.swap_used_bytes", "memory.available_bytes"} < unknown
    for name, why in env["missing"].items():
        block, _, key = name.partition(".")
        assert env[block][key] is None
        assert why


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        ("run/.containerenv", "", "podman"),
        ("run/systemd/container", "systemd-nspawn", "systemd-nspawn"),
        ("var/run/secrets/kubernetes.io/x", "", "kubernetes"),
        ("proc/self/cgroup", "0::/system.slice/docker-0ab.scope", "docker"),
        ("proc/self/cgroup", "0::/kubepods.slice/kubepods-burstable.slice/x", "kubernetes"),
        ("proc/self/cgroup", "0::/user.slice/user-1000.slice", None),
    ],
)
def test_kind_of_container_is_detected(machine: Machine, path: str, text: str, kind: str | None) -> None:
    machine.write(path, text)
    assert env_of(machine, (0,))["container"] == kind


def test_public_facts_contain_nothing_private(machine: Machine) -> None:
    build_system(machine)
    machine.write("proc/self/cgroup", "0::/docker/0123456789abcdef")
    machine.mount("/ /sys/fs/cgroup cgroup2 rw")
    machine.write("sys/fs/cgroup/docker/0123456789abcdef/cpu.max", "max 100000")
    facts = read_facts(process_on((0,), environ={"SECRET_TOKEN": "hunter2"}), machine.root)
    public = json.dumps(facts["env"])
    for secret in ("secret-host", "ann", "/home", "UUID=secret", "0123456789abcdef", "hunter2", "SECRET_TOKEN"):
        assert secret not in public
    assert facts["env_private"]["hostname"] == "secret-host"
    assert facts["env_private"]["user"] == "ann"
    assert facts["env_private"]["argv"] == ["tuibench", "doctor"]
    assert "0123456789abcdef" in facts["env_private"]["cgroup_paths"][0]
    assert "hunter2" not in json.dumps(facts)


def test_server_of_256_cpus_is_read_with_few_files(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    build_system(machine)
    cpus = build_cpus(machine, packages=2, cores=64, smt=2, nodes=4, cores_per_l3=8)
    build_cpuinfo(machine, cpus, brand="AMD EPYC 9554", vendor="AuthenticAMD", flags=AMD_FLAGS)
    build_frequency(machine, cpus, "performance")
    machine.stat(dict.fromkeys(cpus, (1, 0, 0, 9)))
    opened: list[str] = []
    real = os.open

    def counted(path: str, flags: int) -> int:
        opened.append(path)
        return real(path, flags)

    start = time.process_time()
    read_facts(process_on(cpus), machine.root)
    print(f"facts of 256 CPUs: {1000 * (time.process_time() - start):.1f} ms CPU")
    monkeypatch.setattr(os, "open", counted)
    env = env_of(machine, cpus)
    print(f"{len(opened)} files opened")
    assert env["cpu"]["cores"] == 128
    assert len(opened) <= MAX_OPENS_AT_256_CPUS
    again = {path for path in opened if opened.count(path) > 3}
    assert not again


def test_unknown_uid_and_deleted_directory_are_tolerated(monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    def nobody(uid: int) -> None:
        raise KeyError(uid)

    def gone() -> str:
        raise FileNotFoundError

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.setattr(os, "getcwd", gone)
    process = this_process(("numpy",))
    assert process.user is None
    assert process.cwd is None
    assert process.affinity


def test_versions_are_read_without_import_and_missing_ones_are_none() -> None:
    found = read_versions(("pytest", "no-such-distribution", "tuibench"))
    assert found["pytest"] == pytest.__version__
    assert found["no-such-distribution"] is None
    assert found["tuibench"]


def test_packages_of_engines_with_their_own_interpreter_are_not_listed() -> None:
    assert PACKAGES == ("tuibench", "onnxruntime", "openvino", "onnx", "numpy")


def test_versions_are_those_of_the_first_directory_in_the_search_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one/some_thing-1.0+cpu.dist-info", "two/some_thing-2.0.dist-info", "two/Old-3.1-py3.11.egg-info"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path / each) for each in ("none", "one", "two")])
    assert read_versions(("some-thing", "old")) == {"some-thing": "1.0+cpu", "old": "3.1"}
