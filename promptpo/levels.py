"""How much a spec tells: how much it reveals, and at what length."""

from typing import Literal

Reveal = Literal["source", "named", "anonymous", "bare"]
SpecDetail = Literal["short", "normal", "full"]
