"""Films of bodies that walk away."""

from __future__ import annotations

import base64
import io
import re
from typing import Any

import numpy as np
import pytest
from PIL import Image

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.errors import RenderingError
from promptpo.output.film import film
from promptpo.output.film.following import follow
from promptpo_sandbox import Episode, Trajectory


@pytest.mark.parametrize(
    ("env_id", "walks"),
    [
        ("HalfCheetah-v5", True),
        ("Hopper-v5", True),
        ("Ant-v5", True),
        ("Swimmer-v5", True),
        ("Reacher-v5", False),
        ("InvertedPendulum-v5", False),
        ("CartPole-v1", False),
    ],
)
def test_bodies_without_limits_have_a_place(env_id: str, walks: bool) -> None:
    """What floats or slides as far as it likes is followed; arms, carts on rails and drawings are not."""
    pytest.importorskip("mujoco")
    env = make_env(Task(env_id))
    env.reset(seed=0)
    inner: Any = env.unwrapped
    if hasattr(inner, "mujoco_renderer"):
        inner.mujoco_renderer = Renderer(inner.mujoco_renderer)
    assert bool(follow(env)()) == walks
    env.close()


class Renderer:
    """Gymnasium's renderer, but for the pictures."""

    def __init__(self, renderer: Any) -> None:
        self.model, self.data = renderer.model, renderer.data
        self.cam = type("Camera", (), {"lookat": np.array([0.1, 0.0, 0.4])})()

    def _get_viewer(self, mode: str) -> Any:
        return self

    def close(self) -> None:
        """Nothing to close."""


def test_the_camera_goes_along() -> None:
    """The camera looks as far from the body in every frame as in the first, and at the same height."""
    pytest.importorskip("mujoco")
    env = make_env(Task("HalfCheetah-v5"))
    env.reset(seed=0)
    inner: Any = env.unwrapped
    inner.mujoco_renderer = renderer = Renderer(inner.mujoco_renderer)
    turn = follow(env)
    turn()
    assert renderer.cam.lookat == pytest.approx([0.1, 0.0, 0.4])
    start = inner.data.xpos[1][0]
    inner.set_state(inner.data.qpos + np.eye(9)[0] * 5.0, inner.data.qvel)
    turn()
    assert inner.data.xpos[1][0] == pytest.approx(start + 5.0)
    assert renderer.cam.lookat == pytest.approx([5.1, 0.0, 0.4])


@pytest.mark.slow
def test_a_body_that_walked_away_is_in_the_picture() -> None:
    """Thrown off for 120 steps, the cheetah is metres away and still in the middle of the last frame."""
    env = make_env(Task("HalfCheetah-v5"))
    env.reset(seed=3)
    actions = [np.array([1.0, 1.0, -1.0, -1.0, -1.0, 1.0], np.float32) * (-1) ** (n // 4) for n in range(120)]
    rewards = [float(env.step(action)[1]) for action in actions]
    env.close()
    trajectory = Trajectory([np.zeros(17)] * 121, actions, rewards)
    episode = Episode(3, sum(rewards), 120, False, True, None, 0, 0.0, trajectory)
    try:
        found = film(Task("HalfCheetah-v5"), episode, frames=4)
    except RenderingError as error:
        pytest.skip(str(error))
    assert found.same
    begun, ended = (float(re.match(r"x = (.*), y = ", found.frames[n][2])[1]) for n in (0, -1))
    assert abs(ended - begun) > 2.0
    first, last = (
        np.asarray(Image.open(io.BytesIO(base64.b64decode(found.frames[n][1])))).astype(int) for n in (0, -1)
    )
    skin = [int((frame[..., 0] > frame[..., 2] + 25).sum()) for frame in (first, last)]
    assert skin[1] > 0.5 * skin[0] > 0
