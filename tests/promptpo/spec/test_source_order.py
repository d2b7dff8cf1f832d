"""Priorities in the source block if space is short: rewards first, dead code last."""

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from promptpo.envs.task import Task
from promptpo.spec.describe import describe
from tests.promptpo.spec.projects import HEAD, LONG, NUMBERS, source_of

REWARDS = {
    "returned": "return self._see(), {pay}, False, False, {{}}",
    "assigned": "reward = {pay}\n        done = reward > 9\n        return self._see(), reward, done, False, {{}}",
    "condition": "done = False\n        if {pay} > 9:\n            done = True\n        return self._see(), 0.0, done, False, {{}}",
    "attribute": "self.gain = {pay}\n        return self._see(), self.gain, False, False, {{}}",
    "early": "if {pay} > 9:\n            return self._see(), 1.0, True, False, {{}}\n        return self._see(), 0.0, False, False, {{}}",
    "old": "return self._see(), {pay}, False, {{}}",
    "delegated": "return self.finish()\n\n    def finish(self):\n        return self._see(), {pay}, False, False, {{}}",
}
"""Ways in which a step returns its reward and termination; `{pay}` is an expression of `PAYERS`."""

PAYERS = {
    "method": ("self.pay()", "    def pay(self):\n        return pay_0(self.x)\n"),
    "function": ("pay_0(self.x)", ""),
    "held": ("self.judge.pay(self.x)", ""),
    "module": ("self.tools.pay_0(self.x)", ""),
}
"""Places that compute the reward: an expression and the environment's method behind it."""

JUDGE = "class Judge:\n    def pay(self, x):\n        return pay_0(x)\n"


@pytest.mark.slow
@given(
    how=st.sampled_from(sorted(REWARDS)),
    payer=st.sampled_from(sorted(PAYERS)),
    deep=st.integers(0, 5),
    order=st.randoms(use_true_random=False),
)
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_reward_code_is_kept_if_space_is_short(
    project: Path, how: str, payer: str, deep: int, order: Any
) -> None:
    """Neither the order of definitions nor long code called earlier displaces it."""
    number = next(NUMBERS)
    pay, method = PAYERS[payer]
    chain = [f"def pay_{n}(x):\n    return pay_{n + 1}(x) + RATE\n" for n in range(deep)]
    functions = [*chain, f"def pay_{deep}(x):\n    return x * RATE\n", "RATE = 0.5\n", JUDGE]
    moves = [f"    def move_{n}(self):\n        return {LONG}\n" for n in range(12)]
    order.shuffle(functions)
    order.shuffle(moves)
    (project / f"rules_{number}.py").write_text("\n\n".join(functions))
    calls = [f"        self.y = self.move_{n}()\n" for n in range(12)]
    body = [
        *("    def reset(self, *, seed=None, options=None):\n", *calls, "        return self._see(), {}\n"),
        *("    def step(self, action):\n", *calls, f"        {REWARDS[how].format(pay=pay)}\n"),
        method,
    ]
    (project / f"yard_{number}.py").write_text(
        f"{HEAD}import rules_{number}\nfrom rules_{number} import *\n\n\nclass Yard(gym.Env):\n"
        f"{''.join(moves)}{YARD.format(number=number)}{''.join(body)}"
    )
    importlib.invalidate_caches()
    text = source_of(f"yard_{number}:Yard")
    assert set(re.findall(r"def (pay_\d)", text)) == {f"pay_{n}" for n in range(deep + 1)}
    assert "RATE = 0.5" in text
    assert "def step" in text
    assert re.search(r"# Omitted for length: [^\n]*move_", text)


YARD = """
    def __init__(self):
        self.observation_space, self.action_space = spaces.Box(-9, 9, (1,)), spaces.Discrete(2)
        self.x, self.judge, self.tools = 0.5, rules_{number}.Judge(), rules_{number}

    def _see(self):
        return np.zeros(1, np.float32)

"""


FULL = '''
class Full(gym.Env):
    observation_space, action_space = spaces.Box(0, 9, (1,)), spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.belt = Belt()
        return np.zeros(1, np.float32), {{}}

    def step(self, action):
        """Move.

        {words}
        """
        return np.zeros(1, np.float32), self.belt.keep(), False, False, {{}}


class Belt:
    """A belt."""

    def keep(self):
        """Stay.

        {words}
        """
        return {long}
'''
"""An environment with long docstrings."""


@pytest.mark.parametrize("room", [True, False])
def test_docstrings_are_cut_before_code_is_omitted(project: Path, room: bool) -> None:
    """If the source is too long, functions keep the first paragraph of theirs and classes none."""
    n = next(NUMBERS)
    words, long = "many words " * (3 if room else 600), f"len('{'x' * 14000}')"
    (project / f"full_{n}.py").write_text(f"{HEAD}{FULL.format(words=words, long=long)}")
    text = source_of(f"full_{n}:Full")
    assert ("many words" in text) == ("A belt." in text) == room
    assert "Move." in text
    assert "Stay." in text
    assert long in text


