"""Measure how many small faults the tests notice: pick mutants of a tree, run the tests that cover each.

python tools/mutants.py gather DATA TREE [TEST ...]    copy the tree into DATA, a directory outside of it, and run its
                        [--python PATH]                tests there once for coverage contexts, outcomes and durations
python tools/mutants.py pick DATA MUTANTS              write random mutants of covered lines as JSON lines
                        [--count 200] [--seed 1] [--packages stats,runs,store,worker,core,services]
python tools/mutants.py run DATA MUTANTS RESULTS       run the tests of each mutant; append a JSON line per mutant.
                        [--python PATH]                Mutants that RESULTS has are left out: run it again to resume
python tools/mutants.py report RESULTS                 print counts per package and status, and what survived

TREE may be any checkout, and MUTANTS may come from another one. A mutant is found again by its function's name and the
normalised text of the statement (`ast.unparse` of a simple statement, of the head of a compound one); the file may
have moved and the statement may stand elsewhere in the function. Of several such functions the one with the same
qualified name counts, then the one in a file of the same name; else the mutant is `ambiguous`, and `unmatched` where
there is none. tools/faults.py tells what is mutated.

The interpreter is TREE/.venv-test/bin/python unless --python names one. It needs `coverage`, which is in the `dev`
extra. TREE itself is never changed.

Status: killed (a test failed; `killed_by` names it), survived, timeout (the tests took over 60 seconds, which a mutant
that loops does), uncovered (no passing test executes the line), unmatched, ambiguous. Some mutants are equivalent to
the original and survive rightly. `covering` counts the passing tests of the line, `tests` those that were run: the
quickest, as many as add up to 30 seconds.

What is not covered: lines are gathered in pytest's own process alone. Code that runs in child processes (`python -m
tuibench`, the runner, child tasks, spawned workers, processes of streams) counts as covered only where a test also
calls it in process. `gather` prints the lines per package that no test executes in process. A plugin switches the
context with each test, so that fixtures count too, unlike with coverage's `dynamic_context = test_function`. Module
level code and session fixtures count for the test that happened to be first.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from faults import Mutant, Site, find_sites

PACKAGE = "tuibench"
PACKAGES = "stats,runs,store,worker,core,services"
LIMIT_S = 60.0
PLANNED_S = 30.0
"""The quickest tests of a line are run, until they add up to this by their recorded durations."""
COVERAGE = "coverage.sqlite"
OUTCOMES = "outcomes.json"
TREE = "tree"
RECORDER = "tuibench_mutants_recorder"
_SKIPPED = (".git", "__pycache__", ".venv*", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis")

RECORDER_SOURCE = '''
"""Switches the context of coverage with each test, fixtures included, and records outcomes and durations."""
import json, os
import coverage

outcomes, seconds = {}, {}

def pytest_runtest_logstart(nodeid, location):
    coverage.Coverage.current().switch_context(nodeid.partition("[")[0])

def pytest_runtest_logreport(report):
    name = report.nodeid.partition("[")[0]
    seconds[name] = seconds.get(name, 0.0) + report.duration
    if report.when == "call" or not report.passed:
        outcomes[name] = outcomes.get(name, True) and report.passed

def pytest_sessionfinish():
    with open(os.environ["MUTANTS_OUTCOMES"], "w") as file:
        json.dump({name: seconds[name] for name, passed in outcomes.items() if passed}, file)
'''


@dataclass
class Result:
    """Outcome of the tests for a mutant."""

    mutant: Mutant
    status: str
    module: str = ""
    line: int = 0
    tests: int = 0
    covering: int = 0
    seconds: float = 0.0
    killed_by: str = ""


@dataclass
class Gathered:
    """Lines with the tests that execute them, and the seconds that each passing test takes."""

    tests: dict[tuple[str, int], set[str]] = field(default_factory=lambda: defaultdict(set))
    seconds: dict[str, float] = field(default_factory=dict)

    def covering(self, path: str, line: int) -> list[str]:
        """Return the passing tests of a line, the quickest first."""
        found = (test for test in self.tests.get((path, line), ()) if test in self.seconds)
        return sorted(found, key=lambda test: (self.seconds[test], test))


def sites_of(tree: Path, packages: Sequence[str] = ()) -> list[Site]:
    """Return every possible fault of some packages, or of all."""
    root = tree / PACKAGE
    found = []
    for path in sorted(root.rglob("*.py")):
        module = path.relative_to(root).as_posix()
        if not packages or module.split("/")[0].removesuffix(".py") in packages:
            found += find_sites(path.read_text(encoding="utf-8"), module)
    return found


class Index:
    """The possible faults of a tree, to find those of another one again."""

    def __init__(self, tree: Path) -> None:
        self._sites: dict[tuple[str, str, str, int, str], list[Site]] = defaultdict(list)
        for site in sites_of(tree):
            self._sites[self._key(site.mutant)].append(site)

    def find(self, mutant: Mutant) -> Site | str:
        """Return where the mutant stands in this tree, or "unmatched" or "ambiguous"."""
        found = self._sites.get(self._key(mutant), [])
        for same in (
            lambda site: (site.path, site.mutant.qualname) == (mutant.module, mutant.qualname),
            lambda site: site.mutant.qualname == mutant.qualname,
            lambda site: Path(site.path).name == Path(mutant.module).name,
        ):
            narrowed = [site for site in found if same(site)]
            if narrowed:
                found = narrowed
                break
        if not found:
            return "unmatched"
        if len({(site.path, site.mutant.qualname) for site in found}) > 1:
            return "ambiguous"
        ordered = sorted(found, key=lambda site: site.mutant.occurrence)
        return ordered[min(mutant.occurrence, len(ordered) - 1)]

    @staticmethod
    def _key(mutant: Mutant) -> tuple[str, str, str, int, str]:
        function = mutant.qualname.rpartition(".")[2]
        return function, mutant.statement, mutant.kind, mutant.number, mutant.after


def copy_tree(tree: Path, copy: Path) -> None:
    """Copy a tree without its history; its environments become links."""
    shutil.copytree(tree, copy, ignore=shutil.ignore_patterns(*_SKIPPED), symlinks=True)
    for environment in tree.glob(".venv*"):
        (copy / environment.name).symlink_to(environment.resolve())


def python_of(tree: Path, given: str) -> str:
    """Return the interpreter for a tree's tests."""
    own = tree / ".venv-test" / "bin" / "python"
    return given or (str(own) if own.exists() else sys.executable)


