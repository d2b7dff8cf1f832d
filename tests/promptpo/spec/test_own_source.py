"""The source that a spec shows: all code that step and reset reach, over all files, and nothing else."""

import ast
import importlib
import itertools
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.spec.describe import describe
from promptpo.spec.own_source import MAX_SOURCE_CHARS, read_source
from promptpo.spec.reading import SOURCE_HEAD, names_of, read
from tests.promptpo.envs.test_building import needs

NUMBERS = itertools.count()

HEAD = "import gymnasium as gym\nimport numpy as np\nfrom gymnasium import spaces\n"

IMPORTS = {
    "relative": ("from .{file} import {name}", "{name}"),
    "renamed": ("from .{file} import {name} as {name}_too", "{name}_too"),
    "module": ("from . import {file}", "{file}.{name}"),
    "absolute": ("import {package}.{file}", "{package}.{file}.{name}"),
    "alias": ("import {package}.{file} as m_{file}", "m_{file}.{name}"),
    "exported": ("from {package} import {name}", "{name}"),
    "star": ("from .{file} import *", "{name}"),
}
"""How one file may name what stands in another."""

KINDS = {
    "function": ("def {name}(x):\n    return x + 1.0  # seen_{n}", "self.x = {use}(self.x)"),
    "constant": ("{name} = 0.5  # seen_{n}", "self.x += {use}"),
    "enumeration": (
        "class {name}(IntEnum):\n    OFF = 0  # seen_{n}\n    ON = 1",
        "self.x += float(action == {use}.ON)",
    ),
    "table": (
        "def g_{n}(x):\n    return x  # seen_{n}\n\n\n{name} = {{0: g_{n}, 1: g_{n}}}",
        "self.x = {use}[int(action)](self.x)",
    ),
    "class": (
        "class {name}:\n    def __init__(self):\n        self.rate = 0.1  # seen_{n}\n\n    def grow(self, x):\n        return x + self.rate",
        "self.x = {use}().grow(self.x)",
    ),
    "static": (
        "class {name}:\n    @staticmethod\n    def grown(x):\n        return x * 1.1  # seen_{n}",
        "self.x = {use}.grown(self.x)",
    ),
    "record": (
        "@dataclass\nclass {name}:\n    rate: float = 0.2  # seen_{n}",
        "self.x += {use}().rate",
    ),
    "callable": (
        "class {name}:\n    def __call__(self, x):\n        return x  # seen_{n}",
        "self.x = {use}()(self.x)",
    ),
    "chain": (
        "def {name}(x):\n    return _below_{n}(x)\n\n\ndef _below_{n}(x):\n    return x - LIMIT_{n}\n\n\nLIMIT_{n} = 1.0  # seen_{n}",
        "self.x = {use}(self.x)",
    ),
}
"""What stands in another file, and how a step uses it."""

DEAD = """

def unused_{n}(x):
    return x  # dead_{n}


class Idle_{n}:
    def nothing(self):
        return 0  # dead_{n}


def paint_{n}(x):
    return x  # dead_{n}
"""
"""What nothing reaches but drawing."""


