"""World models of tasks whose observations or actions are made of several parts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from promptpo.envs.recorded_space import recorded
from promptpo.output.world import environment_module
from promptpo.search.references import random_policy
from promptpo.world.baseline import can_write, write_world
from promptpo.world.data import Experience
from promptpo.world.scoring import scored
from promptpo.world.space_text import assembled, expression, flattened, plain, restored
from promptpo.world.words import as_data
from sandbox import Sandbox, Trial, check_source
from tests.promptpo.world.test_models import Here


class Tank(gymnasium.Env[Any, Any]):
    """Two levels are to be kept at 1: one valve of three positions fills them, a second one lets them drain."""

    def __init__(self) -> None:
        level = spaces.Box(-50.0, 50.0, (2, 1), np.float32)
        self.observation_space = spaces.Dict({"level": level, "season": spaces.Discrete(3, start=1)})
        self.action_space = spaces.MultiDiscrete([3, 2])
        self.levels, self.steps = np.zeros(2), 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Somewhere near 0."""
        super().reset(seed=seed)
        self.levels, self.steps = self.np_random.uniform(-1, 1, 2), 0
        return self.seen(), {}

    def seen(self) -> Any:
        """The observation."""
        level = self.levels.astype(np.float32).reshape(2, 1)
        return {"level": level, "season": np.int64(1 + self.steps // 20 % 3)}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Fill, let drain, and count."""
        fill, drain = int(action[0]) - 1, int(action[1])
        self.levels[0] = 0.9 * self.levels[0] + 0.4 * fill
        self.levels[1] += 0.2 * self.levels[0] - 0.3 * drain * self.levels[1]
        self.steps += 1
        reward = -float(np.abs(self.levels - 1.0).sum())
        return self.seen(), reward, False, self.steps >= 60, {}


@pytest.fixture(scope="module")
def learnt() -> Iterator[tuple[Here, Tank, Experience, str]]:
    """What random episodes of the tank come to: a sandbox, the steps, the model."""
    env = Tank()
    with Sandbox() as box:
        trials = [Trial(seed, None, 60) for seed in range(12)]
        played = box.rollout(random_policy(env.action_space), [env], trials, record=True)
        experience = Experience(env.observation_space, env.action_space)
        experience.add([played])
        source = write_world(env.observation_space, env.action_space, experience.fitting)
        yield Here(box), env, experience, source


def test_dictionaries_and_several_choices_have_models(learnt: tuple[Here, Tank, Experience, str]) -> None:
    """Program search models a dictionary of numbers that a tuple of choices moves, and the whole numbers in it stay whole."""
    here, env, experience, source = learnt
    both = (env.observation_space, env.action_space)
    assert can_write(*both)
    assert check_source(source) is None
    score = asyncio.run(scored(here, source, None, experience.held_out, both))
    assert score.failure is None
    assert score.usable
    levels = [skill for skill in score.skills if not skill.discrete]
    assert [skill.name for skill in levels] == ["obs['level'][0, 0]", "obs['level'][1, 0]"]
    assert all(share > 0.99 for skill in levels for share in skill.ahead.values())


def test_such_a_model_is_exported_as_an_environment(learnt: tuple[Here, Tank, Experience, str]) -> None:
    """The environment has the task's spaces and starts, and passes Gymnasium's own check."""
    here, env, experience, source = learnt
    both = (env.observation_space, env.action_space)
    score = as_data(asyncio.run(scored(here, source, None, experience.held_out, both)))
    data = {
        "source": source, "score": score, "steps": experience.steps, "horizon": 60,
        "spaces": [recorded(space) for space in both], "written": [expression(space) for space in both],
        "start": restored(env.observation_space, "start"),
        "starts": [plain(start) for start in experience.starts(4)],
    }  # fmt: skip
    module: dict[str, Any] = {"__name__": "world"}
    exec(compile(environment_module(data, "Tank"), "world.py", "exec"), module)  # noqa: S102
    made = module["WorldEnv"]()
    assert (made.observation_space, made.action_space) == both
    check_env(made, skip_render_check=True)


@pytest.mark.parametrize(
    "space",
    [
        spaces.Discrete(4, start=2),
        spaces.Box(-1.0, np.inf, (2, 3), np.float32),
        spaces.MultiDiscrete([2, 5], start=[1, 0]),
        spaces.MultiBinary(3),
        spaces.Tuple(
            [spaces.Discrete(2), spaces.Dict({"a b": spaces.Box(0, 1, (1,)), "c": spaces.Discrete(2)})]
        ),
    ],
)
def test_spaces_and_values_are_written_as_python(space: Any) -> None:
    """The expression of a space makes the same space; a value comes back from its numbers and from plain data."""
    names = {"np": np, "spaces": spaces}
    assert eval(expression(space), names) == space  # noqa: S307
    space.seed(0)
    value = space.sample()
    numbers = tuple(float(one) for one in eval(flattened(space, "v"), {**names, "v": value}))  # noqa: S307
    again = eval(assembled(space, "x"), {**names, "x": numbers})  # noqa: S307
    assert space.contains(again)
    assert plain(again) == plain(value)
    assert space.contains(eval(restored(space, "p"), {**names, "p": plain(value)}))  # noqa: S307


def test_texts_are_not_written_down() -> None:
    """A space with a text in it has no expression, so that its model is not exported."""
    assert expression(spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Text(3)})) == ""
