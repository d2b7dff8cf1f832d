"""Runs with a reward program: recording, prompts, export, resuming and failures."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.cli.app import run as command
from promptpo.cli.show import overview, overview_json
from promptpo.core.journal import Journal
from promptpo.envs.task import Task
from promptpo.errors import RewardFaultError, UsageError
from promptpo.llm.base import Completion
from promptpo.llm.scripted import ScriptedLLM
from promptpo.output.exporting import policy_part
from promptpo.output.film import film, record
from promptpo.output.observer import Observer
from promptpo.output.report.page import page
from promptpo.output.run_view import read_view
from promptpo.output.runs import read_line
from promptpo.program import Program
from promptpo.program.reward_program import read_reward, reward_program
from promptpo.prompts.feedback import number
from promptpo.run.config_file import load_config
from promptpo.session.setup import explain_paid_answers
from promptpo.spec.describe import describe
from tests.promptpo.optimizing import QUICK, Model, optimize, read_run
from tests.promptpo.policies import GOOD, WEAK
from tests.promptpo.rewards import CONSTANT, LATE_CRASH, LEFT


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with reward programs."""
    path = tmp_path_factory.mktemp("rewards")
    for name, text in {"left": LEFT, "late": LATE_CRASH, "constant": CONSTANT}.items():
        (path / f"{name}.py").write_text(text)
    return path


@pytest.fixture(scope="module")
def rewarded_run(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Model]:
    """A run of two rounds with one of them, and its model."""
    model = Model({"r2.c1": GOOD})
    out = tmp_path_factory.mktemp("runs") / "run"
    settings = {"rounds": 2, "candidates": 1, "tune": "none", "stop_at": None, "max_steps": 3_000}
    return optimize(model, out, reward=folder / "left.py", **settings), model


def test_both_returns_are_reported(rewarded_run: tuple[Any, Model]) -> None:
    """The test's mean return is the optimised one; the environment's own and the parts are listed beside it."""
    test = rewarded_run[0].data["test"]
    assert set(test["reward_parts"]) == {"left", "right"}
    assert test["mean_return"] == pytest.approx(sum(test["reward_parts"].values()))
    steps = test["reward_parts"]["left"] - test["reward_parts"]["right"]
    assert test["env_mean_return"] == pytest.approx(steps)
    assert test["success_rate"] is not None
    assert rewarded_run[0].data["reward"]["file"] == "left.py"


def test_reward_program_is_saved_with_the_run(rewarded_run: tuple[Any, Model]) -> None:
    """reward.py contains it without evaluating annotations."""
    run = rewarded_run[0]
    kept = load_config(run.directory / "config.toml").task.reward
    assert kept == reward_program(LEFT, file="left.py")
    assert (run.directory / "reward.py").read_text() == Program.from_source(LEFT).postponed.source


def test_prompt_shows_the_reward_program(rewarded_run: tuple[Any, Model]) -> None:
    """It replaces the environment's reward; feedback has its parts."""
    first, second = (r for r in rewarded_run[1].requests if r.purpose == "policy")
    assert "class Reward:" in first.system
    assert "solved_from" not in first.system
    assert "def reward(" not in first.system
    assert "of which" in second.messages[0].content


def test_show_and_report_list_reward_parts(rewarded_run: tuple[Any, Model]) -> None:
    """They list the environment's own return as well."""
    directory = rewarded_run[0].directory
    assert "The environment's own return: " in overview(directory)
    html = page(read_view(directory), "no episode")
    assert 'id="reward"' in html
    assert "the environment's own" in html.replace("&#39;", "'")
    assert '<th scope="col">left</th>' in html


@pytest.mark.slow
def test_run_with_a_reward_is_resumed(rewarded_run: tuple[Any, Model], tmp_path: Path) -> None:
    """No call is repeated."""
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(rewarded_run[0].directory, copy)
    model = Model({"r3.c1": GOOD})
    again = promptpo.resume(copy, llm=ScriptedLLM(model), rounds=3, steps=4_500, trust=True)
    assert [key for key in model.asked() if key != "feedback"] == ["r3.c1"]
    assert again.data["reward"] == rewarded_run[0].data["reward"]
    assert again.data["test"]["env_mean_return"] is not None


