"""Constant actions are candidates, so that no result is worse than they are."""

from pathlib import Path

import numpy as np
import pytest
from gymnasium import spaces

from promptpo import api
from promptpo.llm.scripted import ScriptedLLM
from promptpo.program.reference_policies import constant_policies, random_policy

DEAR = """
import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Env(gym.Env):
    def __init__(self):
        self.observation_space = spaces.Box(-9, 9, (3,), np.float32)
        self.action_space = {space}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.n = 0
        return self.np_random.uniform(-1, 1, 3).astype(np.float32), {{}}

    def step(self, action):
        self.n += 1
        obs = self.np_random.uniform(-1, 1, 3).astype(np.float32)
        return obs, -float(np.abs(action - {free}).sum()) - 0.01 * float(obs[0]), False, self.n >= 40, {{}}
"""

SPACES = {
    "choice that begins at two": ("spaces.Discrete(4, start=2)", 4, "always-4"),
    "numbers, the most": ("spaces.Box(-1, 1, (4,), np.float32)", 1, "always-high"),
    "doses, half of the most": ("spaces.Box(0, 6, (2,), np.float32)", 3, "always-middle"),
    "choices": ("spaces.MultiDiscrete([3, 4])", 0, "zero"),
}


CASES = [
    *(pytest.param(*case, "a language model", id=f"a language model-{name}") for name, case in SPACES.items()),
    pytest.param(*SPACES["choices"], "program search", id="program search-choices"),
    pytest.param(
        "spaces.Box(-1, 1, (4,), np.float32)", -1, "always-low", "program search",
        marks=[pytest.mark.slow], id="program search-numbers, the least",
    ),
]  # fmt: skip
"""Each kind of space with each kind of author."""


@pytest.mark.slow
@pytest.mark.parametrize(("space", "free", "best", "model"), CASES)
def test_better_constant_action_wins(tmp_path: Path, space: str, free: int, best: str, model: str) -> None:
    """It beats a random program, and the result names its origin."""
    (tmp_path / "dear.py").write_text(DEAR.format(space=space, free=free))
    source = random_policy(eval(space, {"spaces": spaces, "np": np}))  # noqa: S307 - of this file
    llm = ScriptedLLM([f"```python\n{source}```"] * 8) if model == "a language model" else None
    found = api.optimize(
        f"{tmp_path / 'dear.py'}:Env", llm=llm, model=None if llm else "search", rounds=1, candidates=2,
        max_steps=4000 if llm else 8000, test_episodes=4, out=tmp_path / "run", tune="none" if llm else "cma",
    )  # fmt: skip
    assert found.data["test"]["mean_return"] > -1.0
    if llm is not None:
        assert found.data["best"]["candidate"] == best
        assert found.data["best"]["origin"] == "reference"


@pytest.mark.slow
def test_constant_with_one_episode_is_compared_again(tmp_path: Path) -> None:
    """A single episode may look better than it is."""
    space, free, best = SPACES["numbers, the most"]
    (tmp_path / "dear.py").write_text(DEAR.format(space=space, free=free))
    source = random_policy(eval(space, {"spaces": spaces, "np": np}))  # noqa: S307 - of this file
    found = api.optimize(
        f"{tmp_path / 'dear.py'}:Env", llm=ScriptedLLM([f"```python\n{source}```"] * 8), rounds=1, candidates=1,
        max_steps=8000, episodes=1, test_episodes=4, out=tmp_path / "run",
    )  # fmt: skip
    assert found.data["best"]["candidate"] == best


def test_better_random_actions_win(tmp_path: Path) -> None:
    """A constant policy loses against them if repeating an action is never rewarded."""
    text = DEAR.format(space="spaces.Discrete(5)", free=0)
    changing = text.replace(
        "        self.n += 1\n",
        "        self.n += 1\n        last, self.last = getattr(self, 'last', 0), action\n",
    )
    paid = changing.replace("-float(np.abs(action - 0).sum())", "float(action != last)")
    (tmp_path / "dear.py").write_text(paid)
    source = constant_policies(spaces.Discrete(5))["always-3"]
    run = api.optimize(
        f"{tmp_path / 'dear.py'}:Env", llm=ScriptedLLM([f"```python\n{source}```"] * 8), rounds=1, candidates=1,
        max_steps=8000, test_episodes=4, out=tmp_path / "run", tune="none",
    )  # fmt: skip
    assert (run.data["best"]["candidate"], run.data["best"]["origin"]) == ("random", "reference")
    assert run.data["test"]["mean_return"] > 25
    assert run.data["verdict"].startswith("No better than random actions")


def test_constant_policies_are_unique() -> None:
    """Zero, or the nearest action to it, is one of them."""
    assert list(constant_policies(spaces.Discrete(3))) == ["zero", "always-1", "always-2"]
    assert list(constant_policies(spaces.Discrete(3, start=-1))) == ["zero", "always--1", "always-1"]
    assert list(constant_policies(spaces.Discrete(50))) == ["zero"]
    assert list(constant_policies(spaces.Box(-1, 1, (2,)))) == ["zero", "always-low", "always-high"]
    assert list(constant_policies(spaces.Box(0, 1, (2,)))) == ["zero", "always-middle", "always-high"]
    assert list(constant_policies(spaces.Box(-np.inf, 1, (2,)))) == ["zero"]
