"""The specs of 27 environments, word by word; each was read against the environment's own documentation.

Observed ranges are masked: they depend on the simulator's version. After a deliberate change, write the
files anew with ``UPDATE_GOLDEN=1 pytest tests/promptpo/spec/test_golden.py`` and read the difference.
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
"""Gymnasium's own and one of each quick package in the default tests."""
QUICKER = {
    "MiniGrid-DoorKey-8x8-v0": {"max_steps": 100},
    "highway-fast-v0": {"config": {"vehicles_count": 3, "duration": 10}},
}
"""Arguments that leave less to be looked at."""
NUMBER = r"-?[\d.]+(?:e[-+]?\d+)?"
SEEN = re.compile(rf"seen {NUMBER} \.\. {NUMBER}(?:, {NUMBER} \.\. {NUMBER})*")


def masked(text: Any) -> Any:
    """A spec without observed numbers, and without the line breaks and columns that depend on their length."""
    text = SEEN.sub("seen ~", text.replace("\n# ", " "))
    text = re.sub(r"(?s)Step rewards over [\d,]+ steps of random actions[^\"]*", "~\n", text)
    text = re.sub(r"\d+ episodes of random actions: [^\"]*", "~", text)
    text = re.sub(r'(FIRST_FRAME = """\\\n.*\n)[^"]*', r"\1~", text)  # pixels depend on who draws them
    text = re.sub(r"(in) \d+ (steps of random)", r"\1 ~ \2", text)
    lines = text.splitlines()
    joined = []
    for line in lines:  # a comment above a field and one behind it say the same
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
def test_spec_is_the_reviewed_one(env_id: Any) -> None:
    """The text that a model sees is the one that was reviewed, and contradicts its environment nowhere."""
    task = Task(env_id, QUICKER.get(env_id, {}))
    env = make_env(task)
    spec, observed = describe_env(env, task)
    env.close()
    path = GOLDEN / f"{env_id}.py.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(spec.text, encoding="utf-8")
    assert masked(spec.text) == masked(path.read_text(encoding="utf-8"))
    assert contradictions_in(read(spec.text), spec, observed) == []
    assert len(spec.text) <= 14_000


def test_the_same_again() -> None:
    """Describing twice gives the same text, observed ranges included."""
    assert describe(Task("Pendulum-v1")).text == describe(Task("Pendulum-v1")).text