def write_project(folder: Path, parts: list[tuple[str, str]], extra: str = "") -> str:
    """A package of several files whose environment uses parts of the given kinds, named in the given ways."""
    package = f"pack_{next(NUMBERS)}"
    (folder / package).mkdir()
    uses, imports, exports, draws = list[str](), list[str](), list[str](), list[str]()
    for n, (kind, how) in enumerate(parts):
        file, name = f"file_{n}", f"Thing_{n}"
        body, use = KINDS[kind]
        text = body.format(name=name, n=n)
        (folder / package / f"{file}.py").write_text(
            f"from dataclasses import dataclass\nfrom enum import IntEnum\n\n\n{text}\n{DEAD.format(n=n)}"
        )
        line, called = IMPORTS[how]
        imports.append(line.format(file=file, name=name, package=package))
        imports.append(f"from .file_{n} import paint_{n}")
        exports += [f"from .{file} import {name}"] if how == "exported" else []
        uses.append(f"        {use.format(use=called.format(file=file, name=name, package=package))}")
        draws.append(f"        paint_{n}(self.x)")
    (folder / package / "__init__.py").write_text("\n".join(exports))
    (folder / package / "world.py").write_text(
        "\n".join(
            [
                HEAD,
                *imports,
                "",
                "class World(gym.Env):",
                '    metadata = {"render_modes": ["human"]}',
                "    def render(self):",
                *(draws or ["        pass"]),
                "    def __init__(self):",
                "        self.observation_space = spaces.Box(-9, 9, (1,), np.float32)",
                "        self.action_space = spaces.Discrete(2)",
                "    def reset(self, *, seed=None, options=None):",
                "        super().reset(seed=seed)",
                "        self.x = 0.0",
                "        return self._see(), {}",
                "    def _see(self):",
                "        return np.array([self.x], np.float32)",
                "    def step(self, action):",
                *uses,
                "        self.render()",
                "        return self._see(), self.x, False, False, {}",
                extra,
            ]
        )
    )
    importlib.invalidate_caches()
    return f"{package}.world:World"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A folder that packages are imported from."""
    sys.path.insert(0, str(tmp_path))
    yield tmp_path
    sys.path.remove(str(tmp_path))


def source_of(env_id: str, **how: Any) -> str:
    """The block of source of an environment."""
    env = make_env(Task(env_id, **how))
    env.reset(seed=0)
    return read_source(env).text


@given(
    parts=st.lists(st.tuples(st.sampled_from(sorted(KINDS)), st.sampled_from(sorted(IMPORTS))), max_size=6)
)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_a_step_uses_is_shown_wherever_it_stands(project: Path, parts: list[tuple[str, str]]) -> None:
    """Every kind of definition, named in every way, over several files; what only drawing reaches is not there."""
    text = source_of(write_project(project, parts))
    assert {int(n) for n in re.findall(r"# seen_(\d+)", text)} == set(range(len(parts)))
    assert "dead_" not in text
    ast.parse(text)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_is_found_by_each_import(project: Path, kind: str) -> None:
    """All pairs, not only those that were drawn."""
    for how in IMPORTS:
        assert "# seen_0" in source_of(write_project(project, [(kind, how)])), how


def test_what_has_no_room_is_named(project: Path) -> None:
    """Whole definitions only; `step` is there whatever else is long."""
    extra = "".join(
        f"    def part_{n}(self):\n        return {' + '.join(['self.x'] * 400)}\n" for n in range(12)
    )
    env_id = write_project(project, [], extra)
    path = project / env_id.partition(":")[0].replace(".", "/")
    file = path.with_suffix(".py")
    calls = " + ".join(f"self.part_{n}()" for n in range(12))
    file.write_text(file.read_text().replace("self.render()", f"y = {calls}"))
    text = source_of(env_id)
    assert len(text) < MAX_SOURCE_CHARS + 3000
    assert "def step" in text
    shown = set(re.findall(r"def (part_\d+)", text))
    named = set(re.findall(r"\b(part_\d+)", text.partition("Left out for its length:")[2].partition("\n")[0]))
    assert shown | named == {f"part_{n}" for n in range(12)}
    assert not shown & named
    assert shown


REWARDS = {
    "returned": "return self._see(), {pay}, False, False, {{}}",
    "assigned": "reward = {pay}\n        done = reward > 9\n        return self._see(), reward, done, False, {{}}",
    "condition": "done = False\n        if {pay} > 9:\n            done = True\n        return self._see(), 0.0, done, False, {{}}",
    "attribute": "self.gain = {pay}\n        return self._see(), self.gain, False, False, {{}}",
    "early": "if {pay} > 9:\n            return self._see(), 1.0, True, False, {{}}\n        return self._see(), 0.0, False, False, {{}}",
    "old": "return self._see(), {pay}, False, {{}}",
    "delegated": "return self.finish()\n\n    def finish(self):\n        return self._see(), {pay}, False, False, {{}}",
}
"""How a step comes to its reward and its end; the names in braces are filled in."""

PAYERS = {
    "method": ("self.pay()", "    def pay(self):\n        return pay_0(self.x)\n"),
    "function": ("pay_0(self.x)", ""),
    "held": ("self.judge.pay(self.x)", ""),
    "module": ("self.tools.pay_0(self.x)", ""),
}
"""Where what it pays is computed."""

JUDGE = "class Judge:\n    def pay(self, x):\n        return pay_0(x)\n"


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
def test_what_the_reward_leads_to_is_not_left_out(
    project: Path, how: str, payer: str, deep: int, order: Any
) -> None:
    """However much else a step and a reset call first, and wherever the definitions stand."""
    number = next(NUMBERS)
    pay, method = PAYERS[payer]
    chain = [f"def pay_{n}(x):\n    return pay_{n + 1}(x) + RATE\n" for n in range(deep)]
    functions = [*chain, f"def pay_{deep}(x):\n    return x * RATE\n", "RATE = 0.5\n", JUDGE]
    moves = [f"    def move_{n}(self):\n        return {' + '.join(['self.x'] * 400)}\n" for n in range(12)]
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
    assert re.search(r"# Left out for its length: [^\n]*move_", text)


YARD = """
    def __init__(self):
        self.observation_space, self.action_space = spaces.Box(-9, 9, (1,)), spaces.Discrete(2)
        self.x, self.judge, self.tools = 0.5, rules_{number}.Judge(), rules_{number}

    def _see(self):
        return np.zeros(1, np.float32)

