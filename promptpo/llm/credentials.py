"""Keep user names and passwords of server addresses in memory, and out of files."""

from __future__ import annotations

import os
import re

_CREDENTIALS = re.compile(r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]*://)(?P<user>[^/\s@]*)@")

_kept: dict[str, str] = {}
"""Addresses without credentials to the addresses as given."""


def strip_credentials(address: str) -> str:
    """Return an address without credentials, and remember them for `restore_credentials`."""
    stripped = hide_credentials(address)
    if stripped != address:
        _kept[stripped] = address
    return stripped


def restore_credentials(address: str, variable: str) -> str:
    """Return an address with its credentials, as given earlier or in an environment variable."""
    given = os.environ.get(variable, "")
    return _kept.get(address) or (given if hide_credentials(given) == address else address)


def hide_credentials(text: str) -> str:
    """Remove credentials from all addresses in a text."""
    return _CREDENTIALS.sub(r"\g<scheme>", text)
