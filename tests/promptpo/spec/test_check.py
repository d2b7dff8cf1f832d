"""The check of a spec against its environment finds every planted mistake and nothing else."""

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from promptpo.envs import meta_world
from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.spec.check import check_spec, contradictions_in
from promptpo.spec.describe import describe, describe_env
from promptpo.spec.reading import read
from tests.promptpo.envs.test_building import META_WORLD, needs, needs_and_is_slow, play

pytestmark = pytest.mark.usefixtures("cached_observation")

HERE = "tests.promptpo.spec.envs"

PLANTED = {
    "wrong upper bound": (
        "CartPole-v1",
        "# -4.8 .. 4.8",
        "# -4.8 .. 2.4",
        "cart_position lies in -4.8 .. 4.8",
    ),
    "wrong lower bound": ("Pendulum-v1", "-8 .. 8", "-7 .. 8", "angular_velocity lies in -8 .. 8"),
    "bounds the wrong way round": ("CartPole-v1", "-4.8 .. 4.8", "4.8 .. -4.8", "above the upper bound"),
    "a bound that observations break": ("CartPole-v1", r"# seen .*", "# -0.01 .. 0.01", "was observed in"),
    "an index that does not exist": ("CartPole-v1", r"obs\[3\]", "obs[4]", "obs[4] does not exist"),
    "a wrong shape": (
        "CartPole-v1",
        r"shape \(4,\)",
        "shape (5,)",
        "shape (4,), float32, not np.ndarray, shape (5,)",
    ),
    "a wrong dtype": ("CartPole-v1", "float32", "float64", "float32, not np.ndarray, shape (4,), float64"),
    "a wrong range of an int": (
        "Taxi-v4",
        r"int, 0 \.\. 499",
        "int, 0 .. 500",
        "0 .. 499, not int, 0 .. 500",
    ),
    "an array that is an int": (
        "Taxi-v4",
        r"int, 0 \.\. 499",
        "np.ndarray, shape (500,)",
        "the obs is int, 0 .. 499, not np.ndarray",
    ),
    "a subscript of an int": ("Taxi-v4", "= obs  #", "= obs[0]  #", "has no parts"),
    "an action too many": (
        "CartPole-v1",
        "PUSH_CART_RIGHT = 1",
        "PUSH_CART_RIGHT = 1\n    WAIT = 2",
        "WAIT = 2 is no action",
    ),
    "choices for a continuous action": (
        "Pendulum-v1",
        r"    def __init__\(self, action\):\n.*",
        "    LEFT = 0\n    RIGHT = 1",
        "is no action: the action is",
    ),
    "a component of the action too many": (
        "Pendulum-v1",
        r"action\[0\]  # -2",
        "action[1]  # -2",
        "action[1] does not exist",
    ),
    "a wrong action bound": ("Pendulum-v1", r"-2 \.\. 2", "-1 .. 1", "torque lies in -2 .. 2"),
    "a wrong horizon": ("CartPole-v1", '"max_steps": 500', '"max_steps": 200', "at most 500 steps, not 200"),
    "a wrong threshold": ("CartPole-v1", "475", "490", "solved from 475.0, not from 490"),
    "a misspelt key": ("CartPole-v1", '"max_steps"', '"max_step"', "no key 'max_step'"),
    "a misspelt class": ("CartPole-v1", "class State", "class States", "class States has no meaning"),
    "no Python": ("CartPole-v1", "class State:", "class State", "not valid Python"),
    "a key that does not exist": (
        f"{HERE}:Mine/Thermostat-v0",
        r'= obs\["window"\]',
        '= obs["door"]',
        "has the keys",
    ),
}


@lru_cache
def build_cached(env_id: Any) -> Any:
    """Build an environment once for all tests; some take a second."""
    return make_env(Task(env_id))


@lru_cache
def describe_cached(env_id: str) -> str:
    """Return the spec in which mistakes are planted."""
    return describe(Task(env_id)).text


def replace_once(text: Any, pattern: Any, new: Any) -> Any:
    """Replace the first match of a pattern, which must occur."""
    changed, n = re.subn(pattern, lambda _: new, text, count=1)
    assert n == 1, f"{pattern} does not occur"
    return changed


