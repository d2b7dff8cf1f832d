"""`evaluate` and `play` take the task from the run or the exported file."""

import json
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.cli.app import run as command_line
from promptpo.errors import UsageError
from promptpo.llm.scripted import ScriptedLLM
from tests.promptpo.optimizing import QUICK, Model
from tests.promptpo.policies import GOOD


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run whose episodes the user limited to 60 steps."""
    out = tmp_path_factory.mktemp("runs") / "run"
    model = ScriptedLLM(Model(default=GOOD))
    return promptpo.optimize(
        "CartPole-v1", llm=model, out=out, rounds=1, candidates=1, **{**QUICK, "max_episode_steps": 60}
    )


def run_json(capsys: pytest.CaptureFixture[str], *arguments: Any) -> Any:
    """Return the exit status and the JSON of a command."""
    status = command_line([*arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_run_is_evaluated_on_its_own_task(finished_run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The run's limit on episodes applies."""
    status, found = run_json(capsys, "evaluate", str(finished_run.directory), "--episodes", "2")
    assert status == 0
    assert found["env"] == "CartPole-v1"
    assert found["returns"] == [60.0, 60.0]
    assert promptpo.evaluate(finished_run.directory, episodes=2).evaluation.returns == (60.0, 60.0)


def test_exported_file_is_evaluated_on_its_own_task(
    finished_run: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """The option --env overrides it."""
    status, found = run_json(
        capsys, "evaluate", str(finished_run.policy_path), "--episodes", "1", "--max-episode-steps", "30"
    )
    assert status == 0
    assert found["returns"] == [30.0]
    status, found = run_json(
        capsys, "evaluate", str(finished_run.policy_path), "--env", "Acrobot-v1", "--episodes", "1"
    )
    assert found["env"] == "Acrobot-v1"


@pytest.mark.slow
def test_play_renders_a_runs_environment(
    finished_run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    video = tmp_path / "film.gif"
    status, found = run_json(capsys, "play", str(finished_run.directory), "--video", str(video))
    assert status == 0
    assert found["env"] == "CartPole-v1"
    assert video.read_bytes().startswith(b"GIF")


def test_evaluating_a_bare_module_requires_env(tmp_path: Path) -> None:
    """A directory without a policy has its own error."""
    bare = tmp_path / "bare.py"
    bare.write_text("class Policy:\n    def act(self, obs):\n        return 0\n")
    with pytest.raises(UsageError, match="--env ENV_ID"):
        promptpo.evaluate(bare)
    with pytest.raises(UsageError, match="has no policy"):
        promptpo.evaluate(tmp_path)
