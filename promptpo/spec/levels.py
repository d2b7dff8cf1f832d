"""How much a spec tells: how much it reveals, and at what length."""

from typing import Literal

Reveal = Literal["named", "anonymous", "bare"]
SpecDetail = Literal["short", "normal", "full"]
