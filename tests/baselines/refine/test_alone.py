"""``promptpo refine --alone``: training starts with the program's episodes, and the network acts alone."""

import json
import pickle
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import promptpo
from promptpo.cli.app import run as run_command
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo_baselines.progress import Display
from promptpo_baselines.refine.checking import check_alone
from promptpo_baselines.refine.start import choose_training, prior_of
from promptpo_baselines.settings import TrainingSettings, save_settings
from tests.baselines.budgets import total
from tests.baselines.late import Late, train
from tests.baselines.refine.test_run import SWING

refining, environments = Late("promptpo_baselines.refine.run"), Late("promptpo_baselines.refine.environments")

SHORT = Task("Pendulum-v1", max_episode_steps=25)
SMALL = "default: {batch_size: 32, policy_kwargs: 'dict(net_arch=dict(pi=[16, 16], qf=[16, 16]))'}"


def settings(folder: Path, **changes: Any) -> TrainingSettings:
    """Return the settings of a run of a few hundred steps."""
    (folder / "program.py").write_text(SWING)
    (folder / "small.yml").write_text(SMALL)
    task, prior = prior_of(folder / "program.py", SHORT, scale=1.0)
    base = TrainingSettings(
        "crossq", task, steps=total(80), hyperparameters=str(folder / "small.yml"), eval_every=40, validation_episodes=2,
        test_episodes=2, prior={**prior, "alone": True},
    )  # fmt: skip
    return replace(base, **changes)


@pytest.fixture
def new_run(tmp_path: Path) -> Any:
    """A run before its first step."""
    return refining.RefineRun(settings(tmp_path), tmp_path / "out", Display())


def test_samples_are_the_programs_actions(new_run: Any) -> None:
    """They have the noise of the episode."""
    envs, beside = new_run.envs, new_run.beside
    envs.reset()
    beside._noise[:] = 0.0
    for _ in range(5):
        wanted = np.clip(beside._answers[0, :1], -1, 1)
        sample = envs.action_space.sample()
        assert sample == pytest.approx(wanted, abs=1e-6)
        envs.step(sample[None])
    beside._noise[:] = 0.4
    noisy = np.array([envs.action_space.sample() for _ in range(400)])
    assert 0.1 < noisy.std() < 0.45
    assert (np.abs(noisy) <= 1).all()
    new_run.close()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TrainingSettings, Any]:
    """The folder, settings and result of a finished run whose last evaluation counts as its best."""
    folder = tmp_path_factory.mktemp("alone")
    run_settings = settings(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("promptpo_baselines.refine.run.RefineRun._better", lambda *_: True)
        result = train(run_settings, folder / "out", resume=False, display=Display())
    return folder, run_settings, result


def test_trained_run_writes_one_policy_file(trained: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Its returns are those of the result, with the network and without."""
    folder, _, result = trained
    assert result["residual"]["alone"]
    assert result["steps"]["train"] == 80
    assert result["program"]["episodes"] in (2, 3)  # 40 steps in episodes of 25
    played = promptpo.evaluate(folder / "out" / "best.py", episodes=2, seed=20_000_000)
    assert list(played.evaluation.returns) == result["test"]["returns"]
    text = (folder / "out" / "best.py").read_text()
    assert "acts alone" in text
    assert run_command(["show", str(folder / "out")]) == 0
    assert "the standalone network" in capsys.readouterr().out
    alone = folder / "alone.py"
    alone.write_text(re.sub(r"residual=True", "residual=False", text))
    program = promptpo.evaluate(
        folder / "program.py", "Pendulum-v1", max_episode_steps=25, episodes=2, seed=20_000_000
    )
    again = promptpo.evaluate(alone, episodes=2, seed=20_000_000)
    assert list(again.evaluation.returns) == list(program.evaluation.returns)


@pytest.mark.slow
def test_resumed_run_does_not_repeat_catching_up(trained: Any, tmp_path: Path) -> None:
    """It makes as many updates as steps were shown, then one per step."""
    folder, base, _ = trained
    shutil.copytree(folder / "out", tmp_path / "out")
    more = replace(base, steps=total(100))
    train(more, tmp_path / "out", resume=True, display=Display())
    run = refining.RefineRun(more, tmp_path / "out", Display())
    taken = 80 + 20 - 2 * 1  # the last step of each part is not learned from
    assert run.model._n_updates == taken
    assert json.loads((tmp_path / "out" / "result.json").read_text())["steps"]["train"] == 100
    run.close()


def test_run_stopped_during_the_programs_episodes_continues(new_run: Any) -> None:
    """The saved agent has no program; the environments do."""
    new_run.evaluate()
    new_run.close()
    run = refining.RefineRun(new_run.settings, new_run.directory, Display())
    run.envs.reset()
    assert run.record.curve
    assert run.model.action_space.guide is not None
    assert run.beside.asking
    run.close()


def test_pickled_space_has_no_guide() -> None:
    """It is equal and samples uniformly."""
    space = environments.GuidedBox(1.0, 2)
    space.guide = lambda random: np.zeros(2)
    again = pickle.loads(pickle.dumps(space))  # noqa: S301
    assert again == space
    assert again.guide is None
    assert space.sample().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("algorithm", ["ppo", "trpo"])
def test_on_policy_algorithms_are_refused(algorithm: Any) -> None:
    """The sentence names the suitable ones."""
    with pytest.raises(UsageError, match="it takes sac, tqc or crossq"):
        check_alone(algorithm, 1.0)
    check_alone("crossq", 1.0)


def test_scale_is_refused_with_alone() -> None:
    """Nothing is added that it could scale."""
    with pytest.raises(UsageError, match="leave it out with --alone"):
        check_alone("crossq", 0.5)


@pytest.mark.parametrize(
    ("requested", "algorithm", "scale", "steps", "alone"),
    [
        (None, "crossq", 1.0, 30_000, True),
        (None, "sac", 1.0, 29_999, False),
        (None, "tqc", 0.5, 30_000, False),
        (None, "ppo", 1.0, 30_000, False),
        (True, "sac", 1.0, 100, True),
        (False, "sac", 1.0, 30_000, False),
    ],
)
def test_with_many_steps_the_network_acts_alone(
    requested: bool | None, algorithm: Any, scale: float, steps: int, tmp_path: Path, *, alone: bool
) -> None:
    """Unless the user asks for a residual, or the algorithm cannot."""
    given = {"scale": scale, "allow_weaker": False}
    choose_training(algorithm, requested, Task("Pendulum-v1"), tmp_path, given, steps)
    assert alone == given.get("alone", False)


def test_resumed_run_stays_residual_or_standalone(tmp_path: Path) -> None:
    """The number of steps makes no difference."""
    base = settings(tmp_path)
    for prior, alone in ((base.prior, True), ({**(base.prior or {}), "alone": False}, False)):
        folder = tmp_path / str(alone)
        folder.mkdir()
        save_settings(replace(base, prior=prior), folder)
        for steps in (100, 100_000):
            given = {"scale": 1.0, "allow_weaker": False}
            choose_training("crossq", None, base.task, folder, given, steps)
            assert given.get("alone", False) == alone
