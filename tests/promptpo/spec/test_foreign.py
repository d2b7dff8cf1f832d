"""Specs of user-written environments, by the kinds of things that can go wrong; each test generates its cases."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo.spec.check import check_spec
from promptpo.spec.describe import describe
from promptpo.spec.outline import outline
from tests.promptpo.envs.test_building import needs

pytestmark = pytest.mark.usefixtures("short_observation")

NUMBERS = itertools.count()

ENVIRONMENT = '''{module}
import functools

import gymnasium as gym
import numpy as np
from gymnasium import spaces
{imports}

class {name}(gym.Env):
    """{doc}"""
{members}
    def __init__(self):
        {init}
        self.observation_space = spaces.Box({low}, {high}, ({size},), np.float32)
        self.action_space = {action}  {beside}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.n = float(self.np_random.uniform(0.4, 0.6)), 0
        return self._obs(), {{}}

    def _obs(self):
        return np.array([{numbers}], np.float32)

    def step(self, action):
        self.n += 1
        {moves}
        {pays}
        return self._obs(), float(reward), False, self.n >= 25, {{}}
'''
PLAIN = {
    "module": "",
    "imports": "",
    "name": "Odd",
    "doc": "A float on water.",
    "members": "",
    "init": "pass",
    "low": "-1",
    "high": "1",
    "size": 2,
    "action": "spaces.Discrete(3)",
    "beside": "",
    "numbers": "self.x, self.n / 25",
    "moves": "self.x = float(np.clip(self.x + 0.01 * (int(action) - 1), -1, 1))",
    "pays": "reward = -abs(self.x - 0.8)",
}


def write(folder: Path, **changes: Any) -> str:
    """Write a module with the plain environment and these changes; return its task id."""
    values = PLAIN | changes
    path = folder / f"odd_{next(NUMBERS)}.py"
    path.write_text(ENVIRONMENT.format(**values), encoding="utf-8")
    return f"{path}:{values['name']}"


def describe_checked(folder: Path, reveal: Any = "source", **changes: Any) -> str:
    """Return the text of a spec that passes its own check."""
    env_id = write(folder, **changes)
    spec = describe(Task(env_id), reveal=reveal)
    assert spec.revealed == reveal
    assert check_spec(spec.text, Task(env_id)) == []
    assert spec.horizon == 25
    return spec.text


NAMES = [
    *(
        "CartPoleEnv",
        "PendulumEnv",
        "BlackjackEnv",
        "TaxiEnv",
        "FrozenLakeEnv",
        "CliffWalkingEnv",
        "AcrobotEnv",
    ),
    *("LunarLander", "BipedalWalker", "CarRacing", "HalfCheetahEnv", "HopperEnv", "AntEnv", "HumanoidEnv"),
    *(
        "ParkingEnv",
        "HighwayEnv",
        "MazeEnv",
        "MiniGridEnv",
        "SawyerXYZEnv",
        "GoalEnv",
        "Wrapper",
        "TimeLimit",
    ),
]


@pytest.fixture(scope="module")
def plain_specs(tmp_path_factory: pytest.TempPathFactory) -> dict[Any, list[str]]:
    """Lines of the spec of a class with a neutral name, for each level of disclosure."""
    folder = tmp_path_factory.mktemp("plain_specs")
    return {
        reveal: drop_file_names(describe_checked(folder, reveal, name="Odd"))
        for reveal in ("source", "named")
    }


@pytest.mark.parametrize("name", NAMES)
def test_class_names_do_not_affect_the_spec(
    tmp_path: Path, plain_specs: dict[Any, list[str]], name: str
) -> None:
    """A class that shares its name with a known environment is described like any other."""
    reveal = [*plain_specs][NAMES.index(name) % len(plain_specs)]
    text = describe(Task(write(tmp_path, name=name)), reveal=reveal).text
    assert drop_file_names(text.replace(name, "Odd")) == plain_specs[reveal]


def drop_file_names(text: str) -> list[str]:
    return [line for line in text.splitlines() if "odd_" not in line]


STRANGE = {
    "a function of no module": "def paid(x):\n    return -abs(x)\n\n\npaid.__module__ = None\n",
    "a function of no file": "exec('def paid(x): return -abs(x)')\n",
    "a partial": "def more(y, x):\n    return -abs(x - y)\n\n\npaid = functools.partial(more, 0.5)\n",
    "a ufunc": "paid = np.negative\n",
    "a builtin": "paid = abs\n",
    "a lambda": "paid = lambda x: -abs(x)\n",
    "a cached function": "@functools.cache\ndef paid(x):\n    return -abs(x)\n",
    "an object that answers anything": (
        "class Any:\n    def __getattr__(self, name):\n        return self\n    def __call__(self, x):\n        return -abs(x)\n\n\npaid = Any()\n"
    ),
    "an object that refuses": (
        "class No:\n    def __getattr__(self, name):\n        raise RuntimeError(name)\n    def __len__(self):\n        raise RuntimeError\n"
        "    def __call__(self, x):\n        return -abs(x)\n\n\npaid = No()\n"
    ),
    "an object without an end": (
        "class Own:\n    def __init__(self):\n        self.me = self\n        self.all = [self]\n    def __call__(self, x):\n        return -abs(x)\n\n\npaid = Own()\n"
    ),
}


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("strange", STRANGE)
def test_step_is_shown_whatever_it_calls(tmp_path: Path, strange: str, held: bool) -> None:
    """Callables without module, file or source must not prevent the source from being read."""
    use = "self.paid = paid" if held else "pass"
    text = describe_checked(
        tmp_path, imports=f"\n\n{STRANGE[strange]}", init=use, pays=f"reward = {'self.' * held}paid(self.x)"
    )
    assert "def step(self, action):" in text


PAYMENTS = {
    "early returns": "if self.x > 0.7:\n            return self._obs(), 7.25, True, False, {}\n        reward = -0.125",
    "a helper": "reward = self._paid(-0.125)",
    "a loop": "reward = 0.0\n        for _ in range(3):\n            reward += -0.125 if self.x < 2 else 7.25",
    "chance in an expression": "reward = min(7.25, self.np_random.poisson(3)) - 0.125",
    "a branch": "reward = 7.25 if self.x > 2 else -0.125",
    "a table": "reward = {0: -0.125, 1: 7.25, 2: -0.125}[int(action)]",
}


@pytest.mark.parametrize("how", PAYMENTS)
def test_every_reward_constant_is_in_the_source(tmp_path: Path, how: str) -> None:
    members = "\n    def _paid(self, least):\n        return 7.25 if self.x > 2 else least\n"
    env_id = write(tmp_path, pays=PAYMENTS[how], members=members)
    text = describe(Task(env_id), reveal="source").text
    assert "7.25" in text
    assert "-0.125" in text or "- 0.125" in text


@pytest.mark.parametrize("reveal", ["source", "named", "anonymous"])
def test_rare_reward_is_reported_with_its_place(tmp_path: Path, reveal: str) -> None:
    """A penalty in the last step only is described as such."""
    text = " ".join(
        describe_checked(tmp_path, reveal, pays="reward = -10.0 if self.n == 25 else self.x").split()
    )
    assert re.search(r"Step rewards over [^:]*: -10 \.\. ", text)
    assert "lowest at the end of an episode" in text


MEANT = "shut the sluice"
MEANINGS: dict[str, dict[str, Any]] = {
    "a comment beside the space": {"beside": f"# {MEANT}, wait, open"},
    "a constant of the class": {
        "members": f"\n    SHUT = 0  # {MEANT}\n    OPEN = 2\n",
        "moves": "self.x += 0.01 if action == self.OPEN else -0.01 if action == self.SHUT else 0",
    },
    "a constant of the module": {
        "imports": f"\n# {MEANT}\nSHUT, OPEN = 0, 2\n",
        "moves": "self.x += 0.01 if action == OPEN else -0.01 if action == SHUT else 0",
    },
    "a comment in a branch": {"moves": f"if action == 0:\n            # {MEANT}\n            self.x -= 0.01"},
    "names in a dictionary": {
        "imports": f'\nNAMES = {{0: "{MEANT}", 1: "wait", 2: "open"}}\n',
        "moves": "self.x += 0.01 * (NAMES[int(action)] == 'open')",
    },
    "the module's words": {"module": f'"""Actions: 0 {MEANT}, 1 wait, 2 open."""'},
    "words on the constructor": {"init": f'"""Actions: 0 {MEANT}, 1 wait, 2 open."""'},
    "words on step": {"moves": f'"""Actions: 0 {MEANT}, 1 wait, 2 open."""'},
    "an underlined title": {
        "doc": f"Sluice\n    ------\n    Actions (Discrete 3):\n        0 : {MEANT}, 1 : wait, 2 : open"
    },
    "an unknown title": {"doc": f"Schleuse.\n\n    ### Aktionen:\n    0 - {MEANT}, 1 - nichts, 2 - auf"},
}


@pytest.mark.parametrize("where", MEANINGS)
def test_meanings_of_actions_are_found_everywhere(tmp_path: Path, where: str) -> None:
    """If the source is withheld, only docstrings can provide them."""
    assert MEANT in describe_checked(tmp_path, **MEANINGS[where])
    if "doc" in MEANINGS[where]:
        assert MEANT in describe_checked(tmp_path, "named", **MEANINGS[where])


@pytest.mark.parametrize("size", [2, 6, 12])
def test_line_that_builds_the_observation_is_shown(tmp_path: Path, size: int) -> None:
    numbers = ["drift := self.x / 2", "self.x / self.observation_space.shape[0]", *["self.n % 7 / 7"] * size][
        :size
    ]
    line = ", ".join(f"({number})" if ":=" in number else number for number in numbers)
    assert f"np.array([{line}], np.float32)" in describe_checked(tmp_path, numbers=line, size=size)


@pytest.mark.parametrize(("size", "leaves"), [(3, 0), (3, 2), (11, 5), (11, 10), (60, 30)])
def test_exceeded_bounds_are_reported(tmp_path: Path, size: int, leaves: int) -> None:
    """The spec marks the number and its user gets a warning."""
    numbers = ", ".join("self.n / 10" if n == leaves else "self.x / 2" for n in range(size))
    env_id = write(tmp_path, size=size, low=0, numbers=numbers)
    spec = describe(Task(env_id), reveal="source")
    (line,) = (line for line in spec.text.splitlines() if "exceeded" in line)
    assert "0 .. 1, exceeded; seen 0 .. 2.5" in line
    for result in (spec, outline(Task(env_id))):  # without a model, too
        assert any(
            "leave the bounds" in warning and "seen 0 .. 2.5" in warning for warning in result.warnings
        )


@pytest.mark.parametrize("title", ["Rewards:", "## Rewards", "Reward\n    ------", "Belohnung:"])
def test_documented_rewards_are_attributed_to_the_author(tmp_path: Path, title: str) -> None:
    """Documentation may be outdated, so that observed rewards stand beside it."""
    text = describe_checked(tmp_path, "named", doc=f"Shoot at a wall.\n\n    {title}\n    - +10 for a hit")
    assert "In its author's words:" in text.partition("+10 for a hit")[0]
    assert re.search(r"Step rewards over [^:]*: (always )?-", " ".join(text.split()))


KEPT = {
    "a set": "{(0, 1), (2, 3)}",
    "a table": "np.zeros((10, 10))",
    "a list": "[1.0, 2.0]",
    "a pair": "(3.0, 4.0)",
    "a dictionary": "{'a': 1.0}",
}


@pytest.mark.parametrize("kept", KEPT)
def test_hidden_state_is_shown_in_the_source(tmp_path: Path, kept: str) -> None:
    """State that decides the reward without being observed is shown with its initial value."""
    text = describe_checked(
        tmp_path,
        init=f"self.hidden = {KEPT[kept]}",
        pays="reward = -float(len(self.hidden)) - self.x",
    )
    assert f"self.hidden = {KEPT[kept]}" in text


def test_dynamics_are_withheld_from_named_specs(tmp_path: Path) -> None:
    """Neither code nor documentation of the dynamics may leak."""
    text = describe_checked(
        tmp_path,
        "named",
        doc="A float.\n\n    ## Dynamics\n    x grows by 0.01 a step.\n\n    ## Rewards\n    Near 0.8.",
    )
    assert "0.01" not in text
    assert "Near 0.8" in text
    assert "self.n +=" not in text


RAIL = """
XML = '''<mujoco><worldbody><body pos="0 0 1"><joint name="rail" type="slide" axis="1 0 0"/><geom type="box" size=".1 .1 .1"/>
<body{name}><joint name="arm" type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .5" size=".03"/></body></body></worldbody>
<actuator><motor joint="rail" gear="{gear}"/></actuator></mujoco>'''
"""


@needs("mujoco")
@pytest.mark.parametrize("gear", [1, 50])
@pytest.mark.parametrize("name", ["", ' name="mast"'])
def test_unnamed_bodies_are_numbered(tmp_path: Path, name: str, gear: int) -> None:
    """Motor gears are listed because the MJCF file is withheld."""
    text = describe_checked(
        tmp_path,
        "named",
        imports=f"import mujoco\n{RAIL.format(name=name, gear=gear)}",
        init="self.model = mujoco.MjModel.from_xml_string(XML)",
    )
    assert f"{'mast' if name else '2'} on 1 at" in text
    assert (f"motors multiply each control {gear}" in text) == (gear != 1)
