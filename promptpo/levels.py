"""How much a description reveals; apart from `promptpo.spec`, so that ``--help`` need not import that."""

from typing import Literal

Reveal = Literal["source", "named", "anonymous", "bare"]
