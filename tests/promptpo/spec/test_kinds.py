"""Faults that specs of user-written environments had, each generated in several forms."""

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from gymnasium import spaces

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.spec.describe import describe
from promptpo.spec.fields import fields_of
from tests.promptpo.spec.projects import source_after_steps

pytestmark = pytest.mark.usefixtures("short_observation")

NUMBERS = itertools.count()

ENV = """
import random
from abc import ABC
from collections import namedtuple
import gymnasium as gym
import numpy as np
from gymnasium import spaces
{head}

class Plain({bases}):
    observation_space = spaces.Box(-99, 99, (1,), np.float32)
    action_space = spaces.Discrete(2)
    made, most = None, 70
    {body}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.x, self.calm, self.over = 0, 0, 0, False
        {reset}
        return self._see(), {{}}

    def _see(self):
        return np.array([self.x], np.float32)

    def _is_late(self):
        return self.t >= 70

    def _judge(self):
        if self.t >= 70:
            self.over = True

    def step(self, action):
        self.t += 1
        self.x += 2 * int(action) - 1
        reward, fell = 0.0, abs(self.x) > 2
        {step}
"""
RETURN = "return self._see(), reward, fell, False, {}"


def write(folder: Path, **parts: str) -> str:
    """Write an environment with these parts; return its task id."""
    file = folder / f"kind_{next(NUMBERS)}.py"
    whole = {"head": "", "bases": "gym.Env", "body": "", "reset": "", "step": RETURN} | parts
    file.write_text(ENV.format(**whole))
    return f"{file}:Plain"


def source_of(env_id: str) -> str:
    """Build the environment and return its source as the spec shows it."""
    return source_after_steps(make_env(Task(env_id))).text


CHANGES = [
    "Rules.best = 3.0",
    "Rules.table = {1: Rules.best}",
    "Rules.table[2] = 5.0",
    "Rules = dict(best=Rules.best)",
]


@pytest.mark.parametrize("change", CHANGES)
def test_class_modified_after_its_definition_is_shown(tmp_path: Path, change: str) -> None:
    """Assignments to a class once hid its methods."""
    head = f"class Rules:\n    best = 2.0\n    table = {{}}\n    def pay(self):\n        return self.best\nold = Rules\n{change}"
    shown = source_of(write(tmp_path, head=head, step="reward += old().pay()\n        " + RETURN))
    assert "def step" in shown
    assert "def pay" in shown


COUNTERS = ["episode_length", "max_steps", "max_episode_steps"]


@pytest.mark.parametrize("name", COUNTERS)
@pytest.mark.parametrize(
    ("reset", "step", "limit"),
    [
        ("self.{} = 0", "self.{} += 1", None),
        ("self.{0} = getattr(self, '{0}', 0)", "self.{} += 1", None),
        ("self.{} = 70", "fell = fell or self.t >= self.{}", 70),
        (
            "self.{}, self.still = 70, 0",
            "self.still = 0 if action else self.still + 1\n        fell = self.still > self.{}",
            None,
        ),
    ],
    ids=["counts", "counts on", "limit", "limit of a count that restarts"],
)
def test_horizon_is_a_limit_on_a_count_of_all_steps(
    tmp_path: Path, name: str, reset: str, step: str, limit: int | None
) -> None:
    """A name such as `max_steps` alone does not make an attribute the horizon."""
    env_id = write(tmp_path, reset=reset.format(name), step=f"{step.format(name)}\n        {RETURN}")
    assert describe(Task(env_id)).horizon == limit


