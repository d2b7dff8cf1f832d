"""Episode length: played episodes outrank stated limits."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from promptpo.envs.task import Task
from promptpo.spec.check import check_spec
from promptpo.spec.counters import StepCounters
from promptpo.spec.describe import describe, describe_env
from promptpo.spec.facts import common_length
from promptpo.spec.observe import EpisodeEnd
from promptpo.spec.outline import outline
from promptpo.spec.task_spec import with_cut

CASES = [
    ([EpisodeEnd(30, terminated=False, truncated=True)] * 3, 30),
    (
        [EpisodeEnd(30, terminated=False, truncated=True), EpisodeEnd(12, terminated=True, truncated=False)],
        30,
    ),
    (
        [EpisodeEnd(30, terminated=False, truncated=True), EpisodeEnd(40, terminated=True, truncated=False)],
        None,
    ),
    (
        [EpisodeEnd(30, terminated=False, truncated=True), EpisodeEnd(20, terminated=False, truncated=True)],
        None,
    ),
    ([EpisodeEnd(40, terminated=True, truncated=False)] * 3, None),
    ([EpisodeEnd(50, terminated=False, truncated=False)], None),
]


@pytest.mark.parametrize(("endings", "length"), CASES)
def test_common_length_is_that_of_all_truncations(endings: Any, length: Any) -> None:
    """Terminations at one length may be caused by bad actions."""
    assert common_length(endings) == length


class Falling(gymnasium.Env[Any, Any]):
    """Falls soon under random actions; only better policies reach the limit in its code."""

    observation_space = spaces.Box(-9, 9, (1,))
    action_space = spaces.Discrete(2)

    def __init__(self, counts: int) -> None:
        self.counts, self.patience, self.t, self.x = counts, 400, 0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.t = self.x = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        self.t += self.counts
        self.x += 2 * int(action) - 1
        fell = abs(self.x) > 3
        truncated = self.t > self.patience
        return np.array([self.x], np.float32), 1.0, fell, truncated, {}


@pytest.mark.parametrize(("counts", "horizon"), [(1, 401), (5, 81), (-5, None)])
def test_horizon_is_read_from_a_step_counter_in_the_code(counts: int, horizon: int | None) -> None:
    """No random episode reaches the limit; a counter that runs away from it never does."""
    spec, _ = describe_env(Falling(counts), Task("Falling-v0"))
    assert spec.horizon == horizon


def test_spec_file_contradicting_a_limit_in_code_is_reported() -> None:
    task = Task("tests.promptpo.spec.test_horizon:Falling", {"counts": 1})
    (wrong,) = check_spec('EPISODE = {"max_steps": 100}\n', task)
    assert "at most 401 steps, not 100" in wrong.message


CLOCKS = {
    "a counter": ("0", "+= 1", ">= 40", 40),
    "passed": ("0", "+= 1", "> 40", 41),
    "minutes": ("60", "+= 15", ">= 60 + 15 * 40", 40),
    "added": ("0", "+= 1", "+ 1 > 40", 40),
    "a clock": ("0.0", "+= 0.1", ">= self.settings['hours']", 40),
    "what is left": ("40", "-= 1", "<= 0", 40),
    "a tick": ("10", "+= 1", "== self.last", 40),
}


class Clock(gymnasium.Env[Any, Any]):
    """Ends soon, or by its clock."""

    observation_space = spaces.Box(-9, 9, (1,))
    action_space = spaces.Discrete(2)
    settings: dict[str, float] = {"hours": 4.0}  # noqa: RUF012 - as people write it

    def __init__(self) -> None:
        self.last = 50


CLOCK = """
from tests.promptpo.spec.test_horizon import Clock
import numpy as np


class Env(Clock):
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.clock, self.x = {begins}, 0
        return np.zeros(1, np.float32), {{}}

    def step(self, action):
        self.clock {adds}
        self.x += 2 * int(action) - 1
        return np.array([self.x], np.float32), 1.0, abs(self.x) > 3, self.clock {ends}, {{}}
"""


@pytest.mark.parametrize("clock", CLOCKS.values(), ids=CLOCKS)
def test_any_attribute_with_a_constant_step_is_a_counter(
    tmp_path: Path, clock: tuple[str, str, str, int]
) -> None:
    """Counters may run in either direction, by any amount and from any value."""
    begins, adds, ends, horizon = clock
    (tmp_path / "clock.py").write_text(CLOCK.format(begins=begins, adds=adds, ends=ends))
    assert outline(Task(f"{tmp_path / 'clock.py'}:Env")).horizon == horizon


DAY = """
import gymnasium as gym
import numpy as np
from gymnasium import spaces

LENGTH = {length}


