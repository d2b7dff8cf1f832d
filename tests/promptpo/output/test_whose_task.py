"""`evaluate` and `play` know the task from the run, or from the exported file."""

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
def finished(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run whose episodes its user cut at 60 steps."""
    out = tmp_path_factory.mktemp("runs") / "run"
    model = ScriptedLLM(Model(default=GOOD))
    return promptpo.optimize(
        "CartPole-v1", llm=model, out=out, rounds=1, candidates=1, **{**QUICK, "max_episode_steps": 60}
    )


def said(capsys: pytest.CaptureFixture[str], *arguments: Any) -> Any:
    """Exit status and the JSON of a command."""
    status = command_line([*arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_a_run_is_evaluated_on_its_own_task(finished: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A directory means its best, with the run's environment and its limit on episodes."""
    status, found = said(capsys, "evaluate", str(finished.directory), "--episodes", "2")
    assert status == 0
    assert found["env"] == "CartPole-v1"
    assert found["returns"] == [60.0, 60.0]
    assert promptpo.evaluate(finished.directory, episodes=2).evaluation.returns == (60.0, 60.0)


def test_an_exported_file_says_its_task(finished: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """No --env is needed; one that is given goes before what the file says."""
    status, found = said(
        capsys, "evaluate", str(finished.policy_path), "--episodes", "1", "--max-episode-steps", "30"
    )
    assert status == 0
    assert found["returns"] == [30.0]
    status, found = said(
        capsys, "evaluate", str(finished.policy_path), "--env", "Acrobot-v1", "--episodes", "1"
    )
    assert found["env"] == "Acrobot-v1"


@pytest.mark.slow
def test_play_takes_a_run(finished: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The video is of the run's own environment."""
    video = tmp_path / "film.gif"
    status, found = said(capsys, "play", str(finished.directory), "--video", str(video))
    assert status == 0
    assert found["env"] == "CartPole-v1"
    assert video.read_bytes().startswith(b"GIF")


def test_a_bare_module_needs_an_environment(tmp_path: Path) -> None:
    """One sentence names the flag; a directory without a policy is told from a run."""
    bare = tmp_path / "bare.py"
    bare.write_text("class Policy:\n    def act(self, obs):\n        return 0\n")
    with pytest.raises(UsageError, match="--env ENV_ID"):
        promptpo.evaluate(bare)
    with pytest.raises(UsageError, match="has no policy"):
        promptpo.evaluate(tmp_path)
