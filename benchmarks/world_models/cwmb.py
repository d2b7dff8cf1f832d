"""World models by the measures of the Code World Models Benchmark (CWMB; Dainese and others, NeurIPS 2024).

Accuracy of one transition is the mean of three matches: the next observation (each number within 1e-5, relative
and absolute, averaged), the reward and whether the episode ends; after the end only the last two count. The planning
score is (return of a planner in the model - return of random actions) / (return of the same planner in the true
environment - return of random actions). The planner is this project's own: tree search with 25 simulations of depth
100 as in CWMB, and a cross-entropy method with three rounds of 24 samples of 20 steps, far less than CWMB's.

The models are fitted to random episodes and to episodes of the planner in the true environment. They are held against
other episodes of both.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from benchmarks.world_models.true_world import TruePlanner
from promptpo.envs.task import Task
from promptpo.llm import make_models
from promptpo.program import Program
from promptpo.rollouts import Executor, Job, Settings, make_executor, roll_out
from promptpo.run.config import Budget, Config
from promptpo.run.journal import Journal
from promptpo.run.ledger import Ledger
from promptpo.run.spender import Spender
from promptpo.search.modelling import Modeller
from promptpo.search.programs import SearchLLM
from promptpo.spec import describe
from promptpo.world.baseline import can_write, write_world
from promptpo.world.numbers import rows
from promptpo.world.planners import Planner, planning_policy
from promptpo.world.replaying import replayed
from sandbox import Episode, Limits, Predictions, Recorded, Trajectory, Trial
from sandbox.worlds import recorded

ENVIRONMENTS: Mapping[str, Planner] = {
    "Blackjack-v1": "tree",
    "CliffWalking-v1": "tree",
    "Taxi-v4": "tree",
    "CartPole-v1": "tree",
    "MountainCar-v0": "tree",
    "Acrobot-v1": "tree",
    "Pendulum-v1": "shooting",
    "InvertedPendulum-v5": "shooting",
    "InvertedDoublePendulum-v5": "shooting",
    "Reacher-v5": "shooting",
    "Pusher-v5": "shooting",
    "Swimmer-v5": "shooting",
    "Hopper-v5": "shooting",
    "HalfCheetah-v5": "shooting",
    "Walker2d-v5": "shooting",
    "Ant-v5": "shooting",
    "Humanoid-v5": "shooting",
    "HumanoidStandup-v5": "shooting",
}
"""The benchmark's environments in today's versions, and their planner."""

TOLERANCE = 1e-5

HORIZON = 200
"""Steps of an episode, at most."""

RANDOM_STEPS, PLANNED_STEPS, MOST_EPISODES = 2000, 200, 400
"""Steps that models are fitted to, of either kind, at least, and episodes of either kind at most."""

TEST_SEEDS = 20_000_000

PATIENT = Limits(step_seconds=10.0, episode_seconds=2000.0)
"""What is measured is how good planning is, also where it takes longer than policies usually may."""


@dataclass(frozen=True)
class CwmbRow:
    """One environment.

    Attributes:
        env: Its id.
        planner: The planner.
        steps: Recorded steps that the model was written from.
        accuracy: On other episodes, by CWMB's definition; NaN where no model could be written, and then nothing is
            planned.
        random: Mean return of random actions.
        model: Of the planner in the model.
        true: Of the planner in the true environment.
        score: The planning score; NaN where planning in the true environment earns no more than random actions.
        episodes: Behind each of the planner's returns.
        act: Seconds of computing time that planning in the model takes for one action.
    """

    env: str
    planner: str
    steps: int
    accuracy: float
    random: float
    model: float
    true: float
    score: float
    episodes: int
    act: float = float("nan")


def accuracy(episodes: Sequence[Recorded], space: gymnasium.Space[Any], found: Predictions) -> float:
    """The mean accuracy of one-step predictions by CWMB's definition.

    Args:
        episodes: What happened.
        space: Of observations.
        found: Predictions of all steps, each from the observation before it.
    """
    truth = np.concatenate([rows(space, episode.observations)[1:] for episode in episodes])
    rewards = np.concatenate([episode.rewards for episode in episodes])
    ends = np.zeros(len(rewards), bool)
    ends[np.cumsum([len(episode) for episode in episodes]) - 1] = [one.terminated for one in episodes]
    states = np.isclose(rows(space, found.observations), truth, rtol=TOLERANCE, atol=TOLERANCE).mean(axis=1)
    earned = np.isclose(found.rewards, rewards, rtol=TOLERANCE, atol=TOLERANCE).astype(float)
    ended = (found.terminated == ends).astype(float)
    matches = np.where(ends, (earned + ended) / 2, (states + earned + ended) / 3)
    return float(matches.mean())


def planning_score(model: float, true: float, random: float) -> float:
    """(model - random) / (true - random); NaN where the true environment gives the planner no advantage."""
    return (model - random) / (true - random) if true > random else float("nan")


async def measure(env_id: str, kind: Planner, episodes: int, model: str = "", seed: int = 0) -> CwmbRow:
    """All of it for one environment.

    Args:
        env_id: The environment.
        kind: The planner.
        episodes: For each return of a planner, at least; more where they are short.
        model: A language model that is asked for the world model; empty for the project's own baseline.
        seed: Of the episodes that the model is fitted to.
    """
    task = Task(env_id, max_episode_steps=HORIZON)
    executor = make_executor("local", Settings(task, PATIENT), 1)
    env = gymnasium.make(env_id, max_episode_steps=HORIZON)
    spaces = (env.observation_space, env.action_space)
    try:
        if not model and not can_write(*spaces):
            drawn, nothing = _random(env, 200, TEST_SEEDS, least=max(20, episodes)), float("nan")
            return CwmbRow(env_id, kind, 0, nothing, _mean(drawn), nothing, nothing, nothing, 0)
        known = _random(env, RANDOM_STEPS, 1000 * seed) + _planned(
            env, kind, PLANNED_STEPS, 1000 * seed + 500
        )
        fitting = _recorded(env, known)
        source = await _asked(task, model, known, executor) if model else write_world(*spaces, fitting)
        chance = _random(env, 200, TEST_SEEDS, least=max(20, episodes))
        ideal = _planned(env, kind, PLANNED_STEPS, TEST_SEEDS, least=episodes)
        right = earned = act = float("nan")
        if source:
            test = _recorded(env, [*chance, *ideal])
            found = await replayed(executor, source, _values(source), test, spaces, every=1)
            right = 0.0 if found.failure is not None else accuracy(test, spaces[0], found)
            policy = planning_policy(source, None, *spaces, planner=kind)
            trials = tuple(Trial(TEST_SEEDS + n, None, HORIZON) for n in range(len(ideal)))
            rollout = await roll_out(executor, Job(policy, trials))
            if rollout.failure is None:
                earned = _mean(rollout.episodes)
                act = rollout.policy_seconds / rollout.steps
    finally:
        executor.close()
        env.close()
    by_chance, by_truth = _mean(chance), _mean(ideal)
    steps = sum(map(len, fitting))
    score = planning_score(earned, by_truth, by_chance)
    return CwmbRow(env_id, kind, steps, right, by_chance, earned, by_truth, score, len(ideal), round(act, 4))


def _mean(episodes: Sequence[Episode]) -> float:
    """Their mean return."""
    return float(np.mean([episode.return_ for episode in episodes]))


def _values(source: str) -> dict[str, float] | None:
    return Program.parse(source).values


def _recorded(env: gymnasium.Env[Any, Any], episodes: Sequence[Episode]) -> tuple[Recorded, ...]:
    kept = (recorded(env.observation_space, env.action_space, episode) for episode in episodes)
    return tuple(one for one in kept if one is not None)


def _random(env: gymnasium.Env[Any, Any], steps: int, first: int, least: int = 2) -> list[Episode]:
    env.action_space.seed(first)
    return _episodes(env, lambda _obs: env.action_space.sample(), steps, first, least)


def _planned(
    env: gymnasium.Env[Any, Any], kind: Planner, steps: int, first: int, least: int = 1
) -> list[Episode]:
    planner = TruePlanner(env, kind, first)
    return _episodes(env, planner.act, steps, first, least, planner.reset)


def _episodes(
    env: gymnasium.Env[Any, Any], act: Any, steps: int, first: int, least: int, reset: Any = lambda: None
) -> list[Episode]:
    """Episodes until there are so many steps and episodes."""
    found: list[Episode] = []
    while len(found) < least or (sum(one.steps for one in found) < steps and len(found) < MOST_EPISODES):
        reset()
        found.append(_episode(env, act, first + len(found)))
    return found


def _episode(env: gymnasium.Env[Any, Any], act: Any, seed: int) -> Episode:
    obs, _ = env.reset(seed=seed)
    observations, actions = [obs], []
    rewards: list[float] = []
    ended = cut = False
    while not ended and not cut:
        action = act(obs)
        obs, reward, ended, cut, _ = env.step(action)
        observations.append(obs)
        actions.append(action)
        rewards.append(float(reward))
    return Episode(
        seed, float(sum(rewards)), len(rewards), terminated=ended, truncated=cut, success=None, clipped=0,
        policy_seconds=0.0, trajectory=Trajectory(observations, actions, rewards),
    )  # fmt: skip


async def _asked(task: Task, model: str, episodes: Sequence[Episode], executor: Executor) -> str:
    """The world model that a language model writes from these episodes, or the project's own where that is better."""
    from sandbox import Rollout

    config = Config(task, model=model, budget=Budget(calls=10))
    llm = make_models(model, (), search=SearchLLM)
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder)) as journal:
        ledger = Ledger(config.budget)
        journal.listen(ledger.add)
        modeller = Modeller(describe(config.task), Spender(llm, executor, config, journal, ledger), HORIZON)
        modeller.experience.add([Rollout(tuple(episodes), None, sum(one.steps for one in episodes), "", 0.0)])
        try:
            return (await modeller.model("cwmb")).source
        finally:
            await llm.aclose()
