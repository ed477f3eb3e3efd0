"""The messages and hints of all errors."""

from __future__ import annotations

from tuibench.core.reason import LEGACY_TEXT
from tuibench.present.error.command import COMMAND_ERRORS
from tuibench.present.error.control import CONTROL_ERRORS
from tuibench.present.error.download import DOWNLOAD_ERRORS
from tuibench.present.error.engine import ENGINE_ERRORS
from tuibench.present.error.exchange import EXCHANGE_ERRORS
from tuibench.present.error.form import FORM_ERRORS
from tuibench.present.error.library import LIBRARY_ERRORS
from tuibench.present.error.model import MODEL_ERRORS
from tuibench.present.error.run import RUN_ERRORS
from tuibench.present.error.setting import SETTING_ERRORS
from tuibench.present.error.store import STORE_ERRORS
from tuibench.present.error.template import MessageAndHint, Words

TABLES: tuple[dict[str, MessageAndHint], ...] = (
    COMMAND_ERRORS,
    SETTING_ERRORS,
    MODEL_ERRORS,
    DOWNLOAD_ERRORS,
    ENGINE_ERRORS,
    EXCHANGE_ERRORS,
    STORE_ERRORS,
    RUN_ERRORS,
    LIBRARY_ERRORS,
    CONTROL_ERRORS,
    FORM_ERRORS,
)
MESSAGES: dict[str, Words] = {code: message for table in TABLES for code, (message, _) in table.items()}
HINTS: dict[str, Words] = {code: hint for table in TABLES for code, (_, hint) in table.items()} | {
    LEGACY_TEXT: "{hint}"
}
