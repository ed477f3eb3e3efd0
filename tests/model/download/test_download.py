"""Downloads by real child processes from a scripted local server."""

from __future__ import annotations

import hashlib
import json
import os
import random
import stat
import threading
from http.client import HTTPResponse
from io import BytesIO
from pathlib import Path
from typing import cast

import pytest

from tests.model.download.server import Fetcher, Handler, Loopback, file_route
from tuibench.core.errors import ExitCode
from tuibench.core.reason import Reason, because
from tuibench.model.download.cache import ModelCache
from tuibench.model.download.file import Address, Answer, Download, DownloadLimits, RemoteFile, Web, parse_address

BODY = random.Random(1).randbytes(300_000)
SHA256 = hashlib.sha256(BODY).hexdigest()


def read(result: dict[str, object]) -> bytes:
    return Path(str(result["path"])).read_bytes()


def test_file_arrives_whole_with_its_size_reported_first(loopback: Loopback, fetch: Fetcher) -> None:
    loopback.routes["/m.onnx"] = file_route(BODY)
    done = fetch(loopback.url("/m.onnx"))
    assert done.lines[0] == {"fetched": 0, "total": len(BODY)} and done.progress[-1] == (len(BODY), len(BODY))
    assert read(done.result) == BODY and done.result["sha256"] == SHA256
    assert done.result["bytes"] == done.result["fetched"] == len(BODY)
    folder = Path(done.result["path"]).parent
    key = hashlib.sha256(loopback.url("/m.onnx").encode()).hexdigest()[:16]
    assert folder == fetch.cache / "models" / key and Path(done.result["path"]).name == "m.onnx"
    note = json.loads((folder / "m.onnx.json").read_text())
    assert note["sha256"] == SHA256 and note["bytes"] == len(BODY)
    assert not [name for name in fetch.files() if "part" in name or "tmp" in name]


def test_cached_files_are_private_to_their_owner(loopback: Loopback, fetch: Fetcher) -> None:
    loopback.routes["/m.onnx"] = file_route(BODY)
    before = os.umask(0)
    try:
        fetch(loopback.url("/m.onnx"))
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in fetch.cache.rglob("*") if path.is_file()}
    folders = {stat.S_IMODE(path.stat().st_mode) for path in [fetch.cache, *fetch.cache.rglob("*")] if path.is_dir()}
    assert modes == {0o600} and folders == {0o700}


def test_second_fetch_sends_no_request(loopback: Loopback, fetch: Fetcher) -> None:
    loopback.routes["/m.onnx"] = file_route(BODY)
    first = fetch(loopback.url("/m.onnx"))
    again = fetch(loopback.url("/m.onnx"))
    assert len(loopback.seen) == 1 and again.result["fetched"] == 0
    assert again.result["path"] == first.result["path"] and again.result["sha256"] == SHA256


def test_interrupted_download_leaves_nothing_and_restarts(loopback: Loopback, fetch: Fetcher) -> None:
    loopback.routes["/m.onnx"] = file_route(BODY, cut=100_000)
    error = fetch(loopback.url("/m.onnx")).error
    assert (error.code, error.fields["bytes"], error.fields["of_bytes"]) == ("download_interrupted", 100_000, len(BODY))
    assert error.fields["why"] == Reason("connection_closed")
    assert error.exit_code == ExitCode.MODEL and not list(fetch.cache.rglob("*.part*"))
    loopback.routes["/m.onnx"] = file_route(BODY)
    done = fetch(loopback.url("/m.onnx"))
    assert "Range" not in loopback.headers() and done.lines[0] == {"fetched": 0, "total": len(BODY)}
    assert done.result["fetched"] == len(BODY) and read(done.result) == BODY


def test_partial_file_of_a_killed_process_is_not_used(loopback: Loopback, fetch: Fetcher) -> None:
    loopback.routes["/m.onnx"] = file_route(BODY)
    folder = Path(fetch(loopback.url("/m.onnx")).result["path"]).parent
    (folder / "m.onnx.json").unlink()
    (folder / "m.onnx.part").write_bytes(bytes(400_000))
    assert read(fetch(loopback.url("/m.onnx")).result) == BODY


def test_partial_response_to_a_plain_request_is_refused(loopback: Loopback, fetch: Fetcher) -> None:
    loopback.routes["/m.onnx"] = lambda h: h.reply(206, b"x" * 5, Content_Range="bytes 0-4/300000")
    assert fetch(loopback.url("/m.onnx")).error.fields["text"].startswith("206")
    assert not [name for name in fetch.files() if name.endswith("m.onnx")]


@pytest.mark.parametrize("damage", ["{", "[]", "null", '{"sha256": 5}', ""])
def test_damaged_note_causes_a_new_download(loopback: Loopback, fetch: Fetcher, damage: str) -> None:
    loopback.routes["/m.onnx"] = file_route(BODY)
    fetch(loopback.url("/m.onnx"))
    (note,) = fetch.cache.rglob("*.json")
    note.write_text(damage)
    assert read(fetch(loopback.url("/m.onnx")).result) == BODY and len(loopback.seen) == 2


