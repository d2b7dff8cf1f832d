"""World models without a language model: what is written, kept, fitted and what held-out scores say."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from promptpo.run.artifacts import keep, kept
from promptpo.search.references import random_policy
from promptpo.world.baseline.endings import find_ending
from promptpo.world.baseline.terms import Library, candidates
from promptpo.world.baseline.writer import write_world
from promptpo.world.data import Experience, some_of
from promptpo.world.scoring import Score, scored
from promptpo.world.words import as_data, in_words, use_in_words
from promptpo_sandbox import Predictions, Recorded, Replay, Rollout, Sandbox, Trial, check_source


class Here:
    """The part of an executor that worlds need, in this process."""

    def __init__(self, box: Sandbox) -> None:
        self.box = box
        self.jobs = 1

    async def replay(self, request: Replay) -> Predictions:
        """See `Executor.replay`."""
        return self.box.replay(request)


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    """A sandbox for the module's worlds."""
    with Sandbox() as box:
        yield Here(box)


def played(here: Here, env: gymnasium.Env[Any, Any], episodes: int) -> Rollout:
    """Episodes of random actions."""
    trials = [Trial(seed, None, 100) for seed in range(episodes)]
    return here.box.rollout(random_policy(env.action_space), [env], trials, record=True)


def known(here: Here, name: str, episodes: int, **how: Any) -> tuple[Experience, str, Score]:
    """What random episodes of a task come to: the steps, the model written from them, its held-out score."""
    env = gymnasium.make(name, **how)
    experience = Experience(env.observation_space, env.action_space)
    experience.add([played(here, env, episodes)])
    source = write_world(env.observation_space, env.action_space, experience.fitting)
    both = (env.observation_space, env.action_space)
    score = asyncio.run(scored(here, source, None, experience.held_out, both))
    return experience, source, score


@pytest.mark.parametrize(
    ("name", "episodes", "least"),
    [("CartPole-v1", 60, 0.95), ("Pendulum-v1", 8, 0.95), ("MountainCar-v0", 8, 0.95)],
)
def test_formulas_predict_what_they_were_not_fitted_to(
    here: Here, name: str, episodes: int, least: float
) -> None:
    """A few episodes of random actions suffice for a usable model of simple mechanics, and it passes the gate."""
    _, source, score = known(here, name, episodes)
    assert check_source(source) is None
    assert not score.failure
    assert score.worth > least
    assert score.usable
    assert all(share > 0.9 for skill in score.skills for share in skill.ahead.values())


@pytest.mark.parametrize(("name", "kept"), [("Pendulum-v1", [0, 1]), ("CartPole-v1", [0, 2])])
def test_what_is_hidden_is_said_by_the_score(here: Here, name: str, kept: list[int]) -> None:
    """Without the speeds nothing that is written from single observations predicts much: such a model is not used."""
    env = Masked(gymnasium.make(name), kept)
    spaces_ = (env.observation_space, env.action_space)
    experience = Experience(*spaces_)
    experience.add([played(here, env, 8 if name == "Pendulum-v1" else 60)])
    source = write_world(*spaces_, experience.fitting)
    score = asyncio.run(scored(here, source, None, experience.held_out, spaces_))
    assert not score.failure
    assert score.worth < 0.4
    assert "not used: it knows too little" in in_words(as_data(score))[0]