"""


CALLED_BACK = """
from html.parser import HTMLParser
from enum import IntEnum


class Move(IntEnum):
    LEFT = 0
    RIGHT = 1  # seen_whole


class Ear(HTMLParser):
    LOUD = 2.0
    TWICE = LOUD * 2  # seen_twice
    UNUSED = 7.0  # dead_member

    def __init__(self, env):
        super().__init__()
        self.env = env

    def handle_starttag(self, tag, attrs, factor=TWICE):
        self.env.gain += factor  # seen_callback

    def unused(self):
        return self.UNUSED  # dead_method


class Stall(gym.Env):
    action_space = spaces.Discrete(2)  # seen_action
    observation_space = spaces.Box(0, 9, (1,))
    COLOURS = 3  # dead_member

    def reset(self, *, seed=None, options=None):
        self.gain, self.ear = 0.0, Ear(self)
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.ear.feed("<b>" if action == Move.LEFT else "")
        return np.zeros(1, np.float32), self.gain, False, False, {}

    def render(self):
        return self.COLOURS  # dead_drawing
"""


def test_what_a_library_calls_and_members_that_are_named_are_shown(tmp_path: Path) -> None:
    """Methods that override a library's are called by it; an enumeration is whole, of other classes what code names."""
    (tmp_path / "stall.py").write_text(HEAD + CALLED_BACK)
    text = source_of(f"{tmp_path / 'stall.py'}:Stall")
    assert {*re.findall(r"seen_\w+", text)} == {"seen_whole", "seen_twice", "seen_callback", "seen_action"}
    assert "LOUD = 2.0" in text
    assert "dead_" not in text


ODD = '''
PRICES = [NUMBERS]
"""Of every hour."""


class Base(gym.Env):
    """A shop.

    What it sells is one thing.
    """

    # 0 is closed, 1 is open
    OPEN = 1

    def step(self, action):
        reward = getattr(self, "_pay_" + ("open" if action == self.OPEN else "shut"))()
        self.hour += 1
        info = self._info()
        return self._see(), reward, self.hour >= self.hours, False, info

    def _info(self):
        return {"hour": self.hour}

    def _pay_open(self):
        return self.prices[self.hour]

    def _pay_shut(self):
        return 0.0

    @property
    def load(self):
        return self.hour / self.hours

    def _see(self):
        return np.array([self.load], np.float32)


class Shop(Base):
    def __init__(self, hours=24):
        self.hours, self.prices = hours, np.array(PRICES)
        self.observation_space = spaces.Box(0, 1, (1,), np.float32)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.hour = 0
        return self._see(), {}
'''.replace("NUMBERS", ", ".join(f"{n / 7:.4f}" for n in range(500)))


def test_data_are_shown_by_their_shape(tmp_path: Path) -> None:
    """A policy that knows tomorrow's prices is none; values that were given to the constructor are told."""
    (tmp_path / "shop.py").write_text(HEAD + ODD)
    text = source_of(f"{tmp_path / 'shop.py'}:Shop", env_kwargs={"hours": 12})
    assert "500" in text
    assert "0.8571" not in text, "a later price"
    assert "self.hours = 12" in text
    for kept in ("0 is closed, 1 is open", "OPEN = 1", "_pay_shut", "def load", "_info"):
        assert kept in text
    whole = describe(Task(f"{tmp_path / 'shop.py'}:Shop", {"hours": 12}), reveal="source").text
    assert whole.count("What it sells") == 1, "the author's words stand above, and not in the code again"
    assert "def _info" not in text, "which only info reaches"


SERIES = """
GRID = np.linspace(0, 1, 200)
KNOWN = np.cos(GRID)


class Market(gym.Env):
    def __init__(self):
        self.prices, self.grid = np.sin(np.arange(300.0)), GRID * 2
        self.observation_space = spaces.Box(-9, 9, (1,), np.float32)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.x = int(self.np_random.integers(100)), 0.5
        return np.array([self.x], np.float32), {}

    def step(self, action):
        self.at += 1
        i = self.at
        self.x = self.prices[i] + self.grid[int(self.x)] + KNOWN[0]
        return np.array([self.x], np.float32), 0.0, False, self.at > 150, {}
"""