def gather(data: Path, original: Path, tests: Sequence[str], python: str) -> None:
    """Copy a tree, run its tests once and keep which of them executes which line."""
    tree = data / TREE
    if tree.exists():
        raise SystemExit(f"{tree} is there already: remove {data} to gather anew")
    copy_tree(original, tree)
    (data / f"{RECORDER}.py").write_text(RECORDER_SOURCE, encoding="utf-8")
    settings = f"[run]\nsource = {tree / PACKAGE}\ndata_file = {data / COVERAGE}\n"
    (data / "coveragerc").write_text(settings, encoding="utf-8")
    command = [python_of(tree, python), "-m", "coverage", "run", f"--rcfile={data / 'coveragerc'}", "-m", "pytest"]
    plugins = ["-q", "-p", RECORDER, "-p", "no:cacheprovider", "--no-header"]
    environment = {
        **os.environ,
        "PYTHONPATH": f"{tree}{os.pathsep}{data}",
        "MUTANTS_OUTCOMES": str(data / OUTCOMES),
        # The tracer in C supports contexts on every Python.
        "COVERAGE_CORE": "ctrace",
    }
    subprocess.run([*command, *plugins, *tests], cwd=tree, env=environment, check=False)
    print_coverage(tree, read_gathered(data))


def read_gathered(data: Path) -> Gathered:
    """Return what `gather` kept."""
    gathered = Gathered(seconds=json.loads((data / OUTCOMES).read_text(encoding="utf-8")))
    root = str(data / TREE / PACKAGE) + os.sep
    rows = """select file.path, context.context, line_bits.numbits from line_bits
              join file on file.id = line_bits.file_id join context on context.id = line_bits.context_id"""
    with sqlite3.connect(data / COVERAGE) as database:
        for path, context, bits in database.execute(rows):
            if context and path.startswith(root):
                module = path.removeprefix(root).replace(os.sep, "/")
                for line in _lines(bits):
                    gathered.tests[module, line].add(context)
    return gathered


def _lines(bits: bytes) -> Iterator[int]:
    """Decode coverage's sets of line numbers: one bit per line."""
    for index, byte in enumerate(bits):
        yield from (index * 8 + bit for bit in range(8) if byte & (1 << bit))


def print_coverage(tree: Path, gathered: Gathered) -> None:
    """Print per package how many lines that could be mutated no passing test executes in process."""
    lines: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for site in sites_of(tree):
        lines[site.path.split("/")[0]].add((site.path, site.line))
    for package, places in sorted(lines.items()):
        missing = sum(not gathered.covering(*place) for place in places)
        print(f"{package:16} {missing:5} of {len(places):5} mutable lines without a test in process")


