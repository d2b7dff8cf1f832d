"""Golden specs of 27 environments, each reviewed against the environment's documentation.

Observed ranges are masked because they depend on the simulator's version. After a deliberate change, run
``UPDATE_GOLDEN=1 pytest tests/promptpo/spec/test_golden.py`` and review the difference.
"""

import importlib.util
import os
import re
from pathlib import Path
from typing import Any

import pytest

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.spec.check import contradictions_in
from promptpo.spec.describe import describe, describe_env
from promptpo.spec.reading import read

GOLDEN = Path(__file__).parent / "golden"
PACKAGES = {
    "": "CartPole-v1 MountainCar-v0 MountainCarContinuous-v0 Acrobot-v1 Pendulum-v1 FrozenLake-v1 Taxi-v4 "
    "CliffWalking-v1 Blackjack-v1",
    "Box2D": "LunarLander-v3 LunarLanderContinuous-v3 BipedalWalker-v3 CarRacing-v3",
    "mujoco": "HalfCheetah-v5 Hopper-v5 Ant-v5 Humanoid-v5 Reacher-v5 InvertedDoublePendulum-v5 Pusher-v5",
    "metaworld": "reach-v3 pick-place-v3",
    "minigrid": "MiniGrid-DoorKey-8x8-v0",
    "gymnasium_robotics": "FetchPush-v4 PointMaze_Large-v3",
    "highway_env": "highway-fast-v0 parking-v0",
}
SLOW_TO_BUILD = {"metaworld", "gymnasium_robotics", "highway_env"}
CASES = [
    pytest.param(
        env_id,
        marks=[
            pytest.mark.skipif(
                bool(package) and importlib.util.find_spec(package) is None,
                reason=f"{package} is not installed",
            ),
            *([pytest.mark.slow] if (i and package) or package in SLOW_TO_BUILD else []),
        ],
    )
    for package, ids in PACKAGES.items()
    for i, env_id in enumerate(ids.split())
]
"""Default tests cover Gymnasium's own environments and one of each quick package; the rest are slow."""
QUICKER = {
    "MiniGrid-DoorKey-8x8-v0": {"max_steps": 100},
    "highway-fast-v0": {"config": {"vehicles_count": 3, "duration": 10}},
}
"""Constructor arguments that shorten observation."""
NUMBER = r"-?[\d.]+(?:e[-+]?\d+)?"
SEEN = re.compile(rf"seen {NUMBER} \.\. {NUMBER}(?:, {NUMBER} \.\. {NUMBER})*")


def mask_observed(text: Any) -> Any:
    """Remove observed numbers and the line breaks and columns that depend on their width."""
    text = SEEN.sub("seen ~", text.replace("\n# ", " "))
    text = re.sub(r"(?s)Step rewards over [\d,]+ steps of random actions[^\"]*", "~\n", text)
    text = re.sub(r"\d+ episodes of random actions: [^\"]*", "~", text)
    text = re.sub(r'(FIRST_FRAME = """\\\n.*\n)[^"]*', r"\1~", text)  # pixels depend on the renderer
    text = re.sub(r"(in) \d+ (steps of random)", r"\1 ~ \2", text)
    lines = text.splitlines()
    joined = []
    for line in lines:  # whether a comment stands above or behind its field depends on its width
        field = re.match(r"(\s+self\.\w+ = [^#]*?)\s*(?:#\s*(.*))?$", line)
        if field and joined and joined[-1].lstrip().startswith("# "):
            above = []
            while joined and joined[-1].lstrip().startswith("# "):
                above.insert(0, joined.pop().lstrip("# "))
            joined.append(f"{field[1]}  # {' '.join(above)}")
        elif field:
            joined.append(field[1] + (f"  # {field[2]}" if field[2] else ""))
        else:
            joined.append(line)
    return "\n".join(joined)


@pytest.mark.parametrize("env_id", CASES)
def test_spec_matches_its_golden_file(env_id: Any) -> None:
    task = Task(env_id, QUICKER.get(env_id, {}))
    env = make_env(task)
    spec, observed = describe_env(env, task)
    env.close()
    path = GOLDEN / f"{env_id}.py.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(spec.text, encoding="utf-8")
    assert mask_observed(spec.text) == mask_observed(path.read_text(encoding="utf-8"))
    assert contradictions_in(read(spec.text), spec, observed) == []
    assert len(spec.text) <= 14_000


def test_describing_is_deterministic() -> None:
    """Observed ranges are reproducible, too."""
    assert describe(Task("Pendulum-v1")).text == describe(Task("Pendulum-v1")).text
