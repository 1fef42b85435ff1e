"""The facts about a url for its reader: where it leads, and what is odd. Knows no HTML.

Fetches nothing. A url that a browser might read differently cannot be opened.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

from acp_notebook.characters import mark_hidden
from acp_notebook.render.markup import clean

ADDRESS_LIMIT_CHARS: Final = 4_000
NAMED_LETTERS: Final = 4
# A browser drops or replaces these, and so would open another url than the shown one.
_ODD = re.compile(r"[\s\x00-\x20\x7f\\<>\"^`{|}]")
_HOST = re.compile(r"[^\x00-\x2c\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+")
_NUMBERS = re.compile(r"(0x[0-9a-f]*|\d+)(\.(0x[0-9a-f]*|\d+))*\.?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An address as shown. `href` is None if it must not be opened."""

    shown: str
    host: str
    href: str | None
    warnings: tuple[str, ...] = ()


def read_address(url: str) -> WebAddress:
    """Read a url without fetching anything."""
    shown = _shown(url[:ADDRESS_LIMIT_CHARS]).replace("\n", "\N{REPLACEMENT CHARACTER}")
    reason = ""
    if len(url) > ADDRESS_LIMIT_CHARS:
        reason = "It is far too long for an address."
    elif _ODD.search(url) or _shown(url) != url:
        reason = "It holds characters that no address has."
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return WebAddress(shown, "", None, (reason or "It is no address at all.",))
    if parts.scheme not in {"http", "https"}:
        reason = reason or "It is no web address, so it cannot be opened from here."
    elif ":" not in host and not _HOST.fullmatch(host):
        reason = reason or "It names no host."
    if reason:
        return WebAddress(shown, _shown(host), None, (reason,))
    plain, warnings = _plain_host(host)
    if plain is None:
        return WebAddress(shown, _shown(host), None, ("Its host is no possible name.",))
    return WebAddress(shown, plain, url, (*warnings, *_oddities(parts, plain)))


def _shown(text: str) -> str:
    # Letters of other scripts are explained in words.
    return mark_hidden(clean(text))


def _plain_host(host: str) -> tuple[str | None, tuple[str, ...]]:
    """The host in the network's form, with a warning if it reads differently."""
    labels = host.split(".")
    is_coded = any(label.lower().startswith("xn--") for label in labels)
    if host.isascii() and not is_coded:
        return host, ()
    try:
        plain = host.encode("idna").decode("ascii") if not host.isascii() else host
        reading = plain.encode("ascii").decode("idna")
    except UnicodeError:
        warning = "The host's name is written in an international code that cannot be read."
        return (host if host.isascii() else None), (warning,)
    odd = [
        f"{_shown(each)} ({unicodedata.name(each, 'no name')})"
        for each in reading
        if not each.isascii()
    ]
    warning = (
        f"The host's name reads {_shown(reading)}, with letters beyond a to z: "
        f"{', '.join(dict.fromkeys(odd[:NAMED_LETTERS]))}. Such a name can look like another one."
    )
    return plain, (warning,)


def _oddities(parts: SplitResult, host: str) -> list[str]:
    found = []
    if "@" in parts.netloc:
        before = _shown(parts.netloc.rpartition("@")[0])
        found.append(f"“{before}” is no host: what counts is {host}, behind the @.")
    is_local = host == "localhost" or _address_of(host) in {"127.0.0.1", "::1"}
    if not is_local and (_NUMBERS.fullmatch(host) or ":" in host):
        found.append("The host is a bare number instead of a name.")
    if parts.scheme == "http" and not is_local:
        found.append("The connection is not encrypted.")
    return found


def _address_of(host: str) -> str:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return ""