class Env(gym.Env):
    {held}

    def __init__(self):
        self.observation_space = spaces.Box(-9, 9, (1,), np.float32)
        self.action_space = spaces.Discrete(2)
        self.{name} = {length}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.n, self.x = 0, float(self.np_random.uniform(-1, 1))
        return np.array([self.x], np.float32), {{}}

    def step(self, action):
        self.n += 1
        ended = self.n {compares} {by}
        return np.array([self.x], np.float32), 0.0, {ends}, {{}}
"""

WAYS = {
    "an attribute": "self.day_minutes",
    "a constant of the class": "self.PERIOD",
    "of the module": "LENGTH",
    "a literal": "{length}",
}


@pytest.mark.parametrize("by", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(
    ("compares", "length", "ends"),
    [
        (">=", 340, "ended, False"),
        (">", 260, "False, ended"),
        ("==", 60, "ended, False"),
        ("==", 60, "False, ended"),
    ],
)
def test_common_episode_length_in_the_code_is_the_horizon(
    tmp_path: Any, by: str, ends: str, compares: str, length: int
) -> None:
    """Two episodes of equal length suffice if that number occurs in the environment."""
    file = tmp_path / "day.py"
    held, by = (f"PERIOD = {length}" if "PERIOD" in by else "pass"), by.format(length=length)
    file.write_text(
        DAY.format(
            length=length,
            name="day_minutes" if "day" in by else "x",
            held=held,
            compares=compares,
            by=by,
            ends=ends,
        )
    )
    spec = outline(Task(f"{file}:Env"))
    assert spec.horizon == length + (compares == ">")
    assert "cuts longer" not in with_cut(spec, 200).text


def test_spec_file_sets_the_horizon_only_if_it_is_unknown(tmp_path: Path) -> None:
    file = tmp_path / "spec.py"
    file.write_text('EPISODE = {"max_steps": 500}\n')
    known = describe(Task("CartPole-v1"), spec_file=str(file))
    assert (known.horizon, known.horizon_source) == (500, describe(Task("CartPole-v1")).horizon_source)
    assert known.horizon_source != "spec file"
    task = Task("tests.promptpo.spec.test_horizon:Falling", {"counts": -5})
    unknown = describe(task, spec_file=str(file))
    assert (unknown.horizon, unknown.horizon_source) == (500, "spec file")
    file.write_text('EPISODE = {"max_steps": None}\n')
    assert describe(task, spec_file=str(file)).horizon is None


class Game:
    """Counts rounds, of which a step plays two."""

    def __init__(self) -> None:
        self.played, self.most = 0, 23

    def step(self) -> bool:
        """Play two rounds; return whether none is left."""
        self.played += 2
        return self.played >= self.most


class Playing(gymnasium.Env[Any, Any]):
    """Hands steps to a game, and has attributes with the names of the game's."""

    observation_space = spaces.Box(0, 1, (1,))
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.game, self.played, self.most = Game(), 0, 7
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        self.played += 1
        return np.zeros(1, np.float32), 0.0, False, self.game.step(), {}


class Growing(Playing):
    """Ends where a number that grows ever faster is large."""

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        self.size = 1
        return super().reset(seed=seed)

    def step(self, action: Any) -> Any:
        self.size *= 2
        return np.zeros(1, np.float32), 0.0, self.size >= 1000, False, {}


@pytest.mark.parametrize("kind", [Playing, Growing])
def test_other_counts_are_not_a_limit(kind: type[Playing]) -> None:
    """Neither what a held object counts nor an attribute with varying steps counts an environment's steps."""
    env = kind()
    env.reset(seed=0)
    counters = StepCounters(env)
    for number in range(1, 6):
        env.step(0)
        counters.note(number)
    assert counters.limit({}) is None


ALIASES = {
    "settings = self.settings": ("self.clock >= settings['hours']", 40),
    "settings, other = self.settings, 1": ("self.clock >= 10 * settings['hours'] * other / 10", 40),
    "limit = self.last - 10": ("self.clock >= limit / 10", 40),
    "limit = 40; limit += 1": ("self.clock >= limit", None),
    "limit = self.unknown() if action > 5 else 40": ("self.clock >= limit", None),
    "limit = limit_of(self) if action > 5 else 40.0; limit = 40.0": ("self.clock >= limit", None),
}
"""Statements that precede a comparison of a clock in tenths, the comparison and the resulting limit."""


@pytest.mark.parametrize("alias", ALIASES)
def test_limit_may_be_a_local_variable(tmp_path: Path, alias: str) -> None:
    """It must be assigned once from a setting; a value that may change is no limit."""
    ends, horizon = ALIASES[alias]
    text = CLOCK.format(begins="0.0", adds="+= 0.1", ends=ends.removeprefix("self.clock "))
    (tmp_path / "clock.py").write_text(
        text.replace("        self.x +=", f"        {alias}\n        self.x +=")
    )
    assert outline(Task(f"{tmp_path / 'clock.py'}:Env")).horizon == horizon
