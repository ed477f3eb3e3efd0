"""Server answers other than a file, each reported by kind; the client follows https only."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.model.download.server import Fetcher, Handler, Loopback, file_route, redirect, serve
from tests.refusal import require_shown
from tuibench.core.errors import ExitCode
from tuibench.core.reason import because

BODY = b"a model's bytes" * 100


def test_redirects_are_followed_to_the_end(loopback: Loopback, fetch: Fetcher) -> None:
    loopback.routes["/a"] = redirect("b", 301)
    loopback.routes["/b"] = redirect("/c", 303)
    loopback.routes["/c"] = redirect(loopback.url("/deep/m.onnx"), 308)
    loopback.routes["/deep/m.onnx"] = file_route(BODY)
    done = fetch(loopback.url("/a"))
    assert Path(done.result["path"]).read_bytes() == BODY
    assert Path(done.result["path"]).name == "a.onnx", "the name is the user's, not that of whoever redirects"


@pytest.mark.parametrize(
    "goal",
    ["http://localhost:1/m.onnx", "file:///etc/passwd", "ftp://localhost/m", "data:,x", "//[bad", "HTTP://x", "x://y"],
)
def test_redirect_to_another_scheme_is_not_followed(loopback: Loopback, fetch: Fetcher, goal: str) -> None:
    loopback.routes["/m.onnx"] = redirect(goal)
    error = fetch(loopback.url("/m.onnx")).error
    assert error.code == "redirect_not_https" and error.exit_code == ExitCode.MODEL
    assert len(loopback.seen) == 1


def test_redirect_without_target_or_host_is_an_error(loopback: Loopback, fetch: Fetcher) -> None:
    loopback.routes["/m.onnx"] = lambda handler: handler.reply(302, b"")
    nowhere = fetch(loopback.url("/m.onnx")).error
    assert nowhere.code == "redirect_to_nowhere" and nowhere.exit_code == ExitCode.MODEL
    loopback.routes["/m.onnx"] = redirect("https://:1/x")
    error = fetch(loopback.url("/m.onnx")).error
    assert error.code == "redirect_to_invalid_address" and error.exit_code == ExitCode.MODEL
    assert error.fields["why"] == because("address_without_host", address="https://:1/x")


def test_redirect_loop_ends_after_ten_redirects(loopback: Loopback, fetch: Fetcher) -> None:
    loopback.routes["/a"], loopback.routes["/b"] = redirect("/b"), redirect("/a")
    error = fetch(loopback.url("/a")).error
    assert error.code == "too_many_redirects" and error.fields["count"] == 10
    assert len(loopback.seen) == 11


@pytest.mark.parametrize(
    ("status", "code"),
    [
        *((401, "access_refused"), (403, "access_refused"), (404, "no_such_remote_file")),
        *((410, "no_such_remote_file"), (429, "server_unavailable"), (500, "server_unavailable")),
        *(
            (503, "server_unavailable"),
            (204, "unexpected_response"),
            (300, "unexpected_response"),
            (418, "unexpected_response"),
        ),
    ],
)
def test_http_error_is_reported_by_its_status(loopback: Loopback, fetch: Fetcher, status: int, code: str) -> None:
    loopback.routes["/m.onnx"] = lambda handler: handler.reply(status, b"<html>no</html>")
    error = fetch(loopback.url("/m.onnx")).error
    assert error.code == code and error.exit_code == ExitCode.MODEL
    assert str(error.fields.get("status") or error.fields["text"]).startswith(str(status))
    assert not [name for name in fetch.files() if name.endswith(".onnx")]


def test_response_that_is_not_http_is_reported(loopback: Loopback, fetch: Fetcher) -> None:
    def garbage(handler: Handler) -> None:
        handler.wfile.write(b"\x00\x1b[2Jnot http at all\r\n\r\n")

    loopback.routes["/m.onnx"] = garbage
    error = fetch(loopback.url("/m.onnx")).error
    assert error.exit_code == ExitCode.MODEL and require_shown(error.reason).fields["address"]


def test_untrusted_certificate_is_refused(loopback: Loopback, fetch: Fetcher, tmp_path: Path) -> None:
    with serve(tmp_path, "elsewhere.example") as other:
        fetch.environment["SSL_CERT_FILE"] = other.certificates
        error = fetch(other.url("/m.onnx")).error
        assert error.code == "invalid_certificate" and "localhost" in error.fields["host"] and not other.seen
    del fetch.environment["SSL_CERT_FILE"]
    error = fetch(loopback.url("/m.onnx")).error
    assert error.code == "invalid_certificate" and not loopback.seen


def test_refused_connection_is_an_error(loopback: Loopback, fetch: Fetcher) -> None:
    error = fetch("https://localhost:1/m.onnx").error
    assert (error.code, error.fields["address"]) == ("address_unreachable", "https://localhost:1/m.onnx")


def test_credentials_are_sent_to_their_host_and_kept_out_of_messages(loopback: Loopback, fetch: Fetcher) -> None:
    address = f"https://user:pass%20word@localhost:{loopback.port}/m.onnx?signature=hush"
    loopback.routes["/m.onnx"] = redirect("/same.onnx")
    loopback.routes["/same.onnx"] = redirect(loopback.url("/other.onnx", host="127.0.0.1"))
    loopback.routes["/other.onnx"] = file_route(BODY, cut=3)
    error = fetch(address).error
    sent = {path: headers.get("Authorization") for path, headers in loopback.seen}
    assert sent == {
        "/m.onnx?signature=hush": "Basic dXNlcjpwYXNzIHdvcmQ=",
        "/same.onnx": "Basic dXNlcjpwYXNzIHdvcmQ=",
        "/other.onnx": None,
    }
    kept = "".join(path.read_text("latin-1") for path in fetch.cache.rglob("*.json"))
    for secret in ("pass", "hush", "user:"):
        assert secret not in repr(error) + kept + "".join(fetch.files())


def test_only_necessary_headers_are_sent(loopback: Loopback, fetch: Fetcher) -> None:
    loopback.routes["/m.onnx"] = file_route(BODY)
    fetch(loopback.url("/m.onnx"))
    assert set(loopback.headers()) == {"Host", "User-Agent", "Accept-Encoding", "Connection"}
    assert loopback.headers()["User-Agent"].startswith("tuibench/")


@pytest.mark.parametrize("address", ["http://localhost/m.onnx", "file:///etc/passwd", "ftp://x/y", "m.onnx", "https:x"])
def test_malformed_address_is_a_usage_error(loopback: Loopback, fetch: Fetcher, address: str) -> None:
    assert fetch(address).error.exit_code == ExitCode.USAGE
