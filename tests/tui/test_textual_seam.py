from __future__ import annotations

import io
import threading

from textual.drivers import linux_driver

from tests.cli.shell import PATIENCE_S
from tests.tui.counting import CountingDriver, counter_of
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


async def test_the_terminal_gets_its_title_back() -> None:
    app: CalmApp = CalmApp()
    app.driver_class = CountingDriver
    async with app.run_test(headless=False):
        driver = counter_of(app)
        driver.take()
        app.set_terminal_title("first")
        app.set_terminal_title("\x1b]0;second")
        assert driver.take() == "\x1b[22;0t\x1b]0;first\x07\x1b]0;\\e]0;second\x07"
    assert "\x1b[23;0t" in driver.take()


async def test_a_terminal_whose_title_was_left_alone_is_told_nothing_of_it() -> None:
    app: CalmApp = CalmApp()
    app.driver_class = CountingDriver
    async with app.run_test(headless=False):
        driver = counter_of(app)
    assert ";0t" not in driver.take()
