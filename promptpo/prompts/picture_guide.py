"""Prompt text for observations that are images."""

from __future__ import annotations

import inspect
from functools import cache
from typing import TYPE_CHECKING, Any

from promptpo.envs.pictures import COLOUR, pictures_in
from promptpo_sandbox.guest import looking

if TYPE_CHECKING:
    import gymnasium


def on_looking(space: gymnasium.Space[Any]) -> dict[str, Any] | None:
    """Return values for the template "looking"; None if no part of an observation is an image."""
    found = pictures_in(space)
    if not found:
        return None
    first = found[0]
    latest = f"{first.expression}[-1]" if first.frames else first.expression
    if first.channels not in COLOUR and first.channels:
        latest = f"{latest}[:, :, 0]"
    return {
        "pictures": " and ".join(f"`{picture.expression}`" for picture in found)
        + (" is" if len(found) == 1 else " are each"),
        "pieces": pieces(),
        "example": latest,
        "colour": "(200, 0, 0)" if first.channels in COLOUR else "200",
    }


@cache
def pieces() -> tuple[tuple[str, str], ...]:
    """Return the signature and description of each function in ``looking``."""
    functions = [item for item in vars(looking).values() if inspect.isfunction(item)]
    described = []
    for function in functions:
        paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
        signature = f"{function.__name__}{inspect.signature(function)}"
        described.append((signature, " ".join(" ".join(paragraphs).split())))
    return tuple(described)
