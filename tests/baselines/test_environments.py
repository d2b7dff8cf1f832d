"""Environments for stable-baselines3, agents that need no training, and scoring."""

from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from promptpo.core.candidate import SEEDS_PER_PURPOSE, Seeds
from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.errors import EnvironmentFaultError, UnsupportedSpaceError
from promptpo.run.episodes import UNBOUNDED_HORIZON
from promptpo_baselines.agents import RandomAgent, ZeroAgent
from promptpo_baselines.environments import SeededEpisodes, flat_space, flatten, make_flat_env, training_envs
from promptpo_baselines.evaluation import Evaluator


def test_nested_observations_become_vectors_without_text() -> None:
    """Dicts and tuples are flattened; text is left out."""
    space = spaces.Dict(
        {"goal": spaces.Box(-1, 1, (2,)), "door": spaces.Discrete(3), "mission": spaces.Text(9)}
    )
    vector = flatten(space, {"goal": np.array([0.5, -0.5], np.float32), "door": 2, "mission": "go"})
    assert flat_space(space).shape == vector.shape == (5,)
    assert sorted(vector.tolist()) == [-0.5, 0.0, 0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    "space",
    [
        spaces.Discrete(5, start=-2),
        spaces.Discrete(3, start=4),
        spaces.MultiDiscrete([3, 2], start=[-1, 5]),
        spaces.MultiDiscrete([3, 2]),
        spaces.MultiBinary(3),
        spaces.Box(0, 255, (2,), np.uint8),
        spaces.Dict({"side": spaces.Discrete(3, start=-1), "level": spaces.Box(-1, 1, (2,))}),
    ],
    ids=str,
)
def test_networks_read_choices_counted_from_zero(space: Any) -> None:
    """They encode each as one of n inputs, wherever the space begins to count."""
    from stable_baselines3.common.preprocessing import preprocess_obs
    from torch import as_tensor

    seen = set()
    for _ in range(30):
        flat = flatten(space, space.sample())
        assert flat_space(space).contains(flat)
        encoded = preprocess_obs(as_tensor(np.array([flat])), flat_space(space))
        seen.add(tuple(encoded.flatten().tolist()))
    assert len(seen) > 1


class Spelling(gymnasium.Env[Any, Any]):
    """Shows a word; action 1 ends the episode."""

    observation_space = spaces.Text(5)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        """Start."""
        super().reset(seed=seed)
        return "hallo", {}

    def step(self, action: Any) -> Any:
        """Show the next word."""
        return "welt", 1.0, bool(action), False, {}


@pytest.fixture
def spelling() -> Iterator[Any]:
    """The id of an environment whose observations are text."""
    gymnasium.register("Spelling-v0", lambda **_: Spelling(), max_episode_steps=9)
    yield "Spelling-v0"
    del gymnasium.registry["Spelling-v0"]


def test_text_is_refused_where_a_network_would_read_it(spelling: Any) -> None:
    """In one sentence, instead of training on codes of characters or ending in a KeyError."""
    with pytest.raises(UnsupportedSpaceError, match="Spelling-v0 observes only text"):
        training_envs(Task(spelling), 1, 0, 0)


def test_text_is_no_hindrance_to_what_does_not_look(spelling: Any) -> None:
    """Random actions and the zero action are scored all the same."""
    evaluator = Evaluator(Task(spelling))
    found = evaluator.evaluate(ZeroAgent(spaces.Discrete(2)), [1, 2])
    evaluator.close()
    assert found.returns == (9.0, 9.0)


def test_blackjack_can_be_played() -> None:
    """A tuple of numbers is a vector for SB3."""
    env = make_flat_env(Task("Blackjack-v1"))
    observation, _ = env.reset(seed=3)
    assert env.observation_space.contains(observation)
    env.close()


def test_an_environment_without_horizon_gets_one() -> None:
    """An agent that walks into a wall for ever does not hang an evaluation."""
    env = make_flat_env(Task("CliffWalking-v1"))
    env.reset(seed=0)
    steps, over = 0, False
    while not over:
        _, _, terminated, truncated, _ = env.step(3)
        steps, over = steps + 1, terminated or truncated
    env.close()
    assert steps == UNBOUNDED_HORIZON


def test_training_plays_training_seeds_in_order() -> None:
    """Two environments share the run's training seeds, each once."""
    seen = []

    class Noting(gymnasium.Wrapper[Any, Any, Any, Any]):
        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            seen.append(seed)
            return self.env.reset(seed=seed, options=options)

    seeds = Seeds(7)
    envs = [SeededEpisodes(Noting(make_env(Task("CartPole-v1"))), seeds, first=i, stride=2) for i in range(2)]
    for _ in range(3):
        for env in envs:
            env.reset(seed=123)
    assert tuple(seen) == seeds.train(6)


