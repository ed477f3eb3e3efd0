"""The salt of a store, a secret for host ids that reveal nothing about the machine."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Callable

from tuibench.store.files import Files
from tuibench.store.layout import SALT
from tuibench.store.trouble import damaged

_BYTES = 32
_FORM = re.compile(rb"[0-9a-f]{64}\n?")


class HostIdentity:
    """This host's id in this store: the first 16 hex digits of an HMAC over the machine's identity."""

    def __init__(self, files: Files, machine: str, entropy: Callable[[int], bytes]) -> None:
        self._files = files
        self._machine = machine
        self._entropy = entropy
        self._id: str | None = None

    def find(self, make: bool) -> str | None:
        """Return the id; None if the store has no salt and `make` is false."""
        if self._id is None:
            salt = self._read()
            if salt is None and make:
                path = os.path.join(self._files.root, SALT)
                # If several processes start at once the first one wins, and all read the salt from disk.
                self._files.put_first(path, self._entropy(_BYTES).hex().encode("ascii") + b"\n")
                salt = self._read()
            if salt is not None:
                self._id = hmac.new(salt, self._machine.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()[
                    :16
                ]
        return self._id

    def _read(self) -> bytes | None:
        found = self._files.read(os.path.join(self._files.root, SALT))
        if found is None:
            return None
        if not _FORM.fullmatch(found[0]):
            raise damaged(
                SALT,
                "it is not 64 hexadecimal digits",
                "Put it back from a backup, or remove it: this machine then counts as a new host, and nothing is lost.",
            )
        return bytes.fromhex(found[0].decode("ascii"))
