"""The words of `tuibench doctor`: facts, noise, engines and findings as lines of plain text."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from tuibench.core.record import to_plain
from tuibench.core.stored import NEWER, Problem, StoreReport
from tuibench.core.text import show, to_ascii
from tuibench.core.units import count_of, percent, size
from tuibench.present.reason import reason_words

WIDTH = 100
_LABEL = 11
_LONG = 600
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))

Block = Mapping[str, Any]


ROW, HEADING, HARM, NOTE, REMEDY = "row", "heading", "harm", "note", "remedy"
"""Kinds of paragraphs."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph of the report, not wrapped."""

    kind: str
    text: str
    label: str = ""
    """Label of a row."""


def render_doctor(facts: Block) -> str:
    """Return the report about the facts from `examine`."""
    return "\n".join(line for paragraph in paragraphs(facts) for line in _wrapped(paragraph)) + "\n"


_LEADS = {ROW: "", HEADING: "", HARM: "! ", NOTE: "- ", REMEDY: "  → "}
"""Kind to the start of its first line."""


def _wrapped(paragraph: Paragraph) -> list[str]:
    lead = paragraph.label.ljust(_LABEL) if paragraph.label else _LEADS[paragraph.kind]
    if paragraph.kind == HEADING:
        return ["", paragraph.text]
    return textwrap.wrap(
        paragraph.text, WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead), break_on_hyphens=False
    )


def paragraphs(facts: Block) -> Iterator[Paragraph]:
    """Yield the rows about the facts from `examine`, then the findings; foreign text is escaped here."""
    env = facts["env"]
    rows = [
        ("CPU", _cpu(env["cpu"])),
        ("Cores", _cores(env["cpu"], env["affinity"], env["cgroup"])),
        ("Caches", _caches(env["cpu"]["caches"])),
        ("Clock", _clock(env["frequency"], env["missing"])),
        ("Memory", _memory(env["memory"])),
        ("System", _system(env)),
        ("Noise now", _noise(facts["noise"])),
        ("Engines", _engines(facts["engines"], env["versions"])),
        ("Store", _store(facts.get("store"), facts.get("env_private", {}).get("store", {}))),
        ("Python", _python(env)),
        ("Terminal", _terminal(facts["terminal"])),
    ]
    for label, parts in rows:
        if parts is not None:
            yield Paragraph(ROW, " · ".join(filter(None, parts)) or "nothing found", label)
    yield from _findings(facts["findings"])


def _cpu(cpu: Block) -> list[str]:
    numbers = [
        f"{name} {show(cpu[name])}" for name in ("family", "model", "stepping", "microcode") if cpu[name] is not None
    ]
    isa = "unknown" if cpu["isa"] is None else " ".join(map(show, cpu["isa"])) or "none of interest"
    return [
        show(cpu["brand"] or "unknown brand"),
        " ".join([show(cpu["vendor"] or ""), *numbers]).strip(),
        f"instruction sets: {isa}",
    ]


def _cores(cpu: Block, affinity: Block, cgroup: Block) -> list[str]:
    quota = cgroup["quota_cpus"]
    nodes = ", ".join(f"node {show(node)}: {show(cpus)}" for node, cpus in cpu["numa_nodes"].items())
    return [
        f"{affinity['usable_cores']} usable",
        f"{affinity['physical_cores']} physical in {count_of(cpu['packages'], 'package')}",
        f"CPUs {show(affinity['cpus'])} of {cpu['online_cpus'] or 'unknown'} online",
        f"SMT {'on' if cpu['smt_active'] else 'off'}",
        "no quota" if quota is None else f"quota {round(quota, 2):g} CPUs",
        f"NUMA {nodes}" if nodes else "",
    ]


def _caches(caches: list[Block]) -> list[str]:
    return [
        f"{show(cache['name'])} {_binary(cache['bytes'])} × {cache['count']}"
        + (f" (shared by {cache['shared_by']} CPUs)" if cache["shared_by"] > 1 else "")
        for cache in caches
    ]


def _clock(frequency: Block, missing: Block) -> list[str]:
    governors = frequency["governors"]
    if governors is None:
        return [f"governor unknown ({show(missing.get('frequency.governors', 'no reason known'))})"]
    boost, now = frequency["boost"], frequency["current_mhz"]
    low, high = frequency["min_mhz"], frequency["max_mhz"]
    return [
        "governor " + ", ".join(f"{show(name)} on {count_of(count, 'CPU')}" for name, count in governors.items()),
        f"driver {show(frequency['driver'])}" if frequency["driver"] else "",
        f"boost {'unknown' if boost is None else 'on' if boost else 'off'}",
        f"{now:.0f} MHz now" if now is not None else "",
        f"{low:.0f} to {high:.0f} MHz" if low is not None and high is not None else "",
    ]


