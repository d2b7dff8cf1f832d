"""Environments in less common styles: tensors, event loops, batches, decorated methods, packages that fail."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.cli.app import run
from promptpo.crash_report import show_first_lines
from promptpo.envs.building import make_env
from promptpo.envs.contract import ContractEnv, first_line
from promptpo.envs.task import Task
from promptpo.errors import EnvironmentFaultError, PromptPOError, UsageError
from tests.promptpo.envs.test_unusual import Base

HERE = "tests.promptpo.envs.test_other_styles"


class Tensor:
    """Like torch's: its `size` is a method, and only one number is an item."""

    def __init__(self, *numbers: float) -> None:
        self._numbers = numbers

    def size(self) -> Any:
        return (len(self._numbers),)

    def item(self) -> float:
        if len(self._numbers) != 1:
            raise RuntimeError("a Tensor with 2 elements cannot be converted to Scalar")
        return self._numbers[0]


class Quiet(contextlib.ContextDecorator):
    """A decorator that a library defines."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class Rewarding(Base):
    """Returns what it is given as the reward."""

    given: Any = 0.0

    @Quiet()
    def step(self, action: Any) -> Any:
        following, _, *others = super().step(action)
        return (following, self.given, *others)


def rewarding(reward: Any) -> ContractEnv:
    """An environment with this reward, checked."""
    env = Rewarding()
    env.given = reward
    checked = ContractEnv(env, "Rewarding")
    checked.reset(seed=0)
    return checked


@pytest.mark.parametrize("reward", [Tensor(1.5), np.array(1.5), np.array([1.5]), [1.5], 1.5, np.float16(1.5)])
def test_one_number_is_a_reward_whatever_holds_it(reward: Any) -> None:
    """A tensor's or an array's is used as a plain one."""
    assert rewarding(reward).step(0)[1] == 1.5


@pytest.mark.parametrize(
    "reward", [Tensor(1.0, 2.0), Tensor(), np.ones(2), [1.0, 2.0], "1.5", b"1", None, {}, object()]
)
def test_another_reward_is_refused_at_its_place(reward: Any) -> None:
    """The sentence names the author's file, although a library's decorator is around the method."""
    with pytest.raises(EnvironmentFaultError, match=r"as the reward \(test_other_styles.py, line \d+\)"):
        rewarding(reward).step(0)


class Looped(Base):
    """Runs an event loop of its own in every step, as clients of simulators do."""

    def step(self, action: Any) -> Any:
        loop = asyncio.new_event_loop()
        with contextlib.closing(loop):
            loop.run_until_complete(asyncio.sleep(0))
        return super().step(action)


def test_an_environment_may_run_event_loops(tmp_path: Path) -> None:
    """No loop of ours runs where it is described or played."""
    words = ["--model", "search", "--rounds", "1", "-n", "1", "--max-steps", "300", "--test-episodes", "1"]
    asked = [f"{HERE}:Looped", *words, "--no-film", "--jobs", "1", "--out", str(tmp_path / "run")]
    assert run(["optimize", *asked]) == 0


def test_a_batch_without_a_single_environment_is_named_as_such() -> None:
    """Gymnasium registers those without an entry point."""
    gymnasium.register("OnlyBatches-v0", vector_entry_point="nowhere:Batches")
    try:
        with pytest.raises(UsageError, match="OnlyBatches-v0 is a vector environment"):
            make_env(Task("OnlyBatches-v0"))
    finally:
        del gymnasium.registry["OnlyBatches-v0"]


@pytest.mark.parametrize("relative", [True, False])
def test_the_fault_of_a_package_is_told_and_not_that_of_its_file_alone(
    tmp_path: Path, relative: bool
) -> None:
    """A file with relative imports cannot be imported alone, which is no news to anybody."""
    package = tmp_path / f"garden_of_test_{relative}"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "plants.py").write_text("")
    imported = "from .plants import *\n" if relative else ""
    (package / "env.py").write_text(f"{imported}open('weather-of-test.txt')\n")
    with pytest.raises(UsageError, match=r"FileNotFoundError: .*weather-of-test\.txt"):
        make_env(Task(f"{package / 'env.py'}:Garden"))


def test_a_file_alone_may_do_what_its_package_cannot(tmp_path: Path) -> None:
    """The package's own module is broken; the file needs nothing of it."""
    package = tmp_path / "broken_of_test"
    package.mkdir()
    (package / "__init__.py").write_text("raise ValueError('broken')\n")
    (package / "env.py").write_text(f"from {HERE} import Rewarding as Alone\n")
    make_env(Task(f"{package / 'env.py'}:Alone")).reset(seed=0)


def test_a_file_of_another_kind_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook is no module, and no ending makes it one."""
    (tmp_path / "notes.ipynb").write_text("{}")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PromptPOError, match=r"notes\.ipynb is not a Python file"):
        make_env(Task("notes.ipynb:Env"))


def test_a_message_that_announces_a_list_has_its_first_entry() -> None:
    """Compiled constructors name what they take below a colon."""
    fault = TypeError("takes other arguments:\n\n    1. Env(n: int)\n    2. Env()\n")
    assert first_line(fault) == "takes other arguments: 1. Env(n: int)"
    assert first_line(ValueError("wrong.\nmore")) == "wrong"
    assert first_line(ValueError("")) == "no message"


@given(st.text())
def test_a_message_is_one_line(text: str) -> None:
    """Whatever an environment says."""
    assert len(first_line(ValueError(text)).splitlines()) == 1


def test_colours_are_dropped_and_other_control_characters_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """What an environment prints can do nothing to a terminal, and is read without noise."""
    show_first_lines(["\x1b[33mWARN: low\x1b[0m\n", "\x1b[2Jcleared\n"])
    assert capsys.readouterr().err == "WARN: low\n\\x1b[2Jcleared\n"
