"""Values and collaborators of an environment in its source block: attributes, recorded data, renderers, builders."""

import itertools
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.spec.data_held import _table
from promptpo.spec.own_source import OwnSource
from tests.promptpo.spec.projects import source_after_steps

NUMBERS = itertools.count()

ENV = """
import gymnasium as gym
import numpy as np
from gymnasium import spaces
from collections import deque
{head}

class Plain(gym.Env):
    observation_space = spaces.Box(-9, 9, (1,), np.float32)
    action_space = spaces.Discrete(2)
    {body}

    def __init__(self, render_mode=None):
        self.render_mode, self.n = render_mode, 0
        self._build()

    def _build(self):
        {init}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.n = 0
        return self._see(), {{}}

    def _see(self):
        return np.array([self.n % 7], np.float32)

    def _paint(self):
        return len("painted")

    def step(self, action):
        self.n += 1
        reward = 0.0
        {step}
        return self._see(), reward, False, self.n >= 80, dict(n=self.n)
{tail}
"""


def source_of(folder: Path, name: str = "Plain", **parts: str) -> OwnSource:
    """Build an environment from these parts, observe it and read its source."""
    given = {"head": "", "body": "pass", "init": "pass", "step": "pass", "tail": "", **parts}
    file = folder / f"held_{next(NUMBERS)}.py"
    file.write_text(ENV.format(**given))
    return source_after_steps(make_env(Task(f"{file}:{name}")))


def values_in(source: OwnSource) -> str:
    """Return the lines on attribute values, which precede the code."""
    return source.text.partition("\n\n\n")[0]


CHANGED = {
    "self.kept.append(3.5)": "[1.5, 2.5]",
    "self.kept.extend([3.5])": "[1.5, 2.5]",
    "self.kept += [3.5]": "[1.5, 2.5]",
    "self.kept[0] = 3.5": "[1.5, 2.5]",
    "self.kept.insert(0, 3.5)": "[1.5, 2.5]",
    "del self.kept[1:]": "[1.5, 2.5]",
    "self.kept.sort()": "[2.5, 1.5]",
    "self.kept.update(a=3.5)": "{'a': 1.5, 'b': 2.5}",
    "self.kept.setdefault('c', 3.5)": "{'a': 1.5, 'b': 2.5}",
    "self.kept.clear()": "{'a': 1.5, 'b': 2.5}",
    "f = self.kept.append; f(3.5)": "[1.5, 2.5]",
}
"""Statements by which a step changes an attribute, and the attribute's initial value."""


@pytest.mark.parametrize("change", CHANGED)
def test_attribute_values_are_listed_unless_steps_change_them(tmp_path: Path, change: str) -> None:
    """The value of a changing attribute belongs to one episode and is no setting."""
    init, reads = f"self.kept = {CHANGED[change].lower()}", "reward += len(self.kept)"
    constant = source_of(tmp_path, init=f"value = 2; {init}", step=reads)
    assert f"self.kept = {CHANGED[change]}" in values_in(constant)
    computed = init.replace("1.5", "3 / 2")
    assert f"self.kept = {CHANGED[change]}" in values_in(source_of(tmp_path, init=computed, step=reads))
    assert "self.kept" not in values_in(source_of(tmp_path, init=computed, step=f"{reads}; {change}"))


@pytest.mark.parametrize("where", ["class", "module", "object"])
@pytest.mark.parametrize("rows", ["list(np.sin(np.arange(300.0)))", "[dict(load=n / 7) for n in range(300)]"])
def test_recorded_series_are_detected(tmp_path: Path, where: str, rows: str) -> None:
    """They are summarised by length and listed as data that every episode replays."""
    places = {
        "class": {"body": f"rows = {rows}", "step": "row = self.rows[self.n]"},
        "module": {"head": f"ROWS = {rows}", "step": "row = ROWS[self.n]"},
        "object": {"init": f"self.rows = {rows}", "step": "row = self.rows[self.n]"},
    }
    source = source_of(tmp_path, **places[where])
    assert "list of shape (300,)" in values_in(source)
    assert [line for line in source.series if "300 rows" in line]


DRAWN = ["self.render()", "self._render_frame(1)", "if self.render_mode:\n            self.render()"]


@pytest.mark.parametrize("step", DRAWN)
def test_methods_called_only_to_render_are_omitted(tmp_path: Path, step: str) -> None:
    """A method whose result a step uses is shown."""
    body = "def render(self):\n        return self._paint()\n    def _render_frame(self, n):\n        return self._paint()"
    text = source_of(tmp_path, body=body, step=step).text
    assert "def _paint" not in text
    assert (
        "def _paint" in source_of(tmp_path, body=body, step=f"{step}\n        reward += self.render()").text
    )