def test_training_environments_depend_on_the_seed_of_the_run() -> None:
    """Equal seeds start alike, different ones do not."""
    first: list[Any] = [training_envs(Task("CartPole-v1"), 2, seed, 0).reset() for seed in (0, 0, 1)]
    assert np.array_equal(first[0], first[1])
    assert not np.array_equal(first[0], first[2])
    assert not np.array_equal(first[0][0], first[0][1])


def test_an_action_space_that_sb3_cannot_use_is_refused() -> None:
    """The sentence names the task and the space."""

    class Offset(gymnasium.Env[Any, Any]):
        observation_space, action_space = spaces.Box(-1, 1, (1,)), spaces.Text(3)

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            return np.zeros(1, np.float32), {}

    gymnasium.register("Offset-v0", lambda **_: Offset())
    with pytest.raises(UnsupportedSpaceError, match="Offset-v0"):
        make_flat_env(Task("Offset-v0"))


def by_hand(task: Any, seed: int, action: Any) -> Any:
    """Return and length of one episode under a constant action."""
    env = make_env(task)
    env.reset(seed=seed)
    total, steps, over = 0.0, 0, False
    while not over:
        _, reward, terminated, truncated, _ = env.step(action)
        total, steps, over = total + float(reward), steps + 1, terminated or truncated
    env.close()
    return total, steps


def test_scoring_is_what_playing_gives() -> None:
    """More seeds than lanes: each episode is that of its own seed, in the order asked."""
    task, seeds = Task("CartPole-v1"), Seeds().test(20)
    evaluation = Evaluator(task).evaluate(ZeroAgent(make_env(task).action_space), seeds)
    assert [e.seed for e in evaluation.episodes] == list(seeds)
    assert [(e.return_, e.steps) for e in evaluation.episodes] == [by_hand(task, seed, 0) for seed in seeds]
    assert evaluation.steps == sum(e.steps for e in evaluation.episodes)


def test_an_evaluator_can_be_used_again_for_fewer_seeds() -> None:
    """Lanes that are left over do not disturb."""
    task = Task("CartPole-v1")
    evaluator, agent = Evaluator(task), ZeroAgent(make_env(task).action_space)
    many = evaluator.evaluate(agent, range(9))
    few = evaluator.evaluate(agent, range(2, 5))
    assert few.returns == many.returns[2:5]


def test_the_zero_action_is_the_nearest_to_zero() -> None:
    """Where zero is out of bounds, the bound next to it."""
    agent = ZeroAgent(spaces.Box(np.array([-1.0, 2.0]), np.array([1.0, 3.0])))
    assert np.array(agent.act(np.zeros((2, 1)))).tolist() == [[0.0, 2.0], [0.0, 2.0]]


def test_random_actions_repeat_by_seed() -> None:
    """The same seed draws the same actions, another does not."""
    draws = [np.array(RandomAgent(spaces.Discrete(50), seed).act(range(20))).tolist() for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


@pytest.mark.parametrize("seed", [0, 7, *(SEEDS_PER_PURPOSE * n for n in range(4))])
def test_an_environment_that_draws_from_the_same_space_draws_other_numbers(seed: int) -> None:
    """With one seed for both it would play a game with itself, whichever purpose the seed is of."""
    inner = spaces.Discrete(50)
    inner.seed(seed)
    acted = RandomAgent(spaces.Discrete(50), seed).act(range(20))
    assert [int(n) for n in acted] != [int(inner.sample()) for _ in range(20)]


class Broken(gymnasium.Env[Any, Any]):
    """Gives no reward in its second step."""

    observation_space = spaces.Box(-1.0, 1.0, (2,))
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.steps = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        return np.zeros(2, np.float32), (None if self.steps == 2 else 1.0), False, False, {}


def test_a_broken_environment_is_blamed_in_a_sentence() -> None:
    """Where it is played and where it is trained in, as `optimize` does it."""
    gymnasium.register("BrokenReward-v0", entry_point=Broken)
    evaluator = Evaluator(Task("BrokenReward-v0", max_episode_steps=5))
    with pytest.raises(
        EnvironmentFaultError, match="step of the environment BrokenReward-v0 returned None as the reward"
    ):
        evaluator.evaluate(ZeroAgent(spaces.Discrete(2)), [0])
    evaluator.close()
    envs = training_envs(Task("BrokenReward-v0", max_episode_steps=5), 1, 0, 0)
    envs.reset()
    envs.step(np.array([0]))
    with pytest.raises(EnvironmentFaultError, match="returned None as the reward"):
        envs.step(np.array([0]))