ENDS = {
    "returned": ("", "self.t >= 70", 70),
    "or": ("", "fell or self.t > 69", 70),
    "bool": ("", "bool(self.t >= 70)", 70),
    "by a method": ("", "self._is_late()", 70),
    "named": ("late = self.t == 70", "late", 70),
    "set": ("late = False\n        if self.t >= 70:\n            late = True", "late", 70),
    "set elsewhere": ("self._judge()", "self.over", 70),
    "early": ("if self.t >= 70:\n            return self._see(), 0.0, False, True, {}", "fell", 70),
    "where there is one": ("", "self.most is not None and self.t >= self.most", 70),
    "where it is not 0": ("", "bool(self.most and self.t >= self.most)", 70),
    "never": ("", "False", None),
    "with more": ("", "self.t >= 70 and self.x == 0", None),
    "not in the end": ("if self.t > 70:\n            reward -= 1.0", "False", None),
    "weather": ("if self.t > 70 and self.np_random.random() < 0.5:\n            self.x = 0", "fell", None),
}


@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
def test_horizon_is_a_limit_that_alone_ends_an_episode(
    tmp_path: Path, ends: tuple[str, str, int | None]
) -> None:
    """Other comparisons with the step counter bound nothing."""
    before, ended, limit = ends
    env_id = write(tmp_path, step=f"{before}\n        return self._see(), reward, fell, {ended}, {{}}")
    assert describe(Task(env_id)).horizon == limit


ROW = "dict(dose=500.0, half_life=1.25, toxic=900.0, cost=0.4, note='with food, and three times a day at the least')"


@pytest.mark.parametrize(("rows", "shown"), [(12, True), (60, False)])
@pytest.mark.parametrize("ends", ["[]", "()", "{}"])
def test_tables_of_parameters_are_shown_and_long_series_abbreviated(
    tmp_path: Path, rows: int, shown: bool, ends: str
) -> None:
    """The number of entries decides, not their length in characters."""
    entries = [f"{f'{n}: ' * (ends == '{}')}{ROW.replace('500', str(500 + n))}" for n in range(rows)]
    table = ends[0] + ",\n    ".join(entries) + ends[1]
    text = source_of(
        write(tmp_path, head=f"DRUGS = {table}", step=f"reward += DRUGS[0]['cost']\n        {RETURN}")
    )
    assert (f"dose={500 + rows - 1}.0" in text) is shown
    assert (f"({rows} entries)" in text) is not shown


@pytest.mark.parametrize("where", ["step", "reset"])
def test_values_of_per_episode_objects_are_not_listed(tmp_path: Path, where: str) -> None:
    """They hold for one episode only."""
    head = "class Patient:\n    def __init__(self, weight):\n        self.volume = weight * 0.25"
    make = "self.made = Patient(self.np_random.uniform(50, 90))"
    pay = f"reward += self.made.volume if self.made else 0.0\n        {RETURN}"
    text = source_of(
        write(
            tmp_path,
            head=head,
            reset=make if where == "reset" else "",
            step=(f"{make}\n        " if where == "step" else "") + pay,
        )
    )
    assert "class Patient" in text
    assert "made.volume =" not in text
    kept = source_of(
        write(
            tmp_path,
            head=head,
            body="made = Patient(60)\n    def __init__(self):\n        self.kept = Patient(40)",
            step=pay.replace("made", "kept"),
        )
    )
    assert "self.kept.volume = 10.0" in kept


LISTS = ["- 0: low\n- 1: high", "0 low, 1 high"]


@pytest.mark.parametrize("listed", LISTS)
@pytest.mark.parametrize("sizes", [[3, 2], [2, 5]])
def test_numbered_list_of_values_does_not_name_components(listed: str, sizes: list[int]) -> None:
    """A list as long as an action component has values describes values; for a Box it names components."""
    text = f"## Action Space\n\nface:\n- 0: one\n- 1: two\n- 2: three\n\nchoice:\n{listed}\n"
    assert [item.name for item in fields_of("action", spaces.MultiDiscrete(sizes), text)] == ["a_0", "a_1"]
    assert [item.name for item in fields_of("action", spaces.Box(-1, 1, (2,)), text)] == ["low", "high"]


def test_fallback_definitions_in_try_are_shown_once(tmp_path: Path) -> None:
    """A definition inside `try` is part of that statement."""
    head = "try:\n    import no_such_module as log\n    def note(x):\n        return log.note(x)\nexcept ImportError:\n    log = None\n    def note(x):\n        return x"
    text = source_of(write(tmp_path, head=head, step=f"reward += note(1.0)\n        {RETURN}"))
    assert text.count("return log.note(x)") == 1


