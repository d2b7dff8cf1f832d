"""Exported policies and evaluations use the run's own limit on unbounded episodes."""

from pathlib import Path

import pytest

import promptpo
from promptpo.cli.app import run as command
from promptpo.envs.task import Task
from promptpo.llm.scripted import ScriptedLLM
from promptpo.output.evaluating import evaluate
from promptpo.output.exporting import Provenance, export_text
from promptpo.output.run_result import export
from promptpo.run.episodes import UNBOUNDED_HORIZON
from tests.promptpo.commands import run_file
from tests.promptpo.optimizing import QUICK, Model

ENDLESS = """
import gymnasium, numpy

class Endless(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (1,), numpy.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        return numpy.zeros(1, numpy.float32), {}

    def step(self, action):
        return numpy.zeros(1, numpy.float32), 1.0, False, False, {}
"""

POLICY = "```python\nclass Policy:\n    def act(self, obs):\n        return 1\n```"


@pytest.mark.slow
def test_exported_file_keeps_the_runs_episode_limit(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A bare policy has no run, so that its episodes are reported as cut."""
    (tmp_path / "endless.py").write_text(ENDLESS)
    env = f"{tmp_path / 'endless.py'}:Endless"
    result = promptpo.optimize(
        env, llm=ScriptedLLM(Model(default=POLICY)), out=tmp_path / "run", **{**QUICK, "max_steps": 8_000},
        rounds=1, candidates=1,
    )  # fmt: skip
    steps = int(result.mean_return)
    assert 0 < steps < 8_000
    file = tmp_path / "policy.py"
    file.write_text(export(result.directory))
    done = run_file(file, "--episodes", "1", cwd=tmp_path)
    assert f"mean return of 1 episode: {steps}\n" in done.stdout, done.stderr
    for policy in (file, result.directory):
        assert evaluate(policy, episodes=1, allow_weaker_sandbox=True).mean_return == steps
    (tmp_path / "bare.py").write_text(POLICY.removeprefix("```python").removesuffix("```"))
    assert command(["evaluate", str(tmp_path / "bare.py"), "--env", env, "--episodes", "1"]) == 0
    assert f"cut at {UNBOUNDED_HORIZON:,} steps" in capfd.readouterr().out


def test_exported_file_rejects_zero_episodes(tmp_path: Path) -> None:
    text = export_text(
        POLICY.split("```python\n")[1].removesuffix("```"),
        Provenance(Task("CartPole-v1"), "m", "r", "c"),
        action_space=None,
    )
    (tmp_path / "policy.py").write_text(text)
    for episodes, status in (("0", 2), ("1", 0)):
        done = run_file(tmp_path / "policy.py", "--episodes", episodes)
        assert done.returncode == status, done.stderr
        assert ("mean return of 1 episode:" in done.stdout) == (episodes == "1")
