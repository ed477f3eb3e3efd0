from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.host.machine import (
    INTEL_FLAGS,
    Machine,
    build_cpuinfo,
    build_cpus,
    build_frequency,
    build_system,
    process_on,
)
from tuibench.host.checkup import examine
from tuibench.present.doctor import WIDTH, render_doctor

ENGINES = [
    {"name": "onnxruntime", "available": True, "version": "1.20.0", "error": None},
    {"name": "openvino", "available": False, "version": None, "error": "No module named 'openvino'"},
    {"name": "torch", "available": None, "version": None, "error": "timed out"},
]
TERMINAL = {"isatty": True, "term": "xterm-256color", "encoding": "utf-8", "columns": 80, "lines": 24}


def facts_of(root: Path, **changes: Any) -> dict[str, Any]:
    settings: dict[str, Any] = {"engines": ENGINES, "terminal": TERMINAL} | changes
    return examine(process_on((0, 1)), root=root, sleep=lambda _: None, canary=lambda: 287_000, **settings)


def write_intel(root: Path, brand: str = "Intel(R) Xeon(R) Gold 6430") -> None:
    machine = Machine(root)
    build_system(machine)
    cpus = build_cpus(machine, packages=1, cores=2, smt=1)
    build_cpuinfo(machine, cpus, brand=brand, vendor="GenuineIntel", flags=INTEL_FLAGS)
    build_frequency(machine, cpus, "powersave")
    machine.stat(dict.fromkeys(cpus, (1, 1, 1, 1)))


def row(text: str, label: str) -> str:
    """Return the row of a label with its further lines joined."""
    lines = iter(text.splitlines())
    found = next(line for line in lines if line.startswith(label))
    for line in lines:
        if not line.startswith("  "):
            break
        found += " " + line.strip()
    return found.removeprefix(label).strip()


def test_doctor_report_has_every_section(tmp_path: Path) -> None:
    write_intel(tmp_path)
    text = render_doctor(facts_of(tmp_path))
    assert row(text, "CPU").startswith(
        "Intel(R) Xeon(R) Gold 6430 · GenuineIntel family 6 model 143 stepping 8 microcode 0x2b0005c0"
    )
    assert "amx_int8" in row(text, "CPU")
    assert row(text, "Cores") == (
        "2 usable · 2 physical in 1 package · CPUs 0-1 of 2 online · SMT off · no quota · NUMA node 0: 0-1"
    )
    assert row(text, "Caches") == ("L1d 48 KiB × 2 · L1i 32 KiB × 2 · L2 2 MiB × 2 · L3 32 MiB × 1 (shared by 2 CPUs)")
    assert row(text, "Clock") == (
        "governor powersave on 2 CPUs · driver intel_pstate · boost unknown · 2400 MHz now · 800 to 3800 MHz"
    )
    assert row(text, "Memory") == "67.1 GB total · 63.5 GB available · no limit · swap 512 kB of 2.05 MB in use"
    assert "Linux 6.8.0-41-generic x86_64 · glibc 2.39 · no hypervisor detected" in row(text, "System")
    assert row(text, "Noise now") == (
        "busy 0.0 % · steal unknown · pressure cpu 0.0 %, memory 0.0 %, io 0.0 % · load 0.52 · fixed loop 287 µs +0.0 %"
    )
    assert row(text, "Engines") == "onnxruntime 1.20.0 · openvino not available · torch unknown"
    assert row(text, "Python") == "3.12.1 · numpy 2.0.0"
    assert row(text, "Terminal") == "a terminal · TERM xterm-256color · encoding utf-8 · 80×24"
    assert "2 problems, 2 notes:" in text


def test_each_finding_has_fact_reason_and_remedy(tmp_path: Path) -> None:
    write_intel(tmp_path)
    words = " ".join(render_doctor(facts_of(tmp_path)).split())
    assert "! governor: the frequency governor is powersave on 2 CPUs; the clock follows the load" in words
    assert "→ as root: cpupower frequency-set -g performance" in words
    assert "- engines: cannot be used: openvino: No module named 'openvino'" in words


def test_no_line_exceeds_the_width(tmp_path: Path) -> None:
    write_intel(tmp_path)
    assert max(map(len, render_doctor(facts_of(tmp_path)).splitlines())) <= WIDTH


def test_machine_without_any_data_is_described_in_words(tmp_path: Path) -> None:
    text = render_doctor(facts_of(tmp_path, engines=[], terminal={}))
    assert "None" not in text
    assert row(text, "CPU") == "unknown brand · instruction sets: unknown"
    assert row(text, "Caches") == "nothing found"
    assert row(text, "Clock") == "governor unknown (no cpufreq)"
    assert row(text, "Memory").startswith("unknown total")
    assert row(text, "Terminal") == "nothing found"


def test_report_without_findings_says_so(tmp_path: Path) -> None:
    facts = facts_of(tmp_path) | {"findings": []}
    assert render_doctor(facts).endswith("No problems found.\n")


def test_busy_cpus_are_listed_busiest_first(tmp_path: Path) -> None:
    facts = facts_of(tmp_path)
    facts["noise"]["busy"] = {"0": 0.0, "1": 0.25, "7": 0.5}
    assert row(render_doctor(facts), "Noise now").startswith("busy 0.0 % (CPU 7 50 %, CPU 1 25 %)")


@pytest.mark.parametrize("hostile", ["\x1b]0;owned\x07", "\x9b31m", "a\u202eb", "line\nbreak", "\udcff"])
def test_foreign_text_cannot_drive_the_terminal(tmp_path: Path, hostile: str) -> None:
    write_intel(tmp_path)
    facts = facts_of(tmp_path, engines=[{"name": hostile, "available": None, "version": None, "error": hostile}])
    env = facts["env"]
    env["cpu"]["brand"] = env["cpu"]["vendor"] = env["kernel"]["release"] = env["container"] = hostile
    env["kernel"]["product"] = env["versions"]["numpy"] = facts["terminal"]["term"] = hostile
    env["frequency"]["governors"] = {hostile: 2}
    text = render_doctor(facts)
    assert all(char == "\n" or char.isprintable() for char in text)
    lines = len(render_doctor(facts_of(tmp_path)).splitlines())
    assert len(text.splitlines()) < lines + 6


def test_engine_version_is_the_package_version_if_they_match(tmp_path: Path) -> None:
    engine = {"name": "openvino", "available": True, "version": "2026.4.1-22982-cafe-releases", "error": None}
    facts = facts_of(tmp_path, engines=[engine])
    for package, shown in (("2026.4.1", "2026.4.1"), ("2025.0", engine["version"]), (None, engine["version"])):
        facts["env"]["versions"] = {"openvino": package}
        assert row(render_doctor(facts), "Engines") == f"openvino {shown}"