def test_body_of_unknown_size_is_accepted(loopback: Loopback, fetch: Fetcher) -> None:
    def chunked(handler: Handler) -> None:
        handler.protocol_version = "HTTP/1.1"
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(b"5\r\nfirst\r\n6\r\nsecond\r\n0\r\n\r\n")

    loopback.routes["/m.onnx"] = chunked
    done = fetch(loopback.url("/m.onnx"))
    assert read(done.result) == b"firstsecond" and done.lines[0]["total"] is None


def test_truncated_chunked_body_is_an_interruption(loopback: Loopback, fetch: Fetcher) -> None:
    def chunked(handler: Handler) -> None:
        handler.protocol_version = "HTTP/1.1"
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(b"5\r\nfirst\r\n")

    loopback.routes["/m.onnx"] = chunked
    error = fetch(loopback.url("/m.onnx")).error
    assert (error.code, error.fields["bytes"], error.fields["of_bytes"]) == ("download_interrupted", 5, None)


def test_stalled_download_is_abandoned(loopback: Loopback, fetch: Fetcher) -> None:
    released = threading.Event()

    def stall(handler: Handler) -> None:
        handler.reply(200, b"x" * 7, declared=1000, ETag='"v1"')
        released.wait(30)

    loopback.routes["/m.onnx"] = stall
    try:
        error = fetch(loopback.url("/m.onnx"), stall_s=0.2).error
    finally:
        released.set()
    assert error.fields["why"] == because("no_data", s=0.2)
    assert (error.fields["bytes"], error.fields["of_bytes"]) == (7, 1000)


def test_declared_size_over_the_limit_is_refused(loopback: Loopback, fetch: Fetcher) -> None:
    loopback.routes["/m.onnx"] = lambda h: h.reply(200, b"x", declared=3_000_000_000)
    error = fetch(loopback.url("/m.onnx")).error
    assert (error.code, error.fields["bytes"]) == ("download_too_long", 3_000_000_000)
    assert not error.fields["is_least"] and error.exit_code == ExitCode.MODEL
    assert not [name for name in fetch.files() if name.endswith(".part")]


def test_endless_body_is_stopped_at_the_limit(loopback: Loopback, fetch: Fetcher) -> None:
    def endless(handler: Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(b"x" * 65536)

    loopback.routes["/m.onnx"] = endless
    error = fetch(loopback.url("/m.onnx"), most_bytes=1_000_000).error
    assert (error.code, error.fields["bytes"], error.fields["is_least"]) == ("download_too_long", 1_000_000, True)
    assert not list(fetch.cache.rglob("*.part"))


def test_lack_of_disk_space_is_reported_before_writing(loopback: Loopback, fetch: Fetcher) -> None:
    loopback.routes["/m.onnx"] = file_route(BODY)
    error = fetch(loopback.url("/m.onnx"), spare_bytes=1 << 60).error
    assert (error.code, error.fields["bytes"]) == ("no_room_for_download", len(BODY))
    assert error.exit_code == ExitCode.STORE
    assert not list(fetch.cache.rglob("*.part"))


def test_disk_full_during_a_download_is_reported_and_cleaned_up(loopback: Loopback, fetch: Fetcher) -> None:
    loopback.routes["/m.onnx"] = file_route(BODY)
    # A file size limit refuses a write in the middle, as a full disk does.
    error = fetch(loopback.url("/m.onnx"), largest_file=100_000).error
    assert error.code == "download_unwritable" and error.exit_code == ExitCode.STORE
    assert not list(fetch.cache.rglob("*.part"))
    assert read(fetch(loopback.url("/m.onnx")).result) == BODY


def test_links_planted_at_cache_paths_are_not_followed(loopback: Loopback, fetch: Fetcher, tmp_path: Path) -> None:
    loopback.routes["/m.onnx"] = file_route(BODY)
    folder = Path(fetch(loopback.url("/m.onnx")).result["path"]).parent
    (folder / "m.onnx.json").unlink()
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (folder / "m.onnx.part").symlink_to(victim)
    assert read(fetch(loopback.url("/m.onnx")).result) == BODY
    assert victim.read_bytes() == b"precious"


def test_cache_that_cannot_be_created_is_reported(loopback: Loopback, fetch: Fetcher) -> None:
    fetch.cache.write_bytes(b"a file")
    error = fetch(loopback.url("/m.onnx")).error
    assert error.code == "download_unwritable" and error.exit_code == ExitCode.STORE and not loopback.seen


def test_file_is_synced_before_it_gets_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ModelCache(str(tmp_path), "key")
    address = parse_address("https://h/m.onnx")
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def note_fsync(descriptor: int) -> None:
        done.append(f"sync {os.path.basename(os.readlink(f'/proc/self/fd/{descriptor}'))}")
        fsync(descriptor)

    def note_replace(source: str, target: str) -> None:
        done.append(f"name {os.path.basename(target)}")
        replace(source, target)

    class OnlyAnswer(Web):
        def ask(self, address: Address) -> Answer:
            body = cast(HTTPResponse, BytesIO(b"model"))
            return Answer(200, address, 5, body)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "replace", note_replace)
    terms = DownloadLimits(spare_bytes=0)
    Download(RemoteFile(address, "m.onnx"), cache, OnlyAnswer(1.0), terms, lambda *_: None).carry_out()
    assert done.index("sync m.onnx.part") < done.index("name m.onnx.json") < done.index("name m.onnx")
    assert done[-1] == "sync key"
