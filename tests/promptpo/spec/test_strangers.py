"""Specs of environments that nobody tuned anything to, read as a stranger would."""

import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from gymnasium import spaces

from promptpo.envs.contract import STEP_SECONDS
from promptpo.envs.task import Task
from promptpo.errors import EnvironmentFaultError, UsageError
from promptpo.spec import observe
from promptpo.spec.check import check_spec
from promptpo.spec.describe import describe
from promptpo.spec.fields import fields_of
from promptpo.spec.parts import identifier
from promptpo.spec.reading import names_of
from promptpo.spec.render import span
from tests.promptpo.envs.test_building import needs

pytestmark = pytest.mark.usefixtures("looked_at_briefly")

HERE = "tests.promptpo.spec.strangers"


@cache
def spec(name: Any, **options: Any) -> Any:
    """The spec of one of the environments."""
    return describe(Task(f"{HERE}:Stranger/{name}-v0"), **options)


def test_flags_stay_an_array() -> None:
    """Each of up to forty numbers has a line."""
    assert "self.x_23 = obs[23]  # 0 .. 1" in spec("Lamps").text


def test_names_in_a_docstring_are_taken() -> None:
    """Each number is counted there."""
    counted = "Observation: 0: load, 1: speed, 2: what is due in"
    assert [item.name for item in fields_of("obs", spaces.Box(0, 1, (3,)), counted)] == [
        "load",
        "speed",
        "what_due_in",
    ]
    assert fields_of("obs", spaces.Box(0, 1, (2,)), "Observation: in [low, high]")[0].name == "x_0"


def test_entries_of_a_dictionary_are_named_by_their_keys() -> None:
    """And a few flags under one key are one line."""
    text = spec("Plant").text
    assert 'self.vent_2 = obs["vent_2"]' in text
    assert 'self.alarms_1 = obs["alarms"][1]  # 0 .. 1' in text
    assert "self.a_0 = action[0]  # 0 .. 2" in text  # no name that an observation may have too
    assert check_spec(text, Task(f"{HERE}:Stranger/Plant-v0")) == []


def test_a_docstring_without_markdown_is_read() -> None:
    """Observation, actions and reward of a plain docstring stand where they belong."""
    text = spec("Lift").text
    assert "GO_UP = 1" in text
    head = text.partition("class State")[0]
    assert "In its author's words:" in head
    assert "Reward: minus the number of calls that wait." in head
    assert "8 flags for calls" in head
    assert check_spec(text, Task(f"{HERE}:Stranger/Lift-v0")) == []


def test_a_letter_at_the_end_of_a_name_is_no_article() -> None:
    """It tells one choice from another."""
    assert [identifier(text) for text in ("serve queue A", "the angle of a pole")] == [
        "serve_queue_a",
        "angle_pole",
    ]


def test_a_narrow_range_shows_what_it_spans() -> None:
    """Two digits would make one number of both ends."""
    assert span(1.172, 1.2534) == "1.172 .. 1.253"
    assert span(20.034, 20.2) == "20.03 .. 20.2"


def test_a_text_has_an_example_unless_names_are_hidden() -> None:
    """The mission's wording would give the environment away."""
    assert "- bring the parcel" in spec("Courier").text
    assert "bring the parcel" not in spec("Courier", reveal="anonymous").text


def test_the_horizon_says_where_it_comes_from() -> None:
    """What episodes showed, the time limit, the user, or nobody."""
    assert (spec("Lamps").horizon, spec("Lamps").horizon_source) == (60, "observed")
    assert (spec("Points").horizon, spec("Points").horizon_source) == (None, "none")
    assert describe(Task("CartPole-v1")).horizon_source == "time limit"
    assert describe(Task("CartPole-v1", {}, 30)).horizon_source == "user"


def test_an_environment_that_hangs_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at an environment has a time limit, also where the environment catches every exception."""
    monkeypatch.setattr(observe, "STEP_SECONDS", 0.3)
    assert STEP_SECONDS > 0.3
    with pytest.raises(EnvironmentFaultError, match=r"took more than 0\.3 seconds"):
        spec("Sleeper")


@needs("mujoco")
def test_motors_say_their_factor() -> None:
    """A torque is told with its gear, that of a maze's ball too."""
    assert "motors multiply control 120, 90, 60, 120, 60, 30" in describe(Task("HalfCheetah-v5")).text
    assert "motors multiply control 100, " in describe(Task("Humanoid-v5")).text
    assert "motors multiply each control 100" in describe(Task("PointMaze_UMaze-v3")).text


WRONG = {
    "no spec": ("x = 1\n", "is not a spec"),
    "a contradiction": (
        "class State:\n    def __init__(self, obs):\n        self.x = obs[7]\n",
        "does not exist",
    ),
    "a tuple": (
        "class State:\n    def __init__(self, obs):\n        self.x, self.y = obs[0], obs[9]\n",
        "obs[9]",
    ),
    "deep": ("EPISODE = " + "[" * 150 + "]" * 150 + "\n", "nested too deeply"),
    "very deep": ("EPISODE = " + "-" * 100_000 + "1\n", "nested too deeply"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_spec_file_is_refused_when_it_is_used(case: Any, tmp_path: Path) -> None:
    """What contradicts the environment, or is no spec, is one sentence with the file's name."""
    text, says = WRONG[case]
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(UsageError) as raised:
        describe(Task("CartPole-v1"), spec_file=str(path))
    assert says in str(raised.value)
    assert "mine.py" in str(raised.value)


_STATE = "class State:\n    def __init__(self, obs):\n        self.x = obs[0]"
SLOW = {
    "digits": f"{_STATE}  # {'1' * 90_000}\n",
    "ranges": f"{_STATE}  # {'1 .. ' * 18_000}\n",
    "functions": "".join(f"def reward{n}(obs):\n    return obs[{n}]\n" for n in range(2_300)),
    "fields": f"{_STATE}\n" + "".join(f"        self.a{n} = obs[{n}]  # 0 .. 1\n" for n in range(2_200)),
    "too long": f"{_STATE}  # {'1' * 10_000_000}\n",
}


@pytest.mark.parametrize("case", SLOW)
def test_a_spec_that_is_slow_to_read_is_read_soon(case: str) -> None:
    """Whoever wrote it: names are found, or there are none."""
    began = time.process_time()
    assert names_of(SLOW[case]).keys() <= {f"obs[{n}]" for n in range(3_000)}
    assert time.process_time() - began < 2


def test_a_horizon_that_nobody_else_knows_is_taken_from_the_spec_file(tmp_path: Path) -> None:
    """The user knows how long an episode is."""
    path = tmp_path / "mine.py"
    path.write_text('EPISODE = {"max_steps": 70}\n')
    found = spec("Points", spec_file=str(path))
    assert (found.horizon, found.horizon_source) == (70, "spec file")
