"""User names and passwords in the addresses of servers: kept in memory, never written down."""

from __future__ import annotations

import os
import re

_CREDENTIALS = re.compile(r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]*://)(?P<user>[^/\s@]*)@")

_kept: dict[str, str] = {}
"""Addresses as they were given, by what is left of them without user and password."""


def strip_credentials(address: str) -> str:
    """Return an address without user name and password, which this process remembers."""
    stripped = hide_credentials(address)
    if stripped != address:
        _kept[stripped] = address
    return stripped


def restore_credentials(address: str, variable: str) -> str:
    """Return an address as it was given, here or in an environment variable."""
    given = os.environ.get(variable, "")
    return _kept.get(address) or (given if hide_credentials(given) == address else address)


def hide_credentials(text: str) -> str:
    """Return a text without the user names and passwords of the addresses in it."""
    return _CREDENTIALS.sub(r"\g<scheme>", text)
