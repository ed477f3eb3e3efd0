"""An installation in a thread, for the dashboard: its progress, its end, and its cancellation."""

from __future__ import annotations

import threading
from collections.abc import Callable

from tuibench.core.engine_state import PYTHON, InstallOrder, InstallProgress
from tuibench.core.errors import TuibenchError
from tuibench.core.reason import CANCELLED_ON_REQUEST, Reason
from tuibench.engines.installation import Installation
from tuibench.runs.task import Cancelled, StopSwitch

_END_S = 5.0
Install = Callable[[InstallOrder, Callable[[InstallProgress], None], StopSwitch], tuple[Installation, bool]]


def _ignore() -> None:
    """Show nothing."""


class BackgroundInstall:
    """One installation; its fields are read by other threads at any time."""

    def __init__(self, order: InstallOrder, install: Install) -> None:
        self.id = order.id
        self.progress = InstallProgress(PYTHON)
        self.record: Installation | None = None
        """The installation; None until it is complete, and after a failure."""
        self.error: TuibenchError | None = None
        self.failure: Exception | None = None
        """An error that is no TuibenchError."""
        self.is_done = False
        """True once it has ended, in whatever way."""
        self.is_shown = False
        """True once a page has shown the end."""
        self.on_change: Callable[[], object] = _ignore
        """Called in the thread after each change; the page that shows it sets this."""
        self._order, self._install = order, install
        self._stop, self._closing = StopSwitch(), threading.Lock()
        self._thread = threading.Thread(target=self._work, name="install", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Ask it to end; it leaves nothing behind."""
        with self._closing:
            if not self.is_done:
                self._stop.trip(Reason(CANCELLED_ON_REQUEST))

    def close(self) -> TuibenchError | None:
        """End it, and wait some seconds until it has removed what it made; return the error that ended it now."""
        if self.is_done:
            return None
        self.cancel()
        self._thread.join(_END_S)
        return TuibenchError("installation_left", engine=self.id) if self._thread.is_alive() else self.error

    def _work(self) -> None:
        try:
            self.record, _ = self._install(self._order, self._report, self._stop)
        except Cancelled:
            self.error = TuibenchError("installation_cancelled", engine=self.id)
        except TuibenchError as error:
            self.error = error
        except Exception as error:  # the end of a thread: the page shows it
            self.failure = error
        with self._closing:
            self.is_done = True
            self._stop.close()
        self.on_change()

    def _report(self, progress: InstallProgress) -> None:
        self.progress = progress
        self.on_change()
