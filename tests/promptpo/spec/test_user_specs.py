"""Specs that users write or edit, and the documented example of one."""

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


def test_users_definitions_are_kept(tmp_path: Path) -> None:
    """Only missing definitions are generated."""
    path = tmp_path / "spec.py"
    users_text = 'class State:\n    """obs: four numbers."""\n\n    def __init__(self, obs):\n        self.lean = obs[2]\n'
    path.write_text(users_text)
    spec = describe(Task("CartPole-v1"), spec_file=str(path))
    assert spec.text.startswith(users_text.rstrip())
    assert spec.text.count("class State") == 1
    assert {"Action", "reward", "EPISODE"} <= {
        getattr(node, "name", None) or node.targets[0].id
        for node in ast.parse(spec.text).body
        if not isinstance(node, ast.Expr)
    }


def test_edited_spec_is_used(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(describe(Task("Pendulum-v1")).text.replace("self.torque", "self.twist"))
    spec = describe(Task("Pendulum-v1"), spec_file=str(path))
    assert "self.twist = action[0]" in spec.text
    assert "torque" not in spec.text.partition("class Action")[2]


@pytest.mark.parametrize("text", ["class State\n", "x = (\n"])
def test_spec_with_a_syntax_error_is_rejected(tmp_path: Path, text: str) -> None:
    """The error names the file and the line."""
    path = tmp_path / "spec.py"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"spec\.py, line \d+: a spec has to be valid Python"):
        describe(Task("CartPole-v1"), spec_file=str(path))


def test_missing_spec_file_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        describe(Task("CartPole-v1"), spec_file=str(tmp_path / "none.py"))


def test_example_spec_passes_its_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example stays short and replaces the generated definitions."""
    monkeypatch.chdir(EXAMPLES)
    task = Task("my_room:Room-v0")
    text = (EXAMPLES / "my_room_spec.py").read_text(encoding="utf-8")
    assert check_spec(text, task) == []
    spec = describe(task, spec_file="my_room_spec.py")
    assert spec.text.startswith(text.rstrip())
    assert len(text.strip().splitlines()) <= 12


def test_undocumented_environment_gets_a_minimal_spec() -> None:
    """Numbers are listed with bounds; nothing is invented."""
    spec = describe(Task(f"{HERE}:Mine/Silent-v0"))
    for line in ("self.x_0 = obs[0]  # -1 .. 1", "int, 0 .. 1", '"max_steps": 40'):
        assert line in spec.text
    assert all("its seed changes nothing" in warning for warning in spec.warnings)


def test_named_spec_of_a_users_environment_hides_dynamics() -> None:
    """Names, the range of rewards and the success criterion stay."""
    spec = describe(Task(f"{HERE}:Mine/Thermostat-v0"))
    assert "Step rewards over" in " ".join(spec.text.split())
    assert "0.05" not in spec.text
    assert "0.5 *" not in spec.text
    assert 'self.temperature = obs["temperature"][0]' in spec.text.replace("temperature_0", "temperature")
    assert 'info["success"] at any step of the episode' in spec.text
    assert spec.reports_success


def test_unseeded_environment_is_warned_about() -> None:
    """The warning says how to fix it."""
    (warning,) = describe(Task(f"{HERE}:Mine/Forgetful-v0")).warnings
    assert "self.np_random" in warning


def test_sample_steps_counts_all_observed_steps() -> None:
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
def test_spec_explains_out_of_range_actions(clip: bool, says: str) -> None:
    assert says in describe(Task("Pendulum-v1"), clip_actions=clip).text
    assert says not in describe(Task("CartPole-v1"), clip_actions=clip).text