BUILDERS = {
    "wrapped": "def made():\n    return gym.wrappers.TransformReward(Plain(), lambda r: r * SCALE)",
    "chosen": "def made(kind='plain'):\n    return gym.wrappers.TransformReward({'plain': Plain}[kind](), scaled)",
    "called": "class Builder:\n    def __call__(self):\n        return gym.wrappers.TransformReward(Plain(), scaled)\n\n\nmade = Builder()",
}
SCALED = "\n\nSCALE = 0.125  # seen\n\n\ndef scaled(r):\n    return SCALE * r\n\n\n"


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("registered", [False, True])
def test_factory_and_wrappers_are_shown(tmp_path: Path, builder: str, registered: bool) -> None:
    """Gymnasium's own wrappers are listed with their arguments."""
    tail = SCALED + BUILDERS[builder]
    env_id = f"Held-v{next(NUMBERS)}"
    if registered:
        tail += f"\n\n\ngym.register({env_id!r}, made)\n"
    text = source_of(tmp_path, env_id if registered else "made()", tail=tail).text
    gymnasium.registry.pop(env_id, None)
    assert "TransformReward(" in text
    assert "# seen" in text


def test_module_counters_are_shown(tmp_path: Path) -> None:
    """A function that only increments a global still reads it."""
    steps: dict[str, Any] = {"head": "COUNT = 5  # seen", "step": "reward = count()"}
    steps["tail"] = "\n\ndef count():\n    global COUNT\n    COUNT += 1\n    return 0.0\n"
    assert "# seen" in source_of(tmp_path, **steps).text


@pytest.mark.slow
def test_source_does_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    """Guards against iteration over sets."""
    members = "\n".join(
        f"    def part_{n}(self):\n        return {n} if self else self.part_{(7 * n + 3) % 40}()"
        for n in range(40)
    )
    calls = ", ".join(f"value.part_{n}()" for n in range(40))
    tail = f"\nclass Late:\n{members}\n"
    step = f"value = self.make(); [{calls}]"
    parts = {"head": "", "body": "def make(self): return Late()", "init": "pass", "step": step, "tail": tail}
    (tmp_path / "ordered.py").write_text(ENV.format(**parts))
    code = (
        "from promptpo.envs.building import make_env\nfrom promptpo.envs.task import Task\n"
        "from promptpo.spec.observe import observe\nfrom promptpo.spec.own_source import read_source\nfrom promptpo.spec.reach import reach\n"
        "env = make_env(Task('ordered:Plain'))\ncalled = observe(env, 'it').called\n"
        "print([d.label for d in reach(env, called).shown], read_source(env, called).text)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(3)
    }
    assert len(outputs) == 1


def test_list_of_words_is_abbreviated() -> None:
    """Only the first words are shown, and long words are cut."""
    table = str(_table(["cigar", "rebut", "x" * 90] * 20))
    assert "shape (60,)" in table
    assert "'cigar', 'rebut', 'xxx" in table
    assert len(table) < 150


SETTINGS = {
    "nested": "Outer(Inner(0.25 / 2))",
    "slots": "Slotted(0.25 / 2)",
    "namespace": "SimpleNamespace(inner=SimpleNamespace(mass=0.25 / 2))",
    "arguments": "Namespace(inner=Namespace(mass=0.25 / 2))",
    "file": "json.loads(json.dumps({'model': '/a/path', 'inner': {'mass': 0.25 / 2}}))",
}
"""Nested settings, as configuration files and libraries create them."""

SETTINGS_HEAD = """
import dataclasses
import json
from argparse import Namespace
from types import SimpleNamespace

@dataclasses.dataclass
class Inner:
    mass: float

@dataclasses.dataclass
class Outer:
    inner: Inner

@dataclasses.dataclass(slots=True)
class Slotted:
    mass: float
"""


@pytest.mark.parametrize("settings", SETTINGS)
def test_nested_settings_are_listed(tmp_path: Path, settings: str) -> None:
    """The code does not show their values; settings that a step changes are left out."""
    read = {"slots": "self.cfg.mass", "file": "self.cfg['inner']['mass']"}.get(
        settings, "self.cfg.inner.mass"
    )
    parts = {"head": SETTINGS_HEAD, "init": f"self.cfg = {SETTINGS[settings]}"}
    listed = values_in(source_of(tmp_path, step=f"reward += {read}", **parts))
    assert re.search(r"cfg\S*mass\S* = 0\.125", listed) or "{'mass': 0.125}" in listed
    assert "/a/path" not in listed
    assert "0.125" not in values_in(source_of(tmp_path, step=f"{read} = 0.5", **parts))


