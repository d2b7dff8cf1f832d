"""Building environments: ids, errors and reproducible episodes."""

import importlib.util
import pickle
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from promptpo.core.candidate import SEEDS_PER_PURPOSE, Seeds
from promptpo.envs import building as environments_module
from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.errors import (
    EnvironmentFaultError,
    MissingExtraError,
    UnknownEnvironmentError,
    UnsupportedSpaceError,
    UsageError,
)
from promptpo.spec.describe import describe_env
from promptpo.spec.facts import horizon_and_source, success_key
from promptpo.spec.observe import observe, open_env
from promptpo_benchmarks.runner.suite import load_suite

HERE = "tests.promptpo.spec.envs"


def play(env: Any, seed: Any, steps: int = 12) -> Any:
    """Return everything that one episode of seeded random actions yields, as bytes."""
    observation, _ = env.reset(seed=seed)
    env.action_space.seed(seed)
    seen = [pickle.dumps(observation)]
    for _ in range(steps):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        seen.append(pickle.dumps((observation, float(reward), terminated, truncated)))
        if terminated or truncated:
            break
    return seen


def needs(package: Any) -> Any:
    """Skip where an optional package is missing."""
    return pytest.mark.skipif(importlib.util.find_spec(package) is None, reason=f"{package} is not installed")


def needs_and_is_slow(package: Any) -> Any:
    """Marks for a package whose environments take about a second to build."""
    return [needs(package), pytest.mark.slow]


REPEATING = [
    *("CartPole-v1", "Pendulum-v1", "FrozenLake-v1", "Taxi-v4", "Blackjack-v1"),
    *(
        pytest.param(i, marks=needs("Box2D"))
        for i in ("LunarLander-v3", "BipedalWalker-v3", "BipedalWalkerHardcore-v3")
    ),
    *(pytest.param(i, marks=needs("mujoco")) for i in ("HalfCheetah-v5", "Ant-v5")),
    *(pytest.param(i, marks=needs_and_is_slow("metaworld")) for i in ("reach-v3", "pick-place-v3")),
    *(pytest.param(i, marks=needs("minigrid")) for i in ("MiniGrid-DoorKey-8x8-v0",)),
    *(
        pytest.param(i, marks=needs_and_is_slow("gymnasium_robotics"))
        for i in ("FetchPush-v4", "PointMaze_UMaze-v3")
    ),
    *(pytest.param(i, marks=needs_and_is_slow("highway_env")) for i in ("parking-v0",)),
    f"{HERE}:Mine/Thermostat-v0",
]


@pytest.mark.parametrize("env_id", REPEATING)
def test_seed_determines_the_episode(env_id: Any) -> None:
    """It repeats after another episode and in a new environment; another seed differs."""
    first, second = make_env(Task(env_id)), make_env(Task(env_id))
    once, other, again = play(first, 5), play(first, 7), play(first, 5)
    assert once == again
    assert once == play(second, 5)
    assert once != other


META_WORLD = [task.env.rpartition("/")[2] for task in load_suite("metaworld-mt50").tasks]
"""Names of all Meta-World tasks."""


@pytest.mark.slow
@needs("metaworld")
def test_meta_world_goals_of_training_validation_and_test_are_disjoint() -> None:
    """No two seeds of different purposes share a goal."""
    env = make_env(Task("reach-v3"))
    seeds = Seeds(3)
    goals = {
        purpose: {tuple(env.reset(seed=s)[0][36:39]) for s in chosen}
        for purpose, chosen in (
            ("train", seeds.train(30)),
            ("validation", seeds.validation(30)),
            ("test", seeds.test(30)),
        )
    }
    assert all(len(found) == 30 for found in goals.values())
    assert not goals["train"] & goals["validation"]
    assert not goals["train"] & goals["test"]
    assert not goals["validation"] & goals["test"]


@needs("metaworld")
def test_meta_world_build_seeds_of_the_purposes_do_not_overlap() -> None:
    """The last training seed and the first validation seed use different lists of goals."""
    from promptpo.envs.meta_world import GOALS_PER_BUILD_SEED

    assert SEEDS_PER_PURPOSE % GOALS_PER_BUILD_SEED == 0


