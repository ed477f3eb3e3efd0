"""`hf:` with a local hub that answers as the real one does, by way of HF_ENDPOINT."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.model.download.server import Fetcher, Loopback, file_route, redirect
from tests.refusal import ChildError, require_shown
from tuibench.core.errors import ExitCode
from tuibench.core.reason import because

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LATER = "f" * 40
REPO = "org/model-1"


def publish(loopback: Loopback, files: dict[str, bytes], commit: str = COMMIT, **wrong: str) -> None:
    """Serve a repository whose large files are on another host, as on the real hub."""
    siblings: list[dict[str, Any]] = []
    for path, body in files.items():
        digest = wrong.get("sha256") or hashlib.sha256(body).hexdigest()
        lfs = {"sha256": digest, "size": len(body), "pointerSize": 130}
        siblings.append({"rfilename": path, "size": len(body), "blobId": "b" * 40, "lfs": lfs})
        loopback.routes[f"/{REPO}/resolve/{commit}/{quote(path)}"] = redirect(
            loopback.url(f"/cdn/{digest}", "127.0.0.1")
        )
        loopback.routes[f"/cdn/{digest}"] = file_route(body)
    info = {"id": REPO, "modelId": REPO, "sha": commit, "private": False, "tags": [], "downloads": 0, "likes": 0}
    body = json.dumps({**info, "siblings": siblings}).encode()
    loopback.routes[f"/api/models/{REPO}"] = lambda h: h.reply(200, body, Content_Type="application/json")


def paths(loopback: Loopback) -> list[str]:
    return [path.partition("?")[0] for path, _ in loopback.seen]


def test_repository_with_one_model_selects_it(loopback: Loopback, fetch: Fetcher) -> None:
    publish(loopback, {"README.md": b"words", "onnx/model.onnx": b"m" * 1000, "config.json": b"{}"})
    done = fetch(f"hf:{REPO}")
    path = Path(done.result["path"])
    assert path.read_bytes() == b"m" * 1000 and path.name == "model.onnx"
    assert path.is_relative_to(fetch.cache) and not path.is_symlink()
    assert done.lines[0] == {"fetched": 0, "total": 1000}
    resolve = f"/{REPO}/resolve/{COMMIT}/onnx/model.onnx"
    assert paths(loopback)[:2] == [f"/api/models/{REPO}", resolve] and len(loopback.seen) == 3, "and nothing else"


def test_external_weights_are_fetched_under_their_own_names(loopback: Loopback, fetch: Fetcher) -> None:
    files = {
        "onnx/model.onnx": b"m" * 10,
        "onnx/model.onnx_data": b"d" * 2000,
        "onnx/model.onnx_data_1": b"e" * 300,
        "onnx/model_fp16.onnx": b"h",
        "onnx/model_fp16.onnx_data": b"f" * 5000,
        "model.onnx_data": b"other",
    }
    publish(loopback, files)
    done = fetch(f"hf:{REPO}/onnx/model.onnx", most_bytes=100)
    folder = Path(done.result["path"]).parent
    assert (folder / "model.onnx_data").read_bytes() == files["onnx/model.onnx_data"]
    assert sorted(p.name for p in folder.iterdir() if p.suffix != ".json" and p.name[0] != ".") == [
        *("model.onnx", "model.onnx_data", "model.onnx_data_1"),
    ]
    assert done.result["bytes"] == 2310 and done.progress[0] == (0, 2310) and done.progress[-1] == (2310, 2310)
    assert done.result["sha256"] == hashlib.sha256(files["onnx/model.onnx"]).hexdigest()


def test_repository_with_several_models_lists_them(loopback: Loopback, fetch: Fetcher) -> None:
    publish(loopback, {f"onnx/model_{n}.onnx": b"x" * n for n in range(1, 11)})
    error = fetch(f"hf:{REPO}").error
    assert error.code == "repository_with_several" and error.exit_code == ExitCode.USAGE
    assert (error.fields["count"], error.fields["more"]) == (10, 2)
    assert because("remote_file", path="onnx/model_3.onnx", bytes=3) in error.fields["models"]


def test_missing_model_or_repository_is_reported_with_what_exists(loopback: Loopback, fetch: Fetcher) -> None:
    publish(loopback, {"a.onnx": b"x"})
    error = fetch(f"hf:{REPO}/b.onnx").error
    assert error.code == "repository_without_file" and error.exit_code == ExitCode.MODEL
    listed = [because("remote_file", path="a.onnx", bytes=1)]
    assert (error.fields["file"], error.fields["models"]) == ("b.onnx", listed)
    publish(loopback, {"model.safetensors": b"x"})
    none = ChildError(because("repository_without_model", repository=REPO), ExitCode.MODEL)
    assert fetch(f"hf:{REPO}").error == none
    nobody = ChildError(because("repository_missing", repository="org/nobody"), ExitCode.MODEL)
    assert fetch("hf:org/nobody").error == nobody
    loopback.routes["/api/models/org/secret"] = lambda h: h.reply(401, b"", X_Error_Code="RepoNotFound")
    assert fetch("hf:org/secret").error.exit_code == ExitCode.MODEL


def test_second_fetch_needs_no_hub(loopback: Loopback, fetch: Fetcher) -> None:
    publish(loopback, {"a.onnx": b"x" * 50, "a.onnx_data": b"y"})
    first = fetch(f"hf:{REPO}")
    loopback.seen.clear()
    fetch.environment["HF_ENDPOINT"] = "https://localhost:1"
    again = fetch(f"hf:{REPO}")
    assert again.result == {**first.result, "fetched": 0} and not loopback.seen


def test_interrupted_fetch_continues_with_the_same_commit(loopback: Loopback, fetch: Fetcher) -> None:
    body = b"0123456789" * 100
    publish(loopback, {"a.onnx": body})
    digest = hashlib.sha256(body).hexdigest()
    loopback.routes[f"/cdn/{digest}"] = file_route(body, cut=400)
    assert fetch(f"hf:{REPO}").error.fields["bytes"] == 400
    publish(loopback, {"a.onnx": b"newer"}, commit=LATER)
    loopback.routes[f"/cdn/{digest}"] = file_route(body)
    done = fetch(f"hf:{REPO}")
    assert done.result["fetched"] == 1000 and Path(done.result["path"]).read_bytes() == body


def test_file_with_a_wrong_checksum_is_discarded(loopback: Loopback, fetch: Fetcher) -> None:
    publish(loopback, {"a.onnx": b"x" * 50}, sha256="0" * 64)
    error = fetch(f"hf:{REPO}").error
    assert (error.code, error.fields["expected"]) == ("download_differs", "0" * 64)
    assert not [name for name in fetch.files() if name.endswith(("a.onnx", ".part"))]


def test_users_token_is_sent_only_to_the_hub(loopback: Loopback, fetch: Fetcher) -> None:
    publish(loopback, {"a.onnx": b"x" * 50})
    fetch.environment["HF_TOKEN"] = "hf_secret"
    done = fetch(f"hf:{REPO}")
    sent = {path.partition("?")[0]: headers.get("Authorization") for path, headers in loopback.seen}
    digest = hashlib.sha256(b"x" * 50).hexdigest()
    assert sent[f"/{REPO}/resolve/{COMMIT}/a.onnx"] == "Bearer hf_secret" and sent[f"/cdn/{digest}"] is None
    kept = "".join(path.read_text("latin-1") for path in fetch.cache.rglob("*.json"))
    assert "hf_secret" not in kept + json.dumps(done.lines)


@pytest.mark.parametrize("status", [401, 403, 500])
def test_refusal_of_the_hub_is_reported(loopback: Loopback, fetch: Fetcher, status: int) -> None:
    loopback.routes[f"/api/models/{REPO}"] = lambda handler: handler.reply(status, b"{}")
    error = fetch(f"hf:{REPO}").error
    assert error.exit_code == ExitCode.MODEL and require_shown(error.reason).fields["repository"] == REPO


def test_hostile_names_in_a_repository_reach_no_path(loopback: Loopback, fetch: Fetcher) -> None:
    publish(loopback, {"a/\x1b[2J.onnx": b"x", "a/..": b"y", "a/../../../evil.data": b"z", "a/e\x1bvil_data": b"v"})
    done = fetch(f"hf:{REPO}")
    assert Path(done.result["path"]).name == "2J.onnx" and done.result["bytes"] == 1
    assert all(path.is_relative_to(fetch.cache) for path in fetch.cache.rglob("*"))


@pytest.mark.parametrize("token", ["hf:", "hf:org", "hf:org/", "hf:../etc", "hf:o/r/../x", "hf:o/r//x", "hf:o/r/\x1b"])
def test_malformed_repository_name_is_a_usage_error(loopback: Loopback, fetch: Fetcher, token: str) -> None:
    error = fetch(token).error
    assert (
        error.exit_code == ExitCode.USAGE and require_shown(error.reason).fields["token"] == token and not loopback.seen
    )


def test_missing_package_is_reported_with_the_install_command(fetch: Fetcher, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "huggingface_hub.py").write_text("raise ImportError('No module named huggingface_hub')")
    fetch.environment["PYTHONPATH"] = f"{hidden}:{fetch.environment['PYTHONPATH']}"
    error = fetch(f"hf:{REPO}").error
    why = because("hub_package_missing", text="No module named huggingface_hub")
    assert error == ChildError(why, ExitCode.ENGINE)