def test_reference_cycles_are_walked_once(tmp_path: Path) -> None:
    """Objects in a table of many are not listed."""
    head = (
        "class Part:\n    def __init__(self, env): self.env, self.mass, self.all = env, 0.25 / 2, {0: self}\n"
    )
    listed = values_in(
        source_of(tmp_path, head=head, init="self.part = Part(self)", step="reward += self.part.mass")
    )
    assert listed.count("0.125") == 1


@pytest.mark.parametrize(("size", "whole"), [(5, True), (9, True), (40, False)])
def test_small_matrices_are_listed_whole(tmp_path: Path, size: int, whole: bool) -> None:
    """A linear system consists of its matrices; their numbers are rounded."""
    init = f"self.kept = np.random.default_rng(0).normal(size=({size}, {size}))"
    listed = values_in(source_of(tmp_path, init=init, step="reward += self.kept[0, 0]"))
    assert ("self.kept = [[0.12573, -0.132105, " in listed) == whole
    assert (f"self.kept: ndarray of shape ({size}, {size})" in listed) != whole


def test_map_indexed_by_positions_is_not_a_recorded_series(tmp_path: Path) -> None:
    """A position is not a time, and a map has few rows."""
    init = "self.kept = np.array([list('#..#'), list('#.##')])"
    listed = values_in(source_of(tmp_path, init=init, step="reward += self.kept[0, self.n % 4] == '#'"))
    assert "self.kept = [['#', '.', '.', '#'], ['#', '.', '#', '#']]" in listed


def test_table_filled_by_several_statements_is_listed_once(tmp_path: Path) -> None:
    """Each statement is shown."""
    head = "ROWS = dict(a=np.sin(1.0))\nROWS['b'] = float(np.sin(2.0))\nROWS['c'] = float(np.sin(3.0))"
    source = source_of(tmp_path, head=head, step="reward += len(ROWS)")
    assert values_in(source).count("ROWS") == 1
    assert source.text.count("ROWS['") == 2


def test_values_beyond_the_limit_are_counted(tmp_path: Path) -> None:
    """The first ones are listed."""
    init = "vars(self).update({f'v_{n}': 'x' * 900 for n in range(20)})"
    step = "reward += " + " + ".join(f"len(self.v_{n})" for n in range(20))
    listed = values_in(source_of(tmp_path, init=init, step=step))
    assert listed.count("= 'xxx") == 6
    assert "#   and 14 more" in listed


INNER_CLASS = """
class Local(gym.Env):
    observation_space, action_space = spaces.Box(-9, 9, (1,), np.float32), spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.n = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.n += 1
        return np.zeros(1, np.float32), scale * priced(self.n), self.n >= 80, False, {}
"""

PLACES = {
    "function": ("def build(rate=0.5):\n    scale = 2 * rate\n{1}\n    return Local()", "build()"),
    "two functions": (
        "def build(rate=0.5):\n    scale = 2 * rate\n    def inner():\n{2}\n        return Local()\n    return inner()",
        "build()",
    ),
    "called": ("def make(rate=0.5):\n    scale = 2 * rate\n{1}\n    return Local\n\nMade = make()", "Made"),
    "class": ("scale = 2.0\n\nclass Holder:\n{1}\n\nMade = Holder.Local", "Made"),
}
"""Where a class may be defined, and the name of its environment."""


@pytest.mark.parametrize("place", PLACES)
def test_local_class_is_shown_with_its_enclosing_definition(tmp_path: Path, place: str) -> None:
    """The variables of a function that defines a class decide its dynamics."""
    code, name = PLACES[place]
    tail = code.format(*(textwrap.indent(INNER_CLASS, "    " * depth) for depth in range(3)))
    text = source_of(tmp_path, name, tail=f"\ndef priced(n):\n    return n / 7  # seen\n\n{tail}").text
    assert "scale * priced" in text
    assert "# seen" in text
    assert "scale = 2" in text


def test_series_that_begins_with_a_gap_hides_no_source(tmp_path: Path) -> None:
    """Averages over a window are NaN until it is full."""
    source = source_of(
        tmp_path, init="self.rows = [float('nan')] * 9 + [1.5] * 291", step="row = self.rows[self.n]"
    )
    assert "begins nan, nan, nan" in values_in(source)
    assert "def step" in source.text
