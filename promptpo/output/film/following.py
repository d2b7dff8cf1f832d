"""A camera that goes along with a body that walks away, and where that body is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import gymnasium
    from numpy.typing import NDArray

FREE, SLIDE = 0, 2
"""MuJoCo's numbers of these kinds of joints."""
FREE_CAMERA = -1
UPRIGHT = 0.5
"""Of a sliding joint's axis: one with more goes up and down."""


class Following:
    """Follows the body of a MuJoCo environment, whose own camera stays where the episode began.

    Where the environment names a camera, or its body has nowhere to go, nothing is changed.

    Args:
        env: With Gymnasium's renderer for MuJoCo, or any other.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        self._renderer: Any = getattr(env.unwrapped, "mujoco_renderer", None)
        self._root = None if self._renderer is None else _walker(self._renderer.model)
        self._offset: NDArray[np.float64] | None = None

    def move(self, mode: str) -> None:
        """Before a frame: look where the body is, as seen from there as the first frame is.

        Args:
            mode: The environment's `render_mode`.
        """
        position = self._position()
        if position is None or self._renderer.camera_id != FREE_CAMERA:
            return
        camera = self._renderer._get_viewer(mode).cam  # noqa: SLF001 - it has no public way to it
        if self._offset is None:
            self._offset = np.array(camera.lookat) - position
        camera.lookat[:2] = (self._offset + position)[:2]

    def place(self) -> str:
        """Where the body is, in metres; empty where it has nowhere to go."""
        position = self._position()
        return "" if position is None else f"x = {position[0]:.2f}, y = {position[1]:.2f}"

    def _position(self) -> NDArray[np.float64] | None:
        return None if self._root is None else np.array(self._renderer.data.xpos[self._root])


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
