"""Kinds of faults that environments of strangers showed: each is generated in several forms."""

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
from promptpo.spec.own_source import read_source

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
    """Write an environment of these parts; return how to name it."""
    file = folder / f"kind_{next(NUMBERS)}.py"
    whole = {"head": "", "bases": "gym.Env", "body": "", "reset": "", "step": RETURN} | parts
    file.write_text(ENV.format(**whole))
    return f"{file}:Plain"


def source_of(env_id: str) -> str:
    """The source that is shown of an environment."""
    env = make_env(Task(env_id))
    env.reset(seed=0)
    return read_source(env).text


CHANGES = [
    "Rules.best = 3.0",
    "Rules.table = {1: Rules.best}",
    "Rules.table[2] = 5.0",
    "Rules = dict(best=Rules.best)",
]


@pytest.mark.parametrize("change", CHANGES)
def test_statements_that_change_a_class_hide_no_source(tmp_path: Path, change: str) -> None:
    """They stand beside the class whose members are shown."""
    head = f"class Rules:\n    best = 2.0\n    table = {{}}\n    def pay(self):\n        return self.best\nold = Rules\n{change}"
    shown = source_of(write(tmp_path, head=head, step="reward += old().pay()\n        " + RETURN))
    assert "def step" in shown
    assert "def pay" in shown


COUNTERS = ["episode_length", "max_steps", "max_episode_steps"]


@pytest.mark.parametrize("name", COUNTERS)
@pytest.mark.parametrize("begins", ["self.{} = 0", "self.{0} = getattr(self, '{0}', 0)"])
def test_what_steps_change_bounds_nothing(tmp_path: Path, name: str, begins: str) -> None:
    """Whatever an attribute is called; one that stays is a limit."""
    counting = write(tmp_path, reset=begins.format(name), step=f"self.{name} += 1\n        {RETURN}")
    assert describe(Task(counting)).horizon is None
    assert describe(Task(write(tmp_path, body=f"{name} = 321"))).horizon == 321


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
def test_a_limit_is_what_ends_an_episode_alone(tmp_path: Path, ends: tuple[str, str, int | None]) -> None:
    """What else code compares with a clock bounds no episode."""
    before, ended, limit = ends
    env_id = write(tmp_path, step=f"{before}\n        return self._see(), reward, fell, {ended}, {{}}")
    assert describe(Task(env_id)).horizon == limit


@pytest.mark.parametrize(("ended", "limit"), [("self.t >= 70", 70), ("False", None)])
def test_a_limit_in_a_named_tuple_is_found(tmp_path: Path, ended: str, limit: int | None) -> None:
    """A step may return its five parts in one."""
    head = 'Result = namedtuple("Result", "obs reward terminated truncated info")'
    env_id = write(tmp_path, head=head, step=f"return Result(self._see(), reward, fell, {ended}, {{}})")
    assert describe(Task(env_id)).horizon == limit


ROW = "dict(dose=500.0, half_life=1.25, toxic=900.0, cost=0.4, note='with food, and three times a day at the least')"


@pytest.mark.parametrize(("rows", "shown"), [(12, True), (60, False)])
@pytest.mark.parametrize("ends", ["[]", "()", "{}"])
def test_parameters_are_shown_and_series_are_cut(tmp_path: Path, rows: int, shown: bool, ends: str) -> None:
    """What has few entries is no recorded data, however long it is."""
    entries = [f"{f'{n}: ' * (ends == '{}')}{ROW.replace('500', str(500 + n))}" for n in range(rows)]
    table = ends[0] + ",\n    ".join(entries) + ends[1]
    text = source_of(
        write(tmp_path, head=f"DRUGS = {table}", step=f"reward += DRUGS[0]['cost']\n        {RETURN}")
    )
    assert (f"dose={500 + rows - 1}.0" in text) is shown
    assert (f"({rows} entries)" in text) is not shown


@pytest.mark.parametrize("where", ["step", "reset"])
def test_settings_of_what_each_episode_makes_anew_are_not_told(tmp_path: Path, where: str) -> None:
    """They are those of one episode."""
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
def test_numbered_values_of_parts_are_no_names_of_parts(listed: str, sizes: list[int]) -> None:
    """A list that is as long as a part has values may be of values; of bounded numbers it is of the parts."""
    text = f"## Action Space\n\nface:\n- 0: one\n- 1: two\n- 2: three\n\nchoice:\n{listed}\n"
    assert [item.name for item in fields_of("action", spaces.MultiDiscrete(sizes), text)] == ["a_0", "a_1"]
    assert [item.name for item in fields_of("action", spaces.Box(-1, 1, (2,)), text)] == ["low", "high"]


def test_alternatives_of_a_definition_are_shown_once(tmp_path: Path) -> None:
    """Those of an attempt stand in it."""
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
def test_what_with_calls_is_shown(tmp_path: Path, opened: str) -> None:
    """Its two methods have no name in the code."""
    head = "class Fine:\n    rate = 1.5\n    def __enter__(self):\n        return self\n    def __exit__(self, *_):\n        self.rate = 0.0"
    text = source_of(write(tmp_path, head=head, step=f"{opened}\n        {RETURN}"))
    assert "def __enter__" in text
    assert "def __exit__" in text


def test_libraries_in_a_folder_beside_are_not_the_authors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`pip install --target` writes what it knows of a package next to it."""
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
def test_fields_that_are_given_by_their_place_are_shown(tmp_path: Path, record: str) -> None:
    """Their order says which number is which."""
    imports = "from dataclasses import dataclass\nfrom typing import NamedTuple"
    head = f"{imports}\n{record}\n    tons: float\n    age: float\n    price: float\ndef worth(load):\n    return load.price"
    text = source_of(
        write(tmp_path, head=head, step=f"reward += worth(Load(1.0, 2.0, 3.0))\n        {RETURN}")
    )
    assert "tons: float" in text
    assert text.index("tons") < text.index("age: float") < text.index("price: float")


SEES = {"called": "self._look()", "named": "seen", "a dictionary": 'dict(a=self._look())["a"]'}


@pytest.mark.parametrize("sees", SEES.values(), ids=SEES)
def test_what_a_policy_sees_is_not_left_out(tmp_path: Path, sees: str) -> None:
    """However much the reward leads to."""
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


@pytest.mark.slow
def test_methods_that_only_fill_info_are_named_wherever_they_stand(tmp_path: Path) -> None:
    """Also those of objects that another file defines."""
    name = f"logbook_{next(NUMBERS)}"
    (tmp_path / f"{name}.py").write_text(
        "class Book:\n    def note(self, r):\n        self.r = r\n    def summary(self):\n        return {}\n"
    )
    step = "self.book.note(reward)\n        info = self.book.summary()\n        return self._see(), reward, fell, False, info"
    text = source_of(write(tmp_path, head=f"from {name} import Book", reset="self.book = Book()", step=step))
    assert re.search(r"to fill info: .*\bsummary\b", text)


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
def test_no_form_of_a_class_is_refused(tmp_path: Path, form: dict[str, str]) -> None:
    """Bases of the standard library, generators without a state, and tuples with names."""
    assert describe(Task(write(tmp_path, **form)), reveal="source").revealed == "source"
