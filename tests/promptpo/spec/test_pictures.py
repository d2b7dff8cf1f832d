"""Observations that are pictures: which they are, and what specs and prompts say of them."""

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


def box(*shape: int, high: int = 255, dtype: Any = np.uint8) -> Any:
    """A space of bytes."""
    return spaces.Box(0, high, shape, dtype)


@pytest.mark.parametrize(
    ("space", "layout"),
    [
        (box(96, 96, 3), (0, 96, 96, 3)),
        (box(210, 160, 3), (0, 210, 160, 3)),
        (box(84, 84), (0, 84, 84, 0)),
        (box(84, 84, 1), (0, 84, 84, 1)),
        (box(4, 84, 84), (4, 84, 84, 0)),
        (box(4, 84, 80, 3), (4, 84, 80, 3)),
        (box(7, 7, 3), None),
        (box(19, 19, 3), None),
        (box(128), None),
        (box(84, 84, dtype=np.float32), None),
        (box(84, 84, high=10), None),
        (spaces.Discrete(3), None),
    ],
)
def test_pictures_are_known_by_their_spaces(space: Any, layout: Any) -> None:
    """Bytes from 0 to 255 in rows and columns; codes on small grids, memory and floats are no pictures."""
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


def spec_of(env: gymnasium.Env[Any, Any], **more: Any) -> Any:
    """The spec of an environment that is built already."""
    return describe_env(env, Task("Pictures-v0"), **more)[0]


def test_a_spec_tells_what_stands_out() -> None:
    """Layout, colours and places of a real first frame; and it is Python."""
    text = spec_of(PictureEnv()).text
    read(text)
    assert "image[row, column, channel], row 0 at the top" in " ".join(text.replace("#", " ").split())
    lines = text.split('FIRST_FRAME = """\\\n')[1].split('"""')[0].splitlines()
    env = PictureEnv()
    env.reset(seed=0)
    assert lines[0].startswith("A real first frame, 40 rows by 60 columns, by (red, green, blue)")
    assert lines[1] == "(0, 0, 200): 99.3% of the pixels, [0-39, 0-59]"
    assert lines[2] == f"(250, 0, 0): 0.7% of the pixels, [10-13, {env.at}-{env.at + 3}]"
    assert "FIRST_FRAME" not in spec_of(PictureEnv(), reveal="bare").text


def test_nothing_is_said_of_pictures_where_there_are_none() -> None:
    """Neither in the spec nor in the prompts."""
    env = gymnasium.make("CartPole-v1")
    assert "FIRST_FRAME" not in describe_env(env, Task("CartPole-v1"))[0].text
    assert on_looking(env.observation_space) is None


@pytest.mark.parametrize(
    ("space", "words"),
    [
        (box(96, 96, 3), ["`obs` is an image", "coloured(obs, (200, 0, 0))"]),
        (box(4, 84, 84), ["`obs` is an image", "coloured(obs[-1], 200)"]),
        (
            spaces.Dict({"left": box(84, 84, 1), "right": box(84, 84, 1)}),
            ['`obs["left"]` and `obs["right"]` are each', 'coloured(obs["left"][:, :, 0], 200)'],
        ),
    ],
)
def test_prompts_tell_how_to_look(space: Any, words: list[str]) -> None:
    """Every piece by its call, and a form whose example runs on such an observation."""
    values = on_looking(space)
    assert values is not None
    text = render("looking", **values)
    assert all(word in text for word in words)
    assert "`components(mask, least=1, diagonal=True)`" in text
    code = text.split("```python\n")[1].split("```")[0].replace("...", "return seen")
    namespace: dict[str, Any] = {}
    exec(f"from promptpo_sandbox.guest.looking import *\n\n{code}", namespace)  # noqa: S102 - our own text
    assert namespace["Policy"]().act(space.sample())["things"] >= 0


def test_where_a_task_starts_is_not_told_of_pictures() -> None:
    """Their pixels are no numbers to be listed, and are not even looked through."""
    spec = describe_env(PictureEnv(), Task("Pictures-v0"))[0]
    assert spec.firsts
    assert start_in_words(spec) == ""
    vague = replace(spec, firsts=(object(),))
    assert start_in_words(vague) == ""


@pytest.mark.slow
@needs("minigrid")
def test_a_wrapper_that_gives_pixels_has_a_first_frame() -> None:
    """And codes of cells have none."""
    wrappers = tuple(
        Wrapping.parse(f"minigrid.wrappers:{name}") for name in ("RGBImgPartialObsWrapper", "ImgObsWrapper")
    )
    task = Task("minigrid:MiniGrid-Empty-5x5-v0", {"max_steps": 20})
    assert "FIRST_FRAME" not in describe(task).text
    text = describe(replace(task, wrappers=wrappers)).text
    assert "FIRST_FRAME" in text
    assert ",)" not in text


@needs("minigrid")
def test_only_actions_that_there_are_are_named() -> None:
    """A task with fewer actions than its family has no others in its spec."""
    text = describe(Task("minigrid:MiniGrid-Dynamic-Obstacles-5x5-v0", {"max_steps": 20})).text
    assert "PICKUP" not in text.partition("class Action")[2]
