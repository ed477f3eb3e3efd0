from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from tinydb import TinyDB

from tests.refusal import refused
from tests.store.build import Clock, make_id, make_result, make_store
from tuibench.core.errors import StoreConflict, StoreDamaged, StoreError, StoreReadOnly, UnknownId, UsageError
from tuibench.core.ids import short_id
from tuibench.core.reason import because
from tuibench.core.stored import FileStamp, Metadata, ModelReference
from tuibench.present.error.words import hint_words, message_words
from tuibench.store.documents import Documents
from tuibench.store.project_files import sort_rows
from tuibench.store.store import Store


def make_model(name: str = "resnet", content: str = "a", asked: str = "") -> ModelReference:
    path = f"/models/{name}.onnx"
    return ModelReference(asked or path, FileStamp(path, 5, 6, content * 64), content * 64)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Store:
    return make_store(tmp_path / "data", clock=clock)


def test_reading_projects_of_a_missing_store_creates_nothing(store: Store, tmp_path: Path) -> None:
    assert store.projects.rows() == () and store.projects.search("x") == ()
    with pytest.raises(UnknownId):
        store.projects.get(make_id(1))
    assert list(tmp_path.iterdir()) == []


def test_created_project_reads_back_equal(store: Store, tmp_path: Path) -> None:
    made = store.projects.create("  R\u0065\u0301sNet  ", make_model(), "on two cores", {"seq": 128})
    assert made.name == "R\u00e9sNet" and made.versions[0].name == "original" and made.generation == 1
    assert made.versions[0].model == make_model() and made.created_utc == made.modified_utc
    assert make_store(tmp_path / "data").projects.get(made.id) == made
    for kind, holding in (("projects", made.id), ("versions", made.versions[0].id)):
        path = tmp_path / "data" / kind / f"{holding}.json"
        assert path.stat().st_mode & 0o777 == 0o600
        with TinyDB(path) as database:
            assert len(database.table(kind).all()) == 1, "stock TinyDB reads it"


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "a\x1b[2Jb", "a\nb", "a\u202eb", "\udce9"])
def test_unprintable_project_name_is_refused(store: Store, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        store.projects.create(name, make_model())
    assert message_words(caught.value).isprintable() and hint_words(caught.value)
    made = store.projects.create("x" * 200, make_model())
    with pytest.raises(UsageError):
        store.projects.edit(made.id, name=name)


def test_project_name_in_use_is_refused(store: Store) -> None:
    first = store.projects.create("one", make_model())
    second = store.projects.create("two", make_model())
    with refused(UsageError, "project_name_taken", name="one", id=first.id):
        store.projects.create("one ", make_model())
    with refused(UsageError, "project_name_taken", name="one", id=first.id):
        store.projects.edit(second.id, name="one")
    with refused(UsageError, "project_name_taken", name="one", id=first.id):
        store.projects.duplicate(second.id, "one")
    assert store.projects.edit(second.id, name="two") == second, "its own name is no news"


def test_adopting_the_same_content_returns_the_same_project(store: Store, clock: Clock) -> None:
    made, said = store.projects.adopt(make_model("resnet50"))
    assert made.name == "resnet50" and said == because("project_made", project="resnet50", id=made.id)
    clock.now += 60
    moved = replace(make_model("elsewhere"), asked="copy.onnx")
    again, said = store.projects.adopt(moved)
    assert again.id == made.id and said is None and again.versions == made.versions
    assert again.modified_utc > made.modified_utc


def test_adopting_a_known_file_updates_its_stamp(store: Store) -> None:
    made, _ = store.projects.adopt(make_model())
    touched = make_model()
    touched = replace(touched, file=replace(touched.file, mtime_ns=99))
    again, _ = store.projects.adopt(touched)
    assert again.versions[0].model.file.mtime_ns == 99 and again.versions[0].id == made.versions[0].id


def test_adopting_changed_content_at_the_same_path_adds_a_version(store: Store) -> None:
    made, _ = store.projects.adopt(make_model(content="a"))
    changed, said = store.projects.adopt(make_model(content="b"))
    assert changed.id == made.id and [one.name for one in changed.versions] == ["original", "v2"]
    facts = {"path": "/models/resnet.onnx", "version": "v2", "project": "resnet", "id": made.id}
    assert said == because("model_changed", **facts)
    assert [one.name for one in store.projects.adopt(make_model(content="c"))[0].versions][-1] == "v3"
    back, said = store.projects.adopt(make_model(content="a"))
    assert len(back.versions) == 3 and said is None


def test_adopting_a_duplicated_model_returns_the_original_project(store: Store, clock: Clock) -> None:
    first, _ = store.projects.adopt(make_model())
    clock.now += 60
    copy = store.projects.duplicate(first.id, "copy")
    assert store.projects.adopt(make_model())[0].id == first.id
    clock.now += 60
    store.projects.touch(copy.id)
    assert store.projects.adopt(make_model())[0].id == first.id
    changed, said = store.projects.adopt(make_model(content="b"))
    assert changed.id == first.id and said is not None and said.fields["version"] == "v2"
    assert store.projects.find("a" * 64) == store.projects.get(first.id) and store.projects.find("c" * 64) is None
    store.trash.remove([], [first.id])
    assert store.projects.adopt(make_model())[0].id == copy.id


@pytest.mark.parametrize(
    ("path", "asked", "name"),
    [
        ("/m/bert.onnx", "bert.onnx", "bert"),
        ("/m/bert/model.onnx", "bert", "bert"),
        ("/x/cnn.onnx", "sample", "sample"),
        ("/x/tiny.onnx", "sample:tiny", "sample:tiny"),
        ("/cache/1/model.onnx", "hf:org/repo/onnx/model.onnx", "org/repo/onnx/model.onnx"),
        ("/cache/1/net.onnx", "https://h/net.onnx?…", "net"),
        ("/cache/1/model.onnx", "https://h/resnet/model.onnx", "resnet"),
        ("/models/bert/config.json", "bert", "bert"),
        ("/m/\x1b[2J.onnx", "\x1b[2J.onnx", "\\e[2J"),
        ("/m/" + "x" * 250 + ".onnx", "x", "x" * 189 + "…"),
        ("/m/.onnx", ".onnx", ".onnx"),
    ],
)
def test_adopted_project_is_named_after_its_model(store: Store, path: str, asked: str, name: str) -> None:
    model = ModelReference(asked, FileStamp(path, 1, 1, "0" * 64), "0" * 64)
    assert store.projects.adopt(model)[0].name == name
    other = replace(model, file=replace(model.file, path=f"/other{path}"), sha256="1" * 64)
    assert store.projects.adopt(other)[0].name == f"{name} (2)"


def test_edit_changes_only_the_given_fields(store: Store, clock: Clock) -> None:
    made = store.projects.create("one", make_model(), "words", {"seq": 1})
    clock.now += 60
    edited = store.projects.edit(made.id, description="", dims={"seq": 2})
    assert (edited.name, edited.description, edited.dims) == ("one", "", {"seq": 2})
    assert edited.generation == 2 and edited.modified_utc > made.modified_utc
    assert edited.created_utc == made.created_utc and edited.versions == made.versions
    assert store.projects.edit(made.id, name="one") == edited, "no change is no generation"


def test_edits_of_two_sessions_are_merged(store: Store, tmp_path: Path) -> None:
    shown = store.projects.create("one", make_model(), "words", {"seq": 1})
    other = make_store(tmp_path / "data")
    other.projects.edit(shown.id, description="theirs")
    form = {"name": "mine", "description": shown.description, "dims": shown.dims}
    merged = store.projects.edit(shown.id, base=shown, **form)  # type: ignore[arg-type]
    assert (merged.name, merged.description) == ("mine", "theirs")
    last = store.projects.edit(shown.id, base=shown, description="ours")
    assert last.description == "ours" and other.projects.get(shown.id) == last
    previous = json.loads((tmp_path / "data" / "projects" / f"{shown.id}.json.prev").read_text())
    assert previous["projects"]["1"]["description"] == "theirs", "what was overwritten is still there"


def test_edit_is_retried_after_a_conflict_without_a_lock(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = store.projects.create("one", make_model())
    other = make_store(tmp_path / "elsewhere")
    put = Documents.put
    raced: list[int] = []

    def put_after_another(self: Documents, id: str, values: dict[str, object], generation: int) -> object:  # noqa: A002
        if len(raced) < 3:
            raced.append(1)
            current = self.get(id)
            assert current is not None
            put(self, id, {**current.values, "description": f"theirs {len(raced)}"}, current.generation)
        return put(self, id, values, generation)

    monkeypatch.setattr(Documents, "put", put_after_another)
    edited = store.projects.edit(made.id, name="mine")
    assert (edited.name, edited.description) == ("mine", "theirs 3") and len(raced) == 3
    assert other.projects.rows() == ()


def test_edit_that_always_conflicts_raises_store_conflict(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    made = store.projects.create("one", make_model())

    def refuse(*_: object) -> None:
        raise StoreConflict("one was changed by another session meanwhile")

    monkeypatch.setattr(Documents, "put", refuse)
    with pytest.raises(StoreConflict):
        store.projects.edit(made.id, name="mine")


def test_concurrent_edits_of_many_sessions_are_all_kept(tmp_path: Path) -> None:
    made = make_store(tmp_path).projects.create("one", make_model(), dims={})
    names = [f"d{n}" for n in range(4)]

    def work(name: str) -> None:
        own = Store(tmp_path, "machine")
        for number in range(10):
            current = own.projects.get(made.id)
            own.projects.edit(made.id, description=f"{name} {number}", base=current)
            own.projects.adopt(make_model(name, content=name[1]))

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = make_store(tmp_path)
    assert sorted(project.name for project in store.projects.all()) == ["d0", "d1", "d2", "d3", "one"]
    assert store.projects.get(made.id).generation == 41 and store.notices() == ()


def test_duplicate_has_its_own_versions_and_no_benchmarks(store: Store) -> None:
    store.projects.adopt(make_model(content="a"))
    first, _ = store.projects.adopt(make_model(content="b"))
    store.benchmarks.add(make_result(1), Metadata(project=first.id))
    copy = store.projects.duplicate(first.id, "copy")
    assert [one.model for one in copy.versions] == [one.model for one in first.versions]
    assert [one.name for one in copy.versions] == ["original", "v2"]
    assert not {one.id for one in copy.versions} & {one.id for one in first.versions}
    rows = {row.project.name: row.benchmarks for row in store.projects.rows()}
    assert rows == {"resnet": 1, "copy": 0}


def test_project_row_has_count_size_and_date_of_its_runs(store: Store, tmp_path: Path) -> None:
    first, _ = store.projects.adopt(make_model())
    assert store.projects.row(first.id).last_run_utc == ""
    samples = tmp_path / "samples"
    samples.mkdir()
    (samples / "a-0.z").write_bytes(b"x" * 1000)
    store.benchmarks.add(make_result(1, started_utc="2026-01-01T00:00:00Z"), Metadata(project=first.id), samples)
    store.benchmarks.add(make_result(2, started_utc="2026-03-01T00:00:00Z"), Metadata(project=first.id))
    store.benchmarks.add(make_result(3, started_utc="2026-09-01T00:00:00Z"), Metadata())
    row = store.projects.row(first.id)
    mine = [make_id(1), make_id(2), first.id, first.versions[0].id]
    every = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    expected = sum(path.stat().st_size for path in every if any(str(one) in str(path) for one in mine))
    assert (row.benchmarks, row.last_run_utc, row.size_bytes) == (2, "2026-03-01T00:00:00Z", expected)
    store.benchmarks.edit(make_id(1), note="a longer note than before " * 40)
    assert (store.projects.row(first.id).size_bytes or 0) > expected + 900


def test_search_finds_words_in_names_descriptions_and_models(store: Store) -> None:
    store.projects.create("ResNet", make_model("deep/resnet50"), "on the new servers")
    store.projects.create("bert", make_model("bert"), "language")

    def found(text: str) -> list[str]:
        return sorted(row.project.name for row in store.projects.search(text))

    assert (
        found("resnet NEW") == ["ResNet"] and found("deep/") == ["ResNet"] and found("original") == ["ResNet", "bert"]
    )
    assert found("language resnet") == [] and found("  ") == ["ResNet", "bert"]
    assert found("serversoriginal") == []


def test_project_rows_can_be_sorted(store: Store, clock: Clock) -> None:
    ids = {}
    for name in ("beta", "Alpha", "gamma"):
        clock.now += 10
        ids[name] = store.projects.create(name, make_model(name, content=name[0].lower())).id
    clock.now += 10
    store.projects.edit(ids["beta"], description="touched")

    def names(by: str) -> list[str]:
        return [row.project.name for row in sort_rows(store.projects.rows(), by)]

    assert names("name") == ["Alpha", "beta", "gamma"]
    assert names("created") == ["gamma", "Alpha", "beta"]
    assert names("modified") == ["beta", "gamma", "Alpha"]
    assert [row.project.name for row in store.projects.rows()] == names("modified")


def test_project_is_resolved_by_name_short_id_or_id(store: Store) -> None:
    made = store.projects.create("my net", make_model())
    store.projects.create("other", make_model("other"))
    for token in ("my net", made.id, made.id.lower(), short_id(made.id)):
        assert store.projects.resolve(token) == made.id
    trap = store.projects.create(short_id(made.id), make_model("trap"))
    assert store.projects.resolve(short_id(made.id)) == made.id and store.projects.resolve(trap.id) == trap.id
    with refused(UnknownId, "id_unknown", noun="project", given="nothing"):
        store.projects.resolve("nothing")


def test_model_in_the_root_directory_names_its_project(store: Store) -> None:
    model = ModelReference("/model.onnx", FileStamp("/model.onnx", 1, 1, "0" * 64), "0" * 64)
    assert store.projects.adopt(model)[0].name == "model"


def test_project_and_version_ids_have_distinct_short_ids(tmp_path: Path) -> None:
    drawn = [bytes([n]) * 10 for n in (0, 1, 0, 1, 2, 0, 3)]
    store = make_store(tmp_path, entropy=lambda _: drawn.pop(0))
    one, other = store.projects.create("one", make_model()), store.projects.create("other", make_model("o"))
    ids = [one.id, one.versions[0].id, other.id, other.versions[0].id]
    assert len({short_id(one) for one in ids}) == 4 and drawn == []


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"\0" * 100, b'{"projects": {}}', b'{"projects": {"1": {"name": 5}}}', b"[]"],
)
def test_damaged_project_is_reported_and_the_others_are_read(store: Store, tmp_path: Path, damage: bytes) -> None:
    bad = store.projects.create("bad", make_model("bad"))
    store.projects.create("good", make_model("good"))
    (tmp_path / "data" / "projects" / f"{bad.id}.json").write_bytes(damage)
    again = make_store(tmp_path / "data")
    assert [row.project.name for row in again.projects.rows()] == ["good"]
    assert any(bad.id in notice.fields["name"] for notice in again.notices())
    with pytest.raises(StoreDamaged, match=bad.id):
        again.projects.get(bad.id)
    with pytest.raises(StoreDamaged):
        again.projects.edit(bad.id, name="x")


@pytest.mark.parametrize(
    "change",
    [
        {"name": 5},
        {"name": None},
        {"dims": {"a": "b"}},
        {"dims": []},
        {"modified_utc": 7},
        {"description": {}},
    ],
)
def test_invalid_hand_edit_of_a_project_is_damage(store: Store, tmp_path: Path, change: dict[str, object]) -> None:
    bad = store.projects.create("bad", make_model())
    edit_by_hand(tmp_path / "data" / "projects" / f"{bad.id}.json", "projects", change)
    with pytest.raises(StoreDamaged, match=bad.id):
        make_store(tmp_path / "data").projects.get(bad.id)


@pytest.mark.parametrize("change", [{"model": 5}, {"model": {}}, {"project": None}, {"recipe": {"a": 1}}])
def test_damaged_version_leaves_its_project_readable(store: Store, tmp_path: Path, change: dict[str, object]) -> None:
    made, _ = store.projects.adopt(make_model(content="a"))
    made, _ = store.projects.adopt(make_model(content="b"))
    edit_by_hand(tmp_path / "data" / "versions" / f"{made.versions[0].id}.json", "versions", change)
    again = make_store(tmp_path / "data")
    assert [one.name for one in again.projects.get(made.id).versions] == ["v2"]
    assert any(made.versions[0].id in notice.fields["name"] for notice in again.notices())


def test_valid_hand_edit_of_a_project_is_kept(store: Store, tmp_path: Path) -> None:
    made = store.projects.create("one", make_model())
    edit_by_hand(tmp_path / "data" / "projects" / f"{made.id}.json", "projects", {"name": "by \x1b hand"})
    again = make_store(tmp_path / "data")
    assert again.projects.get(made.id).name == "by \x1b hand", "shown escaped, kept as it is"
    assert again.projects.edit(made.id, description="x").name == "by \x1b hand"


def edit_by_hand(path: Path, table: str, change: dict[str, object]) -> None:
    content = json.loads(path.read_text())
    content[table]["1"].update(change)
    path.write_text(json.dumps(content))


def test_removed_project_cannot_be_edited(store: Store, tmp_path: Path) -> None:
    made = store.projects.create("one", make_model())
    (tmp_path / "data" / "projects" / f"{made.id}.json").unlink()
    with pytest.raises(UnknownId):
        store.projects.edit(made.id, name="two")
    assert store.projects.all() == ()


def test_newer_project_is_read_and_not_written(store: Store, tmp_path: Path) -> None:
    made = store.projects.create("one", make_model())
    path = tmp_path / "data" / "projects" / f"{made.id}.json"
    content = json.loads(path.read_text())
    content["_meta"]["1"].update(schema=99, tool="9.9")
    content["projects"]["1"]["colour"] = "blue"
    path.write_text(json.dumps(content))
    again = make_store(tmp_path / "data")
    assert again.projects.get(made.id).name == "one"
    with refused(StoreReadOnly, "newer_read_only", tool="9.9", schema=99):
        again.projects.edit(made.id, name="two")


def test_link_planted_at_a_project_is_not_followed(store: Store, tmp_path: Path) -> None:
    made = store.projects.create("one", make_model())
    path = tmp_path / "data" / "projects" / f"{made.id}.json"
    victim = tmp_path / "victim.json"
    path.rename(victim)
    path.symlink_to(victim)
    before = victim.read_bytes()
    with pytest.raises(StoreError):
        store.projects.edit(made.id, name="two")
    assert victim.read_bytes() == before
