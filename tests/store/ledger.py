"""Requests to a store and their acknowledgements, compared with what the store returns later."""

from __future__ import annotations

import json
import random
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from tests.store.data import make_id, make_least, make_samples, make_small, sample_bytes
from tuibench.core.errors import StoreError, UnknownId
from tuibench.core.result import RunResult
from tuibench.core.stored import FileStamp, Metadata, ModelReference, TrashEntry
from tuibench.store.store import Store

MODEL = ModelReference("m.onnx", FileStamp("/srv/m.onnx", 5, 6, "a" * 64), "a" * 64)
LIVE, TRASH, GONE = "live", "trash", "gone"
MOST_PROJECTS = 3
MOST_LIVE = 30
"""Above this more is removed than added, so that a campaign of any length stays quick."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Known state of one benchmark."""

    where: str
    name: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Op:
    """One operation, as a writer reports it before and after."""

    kind: str
    """add, name, note, remove, restore or empty; of projects create, describe and discard."""
    ids: tuple[str, ...] = ()
    value: str = ""
    number: int = 0
    entry: str = ""
    """Id of a trash entry: made by a removal, or to be restored."""
    projects: tuple[str, ...] = ()
    """Their names, which are never used twice."""

    def line(self, word: str) -> str:
        """Return one line of a writer."""
        return json.dumps([word, asdict(self)]) + "\n"


def parse(line: str) -> tuple[str, Op]:
    """Parse the output of `Op.line`."""
    word, plain = json.loads(line)
    return word, Op(**{**plain, "ids": tuple(plain["ids"]), "projects": tuple(plain["projects"])})


def after(op: Op, fact: Fact) -> Fact:
    """Return the state of a benchmark after the operation."""
    if op.kind == "describe":
        return replace(fact, note=op.value)
    if op.kind in ("add", "restore", "create"):
        return replace(fact, where=LIVE, name=op.value if op.kind == "add" else fact.name)
    if op.kind in ("name", "note"):
        return replace(fact, **{op.kind: op.value})
    return replace(fact, where=TRASH if op.kind in ("remove", "discard") else GONE)


