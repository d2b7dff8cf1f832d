"""Classic control: the one action whose documentation names no number."""

from __future__ import annotations

from typing import Any

from promptpo.spec.known.base import Known, fields


def known(env: Any) -> Known | None:
    """A name for the force of the continuous mountain car; nothing for the others, which have tables."""
    if type(env).__name__ == "Continuous_MountainCarEnv":
        return Known(
            action=fields(
                "force = action[0]; -1 .. 1; pushes the car: -1 is full to the left, +1 to the right"
            ),
            action_note="",
        )
    return None