@needs("metaworld")
def test_meta_world_accepts_its_own_and_our_names() -> None:
    """MT1 with a name and the task's own name are the same task."""
    ids = [Task("Meta-World/MT1", {"env_name": "reach-v3"}), Task("Meta-World/reach-v3"), Task("reach-v3")]
    assert len({tuple(make_env(task).reset(seed=1)[0]) for task in ids}) == 1


@pytest.mark.parametrize(
    ("env_id", "kwargs", "kind", "says"),
    [
        ("Taxi-v3", {}, UnknownEnvironmentError, "Taxi-v4"),
        ("Cartpole-v1", {}, UnknownEnvironmentError, "CartPole-v1"),
        ("HalfCheetah", {}, UnknownEnvironmentError, "HalfCheetah-v5"),
        ("Nothing/Like-This-v0", {}, UnknownEnvironmentError, "module:"),
        ("no_such_module:My-v0", {}, UsageError, "no module 'no_such_module'"),
        (f"{HERE}:Mine/Broken-v0", {}, EnvironmentFaultError, "no licence server"),
        (f"{HERE}:Mine/Graphs-v0", {}, UnsupportedSpaceError, "Graph"),
        (f"{HERE}:Mine/Thermostat-v0", {"colour": 1}, EnvironmentFaultError, "colour"),
        ("Meta-World/MT1", {}, UsageError, "Meta-World/reach-v3"),
        ("Meta-World/MT10", {}, UsageError, "several tasks"),
        pytest.param(
            "Meta-World/reech-v3", {}, UnknownEnvironmentError, "reach-v3", marks=needs("metaworld")
        ),
        pytest.param(
            "Meta-World/reach-v3", {"seed": 0}, UsageError, "episode seed", marks=needs("metaworld")
        ),
        ("phys2d/CartPole-v1", {}, MissingExtraError, "jax"),
    ],
)
def test_unbuildable_environment_gets_one_sentence(env_id: Any, kwargs: Any, kind: Any, says: str) -> None:
    """Each cause has its error type and says what to do."""
    with pytest.raises(kind, match="(?s)" + says.replace("(", r"\(")) as raised:
        make_env(Task(env_id, kwargs))
    assert "\n" not in str(raised.value)


OWN_ARGUMENTS = """
import gymnasium
from gymnasium.envs.classic_control import CartPoleEnv

class Derived(CartPoleEnv):
    def __init__(self, width, *, pole_length=0.5, render_mode=None, **others):
        super().__init__(render_mode=render_mode, **others)

class Old:
    action_space, observation_space = gymnasium.spaces.Discrete(2), gymnasium.spaces.Discrete(2)
    def __init__(self, width, pole_length=1): ...
    def reset(self): return 0
    def step(self, action): return 0, 0.0, False, {}

class Drawn(CartPoleEnv):
    def __init__(self, render_mode): ...

def build(width, pole_length=1): return Derived(width)
"""


@pytest.mark.parametrize("name", ["Derived", "Old", "build()"])
def test_wrong_arguments_are_answered_with_the_valid_ones(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing, misspelt and unknown ones, for Gymnasium classes, old classes and functions."""
    (tmp_path / "own_arguments.py").write_text(OWN_ARGUMENTS)
    monkeypatch.chdir(tmp_path)
    takes = "takes width, pole_length, passed as --env-kwargs width=VALUE"
    for kwargs, hint in ({}, "; it "), ({"width": 1, "pole_lenth": 2}, "; did you mean pole_length? It "), ({"width": 1, "zzz": 2}, "; it "):  # fmt: skip
        with pytest.raises(EnvironmentFaultError) as caught:
            make_env(Task(f"own_arguments:{name}", kwargs))
        assert f"{hint}{takes}" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_required_render_mode_is_an_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a default, promptpo passes it itself."""
    (tmp_path / "drawn_always.py").write_text(OWN_ARGUMENTS)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        EnvironmentFaultError, match="it takes render_mode, passed as --env-kwargs render_mode=VALUE"
    ):
        make_env(Task("drawn_always:Drawn"))


