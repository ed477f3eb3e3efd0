"""The terminal's input, below Textual's public surface: what comes from outside must not end the app."""

from __future__ import annotations

from textual.drivers.linux_driver import LinuxDriver


class CalmDriver(LinuxDriver):
    """Reads on after bytes that are no UTF-8: an accent from a Latin-1 terminal, noise on a serial line."""

    def _run_input_thread(self) -> None:
        """Textual gives up at the first of them, and prints a traceback with the values of all variables."""
        while not self.exit_event.is_set():
            try:
                self.run_input_thread()
            except UnicodeDecodeError:
                # What came in the same packet is lost, as nobody knows how to read it.
                continue
            except Exception as error:  # a thread's last word: the app ends as for any error of its own
                self._app.call_later(self._app._handle_exception, error)
            return