def test_recorded_series_are_told_from_tables(tmp_path: Path) -> None:
    """What is read at a place that counts on is replayed; a grid of values is not."""
    (tmp_path / "market.py").write_text(HEAD + SERIES)
    env = make_env(Task(f"{tmp_path / 'market.py'}:Market"))
    env.reset(seed=0)
    assert list(read_source(env).series) == ["env.prices (300 rows)"]


def test_functions_that_put_themselves_into_a_registry_are_shown(tmp_path: Path) -> None:
    """And what was read from a file is told by its value."""
    (tmp_path / "rules.py").write_text(
        "RULES = {}\n\n\ndef rule(f):\n    RULES[f.__name__] = f\n    return f\n\n\n@rule\ndef bonus(x):\n    return x + 1  # seen\n"
    )
    body = SERIES.replace("KNOWN[0]", 'rules.RULES["bonus"](self.x)').replace("np.cos(GRID)", "dict(a=3)")
    (tmp_path / "market_2.py").write_text(f"import rules\n{HEAD}{body}")
    text = source_of(f"{tmp_path / 'market_2.py'}:Market")
    assert "# seen" in text


def test_wrappers_and_what_they_use_are_shown(tmp_path: Path) -> None:
    """A wrapper of one's own changes what a policy sees."""
    (tmp_path / "shop_2.py").write_text(
        f"{HEAD}{ODD}\n\nclass Doubled(gym.ObservationWrapper):\n    def observation(self, obs):\n        return twice(obs)\n\n\n"
        "def twice(x):\n    return 2 * x\n\n\ndef make():\n    return Doubled(Shop())\n"
    )
    text = source_of(f"{tmp_path / 'shop_2.py'}:make()")
    assert "class Doubled" in text
    assert "def twice" in text
    assert "def _pay_open" in text


def test_a_spec_with_source_is_read_without_it(tmp_path: Path) -> None:
    """Names come from the part that is parsed; a file of it given again is not shown twice."""
    task = Task("CartPole-v1")
    spec = describe(task, reveal="source")
    assert SOURCE_HEAD in spec.text
    assert spec.revealed == "source"
    assert "pole_angle" in names_of(spec.text).values()
    assert "_blocks" not in read(spec.text).blocks
    path = tmp_path / "mine.py"
    path.write_text(spec.text)
    again = describe(task, reveal="source", spec_file=str(path))
    assert again.text.count(SOURCE_HEAD) == 1


def test_where_no_source_is_readable_the_rest_is_told(tmp_path: Path) -> None:
    """A class that was made from a string has no file."""
    (tmp_path / "made.py").write_text(f"text = {HEAD + ODD!r}\nexec(text)\n")
    spec = describe(Task(f"{tmp_path / 'made.py'}:Shop"), reveal="source")
    assert spec.revealed == "named"
    assert SOURCE_HEAD not in spec.text


NAMELESS = """

class Made(type):
    @property
    def __module__(cls):
        raise AttributeError("__module__")


class World(metaclass=Made):
    pass


class Held(Shop):
    def reset(self, *, seed=None, options=None):
        self.world = World()
        self.worlds = [World()]
        return super().reset(seed=seed)
"""


def test_classes_that_name_no_module_are_other_peoples(tmp_path: Path) -> None:
    """As those that SWIG makes for Box2D: the source is shown all the same."""
    (tmp_path / "shop_3.py").write_text(HEAD + ODD + NAMELESS)
    assert "def _pay_open" in source_of(f"{tmp_path / 'shop_3.py'}:Held")


SHED = """
class Shed(gym.Env):
    observation_space, action_space = spaces.Box(0, 9, (1,)), spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return np.zeros(1, np.float32), {}

    def step(self, action):
        return np.zeros(1, np.float32), 0.5, True, False, {}
"""


def test_files_are_taken_apart_once_and_anew_when_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often a task is described, as in a notebook; an edited module that is loaded again shows its new text."""
    monkeypatch.syspath_prepend(str(tmp_path))
    file = tmp_path / "shed_of_tests.py"
    file.write_text(HEAD + SHED)
    assert "0.5, True" in source_of("shed_of_tests:Shed")
    with monkeypatch.context() as patch:
        patch.setattr(ast, "parse", None)
        assert "0.5, True" in source_of("shed_of_tests:Shed")
    file.write_text(HEAD + SHED.replace("0.5, True", "0.25, True"))
    importlib.reload(sys.modules["shed_of_tests"])
    assert "0.25, True" in source_of("shed_of_tests:Shed")


@needs("Box2D")
@pytest.mark.parametrize("env_id", ["BipedalWalker-v3", "CarRacing-v3"])
def test_bodies_of_another_library_hide_no_source(env_id: str) -> None:
    """Their environments are written in Python."""
    assert "def step" in source_of(env_id)
