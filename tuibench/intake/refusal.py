"""The reason why a file cannot be imported; the file name is added by `read_result`."""

from __future__ import annotations


class Refusal(Exception):
    """Error with the problem, its place in the file and a hint."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
