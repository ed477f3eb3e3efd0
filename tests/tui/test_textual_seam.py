from __future__ import annotations

import io
import threading

from textual.drivers import linux_driver

from tests.cli.shell import PATIENCE_S
from tuibench.tui.textual_seam import CalmApp


class Lost(io.StringIO):
    """A terminal whose other end has gone."""

    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


def test_who_writes_to_a_lost_terminal_is_not_held_up() -> None:
    CalmApp().get_driver_class()
    writer = linux_driver.WriterThread(Lost())  # type: ignore[attr-defined]
    writer.start()

    def write() -> None:
        for _ in range(200):
            writer.write("text")
        writer.stop()

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