def pick(data: Path, packages: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """Return random mutants of covered lines: the same for the same tree, coverage and seed."""
    gathered = read_gathered(data)
    covered = [site.mutant for site in sites_of(data / TREE, packages) if gathered.covering(site.path, site.line)]
    covered.sort(key=lambda mutant: mutant.id)
    return random.Random(seed).sample(covered, min(count, len(covered)))


def run(data: Path, mutants: Sequence[Mutant], tell: Callable[[Result], None], python: str) -> None:
    """Run the tests of each mutant in a copy of the tree."""
    tree = data / TREE
    gathered, index = read_gathered(data), Index(tree)
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        copy = Path(place, "tree")
        copy_tree(tree, copy)
        for mutant in mutants:
            site = index.find(mutant)
            if isinstance(site, str):
                tell(Result(mutant, site))
            else:
                tell(_run_one(copy, mutant, site, gathered, python_of(tree, python)))


def _run_one(copy: Path, mutant: Mutant, site: Site, gathered: Gathered, python: str) -> Result:
    covering = gathered.covering(site.path, site.line)
    tests = _affordable(covering, gathered)
    result = Result(mutant, "uncovered", site.path, site.line, len(tests), len(covering))
    if not tests:
        return result
    file = copy / PACKAGE / site.path
    original = file.read_bytes()
    begin = time.monotonic()
    try:
        file.write_bytes(original[: site.start] + site.mutant.after.encode("utf-8") + original[site.end :])
        _forget_compiled(file)
        result.status, result.killed_by = _run_tests(copy, tests, python)
    finally:
        file.write_bytes(original)
        _forget_compiled(file)
    result.seconds = round(time.monotonic() - begin, 2)
    return result


def _affordable(covering: list[str], gathered: Gathered) -> list[str]:
    """Return the first tests, at least one, that take no longer than planned."""
    total = 0.0
    taken: list[str] = []
    for test in covering:
        total += gathered.seconds[test]
        if taken and total > PLANNED_S:
            break
        taken.append(test)
    return taken


def _forget_compiled(file: Path) -> None:
    """Remove the bytecode of a file: within one second and at the same size it would pass for current."""
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
        compiled.unlink()


def _run_tests(copy: Path, tests: list[str], python: str) -> tuple[str, str]:
    """Return the status and the test that failed."""
    names = copy.parent / "tests.txt"
    names.write_text("\n".join(tests), encoding="utf-8")
    command = [python, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", "-rfE", f"@{names}"]
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    log = copy.parent / "log.txt"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=copy, env=environment, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            code = process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            return "timeout", ""
        finally:
            # The group is our own: children that a mutant leaves behind end with it.
            _end_group(process)
    if code == 0:
        return "survived", ""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    failed = [line.split()[1] for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return "killed", failed[0] if failed else f"exit {code}"


def _end_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def read_mutants(path: Path) -> list[Mutant]:
    """Return the mutants of a file."""
    return [Mutant(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def done_in(path: Path) -> set[str]:
    """Return the ids of mutants with a result; a last line that was cut short has none."""
    if not path.exists():
        return set()
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if whole != text:
        path.write_bytes(whole)
    return {json.loads(line)["mutant"]["id"] for line in whole.splitlines()}


def report(path: Path) -> None:
    """Print counts per package and status, and the survivors."""
    results = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in results:
        for package in (each["mutant"]["module"].split("/")[0], "total"):
            counts[package][each["status"]] += 1
    for package, statuses in sorted(counts.items()):
        print(f"{package:12} " + ", ".join(f"{name} {count}" for name, count in statuses.most_common()))
    for each in results:
        if each["status"] == "survived":
            mutant = each["mutant"]
            place = f"{each['module']}:{each['line']} {mutant['qualname']}"
            print(f"survived: {place}: {mutant['kind']}: {mutant['before']} -> {mutant['after']}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure how many small faults the tests notice.")
    commands = parser.add_subparsers(dest="command", required=True)
    files = {"gather": ("data", "original"), "pick": ("data", "mutants"), "run": ("data", "mutants", "results")}
    for name, arguments in files.items():
        command = commands.add_parser(name)
        for argument in arguments:
            command.add_argument(argument, type=lambda given: Path(given).resolve())
        if name != "pick":
            command.add_argument("--python", default="")
        if name == "gather":
            command.add_argument("tests", nargs="*", default=["tests"])
        if name == "pick":
            command.add_argument("--count", type=int, default=200)
            command.add_argument("--seed", type=int, default=1)
            command.add_argument("--packages", default=PACKAGES)
    commands.add_parser("report").add_argument("results", type=Path)
    return parser


def run_missing(data: Path, mutants: Path, results: Path, python: str) -> None:
    """Run the mutants that have no result, and append one for each."""
    done = done_in(results)
    missing = [mutant for mutant in read_mutants(mutants) if mutant.id not in done]
    with results.open("a", encoding="utf-8") as file:

        def tell(result: Result) -> None:
            file.write(json.dumps(asdict(result)) + "\n")
            file.flush()
            place = f"{result.module}:{result.line} {result.mutant.qualname}"
            print(f"{result.status:10} {result.seconds:6.1f} s  {place}: {result.mutant.after}", flush=True)

        run(data, missing, tell, python)


def main() -> None:
    """Run one command."""
    arguments = _parser().parse_args()
    if arguments.command == "report":
        report(arguments.results)
    elif arguments.command == "gather":
        gather(arguments.data, arguments.original, arguments.tests, arguments.python)
    elif arguments.command == "pick":
        picked = pick(arguments.data, arguments.packages.split(","), arguments.count, arguments.seed)
        arguments.mutants.write_text("".join(json.dumps(asdict(one)) + "\n" for one in picked), encoding="utf-8")
    else:
        run_missing(arguments.data, arguments.mutants, arguments.results, arguments.python)


if __name__ == "__main__":
    main()
