"""Specs of packages that nobody prepared for, executed against their steps.

Each needs its package: pip install gym-electric-motor popgym flappy-bird-gymnasium panda-gym PyFlyt mobile-env or-gymnasium
"""

import ast
import importlib.util
from typing import Any

import numpy as np
import pytest

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.spec import describe_env
from promptpo.spec.values import tie

STRANGERS = (
    "gym_electric_motor:Cont-CC-PMSM-v0",
    "gym_electric_motor:Finite-CC-PMSM-v0",
    "popgym:popgym-RepeatPreviousEasy-v0",
    "flappy_bird_gymnasium:FlappyBird-v0",
    "panda_gym:PandaReach-v3",
    "PyFlyt.gym_envs:PyFlyt/QuadX-Hover-v4",
    "mobile_env:mobile-small-central-v0",
    "or_gymnasium:InvManagement-v0",
    "or_gymnasium:NetworkManagement-v1",
    "or_gymnasium:Newsvendor-v0",
    "or_gymnasium:Knapsack-v0",
)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", STRANGERS)
def test_nothing_is_said_that_steps_contradict(env_id: str) -> None:
    """Code gives the rewards, ranges hold, horizons are kept, and what is called hidden is seen nowhere."""
    package = env_id.partition(":")[0]
    if importlib.util.find_spec(package.partition(".")[0]) is None:
        pytest.skip(f"{package} is not installed; the head of this file says how to install it.")
    env = make_env(Task(env_id))
    spec, observed = describe_env(env, Task(env_id))
    ast.parse(spec.text)
    trial = observed.trial
    assert trial is not None
    assert trial.steps > 0
    for name in ("reward", "terminated"):
        passed = trial.passed(name)
        if f"def {name}(" in spec.text and spec.sources["reward"].startswith("source"):
            assert passed is None or np.allclose(passed.given, passed.told, rtol=1e-4, atol=1e-6)
    sides = trial.sides(env.observation_space, env.action_space)
    hidden = [line for line in spec.text.splitlines() if line.startswith("# Not in the observation:")]
    for level in (one for found in trial.levels.values() for one in found):
        for path in trial.paths[level.code]:
            if any(f" {level.path}.{path} (" in line for line in hidden):
                told: Any = tie([row.values.get(level.key(f".{path}")) for row in trial.rows], sides)
                assert not told.copied
    seed, longest = 90, 0
    for _ in range(2):
        env.reset(seed=seed)
        env.action_space.seed(seed)
        for n in range(1, 400):
            *_, ended, cut, _ = env.step(env.action_space.sample())
            longest = max(longest, n)
            if ended or cut:
                break
        seed += 1
    assert spec.horizon is None or longest <= spec.horizon
    env.close()
