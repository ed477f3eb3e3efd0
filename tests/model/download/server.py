"""A local server with its own certificate and scripted answers."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest.mock import patch

import trustme

from tests.refusal import ChildError
from tuibench.child import _error_answer
from tuibench.core.errors import TuibenchError
from tuibench.model.download.task import fetch as download

ROOT = Path(__file__).resolve().parents[3]
Route = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Finds the route of a path and records the requests."""

    server: LoopbackServer

    def do_GET(self) -> None:
        loopback = self.server.owner
        loopback.seen.append((self.path, dict(self.headers.items())))
        route = loopback.routes.get(self.path.partition("?")[0])
        if route is None:
            self.reply(404, b"none")
        else:
            route(self)

    def do_HEAD(self) -> None:
        self.server.owner.seen.append((f"HEAD {self.path}", dict(self.headers.items())))
        self.reply(404, b"")

    def reply(self, status: int, body: bytes, declared: int | None = None, **headers: str) -> None:
        """Send a reply; `declared` may promise another number of bytes."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if declared is None else declared))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it
        """Log nothing: the tests read `seen`."""


class LoopbackServer(ThreadingHTTPServer):
    """Keeps its Loopback and stays silent when a client hangs up."""

    daemon_threads = True
    owner: Loopback

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that hung up, as many tests cause."""


@dataclass
class Loopback:
    """The server as tests see it."""

    port: int
    certificates: str
    routes: dict[str, Route] = field(default_factory=dict)
    seen: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def url(self, path: str, host: str = "localhost") -> str:
        return f"https://{host}:{self.port}{path}"

    def headers(self, index: int = -1) -> dict[str, str]:
        return self.seen[index][1]


@contextmanager
def serve(directory: Path, *names: str) -> Iterator[Loopback]:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(directory / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*(names or ("localhost", "127.0.0.1"))).configure_cert(context)
    server = LoopbackServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.owner = Loopback(server.server_address[1], str(directory / "ca.pem"))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.owner
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def file_route(body: bytes, cut: int | None = None) -> Route:
    """Return a route that serves a file; `cut` closes the connection after that many bytes."""
    return lambda handler: handler.reply(200, body if cut is None else body[:cut], len(body))


def redirect(goal: str, status: int = 302) -> Route:
    return lambda handler: handler.reply(status, b"", Location=goal)


@dataclass(frozen=True)
class Fetched:
    """The child's output."""

    lines: list[dict[str, Any]]
    errors: str

    @property
    def result(self) -> dict[str, Any]:
        assert self.lines[-1]["ok"], (self.lines[-1], self.errors)
        found: dict[str, Any] = self.lines[-1]["result"]
        return found

    @property
    def error(self) -> ChildError:
        found = ChildError.of(self.lines[-1])
        assert found.code != "child_failed", (found, self.errors)
        return found

    @property
    def progress(self) -> list[tuple[int, int | None]]:
        return [(line["fetched"], line["total"]) for line in self.lines if "fetched" in line]


_CHILD = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))
sys.argv = ["child", "fetch"]
runpy.run_module("tuibench.child", run_name="__main__", alter_sys=True)
"""


class Fetcher:
    """Runs the task with a cache that a test can read; `hf:` and limited files in a child process."""

    def __init__(self, loopback: Loopback, cache: Path) -> None:
        self.cache = cache
        self.environment = {
            **os.environ,
            "SSL_CERT_FILE": loopback.certificates,
            "REQUESTS_CA_BUNDLE": loopback.certificates,
            "HF_ENDPOINT": loopback.url(""),
        }

    def __call__(self, address: str, largest_file: int = -1, **request: Any) -> Fetched:
        asked = {"address": address, "cache": str(self.cache), "stall_s": 20, "spare_bytes": 0, **request}
        if not address.startswith("hf:") and largest_file < 0:
            return self._fetch_here(asked)
        # The hub's library reads its settings when it is imported.
        done = subprocess.run(
            [sys.executable, "-c", _CHILD.format(largest_file)],
            input=json.dumps(asked).encode(),
            capture_output=True,
            timeout=60,
            check=False,
            cwd=ROOT,
            env=self.environment,
        )
        return Fetched([json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode())

    def _fetch_here(self, asked: dict[str, Any]) -> Fetched:
        """Run the task in this process, which saves the start of a child."""
        lines: list[dict[str, Any]] = []
        with patch.dict(os.environ, self.environment, clear=True):
            try:
                lines.append({"ok": True, "result": download(asked, lines.append)})
            except TuibenchError as error:
                lines.append(_error_answer(error))
        return Fetched(json.loads(json.dumps(lines)), "")

    def files(self) -> list[str]:
        """Return the files in the cache."""
        return sorted(str(path.relative_to(self.cache)) for path in self.cache.rglob("*") if path.is_file())
