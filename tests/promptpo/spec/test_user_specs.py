"""Specs that a person writes or edits, and the example that shows how."""

import ast
from pathlib import Path
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.spec.check import check_spec
from promptpo.spec.describe import describe

HERE = "tests.promptpo.spec.envs"
EXAMPLES = Path(__file__).parents[3] / "examples"


def test_what_the_user_wrote_wins(tmp_path: Path) -> None:
    """The user's definitions stay as they are; the missing ones are generated."""
    path = tmp_path / "spec.py"
    mine = 'class State:\n    """obs: four numbers."""\n\n    def __init__(self, obs):\n        self.lean = obs[2]\n'
    path.write_text(mine)
    spec = describe(Task("CartPole-v1"), spec_file=str(path))
    assert spec.text.startswith(mine.rstrip())
    assert spec.text.count("class State") == 1
    assert {"Action", "reward", "EPISODE"} <= {
        getattr(node, "name", None) or node.targets[0].id
        for node in ast.parse(spec.text).body
        if not isinstance(node, ast.Expr)
    }


def test_a_written_and_edited_spec_comes_back(tmp_path: Path) -> None:
    """Writing a spec, changing a word and using it shows the changed text."""
    path = tmp_path / "spec.py"
    path.write_text(describe(Task("Pendulum-v1")).text.replace("self.torque", "self.twist"))
    spec = describe(Task("Pendulum-v1"), spec_file=str(path))
    assert "self.twist = action[0]" in spec.text
    assert "torque" not in spec.text.partition("class Action")[2]


@pytest.mark.parametrize("text", ["class State\n", "x = (\n"])
def test_a_spec_that_is_no_python_is_refused(tmp_path: Path, text: str) -> None:
    """A syntax error is one sentence with the file and the line."""
    path = tmp_path / "spec.py"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"spec\.py, line \d+: a spec has to be valid Python"):
        describe(Task("CartPole-v1"), spec_file=str(path))


def test_a_missing_spec_file_is_refused(tmp_path: Path) -> None:
    """A file that is not there is one sentence."""
    with pytest.raises(UsageError, match="cannot read"):
        describe(Task("CartPole-v1"), spec_file=str(tmp_path / "none.py"))


def test_the_example_describes_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example's ten lines stand the check and replace the generated definitions."""
    monkeypatch.chdir(EXAMPLES)
    task = Task("my_room:Room-v0")
    text = (EXAMPLES / "my_room_spec.py").read_text(encoding="utf-8")
    assert check_spec(text, task) == []
    spec = describe(task, spec_file="my_room_spec.py")
    assert spec.text.startswith(text.rstrip())
    assert len(text.strip().splitlines()) <= 12


def test_an_undocumented_environment_gets_a_truthful_minimal_spec() -> None:
    """Numbers are listed with their bounds, and what is unknown is said to be unknown."""
    spec = describe(Task(f"{HERE}:Mine/Silent-v0"))
    for line in ("self.x_0 = obs[0]  # -1 .. 1", "int, 0 .. 1", '"max_steps": 40'):
        assert line in spec.text
    assert all("its seed changes nothing" in warning for warning in spec.warnings)


def test_an_environment_of_ones_own_shows_no_motion_where_it_is_withheld() -> None:
    """Names, the range of rewards and success are told; the update of the state is not."""
    spec = describe(Task(f"{HERE}:Mine/Thermostat-v0"))
    assert "Step rewards over" in " ".join(spec.text.split())
    assert "0.05" not in spec.text
    assert "0.5 *" not in spec.text
    assert 'self.temperature = obs["temperature"][0]' in spec.text.replace("temperature_0", "temperature")
    assert 'info["success"] at any step of the episode' in spec.text
    assert spec.reports_success


def test_an_environment_that_does_not_repeat_is_named() -> None:
    """Ignoring the seed is said, with what to do."""
    (warning,) = describe(Task(f"{HERE}:Mine/Forgetful-v0")).warnings
    assert "self.np_random" in warning


def test_steps_spent_on_observing_are_counted() -> None:
    """`sample_steps` is the number of steps that the environment really took."""
    from tests.promptpo.spec import envs

    taken = 0
    step = envs.Silent.step

    def counted(self: Any, action: Any) -> Any:
        nonlocal taken
        taken += 1
        return step(self, action)

    envs.Silent.step = counted
    try:
        spec = describe(Task(f"{HERE}:Mine/Silent-v0"))
    finally:
        envs.Silent.step = step
    assert spec.sample_steps == taken > 0


@pytest.mark.parametrize(("clip", "says"), [(True, "clipped"), (False, "not allowed")])
def test_out_of_range_actions_are_explained(clip: bool, says: str) -> None:
    """The spec says what happens to continuous actions outside their bounds."""
    assert says in describe(Task("Pendulum-v1"), clip_actions=clip).text
    assert says not in describe(Task("CartPole-v1"), clip_actions=clip).text