@pytest.mark.parametrize("mistake", PLANTED)
def test_planted_mistake_is_found(mistake: Any) -> None:
    """The contradiction names the line and states the truth."""
    env_id, pattern, new, says = PLANTED[mistake]
    planted = replace_once(describe_cached(env_id), pattern, new)
    found = check_spec(planted, Task(env_id))
    assert found, mistake
    assert any(says in str(contradiction) for contradiction in found), [str(c) for c in found]
    assert all(contradiction.line > 0 for contradiction in found)


def describe_and_check(env: Any, task: Task, **how: Any) -> tuple[Any, Any]:
    """Return the spec of a built environment and its contradictions."""
    spec, observed = describe_env(env, task, **how)
    return spec, contradictions_in(read(spec.text), spec, observed)


@pytest.mark.parametrize("reveal", ["named", "anonymous", "bare"])
@pytest.mark.parametrize(
    "env_id",
    [
        *(
            "CartPole-v1",
            "Taxi-v4",
            "Blackjack-v1",
            "FrozenLake-v1",
            f"{HERE}:Mine/Thermostat-v0",
            f"{HERE}:Mine/Silent-v0",
        ),
        pytest.param("Humanoid-v5", marks=needs("mujoco")),
        pytest.param("LunarLanderContinuous-v3", marks=needs("Box2D")),
        pytest.param("FetchPush-v4", marks=needs_and_is_slow("gymnasium_robotics")),
    ],
)
def test_generated_specs_have_no_contradictions(env_id: Any, reveal: str) -> None:
    env, task = build_cached(env_id), Task(env_id)
    assert describe_and_check(env, task, reveal=reveal)[1] == []


@pytest.mark.slow
@needs("metaworld")
def test_all_meta_world_tasks_are_known() -> None:
    import metaworld

    assert set(META_WORLD) == set(metaworld.ALL_V3_ENVIRONMENTS)


@pytest.mark.slow
@needs("metaworld")
@pytest.mark.parametrize("name", META_WORLD)
def test_meta_world_task_is_reproducible_and_described(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the 50 tasks repeats by seed, observes its rewarded goal and fits its spec into 2,800 tokens."""
    monkeypatch.setattr("metaworld._N_GOALS", 4)  # drawing fifty goals would dominate this test
    monkeypatch.setattr("promptpo.envs.meta_world.GOALS_PER_BUILD_SEED", 4)
    monkeypatch.setattr("promptpo.envs.meta_world._goals", lru_cache(meta_world._goals.__wrapped__))
    monkeypatch.setattr("promptpo.spec.observe.STEPS_PER_EPISODE", 10)
    task = Task(f"Meta-World/{name}")
    env = make_env(task)
    once = play(env, 1, 10)
    assert play(env, 2, 10)[0] != once[0], "another goal"
    assert play(env, 1, 10) == once
    observation, _ = env.reset(seed=1)
    np.testing.assert_allclose(observation[36:39], env.unwrapped._target_pos, atol=1e-3)
    assert env.observation_space.contains(env.step(np.zeros(4, np.float32))[0])
    spec, contradictions = describe_and_check(env, task)
    assert contradictions == []
    assert "obs[36]" in spec.text
    assert 'info["success"] at any step of the episode' in spec.text
    assert len(spec.text) / 3.5 <= 2800


def test_handwritten_spec_may_be_partial() -> None:
    """Only the parts that it contains are checked."""
    text = 'class State:\n    """obs"""\n\n    def __init__(self, obs):\n        self.x = obs[0]  # -4.8 .. 4.8\n'
    assert check_spec(text, Task("CartPole-v1")) == []


def test_spec_is_never_executed(tmp_path: Path) -> None:
    """Neither checking nor using a spec runs its code."""
    marker = tmp_path / "ran"
    text = f"open({str(marker)!r}, 'w').write('x')\nEPISODE = {{'max_steps': 500}}\nraise SystemExit(3)\n"
    path = tmp_path / "spec.py"
    path.write_text(text)
    assert check_spec(text, Task("CartPole-v1")) == []
    assert describe(Task("CartPole-v1"), spec_file=str(path)).text.startswith(text.rstrip())
    assert not marker.exists()
