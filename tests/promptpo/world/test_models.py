"""World models without a language model: what is written, kept, fitted and what held-out scores say."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from promptpo.output.report.world_chart import world_chart
from promptpo.search.references import random_policy
from promptpo.world.baseline import write_world
from promptpo.world.baseline.endings import find_ending
from promptpo.world.baseline.terms import Library, candidates
from promptpo.world.data import Experience, Shelf, some_of
from promptpo.world.scoring import Score, scored
from promptpo.world.words import as_data, in_words, use_in_words
from sandbox import Predictions, Recorded, Replay, Rollout, Sandbox, Trial, check_source


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
    assert score.failure is None
    assert score.worth > least
    assert score.usable
    assert all(share > 0.9 for skill in score.skills for share in skill.ahead.values())
    assert score.calibration is None


def test_a_table_of_a_random_world_is_calibrated(here: Here) -> None:
    """Where chance decides, a model of counts names the truth as often as it names the same outcome twice."""
    _, source, score = known(here, "FrozenLake-v1", 300, map_name="4x4")
    assert check_source(source) is None
    assert score.calibration is not None
    assert 0.8 < score.calibration < 1.2
    assert score.usable
    assert max(score.skills[0].ahead.values()) < 0.6
    assert in_words(as_data(score))[-1].startswith(f"calibration {score.calibration:.2f} (1 is calibrated")


@pytest.mark.parametrize(("name", "kept"), [("Pendulum-v1", [0, 1]), ("CartPole-v1", [0, 2])])
def test_what_is_hidden_is_said_by_the_score(here: Here, name: str, kept: list[int]) -> None:
    """Without the speeds nothing that is written from single observations predicts much: such a model is not used."""
    env = Masked(gymnasium.make(name), kept)
    spaces_ = (env.observation_space, env.action_space)
    experience = Experience(*spaces_)
    experience.add([played(here, env, 8 if name == "Pendulum-v1" else 60)])
    source = write_world(*spaces_, experience.fitting)
    score = asyncio.run(scored(here, source, None, experience.held_out, spaces_))
    assert score.failure is None
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
    both = (experience.observation_space, experience.action_space)
    score = asyncio.run(scored(here, idle, None, experience.held_out, both))
    assert all(skill.ahead[1] == pytest.approx(0.0, abs=1e-6) for skill in score.skills)
    assert score.endings == 0.0
    assert not score.usable
    assert score.mismatches
    assert score.mismatches[0].real[2]
    assert not score.mismatches[0].predicted[2]


def test_a_broken_model_is_worth_nothing(here: Here) -> None:
    """A model that fails has its failure in the score and is never used."""
    experience, _, _ = known(here, "CartPole-v1", 8)
    both = (experience.observation_space, experience.action_space)
    score = asyncio.run(scored(here, "class World:\n    pass\n", None, experience.held_out, both))
    assert score.failure is not None
    assert (score.worth, score.usable) == (0.0, False)


def episode(number: int, steps: int = 10) -> Recorded:
    """An episode of one number that can be told from others."""
    return Recorded(
        np.full((steps + 1, 1), float(number)), np.zeros(steps, np.int64), np.zeros(steps), terminated=False
    )


def test_what_is_kept_is_bounded_and_spread_over_the_run() -> None:
    """Beyond the bound episodes are thinned evenly, and none ever changes from held out to fitted."""
    space, actions = spaces.Box(-1e6, 1e6, (1,), np.float64), spaces.Discrete(2)
    small = Experience(space, actions, most_bytes=40_000)
    large = Experience(space, actions)
    for number in range(1000):
        small._keep(episode(number))
        large._keep(episode(number))
    assert small.bytes <= 40_000
    assert small.steps > 300
    held = {float(one.observations[0, 0]) for one in small.held_out}
    assert held <= {float(one.observations[0, 0]) for one in large.held_out}
    assert not held & {float(one.observations[0, 0]) for one in small.fitting}
    numbers = sorted(float(one.observations[0, 0]) for one in (*small.fitting, *small.held_out))
    assert numbers[0] < 50
    assert numbers[-1] > 900
    assert len(large.held_out) == 250


def test_steps_on_the_shelf_come_back(here: Here, tmp_path: Path) -> None:
    """A resumed run has the steps that an earlier process paid for; what is damaged or too much is not there."""
    rollout = played(here, gymnasium.make("CartPole-v1"), 2)
    shelf = Shelf(tmp_path)
    shelf.put("one", rollout)
    again = shelf.get("one")
    assert again is not None
    first, second = rollout.episodes[0].trajectory, again.episodes[0].trajectory
    assert first is not None
    assert second is not None
    np.testing.assert_array_equal(np.array(first.observations), np.array(second.observations))
    assert shelf.get("two") is None
    (tmp_path / "world" / "one.steps").write_text("damaged")
    assert shelf.get("one") is None
    tight = Shelf(tmp_path / "tight", most_bytes=10)
    (tmp_path / "tight").mkdir()
    tight.put("one", rollout)
    assert tight.get("one") is None


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


def test_endings_are_thresholds_or_a_formula() -> None:
    """Thresholds are found where they explain the endings, a formula where no single number does."""
    rng = np.random.default_rng(0)
    numbers = rng.uniform(-1, 1, size=(600, 3))
    walls = find_ending(numbers, np.abs(numbers[:, 1]) > 0.8)
    assert [rule.place for rule in walls.rules] == [1, 1]
    assert sorted(round(rule.level, 1) for rule in walls.rules) == [-0.8, 0.8]
    circle = (numbers[:, :2] ** 2).sum(axis=1) > 1.0
    round_ = find_ending(numbers, circle)
    assert round_.formula is not None
    assert ((round_.formula(numbers) > 0) == circle).mean() > 0.97
    assert find_ending(numbers, np.zeros(600, bool)).code(["a", "b", "c"]) == "False"


def test_an_ending_that_is_not_foreseen_is_counted_once(here: Here) -> None:
    """A reward that the ending alone decides is known where the ending is; a missed ending costs its own share."""
    space, actions = spaces.Box(-100.0, 100.0, (1,), np.float64), spaces.Discrete(2)

    def walk(first: int) -> Recorded:
        seen = first + np.arange(31.0)[:, None]
        return Recorded(seen, np.zeros(30, np.int64), np.array([-1.0] * 29 + [0.0]), terminated=True)

    world = (
        "import numpy as np\nclass World:\n    def __init__(self, obs, rng):\n        self.sync(obs)\n"
        "    def sync(self, obs):\n        self.x = float(obs[0])\n    def step(self, action):\n"
        "        self.x += 1.0\n        ended = self.x == 30.0\n"
        "        return np.array([self.x]), 0.0 if ended else -1.0, ended\n"
    )
    episodes = [walk(first) for first in (0, 40)]  # the second ending, at 70, is not known to the model
    score = asyncio.run(scored(here, world, None, episodes, (space, actions)))
    assert score.endings == 0.5
    assert score.reward == pytest.approx(1.0)
    assert score.worth == pytest.approx(0.75)


def test_formulas_hold_beyond_what_they_were_fitted_to(here: Here) -> None:
    """Where an episode goes further than all before it, it is not pulled back: one step ahead it is predicted as well."""
    experience, source, _ = known(here, "CartPole-v1", 30)
    both = (experience.observation_space, experience.action_space)
    seen = np.array([[1.9 + 0.02 * t, 1.0, 0.0, 0.0] for t in range(16)], np.float32)
    seen[:, 0] = np.cumsum(np.concatenate([[1.9], np.full(15, 0.02)]))
    away = Recorded(seen, np.array([0, 1] * 8)[:15], np.ones(15), terminated=False)
    score = asyncio.run(scored(here, source, None, [away], both))
    assert float(np.abs(experience.fitting[0].observations[:, 0]).max()) < 1.0
    assert score.skills[0].ahead[1] > 0.9


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
    assert line.endswith("yes, confirmed 2 of 3 times; the best is made of r1c1tt, which is from it")
    assert use_in_words(9, 8, 70, {"w1c1": kept}, ["w1c1"]).endswith(
        "confirmed 1 of 1 time; the best is from it"
    )
    assert use_in_words(9, 8, 70, {"w1c1": broken}, ["r1c1"]).endswith(
        "0 of 1 time; the best does not come from it"
    )
    assert "it promised nothing that was worth trying; the best is from it" in use_in_words(
        9, 8, 70, {}, ["w2c2"]
    )
    assert use_in_words(0, 800, 4200, {}, ["r1c1"]) == (
        "used for tuning or planning: no; 800 of the 4,200 steps searched were taken for it"
    )


def test_the_chart_of_a_held_out_episode_has_values() -> None:
    """Each row says between which values its quantity moved; a model without an episode has no chart."""
    series = [{"name": "obs[0]", "real": [-1.5, 2.5, 0.5], "predicted": [-1.4, 2.6, 0.25]}]
    chart = world_chart({"trace": {"every": 25, "series": series}})
    assert chart is not None
    assert ">-1.5</text>" in chart
    assert ">2.5</text>" in chart
    assert world_chart({"trace": {}}) is None
