"""A camera that follows a body that moves away, and the position of that body."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import gymnasium

FREE, SLIDE = 0, 2
"""MuJoCo's codes of these joint types."""
UPRIGHT = 0.5
"""Vertical component of a sliding joint's axis; from this value on, the joint moves up and down."""


def follow(env: gymnasium.Env[Any, Any]) -> Callable[[], str]:
    """Make MuJoCo's camera follow a body that would leave its picture.

    Nothing changes if the environment names a camera, or if its body cannot move away.

    Args:
        env: An environment after ``reset``, with Gymnasium's renderer for MuJoCo or any other.

    Returns:
        A function to call before every frame: it turns the camera and returns the position of the body in metres, as
        text that is empty if the body cannot move away.
    """
    renderer: Any = getattr(env.unwrapped, "mujoco_renderer", None)
    root = None if renderer is None else _walker(renderer.model)
    if root is None:
        return str
    camera = renderer._get_viewer("rgb_array").cam  # noqa: SLF001 - there is no public access
    ahead = camera.lookat[:2] - renderer.data.xpos[root][:2]

    def turn() -> str:
        place = renderer.data.xpos[root][:2]
        camera.lookat[:2] = place + ahead  # a camera that the model defines is unaffected
        return "x = {:.2f}, y = {:.2f}".format(*place)

    return turn


def _walker(model: Any) -> int | None:
    """Return the root body of an actuated tree, if it floats or slides without limits; else None."""
    moved = [model.actuator_trnid[n][0] for n in range(model.nu) if model.actuator_trntype[n] == 0]
    roots = {int(model.body_rootid[model.jnt_bodyid[joint]]) for joint in moved}
    for joint in range(model.njnt):
        body, kind = int(model.jnt_bodyid[joint]), model.jnt_type[joint]
        slides = kind == SLIDE and not model.jnt_limited[joint] and abs(model.jnt_axis[joint][2]) < UPRIGHT
        if body in roots and (kind == FREE or slides):
            return body
    return None
