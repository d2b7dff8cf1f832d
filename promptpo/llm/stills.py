"""Pictures in a message, and which models are known to see them."""

from __future__ import annotations

import base64
import hashlib
import re
import struct
from dataclasses import dataclass, field
from functools import cached_property

PNG = b"\x89PNG\r\n\x1a\n"

PIXELS_PER_TOKEN = 750
"""About how many pixels a service counts as one token."""

_SEEING = {
    "anthropic": re.compile(r"claude-(?!1|2|instant)"),
    "openai": re.compile(
        r"(?:chatgpt-|gpt-4o|gpt-4\.[1-9]|gpt-4-turbo|gpt-[5-9]|o1(?!-mini|-preview)|o3(?!-mini)|o4)"
    ),
}


@dataclass(frozen=True)
class Still:
    """One picture of a message, shown behind its text.

    Attributes:
        caption: What it shows; stands before it.
        png: The PNG file.
        path: Where that file lies, for providers that hand on paths; empty where it lies nowhere.
    """

    caption: str
    png: bytes = field(repr=False)
    path: str = ""

    @cached_property
    def digest(self) -> str:
        """Of the file."""
        return hashlib.sha256(self.png).hexdigest()

    @property
    def base64(self) -> str:
        """The file as text."""
        return base64.b64encode(self.png).decode()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels; zeros for what is no PNG file."""
        if not self.png.startswith(PNG) or len(self.png) < 24:  # noqa: PLR2004 - where its header ends
            return 0, 0
        width, height = struct.unpack(">II", self.png[16:24])
        return width, height

    @property
    def tokens(self) -> int:
        """About how many it counts as."""
        width, height = self.size
        return tokens_of(width, height)


def tokens_of(width: int, height: int) -> int:
    """About how many tokens a picture of so many pixels counts as."""
    return -(-width * height // PIXELS_PER_TOKEN)


def known_to_see(provider: str, model: str) -> bool | None:
    """Whether a model of a service takes pictures; None where that is not known."""
    known = _SEEING.get(provider)
    return True if known and known.match(model.lower().rpartition("/")[2]) else None