def _memory(memory: Block) -> list[str]:
    def amount(name: str) -> str:
        value = memory[name]
        return "unknown" if value is None else size(value)

    return [
        f"{amount('total_bytes')} total",
        f"{amount('room_bytes')} available",
        "no limit" if memory["limit_bytes"] is None else f"limit {amount('limit_bytes')}",
        f"swap {amount('swap_used_bytes')} of {amount('swap_total_bytes')} in use",
    ]


def _system(env: Block) -> list[str]:
    kernel, hypervisor = env["kernel"], env["cpu"]["hypervisor"]
    isolated = kernel["isolated_cpus"]
    return [
        f"Linux {show(kernel['release'] or 'unknown')} {show(kernel['machine'])}",
        show(kernel["libc"] or "unknown C library"),
        "virtual machine" if hypervisor else "" if hypervisor is None else "no hypervisor detected",
        show(kernel["product"] or ""),
        f"container {show(env['container'] or 'none')}",
        f"control groups {show(env['cgroup']['version'] or 'none')}",
        f"transparent huge pages {show(kernel['thp'] or 'none')}",
        f"isolated CPUs {', '.join(map(str, isolated))}" if isolated else "",
    ]


def _noise(noise: Block) -> list[str]:
    steal, drift = noise["steal_share"], noise["canary_drift"]
    pressure = ", ".join(f"{show(name)} {percent(share)}" for name, share in noise["pressure"].items())
    return [
        f"busy {percent(noise['busy_share'])}{_busiest(noise['busy'])}",
        f"steal {'unknown' if steal is None else percent(steal)}",
        f"pressure {pressure or 'unknown: no /proc/pressure'}",
        f"load {'unknown' if noise['load1'] is None else format(noise['load1'], '.2f')}",
        f"fixed loop {noise['canary_ns'] / 1000:.0f} µs" + ("" if drift is None else f" {100 * drift:+.1f} %"),
    ]


def _busiest(busy: Mapping[str, float]) -> str:
    top = sorted(((share, cpu) for cpu, share in busy.items() if share > 0), reverse=True)[:4]
    return " (" + ", ".join(f"CPU {show(cpu)} {percent(share)}" for share, cpu in top) + ")" if top else ""


def _engines(engines: list[Block], packages: Mapping[str, str | None]) -> list[str]:
    states = {None: "unknown", False: "not available"}

    def words(engine: Block) -> str:
        name, release = show(engine["name"]), engine["version"]
        if release and name.endswith(f"@{release}"):
            return name
        return f"{name} {states.get(engine['available']) or show(_version(engine, packages))}"

    return list(map(words, engines))


def _version(engine: Block, packages: Mapping[str, str | None]) -> str:
    """Return the package's version if the engine's own only adds a build, so that runs print the same version."""
    own, package = str(engine["version"] or "of unknown version"), packages.get(engine["name"])
    return package if package and own.startswith(package) else own


def _store(store: Block | None, private: Block) -> list[str] | None:
    if store is None:
        return None
    if not store["exists"]:
        return [show(private.get("directory", "")), "nothing is stored yet", _writable(store)]
    trash = store["trash"]
    return [
        show(private.get("directory", ""), _LONG),
        f"host {show(store['host_id'] or 'not named yet')}",
        "" if store["benchmarks"] is None else count_of(store["benchmarks"], "benchmark"),
        "" if store["projects"] is None else count_of(store["projects"], "project"),
        f"{size(store['bytes'])} on {show(store['file_system'] or 'an unknown file system')}",
        "" if trash is None else _trash(trash),
        _writable(store),
    ]


def _trash(trash: Block) -> str:
    rule = f"emptied after {trash['keep_days']} days or above {_binary(trash['keep_bytes'])}"
    if not trash["removals"]:
        return f"trash empty ({rule})"
    goes = f", next on {show(trash['oldest_goes_utc'][:10])}" if trash["oldest_goes_utc"] else ""
    return f"trash {count_of(trash['removals'], 'removal')}, {size(trash['bytes'])} ({rule}{goes})"


def _writable(store: Block) -> str:
    return "cannot be written" if store["problem"] else "can be written"


