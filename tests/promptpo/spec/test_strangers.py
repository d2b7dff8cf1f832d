"""Specs of environments in styles that promptpo was not written for."""

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

pytestmark = pytest.mark.usefixtures("short_observation")

HERE = "tests.promptpo.spec.strangers"


@cache
def cached_spec(name: Any, **options: Any) -> Any:
    """Describe one of the environments of `strangers`, once."""
    return describe(Task(f"{HERE}:Stranger/{name}-v0"), **options)


def test_flags_have_a_line_each() -> None:
    """Up to forty components are listed one by one."""
    assert "self.x_23 = obs[23]  # 0 .. 1" in cached_spec("Lamps").text


def test_numbered_names_are_read_from_a_docstring() -> None:
    counted = "Observation: 0: load, 1: speed, 2: what is due in"
    assert [item.name for item in fields_of("obs", spaces.Box(0, 1, (3,)), counted)] == [
        "load",
        "speed",
        "what_due_in",
    ]
    assert fields_of("obs", spaces.Box(0, 1, (2,)), "Observation: in [low, high]")[0].name == "x_0"


def test_dict_entries_are_named_by_their_keys() -> None:
    text = cached_spec("Plant").text
    assert 'self.vent_2 = obs["vent_2"]' in text
    assert 'self.alarms_1 = obs["alarms"][1]  # 0 .. 1' in text
    assert "self.a_0 = action[0]  # 0 .. 2" in text  # not a name that an observation uses
    assert check_spec(text, Task(f"{HERE}:Stranger/Plant-v0")) == []


def test_docstring_without_markdown_is_parsed() -> None:
    """Observation, actions and reward stand in their sections."""
    text = cached_spec("Lift").text
    assert "GO_UP = 1" in text
    head = text.partition("class State")[0]
    assert "In its author's words:" in head
    assert "Reward: minus the number of calls that wait." in head
    assert "8 flags for calls" in head
    assert check_spec(text, Task(f"{HERE}:Stranger/Lift-v0")) == []


def test_trailing_letter_of_a_name_is_not_an_article() -> None:
    """It distinguishes choices such as queues A and B."""
    assert [identifier(text) for text in ("serve queue A", "the angle of a pole")] == [
        "serve_queue_a",
        "angle_pole",
    ]


def test_narrow_range_has_enough_digits() -> None:
    """Two digits would make both ends equal."""
    assert span(1.172, 1.2534) == "1.172 .. 1.253"
    assert span(20.034, 20.2) == "20.03 .. 20.2"


def test_text_examples_are_hidden_in_anonymous_specs() -> None:
    """The wording of a mission would identify the environment."""
    assert "- bring the parcel" in cached_spec("Courier").text
    assert "bring the parcel" not in cached_spec("Courier", reveal="anonymous").text


def test_horizon_names_its_source() -> None:
    assert (cached_spec("Lamps").horizon, cached_spec("Lamps").horizon_source) == (60, "observed")
    assert (cached_spec("Points").horizon, cached_spec("Points").horizon_source) == (None, "none")
    assert describe(Task("CartPole-v1")).horizon_source == "time limit"
    assert describe(Task("CartPole-v1", {}, 30)).horizon_source == "user"


def test_hanging_environment_raises_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time limit applies even if the environment catches every exception."""
    monkeypatch.setattr(observe, "STEP_SECONDS", 0.3)
    assert STEP_SECONDS > 0.3
    with pytest.raises(EnvironmentFaultError, match=r"took more than 0\.3 seconds"):
        cached_spec("Sleeper")


@needs("mujoco")
def test_motors_list_their_gear() -> None:
    """Ball mazes are MuJoCo models, too."""
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
def test_wrong_spec_file_is_rejected(case: Any, tmp_path: Path) -> None:
    """The error is one sentence with the file's name."""
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
def test_parsing_is_fast_on_adversarial_specs(case: str) -> None:
    """Guards against quadratic regular expressions."""
    began = time.process_time()
    assert names_of(SLOW[case]).keys() <= {f"obs[{n}]" for n in range(3_000)}
    assert time.process_time() - began < 2


def test_unknown_horizon_is_taken_from_the_spec_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text('EPISODE = {"max_steps": 70}\n')
    found = cached_spec("Points", spec_file=str(path))
    assert (found.horizon, found.horizon_source) == (70, "spec file")
