"""One https request with redirects; raises network errors with a hint."""

from __future__ import annotations

import http.client
import ssl
from dataclasses import dataclass
from urllib.error import URLError
from urllib.request import HTTPSHandler, OpenerDirector, ProxyHandler, Request

from tuibench import __version__
from tuibench.core.errors import ModelError
from tuibench.core.text import show
from tuibench.fetch.address import Address, follow

_MOVED = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 10
_OFFLINE = "check the connection; a proxy is taken from HTTPS_PROXY"


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's response whose body has not been read."""

    status: int
    address: Address
    """The final address, after all redirects."""
    body_bytes: int | None
    """The declared length; None if undeclared."""
    raw: http.client.HTTPResponse

    def read(self, most: int) -> bytes:
        """Return up to `most` received bytes; b'' at the end."""
        return self.raw.read1(most)

    def close(self) -> None:
        """Close the connection."""
        self.raw.close()


class Web:
    """Sends requests over https, through the proxy in the environment."""

    def __init__(self, stall_s: float) -> None:
        self._stall_s = stall_s
        self._opener = OpenerDirector()
        # Use only these two handlers: the default opener would also open http:, ftp: and file:.
        self._opener.add_handler(ProxyHandler())
        self._opener.add_handler(HTTPSHandler(context=ssl.create_default_context()))
        self._opener.addheaders = [("User-Agent", f"tuibench/{__version__}"), ("Accept-Encoding", "identity")]

    def ask(self, address: Address) -> Answer:
        """Return the response to a GET if its status is 200; raise an error for any other status."""
        for _ in range(_MOST_REDIRECTS + 1):
            answer = self._once(address)
            if answer.status in _MOVED:
                answer.close()
                address = follow(address, answer.raw.headers.get("Location"))
                continue
            if answer.status != 200:
                answer.close()
                raise _refused(answer)
            return answer
        what = f"{address.host} redirects more than {_MOST_REDIRECTS} times"
        raise ModelError(f"{address.shown}: {what}", "try another address")

    def _once(self, address: Address) -> Answer:
        request = Request(address.url)
        if address.authorization is not None:
            request.add_unredirected_header("Authorization", address.authorization)
        try:
            raw = self._opener.open(request, timeout=self._stall_s)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _unreachable(address, error, self._stall_s) from None
        if not isinstance(raw, http.client.HTTPResponse):
            raise ModelError(f"{address.shown}: no handler for this address", "try another address")
        declared = raw.headers.get("Content-Length", "")
        return Answer(
            status=raw.status,
            address=address,
            body_bytes=int(declared) if declared.isascii() and declared.isdigit() else None,
            raw=raw,
        )


def why(error: Exception, stall_s: float) -> str:
    """Return a network error in a few words."""
    reason = error.reason if isinstance(error, URLError) and isinstance(error.reason, Exception) else error
    if isinstance(reason, TimeoutError):
        return f"no data for {stall_s:g} s"
    if isinstance(reason, http.client.IncompleteRead):
        return "the connection was closed"
    return show(getattr(reason, "strerror", None) or str(reason) or type(reason).__name__, 120)


def _unreachable(address: Address, error: Exception, stall_s: float) -> ModelError:
    reason = getattr(error, "reason", error)
    if isinstance(reason, ssl.SSLCertVerificationError):
        what = f"{address.host} is not who it says: {show(reason.verify_message, 120)}"
        return ModelError(what, "SSL_CERT_FILE names a file with certificates of your own authority")
    return ModelError(f"{address.shown} cannot be reached: {why(error, stall_s)}", _OFFLINE)


def _refused(answer: Answer) -> ModelError:
    status, shown = answer.status, answer.address.shown
    if status in (401, 403, 407):
        return ModelError(f"{shown}: access refused ({status})", "log in there, download it and give its path")
    if status in (404, 410):
        return ModelError(f"{shown}: there is no such file ({status})", "check the address")
    said = f"{status} {show(answer.raw.reason or '', 60)}".strip()
    if status == 429 or status >= 500:
        return ModelError(f"{shown}: {answer.address.host} cannot serve it now ({said})", "try again later")
    return ModelError(f"{shown}: the server answered {said}", "check the address")
