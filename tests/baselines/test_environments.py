"""Environments for stable-baselines3, agents without training, and evaluation."""

from collections.abc import Iterator
from pathlib import Path
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
from promptpo_baselines.fixed import run_fixed
from promptpo_baselines.flags import ScoringFlags


def test_nested_observations_become_vectors_without_text() -> None:
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
def test_choices_are_encoded_from_zero(space: Any) -> None:
    """As one of n inputs, whatever number the space starts at."""
    from stable_baselines3.common.preprocessing import preprocess_obs
    from torch import as_tensor

    encodings = set()
    for _ in range(30):
        flat = flatten(space, space.sample())
        assert flat_space(space).contains(flat)
        encoded = preprocess_obs(as_tensor(np.array([flat])), flat_space(space))
        encodings.add(tuple(encoded.flatten().tolist()))
    assert len(encodings) > 1


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


def test_text_observations_are_refused_for_training(spelling: Any) -> None:
    """Instead of training on character codes or ending in a KeyError."""
    with pytest.raises(UnsupportedSpaceError, match="Spelling-v0 observes only text"):
        training_envs(Task(spelling), 1, 0, 0)


def test_text_observations_are_accepted_for_random_and_zero_agents(spelling: Any) -> None:
    evaluator = Evaluator(Task(spelling))
    evaluation = evaluator.evaluate(ZeroAgent(spaces.Discrete(2)), [1, 2])
    evaluator.close()
    assert evaluation.returns == (9.0, 9.0)


def test_blackjack_can_be_played() -> None:
    """Its tuple of numbers becomes a vector."""
    env = make_flat_env(Task("Blackjack-v1"))
    observation, _ = env.reset(seed=3)
    assert env.observation_space.contains(observation)
    env.close()


def test_environment_without_a_horizon_gets_one() -> None:
    """An agent that walks into a wall forever must not hang an evaluation."""
    env = make_flat_env(Task("CliffWalking-v1"))
    env.reset(seed=0)
    steps, over = 0, False
    while not over:
        _, _, terminated, truncated, _ = env.step(3)
        steps, over = steps + 1, terminated or truncated
    env.close()
    assert steps == UNBOUNDED_HORIZON


def test_training_plays_training_seeds_in_order() -> None:
    """Two environments share the run's training seeds."""
    played = []

    class SeedRecorder(gymnasium.Wrapper[Any, Any, Any, Any]):
        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            played.append(seed)
            return self.env.reset(seed=seed, options=options)

    seeds = Seeds(7)
    envs = [
        SeededEpisodes(SeedRecorder(make_env(Task("CartPole-v1"))), seeds, first=i, stride=2)
        for i in range(2)
    ]
    for _ in range(3):
        for env in envs:
            env.reset(seed=123)
    assert tuple(played) == seeds.train(6)


def test_training_environments_depend_on_the_seed_of_the_run() -> None:
    first: list[Any] = [training_envs(Task("CartPole-v1"), 2, seed, 0).reset() for seed in (0, 0, 1)]
    assert np.array_equal(first[0], first[1])
    assert not np.array_equal(first[0], first[2])
    assert not np.array_equal(first[0][0], first[0][1])


def test_action_space_without_sb3_support_is_refused() -> None:
    """The sentence names the task and the space."""

    class Offset(gymnasium.Env[Any, Any]):
        observation_space, action_space = spaces.Box(-1, 1, (1,)), spaces.Text(3)

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            return np.zeros(1, np.float32), {}

    gymnasium.register("Offset-v0", lambda **_: Offset())
    with pytest.raises(UnsupportedSpaceError, match=r"Offset-v0.*--wrapper"):
        make_flat_env(Task("Offset-v0"))


def play_constant_action(task: Any, seed: int, action: Any) -> Any:
    """Return return and length of one episode under a constant action."""
    env = make_env(task)
    env.reset(seed=seed)
    total, steps, over = 0.0, 0, False
    while not over:
        _, reward, terminated, truncated, _ = env.step(action)
        total, steps, over = total + float(reward), steps + 1, terminated or truncated
    env.close()
    return total, steps


def test_evaluation_agrees_with_a_plain_loop() -> None:
    """With more seeds than lanes, episodes are in the order requested."""
    task, seeds = Task("CartPole-v1"), Seeds().test(20)
    evaluation = Evaluator(task).evaluate(ZeroAgent(make_env(task).action_space), seeds)
    assert [e.seed for e in evaluation.episodes] == list(seeds)
    assert [(e.return_, e.steps) for e in evaluation.episodes] == [
        play_constant_action(task, seed, 0) for seed in seeds
    ]
    assert evaluation.steps == sum(e.steps for e in evaluation.episodes)


def test_evaluator_can_be_reused_for_fewer_seeds() -> None:
    """Idle lanes do not interfere."""
    task = Task("CartPole-v1")
    evaluator, agent = Evaluator(task), ZeroAgent(make_env(task).action_space)
    many = evaluator.evaluate(agent, range(9))
    few = evaluator.evaluate(agent, range(2, 5))
    assert few.returns == many.returns[2:5]


def test_zero_action_is_clipped_to_the_bounds() -> None:
    agent = ZeroAgent(spaces.Box(np.array([-1.0, 2.0]), np.array([1.0, 3.0])))
    assert np.array(agent.act(np.zeros((2, 1)))).tolist() == [[0.0, 2.0], [0.0, 2.0]]


@pytest.mark.parametrize("method", ["random", "zero"])
def test_what_needs_no_network_plays_nested_actions(method: str, tmp_path: Path) -> None:
    """Networks of SB3 have no policy for a dict or a tuple of actions; random and zero actions need none."""

    class Nested(gymnasium.Env[Any, Any]):
        observation_space = spaces.Box(-1, 1, (1,))
        action_space = spaces.Dict({"a": spaces.Discrete(3), "b": spaces.Tuple((spaces.Box(1, 2, (2,)),))})

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            return np.zeros(1, np.float32), {}

        def step(self, action: Any) -> Any:
            assert self.action_space.contains(action)
            return np.zeros(1, np.float32), float(action["b"][0].sum()), True, False, {}

    gymnasium.register("Nested-v0", lambda **_: Nested())
    scoring = ScoringFlags(validation_episodes=1, test_episodes=2)
    result = run_fixed(method, Task("Nested-v0"), tmp_path / "run", scoring, resume=False)
    del gymnasium.registry["Nested-v0"]
    returns = result["test"]["returns"]
    assert returns == [2.0, 2.0] if method == "zero" else len(set(returns)) == 2


def test_seed_determines_random_actions() -> None:
    draws = [np.array(RandomAgent(spaces.Discrete(50), seed).act(range(20))).tolist() for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


@pytest.mark.parametrize("seed", [0, 7, *(SEEDS_PER_PURPOSE * n for n in range(4))])
def test_random_agent_does_not_share_the_environments_random_stream(seed: int) -> None:
    """Otherwise an environment that samples the same space with the same seed would repeat its actions."""
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


def test_broken_environment_is_blamed_in_one_sentence() -> None:
    """This holds in evaluation and in training."""
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