def test_an_environment_without_arguments_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "no_arguments.py").write_text(
        "from gymnasium.envs.classic_control import CartPoleEnv\nclass Env(CartPoleEnv):\n    def __init__(self): ...\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EnvironmentFaultError, match="it takes no arguments"):
        make_env(Task("no_arguments:Env", {"n": 1}))


@pytest.mark.parametrize(
    ("env_id", "extra"),
    [
        ("MiniGrid-DoorKey-8x8-v0", "minigrid"),
        ("FetchReach-v4", "robotics"),
        ("parking-v0", "highway"),
        ("Meta-World/reach-v3", "metaworld"),
    ],
)
def test_a_missing_package_is_named_with_its_pip_command(
    monkeypatch: pytest.MonkeyPatch, env_id: str, extra: str
) -> None:
    for known in [i for i in gymnasium.registry if i == env_id]:
        monkeypatch.delitem(gymnasium.registry, known)

    def refuse(name: Any) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(MissingExtraError, match=rf'pip install "promptpo\[{extra}\]"'):
        make_env(Task(env_id))


def test_a_missing_simulator_is_named_with_its_pip_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """The id may be one that Gymnasium itself registers."""

    def refuse(*_args: Any, **_kwargs: Any) -> None:
        raise gymnasium.error.DependencyNotInstalled("MuJoCo is not installed, run pip install ...")

    monkeypatch.setattr(environments_module.gymnasium, "make", refuse)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r'pip install "promptpo\[mujoco\]"'):
        make_env(Task("HalfCheetah-v5"))


def facts_of(task: Task) -> tuple[int | None, str | None]:
    """Return the horizon of an environment and the info key under which it reports success."""
    with open_env(task) as env:
        observed = observe(env, task.name, most_steps=60)
        return horizon_and_source(env, task, observed)[0], success_key(observed.steps)


def test_a_module_in_the_current_directory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It need not be installed."""
    (tmp_path / "my_room_7.py").write_text(
        "import gymnasium\nfrom tests.promptpo.spec.envs import Thermostat\n"
        "gymnasium.register('Room7-v0', Thermostat, max_episode_steps=9)\n"
    )
    monkeypatch.chdir(tmp_path)
    assert facts_of(Task("my_room_7:Room7-v0"))[0] == 9


@pytest.mark.parametrize(
    ("env_id", "steps", "horizon", "success"),
    [
        ("CartPole-v1", None, 500, None),
        ("CartPole-v1", 30, 30, None),
        (f"{HERE}:Mine/Thermostat-v0", None, 40, "success"),
        ("CliffWalking-v1", None, None, None),
        pytest.param("reach-v3", None, 500, "success", marks=needs_and_is_slow("metaworld")),
        pytest.param("MiniGrid-DoorKey-8x8-v0", None, 640, None, marks=needs("minigrid")),
        pytest.param("FetchReach-v4", None, 50, "is_success", marks=needs_and_is_slow("gymnasium_robotics")),
        pytest.param("parking-v0", None, 500, "is_success", marks=needs_and_is_slow("highway_env")),
    ],
)
def test_horizon_and_success_key_are_found(
    env_id: Any, steps: int | None, horizon: int | None, success: str | None
) -> None:
    """Wherever the package keeps them."""
    assert facts_of(Task(env_id, {}, steps)) == (horizon, success)


def test_scaled_actions_have_the_wrappers_bounds() -> None:
    """Units are left out, and the text says why."""
    env = gymnasium.wrappers.RescaleAction(gymnasium.make("Pendulum-v1"), -1.0, 1.0)
    spec, _ = describe_env(env, Task("Pendulum-v1"))
    assert "self.torque = action[0]  # -1 .. 1\n" in spec.text
    assert "A wrapper scales actions" in spec.text


def test_flattened_observations_drop_notes_on_the_original() -> None:
    """Rows and columns of an index mean nothing in its one-hot vector."""
    env = gymnasium.wrappers.FlattenObservation(gymnasium.make("FrozenLake-v1"))
    spec, _ = describe_env(env, Task("FrozenLake-v1"))
    assert "obs[15]" in spec.text
    assert "MAP[row][column]" not in spec.text


def test_id_registered_by_a_submodule_is_suggested() -> None:
    """Its namespace differs from the module's name."""
    gymnasium.register("lifts_of_tests/Lift-v0", entry_point="tests.promptpo.envs.lifts:Lift")
    try:
        with pytest.raises(UsageError, match="lifts_of_tests/Lift-v0"):
            make_env(Task("tests.promptpo.envs:Lift-v0"))
    finally:
        del gymnasium.registry["lifts_of_tests/Lift-v0"]
