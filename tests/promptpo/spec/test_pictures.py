"""Image observations: how they are recognised and described in specs and prompts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from promptpo.envs.pictures import pictures_in
from promptpo.envs.task import Task, Wrapping
from promptpo.prompts.first_observation import start_in_words
from promptpo.prompts.picture_guide import on_looking
from promptpo.prompts.prompting import render
from promptpo.spec.describe import describe, describe_env
from promptpo.spec.reading import read
from tests.promptpo.envs.test_building import needs
from tests.sandbox.test_looking import PictureEnv


def byte_box(*shape: int, high: int = 255, dtype: Any = np.uint8) -> Any:
    """Return a Box of pixels."""
    return spaces.Box(0, high, shape, dtype)


@pytest.mark.parametrize(
    ("space", "layout"),
    [
        (byte_box(96, 96, 3), (0, 96, 96, 3)),
        (byte_box(210, 160, 3), (0, 210, 160, 3)),
        (byte_box(84, 84), (0, 84, 84, 0)),
        (byte_box(84, 84, 1), (0, 84, 84, 1)),
        (byte_box(4, 84, 84), (4, 84, 84, 0)),
        (byte_box(4, 84, 80, 3), (4, 84, 80, 3)),
        (byte_box(7, 7, 3), None),
        (byte_box(19, 19, 3), None),
        (byte_box(128), None),
        (byte_box(84, 84, dtype=np.float32), None),
        (byte_box(84, 84, high=10), None),
        (spaces.Discrete(3), None),
    ],
)
def test_images_are_recognised_by_their_space(space: Any, layout: Any) -> None:
    """Codes on small grids, RAM and floats are not images."""
    found = pictures_in(spaces.Dict({"a": spaces.Discrete(2), "view": spaces.Tuple([space])}))
    if layout is None:
        assert found == []
        return
    assert [(p.frames, p.channels) for p in found] == [(layout[0], layout[3])]
    assert found[0].expression == 'obs["view"][0]'
    sample = space.sample()
    latest = found[0].latest({"a": 1, "view": (sample,)})
    assert latest.shape == (layout[1], layout[2], 3)
    assert latest.dtype == np.uint8
    assert np.array_equal(
        latest[:, :, 0], (sample[-1] if layout[0] else sample).reshape(layout[1], layout[2], -1)[:, :, 0]
    )


def describe_built(env: gymnasium.Env[Any, Any], **more: Any) -> Any:
    """Return the spec of an environment that is already built."""
    return describe_env(env, Task("Pictures-v0"), **more)[0]


def test_first_frame_is_summarised_by_colour() -> None:
    """The layout of the array is stated and the spec stays valid Python."""
    text = describe_built(PictureEnv()).text
    read(text)
    assert "image[row, column, channel], row 0 at the top" in " ".join(text.replace("#", " ").split())
    lines = text.split('FIRST_FRAME = """\\\n')[1].split('"""')[0].splitlines()
    env = PictureEnv()
    env.reset(seed=0)
    assert lines[0].startswith("A real first frame, 40 rows by 60 columns, by (red, green, blue)")
    assert lines[1] == "(0, 0, 200): 99.3% of the pixels, [0-39, 0-59]"
    assert lines[2] == f"(250, 0, 0): 0.7% of the pixels, [10-13, {env.at}-{env.at + 3}]"
    assert "FIRST_FRAME" not in describe_built(PictureEnv(), reveal="bare").text


def test_images_are_not_mentioned_for_vector_observations() -> None:
    env = gymnasium.make("CartPole-v1")
    assert "FIRST_FRAME" not in describe_env(env, Task("CartPole-v1"))[0].text
    assert on_looking(env.observation_space) is None


@pytest.mark.parametrize(
    ("space", "words"),
    [
        (byte_box(96, 96, 3), ["`obs` is an image", "coloured(obs, (200, 0, 0))"]),
        (byte_box(4, 84, 84), ["`obs` is an image", "coloured(obs[-1], 200)"]),
        (
            spaces.Dict({"left": byte_box(84, 84, 1), "right": byte_box(84, 84, 1)}),
            ['`obs["left"]` and `obs["right"]` are each', 'coloured(obs["left"][:, :, 0], 200)'],
        ),
    ],
)
def test_prompt_explains_the_image_functions(space: Any, words: list[str]) -> None:
    """The example's code runs on such an observation."""
    values = on_looking(space)
    assert values is not None
    text = render("looking", **values)
    assert all(word in text for word in words)
    assert "`components(mask, least=1, diagonal=True)`" in text
    code = text.split("```python\n")[1].split("```")[0].replace("...", "return seen")
    namespace: dict[str, Any] = {}
    exec(f"from promptpo_sandbox.guest.looking import *\n\n{code}", namespace)  # noqa: S102 - our own text
    assert namespace["Policy"]().act(space.sample())["things"] >= 0


def test_first_observation_is_not_listed_for_images() -> None:
    """Images are not even converted to text."""
    spec = describe_env(PictureEnv(), Task("Pictures-v0"))[0]
    assert spec.firsts
    assert start_in_words(spec) == ""
    vague = replace(spec, firsts=(object(),))
    assert start_in_words(vague) == ""


@pytest.mark.slow
@needs("minigrid")
def test_pixel_wrapper_has_a_first_frame() -> None:
    """Encoded cells have none."""
    wrappers = tuple(
        Wrapping.parse(f"minigrid.wrappers:{name}") for name in ("RGBImgPartialObsWrapper", "ImgObsWrapper")
    )
    task = Task("minigrid:MiniGrid-Empty-5x5-v0", {"max_steps": 20})
    assert "FIRST_FRAME" not in describe(task).text
    text = describe(replace(task, wrappers=wrappers)).text
    assert "FIRST_FRAME" in text
    assert ",)" not in text


@needs("minigrid")
def test_actions_outside_the_action_space_are_not_named() -> None:
    """A task may have fewer actions than its family's enumeration."""
    text = describe(Task("minigrid:MiniGrid-Dynamic-Obstacles-5x5-v0", {"max_steps": 20})).text
    assert "PICKUP" not in text.partition("class Action")[2]