@pytest.mark.parametrize(
    "opened",
    [
        "with Fine() as pays:\n            reward += pays.rate",
        "fine = Fine()\n        with fine:\n            reward += fine.rate",
    ],
)
def test_context_manager_methods_are_shown(tmp_path: Path, opened: str) -> None:
    """`with` calls them without naming them."""
    head = "class Fine:\n    rate = 1.5\n    def __enter__(self):\n        return self\n    def __exit__(self, *_):\n        self.rate = 0.0"
    text = source_of(write(tmp_path, head=head, step=f"{opened}\n        {RETURN}"))
    assert "def __enter__" in text
    assert "def __exit__" in text


def test_vendored_libraries_are_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`pip install --target` leaves a `.dist-info` folder beside each package."""
    name = f"vendored_{next(NUMBERS)}"
    (tmp_path / "libs" / f"{name}-1.0.dist-info").mkdir(parents=True)
    (tmp_path / "libs" / f"{name}.py").write_text("def solve(x):\n    return x * 2.0\n")
    monkeypatch.syspath_prepend(str(tmp_path / "libs"))
    text = source_of(
        write(tmp_path, head=f"import {name}", step=f"reward += {name}.solve(1.0)\n        {RETURN}")
    )
    assert "def step" in text
    assert "def solve" not in text


RECORDS = ["@dataclass\nclass Load:", "class Load(NamedTuple):"]


@pytest.mark.parametrize("record", RECORDS)
def test_fields_of_records_are_shown_in_order(tmp_path: Path, record: str) -> None:
    """Positional arguments make the order meaningful."""
    imports = "from dataclasses import dataclass\nfrom typing import NamedTuple"
    head = f"{imports}\n{record}\n    tons: float\n    age: float\n    price: float\ndef worth(load):\n    return load.price"
    text = source_of(
        write(tmp_path, head=head, step=f"reward += worth(Load(1.0, 2.0, 3.0))\n        {RETURN}")
    )
    assert "tons: float" in text
    assert text.index("tons") < text.index("age: float") < text.index("price: float")


SEES = {"called": "self._look()", "named": "seen", "a dictionary": 'dict(a=self._look())["a"]'}


@pytest.mark.parametrize("sees", SEES.values(), ids=SEES)
def test_observation_code_is_kept_if_space_is_short(tmp_path: Path, sees: str) -> None:
    """It outranks a long chain of reward functions."""
    deep = "\n".join(
        f"def pay_{n}(x):\n    {'x = x + 1.0; ' * 120}\n    return x + pay_{n + 1}(x)" for n in range(24)
    )
    head = f"{deep}\ndef pay_24(x):\n    return x"
    body = "def _look(self):\n        return np.array([self.x - 7 * (self.t > 3)], np.float32)"
    step = (
        f"reward += pay_0(0.0)\n        seen = self._look()\n        return {sees}, reward, fell, False, {{}}"
    )
    text = source_of(write(tmp_path, head=head, body=body, step=step))
    assert "def _look" in text
    assert re.search(r"Omitted for length: .*pay_\d", text)


FORMS: list[dict[str, Any]] = [
    {"bases": "gym.Env, ABC"},
    {"body": "dice = random.SystemRandom()"},
    {"reset": "self.dice = random.SystemRandom()"},
    {
        "head": "Result = namedtuple('Result', 'obs reward terminated truncated info')",
        "step": RETURN.replace("return ", "return Result(") + ")",
    },
    {
        "head": "Old = namedtuple('Old', 'obs reward done info')",
        "step": "return Old(self._see(), reward, fell, {})",
    },
]


@pytest.mark.parametrize("form", FORMS)
def test_unusual_classes_are_described_with_source(tmp_path: Path, form: dict[str, str]) -> None:
    """Standard-library bases, stateless generators and named tuples once raised errors."""
    assert describe(Task(write(tmp_path, **form)), reveal="source").revealed == "source"
