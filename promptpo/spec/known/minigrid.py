"""MiniGrid: what the egocentric picture, the direction and the mission mean."""

from __future__ import annotations

from typing import Any

from promptpo.spec.known.base import Supplement
from promptpo.spec.parts import ActionValue, Field

ACTIONS = (
    ActionValue("LEFT", 0, "turn left"),
    ActionValue("RIGHT", 1, "turn right"),
    ActionValue("FORWARD", 2, "move to the cell ahead, if nothing blocks it"),
    ActionValue("PICKUP", 3, "pick up the object in the cell ahead, with empty hands only"),
    ActionValue("DROP", 4, "drop the carried object into the empty cell ahead"),
    ActionValue("TOGGLE", 5, "open or close the door ahead (a locked one needs its key), or open a box"),
    ActionValue("DONE", 6, "nothing, or the end of the mission where the mission asks for it"),
)


def known(env: Any) -> Supplement:
    """The parts of a MiniGrid observation, with the codes of objects, colours and states."""
    from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX, STATE_TO_IDX

    size = env.agent_view_size
    middle, near = size // 2, size - 1
    codes = "\n".join(
        f"{name}: " + ", ".join(f"{code} {word}" for word, code in table.items())
        for name, table in (("object", OBJECT_TO_IDX), ("colour", COLOR_TO_IDX), ("state", STATE_TO_IDX))
    )
    seen = "sees through walls" if env.see_through_walls else "does not see through walls or closed doors"
    n = int(env.action_space.n)
    return Supplement(
        observation=(
            Field(
                "image",
                'obs["image"]',
                form=f"uint8 array of shape ({size}, {size}, 3)",
                meaning="image[i, j] = (object, colour, state) of a cell in view, see CODES",
            ),
            Field(
                "direction",
                'obs["direction"]',
                0,
                3,
                whole=True,
                meaning="0 right, 1 down, 2 left, 3 up on the map",
            ),
            Field("mission", 'obs["mission"]', form="str", meaning="what to do, in words"),
        ),
        observation_note=(
            f"The view turns with the agent and {seen}: i counts columns from left to right, j rows from far "
            f"(0) to near ({near}). The agent stands at image[{middle}, {near}] and looks towards smaller j, "
            f"so the cell ahead is image[{middle}, {near - 1}]. What it carries is shown at its own cell. "
            "Its position on the map is not given. The map is "
            f"{env.width} columns wide and {env.height} rows high, outer walls included."
        ),
        choices=ACTIONS[:n] if n <= len(ACTIONS) else (),
        action_note="",
        blocks={"CODES": codes},
        hide_reward_code=True,
    )
