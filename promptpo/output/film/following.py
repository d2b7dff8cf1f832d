"""A camera that goes along with a body that walks away, and where that body is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import gymnasium

FREE, SLIDE = 0, 2
"""MuJoCo's numbers of these kinds of joints."""
UPRIGHT = 0.5
"""Of a sliding joint's axis: one with more goes up and down."""


def follow(env: gymnasium.Env[Any, Any]) -> Callable[[], str]:
    """Make MuJoCo's camera follow a body that would leave its picture.

    Where the environment names a camera, or its body has nowhere to go, nothing is changed.

    Args:
        env: With Gymnasium's renderer for MuJoCo, or any other; reset.

    Returns:
        To be called before every frame: turns the camera and says where the body is, in metres; empty where it has
        nowhere to go.
    """
    renderer: Any = getattr(env.unwrapped, "mujoco_renderer", None)
    root = None if renderer is None else _walker(renderer.model)
    if root is None:
        return str
    camera = renderer._get_viewer("rgb_array").cam  # noqa: SLF001 - it has no public way to it
    ahead = camera.lookat[:2] - renderer.data.xpos[root][:2]

    def turn() -> str:
        place = renderer.data.xpos[root][:2]
        camera.lookat[:2] = place + ahead  # a camera of the model's own looks elsewhere all the same
        return "x = {:.2f}, y = {:.2f}".format(*place)

    return turn


def _walker(model: Any) -> int | None:
    """The body that an actuated tree hangs on, where it floats or slides without limits; else None."""
    moved = [model.actuator_trnid[n][0] for n in range(model.nu) if model.actuator_trntype[n] == 0]
    roots = {int(model.body_rootid[model.jnt_bodyid[joint]]) for joint in moved}
    for joint in range(model.njnt):
        body, kind = int(model.jnt_bodyid[joint]), model.jnt_type[joint]
        slides = kind == SLIDE and not model.jnt_limited[joint] and abs(model.jnt_axis[joint][2]) < UPRIGHT
        if body in roots and (kind == FREE or slides):
            return body
    return None
