"""Entry of the package: turns any file into a result, or into one error with the file name and a hint."""

from __future__ import annotations

import json
from pathlib import Path

from tuibench.core.errors import UsageError
from tuibench.core.run import RunResult
from tuibench.core.text import show
from tuibench.intake import deepsparse, own
from tuibench.intake.document import MOST_BYTES, load_document
from tuibench.intake.refusal import Refusal

SCHEMA_PATH = Path(__file__).resolve().parents[1] / "data" / "benchmark.schema.json"


def read_result(path: str, most_bytes: int = MOST_BYTES) -> RunResult:
    """Return the result in an export or in a file of deepsparse.benchmark; open no path named in the file."""
    try:
        document = load_document(path, most_bytes)
        if own.KEY in document:
            return own.read_own(document, json.loads(SCHEMA_PATH.read_text("utf-8")))
        if deepsparse.KEY in document:
            return deepsparse.read_deepsparse(document)
        raise Refusal(
            f"is JSON, but no benchmark: it has neither '{own.KEY}' nor '{deepsparse.KEY}'",
            "import takes what `tuibench export` and deepsparse.benchmark -x write",
        )
    except Refusal as refusal:
        raise UsageError(f"{show(path)}: {refusal.what}", refusal.hint) from refusal
