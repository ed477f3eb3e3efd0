from __future__ import annotations

import io
from pathlib import Path

from tests.cli.shell import Shell
from tests.model.download.server import file_route, serve
from tuibench.cli.following import ArrivalView
from tuibench.core.model import FetchedModel, FetchProgress
from tuibench.core.settings.model_token import SAMPLES
from tuibench.core.spec import ModelSource
from tuibench.present.progress import ProgressPainter

TINY = Path(__file__).resolve().parents[2] / "tuibench" / "data" / "samples" / SAMPLES["sample:tiny"][0]
MODEL = FetchedModel(ModelSource("a", "/a"), "m\x1b.onnx", "0123456789abcdef" * 4, 5_000_000, 5_000_000)


class Screen:
    """A view on a stream with a clock that only the test advances."""

    def __init__(self, in_place: bool) -> None:
        self.now = 0.0
        self.stream = io.StringIO()
        painter = ProgressPainter(self.stream, lambda: self.now, in_place)
        self.view = ArrivalView("https://h/m.onnx", painter, lambda: self.now)

    def at(self, now: float, fetched: int, total: int | None = 10_000_000) -> None:
        self.now = now
        self.view.update(FetchProgress(fetched, total))


def test_terminal_shows_one_line_per_model() -> None:
    screen = Screen(in_place=True)
    screen.at(0, 0)
    screen.at(5, 5_000_000)
    screen.now = 6
    screen.view.done(MODEL)
    text = screen.stream.getvalue()
    assert text.startswith("fetching https://h/m.onnx: 10.0 MB\n")
    assert "5.0 s" in text and "50 %" in text
    assert text.endswith("fetched m\\e.onnx: 5.00 MB, sha256 0123456789a…\n")


def test_stream_without_terminal_gets_few_lines() -> None:
    screen = Screen(in_place=False)
    for second in range(61):
        screen.at(second, second * 100_000, None)
    assert len(screen.stream.getvalue().splitlines()) == 3
    assert screen.stream.getvalue().startswith("fetching https://h/m.onnx: of unknown size\n")


def test_speed_counts_from_the_first_report() -> None:
    screen = Screen(in_place=True)
    screen.at(0, 4_000_000)
    screen.at(3, 7_000_000)
    assert "3.0 s" in screen.stream.getvalue(), "what was here before says nothing about the speed"


def test_local_model_is_not_announced() -> None:
    screen = Screen(in_place=True)
    screen.view.done(FetchedModel(MODEL.source, "m", "0" * 64, 5, 0))
    assert screen.stream.getvalue() == ""


def test_url_is_measured_like_a_file(shell: Shell, tmp_path: Path) -> None:
    with serve(tmp_path) as loopback:
        loopback.routes["/tiny.onnx"] = file_route(TINY.read_bytes())
        environment = {"SSL_CERT_FILE": loopback.certificates}
        address = loopback.url("/tiny.onnx") + "?key=secret"
        flags = ("-s", "sync", "-ncores", "1", "--no-save")
        wrong = shell.benchmark(address, "-s", "sync", "-b", "none", env=environment)
        assert wrong.code == 2 and not loopback.seen, "nothing is fetched for a command that cannot be carried out"
        done = shell.benchmark(address, *flags, env=environment)
        assert done.code == 0, done.err
        assert "tiny.onnx" in done.err and "sha256" in done.err
        assert "secret" not in done.err + done.out
        again = shell.benchmark(address, *flags, "-q", env=environment)
    assert again.code == 0 and again.err == "" and len(loopback.seen) == 1


def test_web_page_instead_of_a_model_is_reported_by_the_inspection(shell: Shell, tmp_path: Path) -> None:
    with serve(tmp_path) as loopback:
        loopback.routes["/m.onnx"] = file_route(b"<!DOCTYPE html><html>log in</html>")
        done = shell.benchmark(loopback.url("/m.onnx"), "--no-save", env={"SSL_CERT_FILE": loopback.certificates})
    assert done.code == 3 and "web" in done.err


def test_http_url_and_unreachable_host_errors_are_two_lines(shell: Shell) -> None:
    refused = shell.benchmark("http://localhost/m.onnx")
    assert refused.code == 2 and "https:" in refused.err
    nobody = shell.benchmark("https://localhost:1/m.onnx")
    assert nobody.code == 3 and "refused" in nobody.err and len(nobody.err.splitlines()) == 2
