"""Specs of third-party packages, verified against steps.

Each test needs its package; most install in seconds:
pip install gym-electric-motor popgym flappy-bird-gymnasium panda-gym PyFlyt mobile-env or-gymnasium pcgym mo-gymnasium
gym-trading-env grid2op gymnasium-2048 gym-simplegrid gym-invmgmt gymnasium-mars-lander antibiosim anesthesim glucosim cardiosim
gym-sailing gymnasium-cartpole-swingup food-distribution-gym cleaning-robots-gym crosswalk-env evcrl gym-pusht gym-anytrading
"""

import importlib.util
from typing import Any

import pytest

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.errors import PromptPOError
from promptpo.spec.check import contradictions_in
from promptpo.spec.describe import describe_env
from promptpo.spec.reading import read

BUILT = {"reactor": "pcgym", "minecart": "mo_gymnasium", "trading": "gym_trading_env", "grid": "grid2op"}
"""Environments of `packaged` and the package that each needs."""

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
    *(f"tests.promptpo.spec.packaged:{name}" for name in BUILT),
    "gymnasium_2048:gymnasium_2048/TwentyFortyEight-v0",
    "gym_simplegrid:SimpleGrid-8x8-v0",
    "gym_invmgmt:GymInvMgmt/Serial-v0",
    "gymnasium_mars_lander:gymnasium_mars_lander/MarsLander-v1",
    "antibiosim:antibiosim/DoseOptimization-v0",
    "anesthesim:anesthesim/PropofolControl-v0",
    "glucosim:glucosim/BasalControl-v0",
    "cardiosim:cardiosim/PacingControl-v0",
    "gym_sailing:Sailboat-v0",
    "gymnasium_cartpole_swingup:CartPoleSwingUp-v0",
    "food_distribution_gym:FoodDistribution-v0",
    "cleaning_robots_gym:CleaningRobots-v0",
    "crosswalk_env:crosswalk-v1",
    "evcrl:EvcRL-StructuredMini-v0",
    "gym_pusht:gym_pusht/PushT-v0",
    "gym_anytrading:stocks-v0",
)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", STRANGERS)
def test_spec_of_package_agrees_with_steps(env_id: str) -> None:
    module, _, name = env_id.partition(":")
    package = BUILT.get(name, module.partition(".")[0])
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed; the head of this file says how to install it.")
    task = Task(env_id)
    try:
        env = make_env(task)
    except PromptPOError as error:
        pytest.skip(f"{package} does not work beside what is installed: {error}")
    spec, observed = describe_env(env, task)
    assert contradictions_in(read(spec.text), spec, observed) == []
    assert spec.horizon is None or longest_episode(env) <= spec.horizon
    env.close()


def longest_episode(env: Any) -> int:
    """Return the length of two more episodes, at most 399 steps."""
    longest = 0
    for seed in (90, 91):
        env.reset(seed=seed)
        env.action_space.seed(seed)
        for n in range(1, 400):
            *_, ended, cut, _ = env.step(env.action_space.sample())
            longest = max(longest, n)
            if ended or cut:
                break
    return longest