def test_policy_is_evaluated_with_the_reward_of_its_run(
    rewarded_run: tuple[Any, Model], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may be named by its directory or its exported file; with another environment, that one's reward counts."""
    directory = rewarded_run[0].directory
    by_run = promptpo.evaluate(directory, episodes=2).evaluation
    by_file = promptpo.evaluate(directory / "best.py", episodes=2, reward=folder / "left.py").evaluation
    alone = promptpo.evaluate(directory / "best.py", episodes=2).evaluation
    own = promptpo.evaluate(
        directory / "best.py", "CartPole-v1", episodes=2, max_episode_steps=QUICK["max_episode_steps"]
    ).evaluation
    assert by_run.returns == by_file.returns == alone.returns
    assert by_run.env_mean_return == own.mean_return
    assert own.env_mean_return is None
    arguments = ["evaluate", str(directory / "best.py"), "--episodes", "2", "--json"]
    assert command([*arguments, "--reward", str(folder / "left.py")]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["returns"] == list(by_run.returns)
    assert set(report["reward_parts"]) == {"left", "right"}


def test_exported_file_reports_both_returns(rewarded_run: tuple[Any, Model]) -> None:
    """It needs only numpy and gymnasium, and its values equal those of the sandbox."""
    path = rewarded_run[0].directory / "best.py"
    alone = "import sys; sys.modules['promptpo'] = sys.modules['promptpo_sandbox'] = None; sys.argv = sys.argv[1:]; "
    code = alone + "import runpy; runpy.run_path(sys.argv[0], run_name='__main__')"
    completed = subprocess.run(
        [sys.executable, "-c", code, str(path), "--episodes", "2"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    both = promptpo.evaluate(path, episodes=2).evaluation
    first, own = both.episodes[0], both.env_mean_return
    assert (
        f"episode 1: return by the reward program {first.return_:.6g}, left {first.parts['left']:.6g}"
        in completed.stdout
    )
    assert f"mean return of 2 episodes by the reward program: {both.mean_return:.6g}" in completed.stdout
    assert f"mean return of 2 episodes by the environment: {own:.6g}" in completed.stdout
    assert f"success in {sum(bool(e.success) for e in both.episodes)} of 2 episodes" in completed.stdout
    assert "the program REWARD below" in path.read_text()


@pytest.mark.slow
def test_reward_that_fails_late_ends_the_run_with_its_best(folder: Path, tmp_path: Path) -> None:
    """Only a good policy reaches the failing step."""
    model = Model({"r1.c1": WEAK, "r2.c1": GOOD})
    run = optimize(
        model, tmp_path / "run", reward=folder / "late.py", rounds=3, candidates=1, tune="none", stop_at=None,
        max_episode_steps=200,
    )  # fmt: skip
    assert "late.py failed: at step 149: line 8: ZeroDivisionError" in run.stop_reason
    assert "correct its class Reward" in run.stop_reason
    assert run.data["best"]["candidate"] == "r1c1"
    assert model.asked()[-1] == "r2.c1"


@pytest.mark.slow
def test_reward_that_fails_for_the_zero_action_ends_the_run_with_its_best(tmp_path: Path) -> None:
    """The zero-action reference fails as well, but the user's initial policy is still the best."""
    reward, initial = tmp_path / "inverse.py", tmp_path / "begun.py"
    reward.write_text(
        "class Reward:\n    def step(self, obs, action, *rest):\n        return 1.0 + 0.0 / float(action[0])\n"
    )
    initial.write_text("class Policy:\n    def act(self, obs):\n        return [1.0]\n")
    idle = "```python\nclass Policy:\n    def act(self, obs):\n        return [0.0]\n```"
    few = {"rounds": 1, "candidates": 1, "tune": "none", "max_steps": 3_000, "test_episodes": 2, "jobs": 1}
    run = promptpo.optimize(
        "Pendulum-v1",
        llm=ScriptedLLM(lambda _: idle),
        out=tmp_path / "run",
        reward=reward,
        start=initial,
        **few,
    )
    assert "inverse.py failed" in run.stop_reason
    assert run.data["best"]["candidate"] == "r0c1"


@pytest.mark.slow
def test_reward_that_fails_for_the_first_policy_loses_no_answer(folder: Path, tmp_path: Path) -> None:
    """A run with a corrected program replays the paid answers."""
    out = tmp_path / "run"
    settings = {"rounds": 1, "candidates": 1, "tune": "none", "stop_at": None, "max_episode_steps": 200}
    with pytest.raises(RewardFaultError, match="--model replay:") as caught:
        optimize(Model(default=GOOD), out, reward=folder / "late.py", **settings)
    assert "late.py failed: at step 149" in str(caught.value)
    assert [event.key for event in read_run(out)["completion"]][-1] == "r1.c1"
    corrected = promptpo.optimize(
        "CartPole-v1",
        model=f"replay:{out}",
        out=tmp_path / "again",
        reward=folder / "left.py",
        **{**QUICK, **settings},
    )
    assert corrected.data["best"]["candidate"] == "r1c1"


def test_failed_reward_suggests_a_fix_and_no_resume(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A resumed run would fail at the same step."""
    words = ["--model", "search", "--rounds", "1", "--max-steps", "3000", "--out", str(tmp_path / "run")]
    (folder / "soon.py").write_text((folder / "late.py").read_text().replace("150", "4"))
    assert command(["optimize", "CartPole-v1", "--reward", str(folder / "soon.py"), *words]) == 1
    err = " ".join(capsys.readouterr().err.split())
    assert "correct its class Reward" in err
    assert "promptpo resume" not in err


def test_failed_reward_mentions_a_replay_only_after_paid_answers(tmp_path: Path) -> None:
    fault = RewardFaultError("late.py failed.")

    def raises_unchanged(*, asked: bool) -> None:
        with (
            pytest.raises(RewardFaultError, match=r"^late\.py failed\.$"),
            explain_paid_answers(tmp_path, asked=asked),
        ):
            raise fault

    raises_unchanged(asked=True)
    with Journal(tmp_path) as journal:
        journal.add("completion", "r1.c1", Completion("No idea.", "m"))
    raises_unchanged(asked=False)
    with pytest.raises(RewardFaultError, match="--model replay:"), explain_paid_answers(tmp_path, asked=True):
        raise fault


def test_show_and_result_state_the_same_score(rewarded_run: tuple[Any, Model]) -> None:
    best = rewarded_run[0].data["best"]["candidate"]
    shown = next(one for one in overview_json(rewarded_run[0].directory)["candidates"] if one["id"] == best)
    judged = rewarded_run[0].data["evidence"]["mean_return"]
    assert shown["evidence"]["mean_return"] == judged
    assert shown["validation_mean_return"] == rewarded_run[0].data["validation"]["mean_return"]
    assert f"{number(judged)} over" in overview(rewarded_run[0].directory)


@pytest.mark.slow
def test_constant_reward_causes_a_warning(folder: Path, tmp_path: Path) -> None:
    """It may be intended, so the run goes on."""

    class RecordingObserver(Observer):
        """Records warnings."""

        def __init__(self) -> None:
            self.warnings: list[str] = []

        def warn(self, message: str) -> None:
            """Record a warning."""
            self.warnings.append(message)

    observer = RecordingObserver()
    optimize(
        Model(), tmp_path / "run", reward=folder / "constant.py", rounds=1, candidates=1, observer=observer
    )
    assert any("does not distinguish policies" in sentence for sentence in observer.warnings)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("class Reward:\n    def step(self", "is refused"),
        ("import os\nclass Reward:\n    def step(self): pass", "is refused"),
        ("def reward(obs): return 1", "defines no class Reward"),
        ("class Reward:\n    def reset(self): pass", "defines no class Reward"),
    ],
)
def test_invalid_reward_program_is_refused(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is refused before anything is written."""
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(UsageError, match=words):
        read_reward(file)
    assert command(["optimize", "CartPole-v1", "--reward", str(file), "--out", str(tmp_path / "run")]) == 2
    assert "mine.py" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_spec_shows_the_environments_reward_only_if_the_program_uses_it() -> None:
    """Otherwise it would mislead; the environment's threshold never applies."""
    builds = reward_program(LEFT.replace("2 * left - 1", "env_reward + left"))
    with_it, without = (describe(Task("CartPole-v1", reward=r)) for r in (builds, reward_program(LEFT)))
    assert "def reward(" in with_it.text
    assert "env_reward`" in with_it.text
    assert "def reward(" not in without.text
    assert without.text.rstrip().endswith("return self.steps > 100")
    assert with_it.reward_threshold is without.reward_threshold is None


def test_spec_with_another_reward_keeps_time_step_and_endings() -> None:
    """The constants of the environment's own reward are left out."""
    task = Task("Hopper-v5")
    pytest.importorskip("mujoco")
    own, other = describe(task).text, describe(replace(task, reward=reward_program(LEFT))).text
    assert "0.008" in own
    assert "step 0.002 s, 4 an action" in other
    assert "Episode End" in other, "what ends an episode does so whatever is asked for"
    assert "forward_reward" not in other


@pytest.mark.parametrize("builds", [False, True])
def test_spec_puts_the_goal_before_the_authors_text(builds: bool) -> None:
    """The documentation states another objective, so its author's intent is qualified."""
    source = LEFT.replace("2 * left - 1", "env_reward + left") if builds else LEFT
    reward = replace(reward_program(source), goal="let the pole \n fall to the left")
    head = describe(Task("CartPole-v1", reward=reward)).text.partition("class State")[0]
    assert head.splitlines()[2] == "The goal, in the user's words: let the pole fall to the left"
    assert "A pole is attached by an un-actuated joint to a cart" in " ".join(head.split())
    assert "who wanted something else" in head.partition("A pole is")[0]
    assert ("## Rewards" in head) == builds


@pytest.mark.slow
def test_film_is_verified_by_the_environments_own_return() -> None:
    """The renderer does not know the reward program."""
    task = Task("CartPole-v1", reward=reward_program(LEFT))
    (episode,) = record(
        task, policy_part(GOOD.split("```python")[1].split("```")[0]), [0], horizon=30
    ).episodes
    assert episode.return_ != episode.env_return
    assert film(task, episode, frames=3).same


def test_returns_of_different_rewards_are_not_compared(
    rewarded_run: tuple[Any, Model], tmp_path: Path
) -> None:
    """Runs are compared only if their reward programs have the same digest."""
    import shutil

    other = Path(shutil.copytree(rewarded_run[0].directory, tmp_path / "other"))
    ours = read_line(rewarded_run[0].directory)
    assert ours.paired_difference(read_line(other)) is not None
    result = json.loads((other / "result.json").read_text())
    result["reward"]["digest"] = "another"
    (other / "result.json").write_text(json.dumps(result))
    assert ours.paired_difference(read_line(other)) is None
