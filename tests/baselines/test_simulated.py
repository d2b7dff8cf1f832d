"""Training that starts in a run's simulator and continues in the real environment."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.envs.task import Task
from promptpo.errors import NoSuchRunError
from promptpo.features.simulator import programs
from promptpo.llm.base import ALL_PURPOSES
from promptpo.llm.scripted import ScriptedLLM
from promptpo_baselines.progress import Display
from promptpo_baselines.refine.start import prior_of
from promptpo_baselines.settings import TrainingSettings
from tests.baselines.budgets import total
from tests.baselines.late import Late, train
from tests.promptpo.features.pendulums import LINEAR, SIMULATOR

simulators = Late("promptpo_baselines.simulated")

SMALL = "default: {n_steps: 32, batch_size: 32, n_envs: 2, n_epochs: 2, normalize: true, policy_kwargs: 'dict(net_arch=[8])'}"


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose model wrote a simulator and no programs for it."""
    answers = {"s.write1": SIMULATOR, "s.write2": "KEEP: it is right", "s.structures": "none"}
    model = ScriptedLLM(
        lambda request: answers.get(request.key, LINEAR), purposes=ALL_PURPOSES - {"probe", "feedback"}
    )
    few: dict[str, Any] = {
        "rounds": 1,
        "candidates": 1,
        "episodes": 1,
        "validation_episodes": 1,
        "test_episodes": 1,
    }
    out = tmp_path_factory.mktemp("simulated") / "run"
    with pytest.MonkeyPatch.context() as patch:  # searches that take seconds
        patch.setattr(programs, "LONG_STEPS", 1)
        patch.setattr(programs, "GROWN_STEPS", 1)
        promptpo.optimize(
            "Pendulum-v1",
            llm=model,
            out=out,
            simulate=True,
            policy="program",
            max_steps=1_500,
            tune="none",
            jobs=1,
            recipe_options={"simulated_steps": 4_000},
            **few,
        )
    return out


def settings(folder: Path, run: Path, **changes: Any) -> TrainingSettings:
    """Return settings of a run of a second."""
    (folder / "small.yml").write_text(SMALL)
    base = TrainingSettings(
        "ppo", Task("Pendulum-v1"), steps=total(64), hyperparameters=str(folder / "small.yml"), eval_every=64,
        validation_episodes=1, test_episodes=1, simulator=str(run), simulated_steps=128,
    )  # fmt: skip
    return replace(base, **changes)


def test_training_starts_in_the_simulator(simulated: Path, tmp_path: Path) -> None:
    """Simulated steps are reported separately, and the network differs from one trained without them."""
    result = train(settings(tmp_path, simulated), tmp_path / "with", resume=False, display=Display())
    assert result["steps"]["train"] == 64
    assert result["simulated_steps"] == 128
    without = settings(tmp_path, simulated, simulator=None)
    plain = train(without, tmp_path / "without", resume=False, display=Display())
    assert "simulated_steps" not in plain
    assert plain["test"]["returns"] != result["test"]["returns"]


@pytest.mark.slow
def test_refining_starts_in_the_simulator(simulated: Path, tmp_path: Path) -> None:
    """The program is part of it."""
    (tmp_path / "program.py").write_text(LINEAR.removeprefix("```python\n").removesuffix("```"))
    task, prior = prior_of(tmp_path / "program.py", Task("Pendulum-v1"), scale=1.0)
    refine_settings = settings(tmp_path, simulated, task=task, prior=prior)
    result = train(refine_settings, tmp_path / "out", resume=False, display=Display())
    assert result["simulated_steps"] == 128
    assert result["program"]["episodes"] >= 2


def test_run_without_a_simulator_is_refused(tmp_path: Path) -> None:
    """The sentence says how to make one."""
    with pytest.raises(NoSuchRunError, match=r"--simulate|not a run"):
        simulators.simulation_of(tmp_path, Task("Pendulum-v1"))
