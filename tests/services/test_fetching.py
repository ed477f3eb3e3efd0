from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.shell import until
from tests.model.download.server import Handler, Loopback, file_route, serve
from tests.refusal import refused
from tuibench.core.errors import ExitCode, ModelError, TuibenchError, UsageError, WriteError
from tuibench.core.machine import Places
from tuibench.core.model import FetchProgress
from tuibench.core.reason import because
from tuibench.present.error.words import error_line, hint_words
from tuibench.services.models import ModelFetch

BODY = b"0123456789" * 20_000


@pytest.fixture
def loopback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    with serve(tmp_path) as running:
        monkeypatch.setenv("SSL_CERT_FILE", running.certificates)
        yield running


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(*(tmp_path / name for name in ("data", "state", "cache", "config")))


def test_progress_comes_before_the_model(loopback: Loopback, places: Places) -> None:
    loopback.routes["/m.onnx"] = file_route(BODY)
    heard: list[FetchProgress] = []
    address = loopback.url("/m.onnx").replace("https://", "https://me:secret@") + "?key=secret"
    model = ModelFetch(address, places, bounds={"spare_bytes": 0}).carry_out(heard.append)
    assert heard[0] == FetchProgress(0, len(BODY)) and heard[-1] == FetchProgress(len(BODY), len(BODY))
    assert Path(model.source.path).read_bytes() == BODY and places.cache in Path(model.source.path).parents
    assert model.source.asked == loopback.url("/m.onnx") + "?…", "what is stored and printed holds no secret"
    assert (model.name, model.bytes, model.fetched) == ("m.onnx", len(BODY), len(BODY))
    assert model.sha256 == hashlib.sha256(BODY).hexdigest()


@pytest.mark.parametrize(
    ("bounds", "kind", "code"),
    [({"spare_bytes": 1 << 60}, WriteError, ExitCode.STORE), ({"most_bytes": 5}, ModelError, ExitCode.MODEL)],
)
def test_errors_keep_their_type(
    loopback: Loopback, places: Places, bounds: dict[str, int], kind: type[TuibenchError], code: ExitCode
) -> None:
    loopback.routes["/m.onnx"] = file_route(BODY)
    with pytest.raises(kind) as caught:
        ModelFetch(loopback.url("/m.onnx"), places, bounds=bounds).carry_out(lambda _: None)
    assert caught.value.exit_code == code and hint_words(caught.value)


def test_unknown_name_is_refused(places: Places) -> None:
    with pytest.raises(UsageError):
        ModelFetch("hf:nothing", places).carry_out(lambda _: None)


def test_interruption_ends_the_child_and_releases_the_model(loopback: Loopback, places: Places) -> None:
    released = threading.Event()

    def stall(handler: Handler) -> None:
        handler.reply(200, BODY[:100_000], len(BODY), ETag='"v1"')
        released.wait(60)

    loopback.routes["/m.onnx"] = stall

    def interrupt(_: FetchProgress) -> None:
        raise KeyboardInterrupt

    descriptors = len(os.listdir("/proc/self/fd"))
    try:
        with pytest.raises(KeyboardInterrupt):
            ModelFetch(loopback.url("/m.onnx"), places, bounds={"spare_bytes": 0}).carry_out(interrupt)
    finally:
        released.set()
    # The switch's two descriptors are closed as well as those of the child and its log.
    until(lambda: len(os.listdir("/proc/self/fd")) <= descriptors, "no descriptor of it, nor of its server")
    loopback.routes["/m.onnx"] = file_route(BODY)
    again = ModelFetch(loopback.url("/m.onnx"), places, bounds={"spare_bytes": 0}).carry_out(lambda _: None)
    assert Path(again.source.path).read_bytes() == BODY


def test_child_death_is_an_error_with_its_last_output(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text("import os\nos.write(2, b'it broke\\n')\nos._exit(9)\n")
    monkeypatch.setenv("PYTHONPATH", f"{broken}:{os.environ['PYTHONPATH']}")
    why = because("ended_without_answer", exit_code=9)
    with refused(ModelError, "child_died", task="fetch", file="hf:org/repo", why=why, tail="it broke") as caught:
        ModelFetch("hf:org/repo", places).carry_out(lambda _: None)
    line = "fetching hf:org/repo failed: ended with code 9 and no answer; it broke"
    assert error_line(caught.value) == line
