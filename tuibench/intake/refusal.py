"""Why a file is no result that could be taken in: inside this room without its name, which the door adds."""

from __future__ import annotations


class Refusal(Exception):
    """What is wrong, where in the file, and what can be done about it."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
