"""Films whose camera follows a moving body."""

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
def test_free_bodies_are_followed(env_id: str, walks: bool) -> None:
    """Arms, carts on rails and drawn environments are not."""
    pytest.importorskip("mujoco")
    env = make_env(Task(env_id))
    env.reset(seed=0)
    inner: Any = env.unwrapped
    if hasattr(inner, "mujoco_renderer"):
        inner.mujoco_renderer = FakeRenderer(inner.mujoco_renderer)
    assert bool(follow(env)()) == walks
    env.close()


class FakeRenderer:
    """Gymnasium's renderer without images."""

    def __init__(self, renderer: Any) -> None:
        self.model, self.data = renderer.model, renderer.data
        self.cam = type("Camera", (), {"lookat": np.array([0.1, 0.0, 0.4])})()

    def _get_viewer(self, mode: str) -> Any:
        return self

    def close(self) -> None:
        """Do nothing."""


def test_camera_keeps_its_distance_from_the_body() -> None:
    pytest.importorskip("mujoco")
    env = make_env(Task("HalfCheetah-v5"))
    env.reset(seed=0)
    inner: Any = env.unwrapped
    inner.mujoco_renderer = renderer = FakeRenderer(inner.mujoco_renderer)
    turn = follow(env)
    turn()
    assert renderer.cam.lookat == pytest.approx([0.1, 0.0, 0.4])
    start = inner.data.xpos[1][0]
    inner.set_state(inner.data.qpos + np.eye(9)[0] * 5.0, inner.data.qvel)
    turn()
    assert inner.data.xpos[1][0] == pytest.approx(start + 5.0)
    assert renderer.cam.lookat == pytest.approx([5.1, 0.0, 0.4])


@pytest.mark.slow
def test_moving_body_stays_in_the_picture() -> None:
    """After 120 steps the cheetah is metres away, but still visible in the last frame."""
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
    first_x, last_x = (float(re.match(r"x = (.*), y = ", found.frames[n][2])[1]) for n in (0, -1))
    assert abs(last_x - first_x) > 2.0
    first, last = (
        np.asarray(Image.open(io.BytesIO(base64.b64decode(found.frames[n][1])))).astype(int) for n in (0, -1)
    )
    skin = [int((frame[..., 0] > frame[..., 2] + 25).sum()) for frame in (first, last)]
    assert skin[1] > 0.5 * skin[0] > 0
