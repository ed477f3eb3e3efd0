"""Tiny wheels of engines, and an index that serves them on this machine, for tests of installations."""

from __future__ import annotations

import base64
import hashlib
import os
import sys
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import onnxruntime
import pytest

from tuibench.core.engine_state import InstallOrder
from tuibench.core.machine import Places
from tuibench.services.api import Services
from tuibench.services.settings import Settings

RELEASE = str(onnxruntime.__version__)
ENGINE = f"onnxruntime@{RELEASE}"
"""The engine of these wheels: it runs the ONNX Runtime that the tests have, from an environment of its own."""
_SITE = str(Path(onnxruntime.__file__).parents[1])
_BESIDE = f"{_SITE}\n"
"""A .pth file: the packages of the tests' own environment follow those of the wheel."""
WRONG = f"""
import importlib.util, sys
place = {_SITE!r} + "/onnxruntime"
spec = importlib.util.spec_from_file_location("onnxruntime", place + "/__init__.py", submodule_search_locations=[place])
module = importlib.util.module_from_spec(spec)
sys.modules["onnxruntime"] = module
spec.loader.exec_module(module)
right = module.OrtValue.numpy
module.OrtValue.numpy = lambda value: right(value) + 1
"""
"""An ONNX Runtime whose outputs are off by one."""
BROKEN = "raise ImportError('libgone.so: cannot open shared object file')\n"


def make_wheel(folder: Path, name: str, version: str, files: Mapping[str, str]) -> Path:
    """Write a wheel for any Python and return its path."""
    about = f"{name}-{version}.dist-info"
    contents = {
        **files,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    listed = [f"{path},sha256={_digest(text)},{len(text.encode())}" for path, text in contents.items()]
    record = "\n".join([*listed, f"{about}/RECORD,,", ""])
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        for inside, text in {**contents, f"{about}/RECORD": record}.items():
            file.writestr(inside, text)
    return path


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


def make_wheels(folder: Path, code: str = "", release: str = RELEASE) -> Path:
    """Write the wheels of ONNX Runtime and numpy; `code` replaces the real package."""
    folder.mkdir(exist_ok=True)
    own = {"onnxruntime/__init__.py": code} if code else {}
    make_wheel(folder, "onnxruntime", release, {"tests_beside.pth": _BESIDE, **own})
    make_wheel(folder, "numpy", "2.0.0", {})
    return folder


@contextmanager
def serve_index(wheels: Path, *, status: int = 200, wrong_hash: bool = False) -> Iterator[str]:
    """Serve a simple index of a directory's wheels; another status refuses everything."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/").split("/")[-1]
            path = wheels / name
            if status != 200:
                self._answer(status, b"refused")
            elif name.endswith(".whl") and path.is_file():
                self._answer(200, path.read_bytes(), "application/octet-stream")
            else:
                found = sorted(wheels.glob(f"{name}-*.whl"))
                links = "".join(f'<a href="/files/{one.name}#sha256={sha(one)}">{one.name}</a>\n' for one in found)
                self._answer(200 if found else 404, f"<!DOCTYPE html><html><body>{links}</body></html>".encode())

        def _answer(self, code: int, body: bytes, kind: str = "text/html") -> None:
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    def sha(path: Path) -> str:
        return "0" * 64 if wrong_hash else hashlib.sha256(path.read_bytes()).hexdigest()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def install(folder: Path) -> Path:
    """Install the engine below a directory and return its place; pip's own settings have no effect."""
    places = Places(folder / "data", folder / "state", folder / "cache", folder / "config")
    services = Services(Settings(places, f"tuibench-{folder.name}"))
    order = InstallOrder(ENGINE, python=sys.executable, wheels=str(make_wheels(folder / "wheels")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_CONFIG_FILE", os.devnull)
        patch.delenv("PIP_FIND_LINKS", raising=False)
        services.engines.install(order)
    services.close()
    return services.engines.root / ENGINE
