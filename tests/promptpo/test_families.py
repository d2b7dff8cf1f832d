"""Whole runs of families and of environment objects: results, show, report, export and resume."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import promptpo
from promptpo.cli.app import run as command
from promptpo.cli.show import overview
from promptpo.core.candidate import Seeds
from promptpo.errors import UsageError
from promptpo.llm.scripted import ScriptedLLM
from promptpo.output.exporting import task_of
from promptpo.output.runs import read_line
from promptpo.run.config_file import CONFIG, load_config
from tests.promptpo.envs.lifts import GOING_UP, Lift, Scaled
from tests.promptpo.optimizing import Model

ROOT = Path(__file__).parents[2]
HERE = "tests.promptpo.envs.lifts"
QUICK = {"rounds": 1, "candidates": 1, "episodes": 6, "validation_episodes": 6, "test_episodes": 9, "jobs": 1}


def model() -> Any:
    """A scripted model whose policy goes up."""
    return ScriptedLLM(Model(default=f"```python\n{GOING_UP}\n```"))


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run for three lifts in a wrapper, tested on two others."""
    return promptpo.optimize(
        Lift,
        llm=model(),
        out=tmp_path_factory.mktemp("family") / "run",
        variants=[{"floors": n} for n in (6, 9, 12)],
        held_out=[{"floors": n} for n in (3, 20)],
        wrappers=[(Scaled, {"by": 2})],
        **QUICK,
    )


@pytest.mark.slow
def test_family_is_scored_by_variant(family: Any) -> None:
    """Variants share the episodes evenly, and held-out ones have their own."""
    test = family.data["test"]
    assert [row["env_kwargs"]["floors"] for row in test["by_variant"]] == [6, 9, 12]
    assert [row["episodes"] for row in test["by_variant"]] == [3, 3, 3]
    assert test["mean_return"] == pytest.approx(sum(row["mean_return"] for row in test["by_variant"]) / 3)
    evidence = family.data["evidence"]
    counts = [row["episodes"] for row in evidence["by_variant"]]
    assert sum(counts) == evidence["episodes"] >= QUICK["episodes"]
    assert max(counts) - min(counts) <= 1
    held_out = test["held_out"]
    assert held_out["episodes"] == 9
    assert len(held_out["ci95"]) == 2
    assert [row["variant"] for row in held_out["by_variant"]] == ["floors=3", "floors=20"]
    assert all(4 < row["mean_return"] <= 5 for row in (*test["by_variant"], *held_out["by_variant"]))


def test_steps_on_held_out_variants_count_as_test_steps(family: Any) -> None:
    """No limit of the search includes them."""
    from tests.promptpo.optimizing import read_run

    events = read_run(family.directory)
    spent = [event.data["spent"]["test"] for kind in ("test", "held_out") for event in events[kind]]
    assert len(spent) == 2
    assert family.data["steps"]["test"] == sum(spent)


def test_show_and_report_have_a_row_for_each_variant(family: Any) -> None:
    text = overview(family.directory)
    page = promptpo.write_report(family.directory, episode=False).read_text()
    for floors in (6, 9, 12, 3, 20):
        assert f"  floors={floors} " in text
        assert f"floors={floors}</th>" in page
    assert "On variants held out from training " in text


def test_family_is_restored_from_its_config(family: Any) -> None:
    """Runs with other variants are not compared."""
    task = load_config(family.directory / CONFIG).task
    assert [variant.env_kwargs["floors"] for variant in task.playable] == [6, 9, 12, 3, 20]
    assert task.wrappers[0].kwargs == {"by": 2}
    again = promptpo.resume(family.directory, llm=model())
    assert again.data["test"] == family.data["test"]
    run_line = read_line(family.directory)
    assert run_line.paired_difference(read_line(family.directory)) is not None
    from dataclasses import replace

    assert run_line.paired_difference(replace(run_line, facts={**run_line.facts, "variants": []})) is None


