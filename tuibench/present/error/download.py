"""Words of the errors of models fetched from addresses."""

from __future__ import annotations

from tuibench.core.text import show
from tuibench.core.units import size
from tuibench.present.error.template import Fields, MessageAndHint

_ADDRESS = "an address is https://HOST/PATH"
_TOKEN = "such as hf:ORG/REPO or hf:ORG/REPO/onnx/model.onnx"
_ANOTHER = "try another address"
_ROOM = "free some space, or set TUIBENCH_HOME elsewhere"


def _models(fields: Fields) -> str:
    more = f" and {fields['more']} more" if fields["more"] else ""
    return ", ".join(fields["models"]) + more


def _no_room(fields: Fields) -> str:
    address = show(fields["address"], 120)
    room = f"{size(fields['free_bytes'])} can be used in {show(fields['path'])}"
    return f"{address} needs {size(fields['bytes'])} more, and {room}" if fields["bytes"] else f"{address}: {room}"


def _too_long(fields: Fields) -> str:
    found = f"more than {size(fields['bytes'])}" if fields["is_least"] else size(fields["bytes"])
    return f"{show(fields['address'], 120)} has {found}, more than the 2 GB that the format of a model allows"


def _interrupted(fields: Fields) -> str:
    of = "" if fields["of_bytes"] is None else f" of {size(fields['of_bytes'])}"
    what = f"the download of {show(fields['address'], 120)} was interrupted"
    return f"{what} ({fields['why']}) after {size(fields['bytes'])}{of}"


DOWNLOAD_ERRORS: dict[str, MessageAndHint] = {
    # Addresses
    "address_with_controls": ("{address:120} contains control characters", _ADDRESS),
    "no_address": ("{address:120} is not a valid address: {text:80}", _ADDRESS),
    "address_not_https": ("{address:120} is not https", _ADDRESS),
    "address_without_host": ("{address:120} names no host", _ADDRESS),
    "address_not_fetched": ("{address:120} cannot be fetched", "give hf:ORG/REPO[/FILE] or https://…"),
    "address_without_handler": ("{address:120}: no handler for this address", _ANOTHER),
    "redirect_to_nowhere": ("{host} redirects {address:120} without an address", _ANOTHER),
    "redirect_not_https": (
        "{host} redirects to {target:80}, but only https: is allowed",
        "download the file yourself and give its path",
    ),
    "redirect_to_invalid_address": ("{host} redirects to an address that cannot be used: {why}", _ANOTHER),
    "too_many_redirects": ("{address:120}: {host} redirects more than {count} times", _ANOTHER),
    # Answers of a server
    "invalid_certificate": (
        "{host} has an invalid certificate: {text:120}",
        "set SSL_CERT_FILE to the certificates of your authority",
    ),
    "address_unreachable": (
        "{address:120} cannot be reached: {why:120}",
        "check the connection; a proxy is taken from HTTPS_PROXY",
    ),
    "no_data": ("no data for {s:g} s", ""),
    "connection_closed": ("the connection was closed", ""),
    "access_refused": ("{address:120}: access refused ({status})", "log in there, download it and give its path"),
    "no_such_remote_file": ("{address:120}: there is no such file ({status})", "check the address"),
    "server_unavailable": ("{address:120}: {host} cannot serve it now ({text:60})", "try again later"),
    "unexpected_response": ("{address:120}: the server answered {text:60}", "check the address"),
    # Downloads
    "download_differs": (
        lambda fields: (
            f"{show(fields['address'], 120)} has SHA-256 {show(fields['sha256'], 13)}, expected"
            f" {show(fields['expected'], 13)}"
        ),
        "it changed during the download; fetch it again",
    ),
    "download_of_other_size": (
        "{address:120} has {bytes} bytes instead of {expected}",
        "the repository has changed; fetch it again",
    ),
    "download_too_long": (_too_long, "check that the address is that of a model"),
    "download_interrupted": (_interrupted, "try it again"),
    "no_room_for_download": (_no_room, _ROOM),
    "download_unwritable": ("{path} cannot be written: {text}", _ROOM),
    "model_being_fetched": (
        "another process is fetching this model",
        "try again when it is done; its lock: {path}",
    ),
    # The hub
    "token_without_repository": ("{token:120} names no repository", _TOKEN),
    "token_without_file": ("{token:120} names no file", _TOKEN),
    "repository_without_file": (
        "hf:{repository} has no {file:80}",
        lambda fields: f"it has {_models(fields)}" if fields["models"] else "it has no model",
    ),
    "repository_without_model": (
        "hf:{repository} has no .onnx file",
        "name a repository with one, or export the model to ONNX",
    ),
    "repository_with_several": (
        "hf:{repository} has {count} models",
        lambda fields: f"name one, as hf:{fields['repository']}/FILE: {_models(fields)}",
    ),
    "repository_gated": (
        "hf:{repository} needs its authors' permission",
        "request access there, then log in: hf auth login",
    ),
    "repository_missing": (
        "hf:{repository}: there is no such repository, or it is private",
        "check the name, or log in: hf auth login",
    ),
    "hub_unreachable": (
        "hf:{repository}: the hub does not respond: {text:200}",
        "check the connection and HF_ENDPOINT",
    ),
    "hub_package_missing": (
        "hf: needs the package huggingface_hub, which cannot be imported: {text:120}",
        "pip install 'tuibench[hf]'",
    ),
}
