"""Source blocks of particular forms: callbacks, data series, registries, wrappers, unreadable code."""

import ast
import importlib
import re
import sys
from pathlib import Path

import pytest

from promptpo.cli.app import run
from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.spec.describe import describe
from promptpo.spec.observe import observe
from promptpo.spec.reading import SOURCE_HEAD, names_of, read
from tests.promptpo.envs.test_building import needs
from tests.promptpo.spec.projects import source_after_steps
from tests.promptpo.spec.test_own_source import HEAD, source_of

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
    action_space = spaces.Discrete(2)  # dead_space
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


def test_overridden_library_methods_and_used_members_are_shown(tmp_path: Path) -> None:
    """A library calls its overridden methods; enumerations are shown whole, other classes by the members in use."""
    (tmp_path / "stall.py").write_text(HEAD + CALLED_BACK)
    text = source_of(f"{tmp_path / 'stall.py'}:Stall")
    assert {*re.findall(r"seen_\w+", text)} == {"seen_whole", "seen_twice", "seen_callback"}
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


def test_recorded_data_is_shown_by_its_shape(tmp_path: Path) -> None:
    """Later prices would let a policy cheat; constructor arguments are listed."""
    (tmp_path / "shop.py").write_text(HEAD + ODD)
    text = source_of(f"{tmp_path / 'shop.py'}:Shop", env_kwargs={"hours": 12})
    assert "500" in text
    assert "0.8571" not in text, "a later price"
    assert "self.hours = 12" in text
    for kept in ("0 is closed, 1 is open", "OPEN = 1", "_pay_shut", "def load", "_info"):
        assert kept in text
    whole = describe(Task(f"{tmp_path / 'shop.py'}:Shop", {"hours": 12}), reveal="source").text
    assert whole.count("What it sells") == 1, "the author's words stand above, and not in the code again"


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


def test_series_are_distinguished_from_lookup_tables(tmp_path: Path) -> None:
    """Data read at an advancing index is replayed; a grid of values is not."""
    (tmp_path / "market.py").write_text(HEAD + SERIES)
    env = make_env(Task(f"{tmp_path / 'market.py'}:Market"))
    assert list(source_after_steps(env).series) == ["env.prices (300 rows)"]


def test_functions_in_a_registry_are_shown(tmp_path: Path) -> None:
    """Decorators register them without a reference in `step`."""
    (tmp_path / "rules.py").write_text(
        "RULES = {}\n\n\ndef rule(f):\n    RULES[f.__name__] = f\n    return f\n\n\n@rule\ndef bonus(x):\n    return x + 1  # seen\n"
    )
    body = SERIES.replace("KNOWN[0]", 'rules.RULES["bonus"](self.x)').replace("np.cos(GRID)", "dict(a=3)")
    (tmp_path / "market_2.py").write_text(f"import rules\n{HEAD}{body}")
    text = source_of(f"{tmp_path / 'market_2.py'}:Market")
    assert "# seen" in text


def test_users_wrapper_and_its_helpers_are_shown(tmp_path: Path) -> None:
    """A wrapper changes what a policy observes."""
    (tmp_path / "shop_2.py").write_text(
        f"{HEAD}{ODD}\n\nclass Doubled(gym.ObservationWrapper):\n    def observation(self, obs):\n        return twice(obs)\n\n\n"
        "def twice(x):\n    return 2 * x\n\n\ndef make():\n    return Doubled(Shop())\n"
    )
    text = source_of(f"{tmp_path / 'shop_2.py'}:make()")
    assert "class Doubled" in text
    assert "def twice" in text
    assert "def _pay_open" in text


def test_source_block_is_ignored_when_parsing_a_spec(tmp_path: Path) -> None:
    """Passing such a spec as the user's file does not add the block twice."""
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


def test_unreadable_source_falls_back_to_a_named_spec(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command warns on stderr unless the user asked for a named spec."""
    (tmp_path / "made.py").write_text(f"text = {HEAD + ODD!r}\nexec(text)\n")
    shop = f"{tmp_path / 'made.py'}:Shop"
    spec = describe(Task(shop), reveal="source")
    assert spec.revealed == "named"
    assert SOURCE_HEAD not in spec.text
    assert run(["spec", shop]) == 0
    output = capsys.readouterr()
    assert output.out.strip() == spec.text.strip()
    assert "source" in output.err
    assert run(["spec", shop, "--reveal", "named"]) == 0
    assert not capsys.readouterr().err


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


def test_classes_without_a_module_do_not_hide_the_source(tmp_path: Path) -> None:
    """SWIG generates such classes for Box2D."""
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


def test_source_files_are_parsed_once_until_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A notebook describes a task repeatedly; a reloaded module shows its new text."""
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
def test_box2d_objects_do_not_hide_the_source(env_id: str) -> None:
    assert "def step" in source_of(env_id)


NESTED = """
class Nested(gym.Env):
    action_space = spaces.Discrete(3, start=-1)
    observation_space = spaces.Tuple((spaces.Discrete(7, start=-3), spaces.Dict({"a": spaces.Box(0, 1, (2,))})))

    def _see(self):
        return self.x, {"a": np.zeros(2, np.float32)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = int(self.np_random.integers(-3, 4))
        return self._see(), {}

    def step(self, action):
        self.x = max(-3, min(3, self.x + int(action)))
        return self._see(), float(self.x == 0), False, False, {}
"""


def test_code_of_promptpo_is_not_shown_as_the_environments(tmp_path: Path) -> None:
    """Observing compares nested observations by functions of its own, which no step calls."""
    (tmp_path / "nested_space.py").write_text(HEAD + NESTED)
    text = source_of(f"{tmp_path / 'nested_space.py'}:Nested")
    assert re.findall(r"(?m)^# (\S+\.py)$", text) == ["nested_space.py"]


def test_only_what_runs_below_step_or_reset_is_traced(tmp_path: Path) -> None:
    """Functions that run between steps, such as an action space's, are not."""
    (tmp_path / "between.py").write_text(
        HEAD
        + NESTED.replace("Nested", "Between")
        .replace("spaces.Discrete(3, start=-1)", "Drawn(3, start=-1)")
        .replace(
            "class Between",
            "class Drawn(spaces.Discrete):\n    def sample(self, *a, **k):\n        return super().sample(*a, **k)\n\n\nclass Between",
        )
    )
    env = make_env(Task(f"{tmp_path / 'between.py'}:Between"))
    lines = (tmp_path / "between.py").read_text().splitlines()
    called = {line for (module, line) in observe(env, "it").called if module.startswith("between")}
    names = {lines[line - 1].strip().partition("(")[0] for line in called}
    assert names == {"def step", "def reset", "def _see"}