def test_exported_file_plays_all_variants_in_their_wrappers(family: Any, tmp_path: Path) -> None:
    """The returns equal those inside promptpo."""
    done = subprocess.run(
        [sys.executable, str(family.policy_path), "--episodes", "3"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    alone = [float(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("episode")]
    task = task_of(family.policy_path.read_text())
    inside = promptpo.evaluate(family.policy_path, task, episodes=3).evaluation.returns
    assert alone == pytest.approx(inside, abs=1e-4)
    assert len(task.variants) == 3


@pytest.mark.slow
def test_evaluate_uses_the_runs_family_and_overrides(family: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Arguments replace the variants; the wrappers stay."""
    rows = promptpo.evaluate(family.directory, episodes=3).as_json()["by_variant"]
    assert [row["variant"] for row in rows] == ["floors=6", "floors=9", "floors=12"]
    kwargs = ["--env-kwargs", '{"floors": 4}', "--env-kwargs", '{"floors": 5}']
    assert command(["evaluate", str(family.policy_path), *kwargs, "--episodes", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["by_variant"]
    assert [row["variant"] for row in rows] == ["floors=4", "floors=5"]
    assert all(4 < row["mean_return"] <= 5 for row in rows)
    one = promptpo.evaluate(family.directory, env_kwargs={"floors": 4}, episodes=2)
    assert one.task.env_kwargs == {"floors": 4}
    assert not one.task.is_family
    assert one.task.wrappers == load_config(family.directory / CONFIG).task.wrappers
    plain = promptpo.evaluate(family.directory, Lift, env_kwargs={"floors": 4}, episodes=2)
    assert plain.evaluation.mean_return > 9


@pytest.mark.slow
def test_shown_variant_reaches_policy_and_exported_file(tmp_path: Path) -> None:
    source = GOING_UP.replace("obs[0], obs[1]", 'obs["observation"]').replace(
        "return 2", 'assert obs["variant"] in (0, 1)\n        return 2'
    )
    run = promptpo.optimize(
        Lift, llm=ScriptedLLM(Model(default=f"```python\n{source}\n```")), out=tmp_path / "run",
        variants=[{"floors": 6}, {"floors": 9}], show_variant=True, **QUICK,
    )  # fmt: skip
    assert run.mean_return > 9
    done = subprocess.run(
        [sys.executable, str(run.policy_path), "--episodes", "2"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "mean return of 2 episodes: 9." in done.stdout, done.stderr


@pytest.mark.slow
def test_failed_test_episode_counts_for_its_variant(tmp_path: Path) -> None:
    """It counts as the worst of those that finished."""

    def goal_floor(seed: Any) -> Any:
        return int(Lift(60).reset(seed=seed)[0][1])

    seeds = Seeds(0)
    seen = {goal_floor(seed) for seed in (*seeds.train(6), *seeds.validation(6)) if seed % 2}
    tall = [goal_floor(seed) for seed in seeds.test(12) if seed % 2]
    failing = next(floor for floor in tall if 6 < floor <= 30 and floor not in seen)
    source = GOING_UP.replace("return 2", f"assert wanted != {failing}\n        return 2")
    run = promptpo.optimize(
        Lift, llm=ScriptedLLM(Model(default=f"```python\n{source}\n```")), out=tmp_path / "run",
        variants=[{"floors": 6}, {"floors": 60}], **{**QUICK, "test_episodes": 12},
    )  # fmt: skip
    test = run.data["test"]
    low, high = test["by_variant"]
    assert "failed_episodes" not in low
    assert high["failed_episodes"] == test["failed_episodes"] == tall.count(failing)
    assert low["episodes"] == high["episodes"] == 6


@pytest.mark.slow
def test_environment_object_must_be_passed_to_resume(tmp_path: Path) -> None:
    """Workers receive it by value."""

    class Mine(Lift):
        """Only this test has it."""

    run = promptpo.optimize(Mine, llm=model(), out=tmp_path / "run", **QUICK)
    assert run.mean_return > 9
    del gymnasium.registry[run.data["env_id"]]
    with pytest.raises(UsageError, match="pass it again"):
        promptpo.resume(tmp_path / "run", llm=model(), rounds=2)
    with pytest.raises(UsageError, match=r"not .*Lift"):
        promptpo.resume(tmp_path / "run", env=Lift, llm=model(), rounds=2)
    assert promptpo.resume(tmp_path / "run", env=Mine, llm=model(), rounds=2).data["rounds"] == 2


@pytest.mark.slow
def test_family_from_command_line_flags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Repeated --env-kwargs, held-out variants and wrappers."""
    out = tmp_path / "run"
    kwargs = ["--env-kwargs", '{"floors": 6}', "--env-kwargs", '{"floors": 9}', "--wrapper", f"{HERE}:Scaled"]
    quick = [
        "--rounds",
        "1",
        "-n",
        "1",
        "--max-steps",
        "800",
        "--test-episodes",
        "4",
        "--jobs",
        "1",
        "--json",
    ]
    flags = [*kwargs, "--held-out-kwargs", '{"floors": 7}', "--model", "search", "--tune", "none", *quick]
    assert command(["optimize", f"{HERE}:Lift", *flags, "--out", str(out)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [one["env_kwargs"] for one in result["variants"]] == [{"floors": 6}, {"floors": 9}]
    assert [one["env_kwargs"] for one in result["held_out_variants"]] == [{"floors": 7}]
    policy = tmp_path / "up.py"
    policy.write_text(GOING_UP)
    assert (
        command(["evaluate", str(policy), "--env", f"{HERE}:Lift", *kwargs, "--episodes", "4", "--json"]) == 0
    )
    assert [row["episodes"] for row in json.loads(capsys.readouterr().out)["by_variant"]] == [2, 2]


def test_task_file_and_variant_flags_are_exclusive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tasks.toml"
    path.write_text("[[task]]\nkwargs = { floors = 6 }\n")
    flags = ["--tasks", str(path), "--held-out-kwargs", "{}"]
    assert command(["optimize", f"{HERE}:Lift", *flags]) == 2
    assert "not both" in capsys.readouterr().err
