"""Installing engines from a page: questions in the status line, progress, and cancellation."""

from __future__ import annotations

from collections.abc import Callable

from tuibench.core.engine_state import EngineState, InstallOrder
from tuibench.core.errors import TuibenchError
from tuibench.present.engine_list import (
    disturbance_question,
    install_question,
    installed_words,
    licence_lines,
    licence_question,
    progress_words,
)
from tuibench.tui.messages import InstallMoved
from tuibench.tui.screens.base import Page
from tuibench.tui.widgets.status_line import Notice, ask, confirm

_GROUP = "engine"
_Offer = tuple[EngineState, str]
"""An engine, and who measures on this machine now; '' for nobody."""


class InstallsEngines(Page):
    """A page on which a key installs an engine; the installation continues when the page is left."""

    def engines_changed(self) -> None:
        """Handle the end of an installation or a removal: other engines can be used now."""

    def follow_installation(self) -> None:
        """Show an installation that another page began, now and from now on."""
        job = self.services.installing()
        if job is not None:
            job.on_change = lambda: self.post_message(InstallMoved())
            self.post_message(InstallMoved())

    def is_installing(self) -> bool:
        """Return whether an engine is being installed, and say so."""
        job = self.services.installing()
        if job is None or job.is_done:
            return False
        self.say(f"{job.id} is being installed; {self.shown_key('cancel-install')} cancels it", "warn")
        return True

    def install_engine(self, engine_id: str, otherwise: Callable[[TuibenchError], object] | None = None) -> None:
        """Install an engine after a question, and after others if a run measures or it has a licence to accept.

        `otherwise` gets the error of an engine that cannot be installed; without it the status line shows the error.
        """
        if self.is_installing():
            return
        services = self.services

        def look() -> _Offer:
            return services.engines.installable(engine_id), services.runs.holder()

        self.request(look, self._ask_first, group=_GROUP, otherwise=otherwise, opens=True)

    def _ask_first(self, offer: _Offer) -> None:
        state, holder = offer
        self.when_shown(lambda: confirm(self, install_question(state), "install", lambda: self._warn(state, holder)))

    def _warn(self, state: EngineState, holder: str) -> None:
        if holder:
            confirm(self, disturbance_question(holder), "install", lambda: self._ask_licence(state))
        else:
            self._ask_licence(state)

    def _ask_licence(self, state: EngineState) -> None:
        if not state.licence:
            self._begin_install(state)
            return

        def take(answer: str) -> None:
            if answer == "t":
                self.app.push_screen(Notice("Licence", licence_lines(state.licence)), lambda _: self.when_shown(again))
            elif answer == "y":
                self._begin_install(state)

        def again() -> None:
            self._ask_licence(state)

        ask(self, licence_question(state), {"y": "accept", "t": "text"}, take)

    def _begin_install(self, state: EngineState) -> None:
        # A question was answered: whoever has a licence to accept has accepted it.
        order = InstallOrder(state.id, accepts_licence=True)
        self.request(lambda: self.services.engines.begin(order), lambda _: self.follow_installation(), group=_GROUP)

    def on_install_moved(self, message: InstallMoved) -> None:
        """Show the progress, or once the end."""
        message.stop()
        job = self.services.installing()
        if job is None or job.is_shown:
            return
        if not job.is_done:
            self.say(f"{job.id}: {progress_words(job.progress)}; {self.shown_key('cancel-install')} cancels")
            return
        job.is_shown = True
        if job.record is not None:
            self.say(installed_words(job.record.id, job.record.python, job.record.size_bytes))
            self.engines_changed()
        elif job.error is not None:
            self.explain(job.error)
        elif job.failure is not None:
            self.explain(self.dashboard.known_error(job.failure))

    def action_cancel_install(self) -> None:
        """Cancel the installation in progress."""
        job = self.services.installing()
        if job is None or job.is_done:
            self.say("no engine is being installed", "warn")
        else:
            job.cancel()