DEEP = """{head}import types


class Engine:
    \"\"\"An engine, described at length.\"\"\"

    def reset(self):
        self.x = 0.0

    def step(self):
        self.x += self.move()
{spaces}
    def move(self):
        return {long}


class Dashboard:
    def show(self):
        return {long} * 2


class Car(gym.Env):
    \"\"\"A car.\"\"\"

    observation_space = spaces.Box(0, 9, (1,))
    action_space = spaces.Discrete(2)

    def __init__(self):
        self.env, self.screen = Engine(), Dashboard()
        self.prepare()
        self.library = types.SimpleNamespace(call=self.flow)

    def prepare(self):
        return {long} * 3

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.env.reset()
        return np.zeros(1, np.float32), {{}}

    def step(self, action):
        self.env.step()
        self.screen.show()
        y = self.turn()
        return np.zeros(1, np.float32), self.pay(), False, False, {{}}

    def pay(self):
        return float(self.library.call())

    def flow(self):
        return {long} * 4

    def turn(self):
        return {long} * 5
"""
"""A car with an engine, a screen and a library object that calls back."""


@pytest.mark.slow
@pytest.mark.parametrize("spaces", ["", "    action_space = observation_space = spaces.Discrete(2)\n"])
def test_held_object_is_not_described_as_the_environment(project: Path, spaces: str) -> None:
    """Code that a library calls back belongs to the step; code of the constructor alone gets the remaining space."""
    n = next(NUMBERS)
    long = f"len('{'x' * 5400}')"
    text = DEEP.format(head=HEAD, spaces=spaces, long=long)
    (project / f"deep_{n}.py").write_text(text)
    spec = describe(Task(f"deep_{n}:Car"), reveal="source").text
    assert ("A car." in spec.partition("class State")[0]) == (not spaces)
    methods = {"flow", "move", "show", "turn", "prepare"}
    omitted = {name for name in methods if f"def {name}(" not in spec}
    assert omitted == {"prepare"}


CROWDED = """{head}
class Crowded(gym.Env):
    observation_space, action_space = spaces.Box(0, 9, (1,)), spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._see(), {{}}

    def step(self, action):
        return self._see(), self.pay() if action < 2 else self.forfeit(), False, False, {{}}

    def _see(self):
        len({long})
        return np.zeros(1, np.float32)

    def pay(self):
        return self.pay_more()

    def pay_more(self):
        return 1.0

    def forfeit(self):
        len({short})
        return -1.0

"""
"""A long function that is called before short ones, and code that no observed step calls."""


@pytest.mark.parametrize(
    ("seen", "idle", "omitted"),
    [(16_000, 100, set()), (25_000, 100, {"_see"}), (16_000, 9_000, {"forfeit"})],
)
def test_one_long_function_does_not_displace_short_ones(
    project: Path, seen: int, idle: int, omitted: set[str]
) -> None:
    """Of what was called, the longest is left out first; what was not called follows if there is room."""
    n = next(NUMBERS)
    text = CROWDED.format(head=HEAD, long=f"'{'x' * seen}'", short=f"'{'x' * idle}'")
    (project / f"crowded_{n}.py").write_text(text)
    shown = source_of(f"crowded_{n}:Crowded")
    names = {"_see", "pay", "pay_more", "forfeit"}
    assert {name for name in names if f"def {name}(" not in shown} == omitted


CHEETAH = """{head}
from gymnasium.envs.mujoco.mujoco_env import MujocoEnv


class Mine(MujocoEnv):
    metadata = {{"render_modes": ["human", "rgb_array", "depth_array", "rgbd_tuple"], "render_fps": 20}}

    def __init__(self):
        space = spaces.Box(-np.inf, np.inf, (18,), np.float64)
        super().__init__("half_cheetah.xml", 5, observation_space=space)

    def _see(self):
        return np.concatenate([self.data.qpos, self.data.qvel])

    def step(self, action):
        self.do_simulation(action, self.frame_skip)
        return self._see(), self.bonus() if self.data.qpos[0] > 99 else 0.0, False, False, {{}}

    def bonus(self):
        return 1.0

    def reset_model(self):
        self.set_state(self.init_qpos, self.init_qvel)
        return self._see()
"""


@pytest.mark.slow
def test_gymnasiums_base_classes_show_only_what_was_called(project: Path) -> None:
    """The author's own code is shown although it was not called."""
    n = next(NUMBERS)
    (project / f"cheetah_{n}.py").write_text(CHEETAH.format(head=HEAD))
    shown = source_of(f"cheetah_{n}:Mine")
    own, _, base = shown.partition("gymnasium/envs/mujoco/mujoco_env.py")
    assert "def bonus" in own
    assert "def __init__" in own
    assert {*re.findall(r"def (\w+)", base)} >= {"do_simulation", "set_state"}
    assert not {*re.findall(r"def (\w+)", base)} & {"render", "close", "__init__", "_initialize_simulation"}
