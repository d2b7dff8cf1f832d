"""Oracles play optimally and are refused for tasks without one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from promptpo.core.candidate import Seeds
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo_benchmarks.environments.noise_world import optimal_return
from promptpo_benchmarks.oracles import has_oracle, main, play

HERE = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


@pytest.mark.slow
def test_oracle_of_noise_world_is_optimal() -> None:
    """Its mean return on the test seeds is the optimum, within four standard errors."""
    evaluation = play(Task("promptpo_benchmarks.environments:promptpo/NoiseWorld-2-v0"), 200)
    assert [e.seed for e in evaluation.episodes] == [*Seeds().test(200)]
    error = np.std(evaluation.returns) / np.sqrt(200)
    assert abs(evaluation.mean_return - optimal_return(2)) < 4 * error


def test_oracles_exist_for_known_tasks_only() -> None:
    assert has_oracle("Meta-World/reach-v3")
    assert has_oracle("promptpo_benchmarks.environments:promptpo/NoiseWorld-6-v0")
    assert not has_oracle("CartPole-v1")
    with pytest.raises(UsageError, match="no oracle for CartPole-v1"):
        play(Task("CartPole-v1"), 1)


def test_result_has_the_fields_of_every_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main("promptpo_benchmarks.environments:promptpo/NoiseWorld-0-v0", tmp_path / "run", 4, '{"board": 2}', 20)
    content = json.loads((tmp_path / "run" / "result.json").read_text())
    assert len(content["test"]["returns"]) == 4
    assert content["steps"]["test"] == content["steps"]["total"] <= 80
    assert content["env_kwargs"] == {"board": 2}
    assert content["versions"]["gymnasium"]
    assert json.loads(capsys.readouterr().out)["episodes"] == 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["drawer-open-v3", "pick-place-v3"])
def test_metaworlds_scripted_policies_succeed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They bound success, not return."""
    monkeypatch.setattr("metaworld._N_GOALS", 2)  # drawing fifty goals takes longer than all of this
    monkeypatch.setattr("promptpo.envs.meta_world.GOALS_PER_BUILD_SEED", 2)
    assert play(Task(f"Meta-World/{name}", max_episode_steps=200), 2).success_rate == 1.0


@pytest.mark.parametrize(
    ("module", "words", "message"),
    [
        ("oracles", ["NoSuchThing-v0", "--out", "x"], "there is no oracle for NoSuchThing-v0"),
    ],
)
def test_mistake_gets_one_sentence(tmp_path: Path, module: str, words: list[str], message: str) -> None:
    """There is no traceback, and the exit code is not 0."""
    line = [sys.executable, "-m", f"promptpo_benchmarks.{module}", *words]
    done = subprocess.run(line, cwd=tmp_path, env=HERE, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert message in done.stderr
    assert "Traceback" not in done.stderr