@dataclass(slots=True)
class Ledger:
    """All facts, and the operations whose outcome is unknown."""

    facts: dict[str, Fact] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    entries: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Entries of the trash, oldest first."""
    unconfirmed: list[Op] = field(default_factory=list)
    acknowledged: int = 0
    projects: dict[str, Fact] = field(default_factory=dict)
    """By name; a fact's note is the description."""
    held: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the projects that an entry of the trash holds."""

    def begin(self, op: Op) -> None:
        """Note that an operation may happen from now on."""
        self.unconfirmed.append(op)
        if op.kind == "add":
            self.numbers[op.ids[0]] = op.number
            self.facts.setdefault(op.ids[0], Fact(GONE))
        for name in op.projects:
            self.projects.setdefault(name, Fact(GONE))

    def done(self, op: Op) -> None:
        """Note an acknowledgement: no fault may undo the operation."""
        self.unconfirmed.remove(replace(op, entry="") if op.kind in ("remove", "discard") else op)
        self.acknowledged += 1
        for one in op.ids:
            self.facts[one] = after(op, self.facts[one])
        for name in op.projects:
            self.projects[name] = after(op, self.projects[name])
        if op.kind in ("remove", "discard"):
            self.entries[op.entry], self.held[op.entry] = op.ids, op.projects
        elif op.kind == "restore":
            del self.entries[op.entry], self.held[op.entry]
        elif op.kind == "empty":
            self.entries.clear()
            self.held.clear()

    def take(self, word: str, op: Op) -> None:
        """Process one line of a writer."""
        (self.begin if word == "begin" else self.done)(op)

    def of(self, where: str) -> list[str]:
        """Return the ids, oldest first."""
        return [one for one, fact in self.facts.items() if fact.where == where]

    def allowed(self, one: str) -> set[Fact]:
        """Return all allowed states of a benchmark."""
        known = self.projects if one in self.projects else self.facts
        facts = {known.get(one, Fact(GONE))}
        for op in self.unconfirmed:
            if one in (*op.ids, *op.projects):
                facts |= {after(op, fact) for fact in facts}
        return facts

    def choose(self, draw: random.Random) -> Op:
        """Choose a valid operation; the same seed gives the same history."""
        live, number = self.of(LIVE), len(self.numbers) + 1
        kinds, weights = ["add"], [4 if len(live) < MOST_LIVE else 1]
        if live:
            kinds += ["name", "note", "remove"]
            weights += [2, 1, 2 if len(live) < MOST_LIVE else 6]
        if self.entries:
            kinds += ["restore", "empty"]
            weights += [2, 1]
        projects = [name for name, fact in self.projects.items() if fact.where == LIVE]
        kinds += ["create"] if len(projects) < MOST_PROJECTS else ["describe", "discard"]
        weights += [1] * (len(kinds) - len(weights))
        kind = draw.choices(kinds, weights)[0]
        if kind in ("create", "describe", "discard"):
            name = f"project {len(self.projects)}" if kind == "create" else draw.choice(projects)
            return Op(kind, value=f"text {draw.getrandbits(32)}" if kind == "describe" else "", projects=(name,))
        if kind == "add":
            return Op(kind, (make_id(number),), f"name {number}", number)
        if kind == "remove":
            return Op(kind, tuple(draw.sample(live, min(len(live), draw.choice((1, 1, 1, 2, 4))))))
        if kind == "restore":
            entry = draw.choice(list(self.entries))
            return Op(kind, self.entries[entry], entry=entry, projects=self.held.get(entry, ()))
        if kind == "empty":
            trashed = tuple(name for name, fact in self.projects.items() if fact.where == TRASH)
            return Op(kind, tuple(self.of(TRASH)), projects=trashed)
        return Op(kind, (draw.choice(live),), f"{kind} {draw.getrandbits(32)}")

    def settle(self, store: Store) -> None:
        """Adopt the observed state of uncertain operations."""
        rows = {row.id: row for row in store.benchmarks.rows()}
        self.entries = {entry.id: entry.benchmarks for entry in reversed(store.trash.entries())}
        trashed = {one for ids in self.entries.values() for one in ids}
        for one in {one for op in self.unconfirmed for one in op.ids}:
            fact = self.facts[one]
            if one in rows:
                fact = Fact(LIVE, rows[one].name, rows[one].note)
            else:
                fact = next(f for f in self.allowed(one) if f.where == (TRASH if one in trashed else GONE))
            self.facts[one] = fact
        self.held = {entry.id: held_names(entry) for entry in store.trash.entries()}
        there = {project.name: project.description for project in store.projects.all()}
        trashed = {name for names in self.held.values() for name in names}
        for name in {name for op in self.unconfirmed for name in op.projects}:
            fact = replace(self.projects[name], where=TRASH if name in trashed else GONE)
            self.projects[name] = Fact(LIVE, note=there[name]) if name in there else fact
        self.unconfirmed.clear()


def held_names(entry: TrashEntry) -> tuple[str, ...]:
    """Return the project names in a trash entry: behind their short ids, after the names of benchmarks."""
    return tuple(name.split(" ", 1)[1] for name in entry.names[len(entry.benchmarks) :])


def is_sampled(number: int) -> bool:
    """Return True for every fourth benchmark, which has sample files."""
    return number % 4 == 3


def result_of(number: int) -> RunResult:
    """Return the result that is added under this number: a measured one where there are sample files."""
    return make_small(number, sampled=True) if is_sampled(number) else make_least(number)


def carry_out(store: Store, op: Op, scratch: Path) -> Op:
    """Run the operation; return what to acknowledge."""
    if op.kind == "add":
        samples = make_samples(scratch / op.ids[0], op.number) if is_sampled(op.number) else None
        store.benchmarks.add(result_of(op.number), Metadata(name=op.value), samples)
    elif op.kind == "name":
        store.benchmarks.edit(op.ids[0], name=op.value)
    elif op.kind == "note":
        store.benchmarks.edit(op.ids[0], note=op.value)
    elif op.kind == "create":
        store.projects.create(op.projects[0], MODEL)
    elif op.kind in ("describe", "discard"):
        (id_,) = (project.id for project in store.projects.all() if project.name == op.projects[0])
        if op.kind == "discard":
            return replace(op, entry=store.trash.remove((), (id_,)).id)
        store.projects.edit(id_, description=op.value)
    elif op.kind == "remove":
        return replace(op, entry=store.trash.remove(op.ids).id)
    elif op.kind == "restore":
        store.trash.restore(op.entry)
    else:
        store.trash.empty()
    return op


def differences(store: Store, ledger: Ledger, *, settled: bool) -> list[str]:
    """Return one line for each thing that the store lost, broke, mixed up or brought back.

    Before a check with repair, the subject of an unfinished operation may be unreadable; all else must be readable.
    """
    rows = {row.id: row for row in store.benchmarks.rows()}
    trashed = [one for entry in store.trash.entries() for one in entry.benchmarks]
    found = [f"{one} is in the trash twice" for one in set(trashed) if trashed.count(one) > 1]
    unsure = {one for op in ledger.unconfirmed for one in op.ids}
    moves = [op for op in ledger.unconfirmed if op.kind in ("remove", "restore")]
    # An entry half-way to the trash or back is in neither list until the next writer or a check completes the move.
    moving = set() if settled else {one for op in moves for one in op.ids}
    for one in {*rows, *trashed, *ledger.facts}:
        row = rows.get(one)
        if settled and row and one in trashed:
            found.append(f"{one} is listed and in the trash")
        places = {place for place, there in ((LIVE, row is not None), (TRASH, one in trashed)) if there} or {GONE}
        if one in moving and places == {GONE}:
            continue
        facts = {fact for fact in ledger.allowed(one) if fact.where in places}
        if not facts:
            found.append(f"{one}: found {'+'.join(sorted(places))}, may be {ledger.allowed(one)}")
        elif row and TRASH not in places and not any((f.name, f.note) == (row.name, row.note) for f in facts):
            found.append(f"{one}: found {row.name!r} {row.note!r}, may be {facts}")
        if row:
            found += read_back(store, one, ledger.numbers.get(one, 0), row.name, strict=settled or one not in unsure)
    found += project_differences(store, ledger, settled=settled)
    for op in ledger.unconfirmed if settled else ():
        if op.kind in ("remove", "restore") and len({one in rows for one in op.ids}) > 1:
            found.append(f"{op.kind} of {op.ids} was done by half")
    return found


def project_differences(store: Store, ledger: Ledger, *, settled: bool) -> list[str]:
    """Return the same for projects."""
    there = {project.name: project.description for project in store.projects.all()}
    trashed = {name for entry in store.trash.entries() for name in held_names(entry)}
    unsure = {name for op in ledger.unconfirmed for name in op.projects}
    found = []
    for name in {*there, *trashed, *ledger.projects}:
        if name in unsure and not settled:
            continue
        allowed = ledger.allowed(name)
        where = LIVE if name in there else TRASH if name in trashed else GONE
        if not any(fact.where == where and (where != LIVE or fact.note == there[name]) for fact in allowed):
            found.append(f"{name}: found {where} {there.get(name, '')!r}, may be {allowed}")
        if name in there and name in trashed:
            found.append(f"{name} is there and in the trash")
    return found


def read_back(store: Store, one: str, number: int, name: str, *, strict: bool) -> list[str]:
    """Return what is wrong with one listed record."""
    try:
        whole = store.benchmarks.get(one)
        directory = store.benchmarks.samples(one)
    except (StoreError, UnknownId) as error:
        return [f"{one} cannot be read: {error}"] if strict else []
    sampled = is_sampled(number)
    found = []
    if replace(whole.result, host="") != result_of(number):
        found.append(f"{one} holds another result than was added")
    if strict and whole.metadata.name != name:
        found.append(f"{one} is listed as {name!r} and is {whole.metadata.name!r}")
    if sampled and strict:
        (file,) = (execution.samples.file for execution in whole.result.cells[0].executions)
        if directory is None or file is None or not (directory / file).is_file():
            found.append(f"{one} has lost its samples")
        elif (directory / file).read_bytes() != sample_bytes(number):
            found.append(f"{one} has other samples")
    return found
