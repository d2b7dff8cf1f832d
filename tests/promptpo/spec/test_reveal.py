"""Levels of disclosure: what anonymous, bare and named specs must not give away."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.spec import TaskSpec
from promptpo.spec.describe import describe, describe_env
from tests.promptpo.envs.test_building import needs, needs_and_is_slow

pytestmark = pytest.mark.usefixtures("cached_observation", "short_observation")

GIVEAWAYS = [
    "gymnasium", "farama", "openai", "mujoco", "box2d", "http", "github", "barto", "sutton", "anderson",
    "moore", "dietterich", "klimov", "tassa", "todorov", "erez", "wawrzy", "coulom", "pawel", "leurent",
    "chevalier", "levine", "arxiv", "ieee", "doi", "xml", "bibtex", "metaworld", "meta-world", "sawyer",
    "minigrid", "highway", "task:",
]  # fmt: skip
"""Words that no anonymous spec may contain, in lower case."""

ENV_GIVEAWAYS = {
    "CartPole-v1": "cart pole pendulum",
    "MountainCar-v0": "mountain car hill flag valley",
    "Acrobot-v1": "acrobot",
    "Pendulum-v1": "pendulum",
    "FrozenLake-v1": "frozen lake ice hole",
    "Taxi-v4": "taxi passenger cab",
    "CliffWalking-v1": "cliff",
    "Blackjack-v1": "blackjack dealer ace stick hit card deck hand bust natural ten 11 21",
    "LunarLander-v3": "lunar lander moon rocket helipad landing",
    "BipedalWalker-v3": "bipedal walker hull hip knee lidar",
    "HalfCheetah-v5": "cheetah thigh shin foot bthigh fshin rootx",
    "Ant-v5": "ant ankle torso quadruped",
    "Hopper-v5": "hopper thigh foot torso",
    "Humanoid-v5": "humanoid abdomen torso shoulder elbow hip knee",
    "Reacher-v5": "reacher fingertip",
    "InvertedDoublePendulum-v5": "pendulum cart pole",
    "door-open-v3": "hamacher door-open",
    "FetchPush-v4": "fetch fetchpush",
    "PointMaze_UMaze-v3": "pointmaze umaze",
}
PACKAGE = {
    **dict.fromkeys(("LunarLander-v3", "BipedalWalker-v3"), "Box2D"),
    **{i: "mujoco" for i in ENV_GIVEAWAYS if i.endswith("-v5")},
    "door-open-v3": "metaworld",
    "FetchPush-v4": "gymnasium_robotics",
    "PointMaze_UMaze-v3": "gymnasium_robotics",
}


@cache
def build_cached(env_id: str) -> Any:
    """Build an environment once for all tests; some take a second."""
    return make_env(Task(env_id))


def describe_cached(env_id: str, **how: Any) -> TaskSpec:
    """Describe an environment without building it anew."""
    spec, _ = describe_env(build_cached(env_id), Task(env_id), **how)
    return spec


def marks(package: str) -> Any:
    """Return the marks of a package's environments."""
    return needs_and_is_slow(package) if package in ("metaworld", "gymnasium_robotics") else needs(package)


def giveaway_cases() -> Any:
    """Environments with giveaways of their own, skipped if their package is missing."""
    return [pytest.param(i, marks=marks(PACKAGE[i]) if i in PACKAGE else []) for i in ENV_GIVEAWAYS]


@pytest.mark.parametrize("env_id", giveaway_cases())
def test_anonymous_spec_gives_nothing_away(env_id: Any) -> None:
    """Names count as whole words and as parts of identifiers."""
    text = describe_cached(env_id, reveal="anonymous").text.lower()
    compile(text, env_id, "exec")
    text = re.sub(r"\d+ steps of random actions", "", text)  # a count may equal a card's value
    for word in GIVEAWAYS:
        assert word not in text, word
    for word in ENV_GIVEAWAYS[env_id].split():
        assert not re.search(rf"(?<![a-z]){word}s?(?![a-z])", text), word


@pytest.mark.parametrize("env_id", giveaway_cases())
def test_bare_spec_has_shapes_and_bounds_only(env_id: Any) -> None:
    spec = describe_cached(env_id, reveal="bare")
    assert "def reward" not in spec.text
    assert '"start"' not in spec.text
    assert '"end"' not in spec.text
    for word in (*GIVEAWAYS, *ENV_GIVEAWAYS[env_id].split()):
        assert not re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z])", spec.text.lower()), word


def test_anonymous_spec_keeps_what_a_policy_needs() -> None:
    hidden = " ".join(describe(Task("CartPole-v1"), reveal="anonymous").text.split())
    for kept in (
        "obs[2] # -0.4189 .. 0.4189; seen",
        "in 4 episodes: always 1",
        '"max_steps": 500',
        "terminated",
    ):
        assert kept in hidden


DYNAMICS = re.compile(
    r"do_simulation|mj_step|mj_forward|ApplyForce|ApplyTorque|ApplyLinearImpulse|world\.Step|np_random|"
    r"categorical_sample|_rk4|_dsdt|env\.P\b|self\.P\b|kinematics_integrator|\btau \*|masspole|force_mag|gravity \*|\* gravity|env\.gravity|"
    r"env\.state =|self\.state =|<geom|<body|_simulation_step|set_action|Transition"
)
BUILT_IN = [
    *(
        "CartPole-v1",
        "MountainCar-v0",
        "MountainCarContinuous-v0",
        "Acrobot-v1",
        "Pendulum-v1",
        "FrozenLake-v1",
    ),
    *("Taxi-v4", "CliffWalking-v1", "Blackjack-v1"),
    *(pytest.param(i, marks=needs("Box2D")) for i in ("LunarLander-v3", "BipedalWalker-v3", "CarRacing-v3")),
    *(
        pytest.param(f"{i}-v5", marks=needs("mujoco"))
        for i in (
            *(
                "Ant",
                "HalfCheetah",
                "Hopper",
                "Walker2d",
                "Humanoid",
                "HumanoidStandup",
                "Swimmer",
                "Reacher",
                "Pusher",
            ),
            *("InvertedPendulum", "InvertedDoublePendulum"),
        )
    ),
]


def dynamics_statements(env_id: Any) -> Iterator[Any]:
    """Yield the statements of ``step`` that change the state or call the simulator."""
    env = build_cached(env_id).unwrapped
    tree = ast.parse(textwrap.dedent(inspect.getsource(type(env).step)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            stored = ast.unparse(target)
            augmented = isinstance(node, ast.AugAssign) and isinstance(target, ast.Name)
            if stored in {"self.state", "self.s"} or (
                augmented and stored in {"x", "position", "velocity", "theta"}
            ):
                yield ast.unparse(node)
        elif isinstance(node, ast.Expr) and re.search(r"Step|Apply|simul", ast.unparse(node)):
            yield ast.unparse(node)


@pytest.mark.parametrize("env_id", BUILT_IN)
def test_named_spec_withholds_dynamics(env_id: Any) -> None:
    text = describe_cached(env_id).text
    assert not DYNAMICS.search(text), DYNAMICS.search(text)
    for statement in dynamics_statements(env_id):
        assert statement.replace("self.", "env.") not in text