def _python(env: Block) -> list[str]:
    installed = [f"{show(name)} {show(version)}" for name, version in env["versions"].items() if version]
    return [show(env["python"]), *installed]


def _terminal(terminal: Block) -> list[str]:
    if not terminal:
        return []
    return [
        "a terminal" if terminal["isatty"] else "not a terminal",
        f"TERM {show(terminal['term'] or 'unset')}",
        f"encoding {show(terminal['encoding'] or 'unknown')}",
        f"{terminal['columns']}×{terminal['lines']}" if terminal.get("columns") else "",
    ]


def _findings(findings: list[Block]) -> Iterator[Paragraph]:
    if not findings:
        yield Paragraph(HEADING, "No problems found.")
        return
    harms = sum(finding["level"] == "harm" for finding in findings)
    yield Paragraph(HEADING, f"{count_of(harms, 'problem')}, {count_of(len(findings) - harms, 'note')}:")
    for finding in findings:
        text = f"{show(finding['topic'])}: {show(finding['seen'], _LONG)}; {show(finding['why'], _LONG)}."
        yield Paragraph(HARM if finding["level"] == "harm" else NOTE, text)
        yield Paragraph(REMEDY, show(finding["mend"], _LONG))


def _binary(count: int) -> str:
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:.4g} {name}"
    return f"{count} B"


SCHEMA = 1
_WORDS = {
    "unlisted": "not listed",
    "missing": "missing",
    "damaged": "damaged",
    "stale": "out of date",
    "leftover": "left behind",
    "unfinished": "started and not ended",
    NEWER: "left to a newer version",
    "edited": "changed by hand",
}
_MAX_CHARS = 1000
_INDENT = "    "


def store_report(report: StoreReport, *, ascii_only: bool = False, width: int | None = None) -> str:
    """Return the text for stdout, wrapped at `width` columns if given; its end summarizes the state of the store."""
    problems = sorted(report.problems, key=lambda problem: (problem.repaired, problem.kind == NEWER))
    lines = [line for problem in problems for line in _lines(problem, width)]
    text = "\n".join([*lines, *(part for line in _ending(report) for part in _wrap(line, width))]) + "\n"
    return to_ascii(text) if ascii_only else text


def store_json(report: StoreReport) -> str:
    """Return the report as JSON."""
    problems = [to_plain(one) | {"detail": reason_words(one.detail, _MAX_CHARS)} for one in report.problems]
    plain = to_plain(report) | {"problems": problems}
    return json.dumps({"schema": SCHEMA, **plain, "exit_code": report.exit_code}, indent=1) + "\n"


def _lines(problem: Problem, width: int | None) -> Iterator[str]:
    mark = "repaired" if problem.repaired else "newer" if problem.kind == NEWER else "PROBLEM"
    where = f"{mark} {show(problem.path, _MAX_CHARS)}"
    detail = f": {reason_words(problem.detail, _MAX_CHARS)}" if problem.detail else ""
    what = _WORDS.get(problem.kind, show(problem.kind, 40)) + detail
    if width is None or len(where) + len(what) + 2 <= width:
        yield f"{where}: {what}"
        return
    # Do not wrap a path, so that it can be copied.
    yield where
    yield from _wrap(what, width, _INDENT)


def _wrap(text: str, width: int | None, indent: str = "") -> list[str]:
    if width is None:
        return [indent + text]
    room = max(width, 2 * len(_INDENT))
    return wrap(
        text, room, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _ending(report: StoreReport) -> Iterator[str]:
    looked = f"{count_of(report.checked, 'file')} checked, {report.read} read and verified"
    looked += f", {report.migrated} migrated" if report.migrated else ""
    looked += f", {count_of(report.derived, 'list row')} completed" if report.derived else ""
    newer = sum(problem.kind == NEWER for problem in report.problems)
    looked += f", {newer} left to a newer version" if newer else ""
    left = sum(not problem.repaired for problem in report.problems) - newer
    repaired = len(report.problems) - left - newer
    within = " in what was read (--read-data reads all)" if report.partial else ""
    if left:
        yield f"{looked}: {count_of(left, 'problem')} left" + (f", {repaired} repaired" if repaired else "")
        if any(problem.mendable for problem in report.problems):
            how = "tuibench store check --repair" if report.partial else "tuibench store check --read-data --repair"
            yield f"{how} repairs the rest; no saved data is deleted."
    elif repaired:
        yield f"{looked}: {count_of(repaired, 'problem')} repaired, none left{within}"
    else:
        yield f"{looked}: nothing is wrong{within}"