class Masked(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Some of the numbers alone."""

    def __init__(self, env: gymnasium.Env[Any, Any], kept: list[int]) -> None:
        super().__init__(env)
        full: Any = env.observation_space
        self.kept = kept
        self.observation_space = spaces.Box(full.low[kept], full.high[kept], dtype=full.dtype)

    def observation(self, observation: Any) -> Any:
        """The numbers that are kept."""
        return observation[self.kept]


def test_a_model_of_nothing_is_not_usable(here: Here) -> None:
    """A model that says that nothing changes explains nothing, and its worst mismatches are told as rows."""
    experience, _, _ = known(here, "CartPole-v1", 20)
    idle = (
        "class World:\n    def __init__(self, obs, rng):\n        self.obs = obs\n"
        "    def sync(self, obs):\n        self.obs = obs\n"
        "    def step(self, action):\n        return self.obs, 0.0, False\n"
    )
    both = experience._spaces
    score = asyncio.run(scored(here, idle, None, experience.held_out, both))
    assert all(skill.ahead[1] == pytest.approx(0.0, abs=1e-6) for skill in score.skills)
    assert score.endings == 0.0
    assert not score.usable
    assert re.search(r", ended; predicted \[.*\], reward 0$", score.mismatches[0])


def test_a_broken_model_is_worth_nothing(here: Here) -> None:
    """A model that fails has its failure in the score and is never used."""
    experience, _, _ = known(here, "CartPole-v1", 8)
    both = experience._spaces
    score = asyncio.run(scored(here, "class World:\n    pass\n", None, experience.held_out, both))
    assert score.failure
    assert (score.worth, score.usable) == (0.0, False)


def episode(number: int, steps: int = 10) -> Recorded:
    """An episode of one number that can be told from others."""
    return Recorded(
        np.full((steps + 1, 1), float(number)), np.zeros(steps, np.int64), np.zeros(steps), terminated=False
    )


def test_what_is_kept_is_bounded(here: Here) -> None:
    """Beyond the bound every other episode goes, and none ever changes from held out to fitted."""
    env = gymnasium.make("CartPole-v1")
    small = Experience(env.observation_space, env.action_space, most_numbers=4 * 300)
    large = Experience(env.observation_space, env.action_space)
    for _ in range(3):
        rollout = played(here, env, 20)
        small.add([rollout])
        large.add([rollout])
    assert 0 < small.steps <= 300 < large.steps
    assert large.episodes == 60
    assert len(large.held_out) == 15
    first = {float(one.observations[0, 0]) for one in large.held_out}
    assert {float(one.observations[0, 0]) for one in small.held_out} <= first


def test_steps_on_the_shelf_come_back(here: Here, tmp_path: Path) -> None:
    """A resumed run has the steps that an earlier process paid for; what is damaged or too much is not there."""
    rollout = played(here, gymnasium.make("CartPole-v1"), 2)
    shelf = tmp_path / "world"
    keep(rollout, shelf / "one", 1 << 20)
    again = kept(shelf / "one")
    assert again is not None
    first, second = rollout.episodes[0].trajectory, again.episodes[0].trajectory
    assert first is not None
    assert second is not None
    np.testing.assert_array_equal(np.array(first.observations), np.array(second.observations))
    assert kept(shelf / "two") is None
    (shelf / "one").write_text("damaged")
    assert kept(shelf / "one") is None
    keep(rollout, tmp_path / "tight" / "one", 10)
    assert kept(tmp_path / "tight" / "one") is None


def test_some_of_many_episodes_are_spread_evenly() -> None:
    """Fewer steps than there are come from the whole run."""
    chosen = some_of([episode(n) for n in range(100)], 100)
    assert 5 <= len(chosen) <= 15
    assert chosen[0].observations[0, 0] == 0
    assert chosen[-1].observations[0, 0] == 99


def test_formulas_are_as_simple_as_they_can_be() -> None:
    """Of many products those are found that the numbers were made of."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(400, 4))
    formula = Library(numbers, candidates(4)).fit(
        1.5 + 2.0 * numbers[:, 0] - 0.5 * numbers[:, 1] * numbers[:, 2]
    )
    assert set(formula.terms) == {(), (0,), (1, 2)}
    assert formula.explained > 1 - 1e-9
    assert formula.code(["a", "b", "c", "d"]).count("*") == 3
    np.testing.assert_allclose(
        formula(numbers)[:3], (1.5 + 2 * numbers[:, 0] - 0.5 * numbers[:, 1] * numbers[:, 2])[:3]
    )


def test_endings_are_thresholds() -> None:
    """Thresholds are found that no other step passes; none where nothing ended."""
    numbers = np.random.default_rng(0).uniform(-1, 1, size=(600, 3))
    walls = find_ending(numbers, np.abs(numbers[:, 1]) > 0.8)
    assert [rule.place for rule in walls] == [1, 1]
    assert sorted(round(rule.level, 1) for rule in walls) == [-0.8, 0.8]
    assert {rule.code(["a", "b", "c"])[:3] for rule in walls} == {"b >", "b <"}
    assert find_ending(numbers, np.zeros(600, bool)) == []


def test_what_a_model_saved_or_cost_is_one_line() -> None:
    """Steps in it and for it, how many promises were kept, and whether the best comes from it."""
    kept, broken = (
        {"promised": 5.0, "earned": 5.1, "kept": True},
        {"promised": 9.0, "earned": None, "kept": False},
    )
    promises = {"w1c1": kept, "w2c1": broken, "r1c1tt": kept}
    line = use_in_words(250_000, 800, 4200, promises, ["r2c1", "r1c1tt", "r1c1"])
    assert line.startswith(
        "250,000 steps in the model, which cost none of the environment; 800 of the 4,200 steps searched were taken for it"
    )
    assert line.endswith("yes, confirmed 2 of 3 times; the best comes from it")
    assert use_in_words(9, 8, 70, {"w1c1": kept}, ["w1c1"]).endswith(
        "confirmed 1 of 1 time; the best comes from it"
    )
    assert use_in_words(9, 8, 70, {"w1c1": broken}, ["r1c1"]).endswith(
        "0 of 1 time; the best does not come from it"
    )
    assert "it promised nothing that was worth trying; the best comes from it" in use_in_words(
        9, 8, 70, {}, ["w2c2"]
    )
    assert use_in_words(0, 800, 4200, {}, ["r1c1"]) == (
        "used for tuning or planning: no; 800 of the 4,200 steps searched were taken for it"
    )
