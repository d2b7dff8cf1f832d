"""Environments in every form that users have: classes, files, functions, objects, wrappers and other libraries."""

import shutil
import sys
import types
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from promptpo.envs.building import make_env
from promptpo.envs.foreign import as_gymnasium
from promptpo.envs.objects import register_object, task_of
from promptpo.envs.task import OBJECTS, Task, Wrapping
from promptpo.errors import PromptPOError, UsageError
from promptpo.spec.describe import describe
from tests.promptpo.envs.lifts import Lift, Locked, Scaled, several, short_lift

HERE = "tests.promptpo.envs.lifts"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file with environments in the current directory."""
    shutil.copy(Path(__file__).with_name("lifts.py"), tmp_path / "my_lifts.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return "./my_lifts.py"


def test_class_and_function_in_a_module_are_built() -> None:
    """Both take keyword arguments; a time limit may come from the task or from the function."""
    assert make_env(Task(f"{HERE}:Lift", {"floors": 9})).unwrapped.floors == 9
    assert make_env(Task(f"{HERE}:Lift", {}, 5)).spec.max_episode_steps == 5
    assert make_env(Task(f"{HERE}:short_lift()", {"floors": 3})).spec.max_episode_steps == 7


def test_file_is_imported_once_and_its_class_described(file: Any) -> None:
    first, second = make_env(Task(f"{file}:Lift")), make_env(Task(f"{file}:Lift", {"floors": 3}))
    assert type(first.unwrapped) is type(second.unwrapped)
    text = describe(Task(f"{file}:Lift"), reveal="source").text
    assert "takes its passenger" in text
    assert "10.0 if done else" in text


def test_file_named_like_a_module_does_not_shadow_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's json.py is imported beside the standard library's."""
    shutil.copy(Path(__file__).with_name("lifts.py"), tmp_path / "json.py")
    monkeypatch.chdir(tmp_path)
    import json

    assert make_env(Task("json.py:Lift")).unwrapped.floors == 6
    assert sys.modules["json"] is json


def test_wrappers_are_applied_in_order_with_their_arguments() -> None:
    """The first is innermost; bare names are Gymnasium's own."""
    task = Task(
        f"{HERE}:Lift", wrappers=(Wrapping(f"{HERE}:Scaled", {"by": 4}), Wrapping("FlattenObservation"))
    )
    env = make_env(task)
    assert isinstance(env, gymnasium.wrappers.FlattenObservation)
    assert isinstance(env.env, Scaled)
    env.reset(seed=0)
    assert env.step(0)[1] == pytest.approx(-1 / 24)
    text = " ".join(describe(task).text.split())
    assert 'Scaled{"by": 4} in FlattenObservation.' in text
    assert "wrappers around the environment may change observations and rewards" in text


def test_wrapper_is_parsed_from_one_word() -> None:
    """The name may be followed by JSON arguments, and str() restores the text."""
    assert Wrapping.parse('m:W{"n": 4}') == Wrapping("m:W", {"n": 4})
    assert Wrapping.parse("./f.py:W") == Wrapping("./f.py:W")
    assert str(Wrapping.parse('m:W{"n": 4}')) == 'm:W{"n": 4}'


@pytest.mark.parametrize("text", ["m:W{n: 4}", "", '{"n": 4}', 'm:W{"n"}'])
def test_malformed_wrapper_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"module:Wrapper|write them as"):
        Wrapping.parse(text)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (f"{HERE}:Scald", "did you mean Scaled"),
        ("FlattenObservatio", "did you mean FlattenObservation"),
        ("no_such_module:W", "there is no module 'no_such_module'"),
        ("no_such_file.py:W", "there is no file no_such_file.py"),
        (f'{HERE}:Scaled{{"b": 1}}', "raised TypeError"),
        (f"{HERE}:no_wrapper()", "a str, which is not a gymnasium.Env"),
        (f"{HERE}:no_wrapper", r"is a function .* so it is not called; .*:no_wrapper\(\)"),
        ('os:system{"command": "echo called"}', r"is a function .* so it is not called"),
    ],
)
def test_unusable_wrapper_gets_one_sentence(name: Any, says: str) -> None:
    """Unknown names, wrong arguments and wrong return types."""
    with pytest.raises(PromptPOError, match=says):
        make_env(Task(f"{HERE}:Lift", wrappers=(Wrapping.parse(name),)))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nothing", "a NoneType, which is not a gymnasium.Env"),
        ("several", "is a vector environment; name the single"),
        ("GOING_UP", "which builds no environment"),
    ],
)
def test_function_that_builds_no_environment_gets_one_sentence(name: str, says: str) -> None:
    with pytest.raises(PromptPOError, match=says):
        make_env(Task(f"{HERE}:{name}()"))


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "subprocess:Popen",
        "subprocess:getoutput",
        "builtins:print",
        "functools:partial",
        "pathlib:Path",
        "shutil:rmtree",
        f"{HERE}:short_lift",
        f"{HERE}:several",
    ],
)
def test_functions_are_not_called_unless_marked_with_parentheses(name: str, tmp_path: Path) -> None:
    """A name from an untrusted file must not become a command."""
    marker = tmp_path / "called"
    for kwargs in (
        {"command": f"touch {marker}"},
        {"args": ["touch", str(marker)]},
        {"cmd": f"touch {marker}"},
        {},
    ):
        with pytest.raises(UsageError, match="so it is not called"):
            make_env(Task(name, kwargs))
    assert not marker.exists()


def test_objects_of_a_module_are_registered_by_name() -> None:
    """Runs with them can then be resumed and played wherever the module is."""
    assert register_object(Lift) == f"{HERE}:Lift"
    assert register_object(short_lift) == f"{HERE}:short_lift()"
    assert register_object("CartPole-v1") == "CartPole-v1"


def test_other_objects_are_registered_and_copied() -> None:
    """A lambda and an instance build environments that share no state."""
    task = task_of(lambda floors=5: Lift(floors), {"floors": 8})
    assert task.env_id.startswith(OBJECTS)
    assert make_env(task).unwrapped.floors == 8
    given = Lift(7)
    first, second = (make_env(task_of(given)) for _ in range(2))
    assert first.unwrapped.floors == 7
    assert len({id(given), id(first.unwrapped), id(second.unwrapped)}) == 3


@pytest.mark.parametrize(
    ("env", "says"),
    [
        (Locked, None),
        (Locked(), "give its class, or a function that builds it"),
        (several(), "is a vector environment"),
        (3, "gymnasium.Env"),
    ],
)
def test_unpicklable_instance_is_refused_but_its_class_accepted(env: Any, says: str | None) -> None:
    if says is None:
        assert register_object(env) == f"{HERE}:Locked"
        return
    with pytest.raises(UsageError, match=says):
        register_object(env)


def test_object_of_another_process_must_be_passed_again() -> None:
    """The sentence names the parameter of resume."""
    with pytest.raises(UsageError, match=r"pass it again: promptpo.resume\("):
        make_env(Task(f"{OBJECTS}Gone-v0"))


def foreign(package: Any) -> Any:
    """Return an instance of a class that claims to come from a package."""
    return types.new_class("Theirs", (), {}, lambda body: body.update(__module__=f"{package}.env"))()


def test_environments_of_other_libraries_are_refused() -> None:
    """PettingZoo has a sentence of its own."""
    with pytest.raises(UsageError, match="with several agents"):
        as_gymnasium(foreign("pettingzoo"), "theirs")
    with pytest.raises(UsageError, match="gymnasium"):
        as_gymnasium(foreign("theirs"), "theirs")
