"""``python -m benchmarks.icpi``: runs are kept, tables are right, the published points are where they belong."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.icpi.__main__ import main
from benchmarks.icpi.acceptance import LIMITS, NEEDED, check
from benchmarks.icpi.figure import published_points
from benchmarks.icpi.runs import ROWS, Run, RunStore, cells
from benchmarks.icpi.tables import curve, summary
from benchmarks.icpi.variants import ABLATIONS, CURVES, VARIANTS


def made(
    variant: str = "icpi",
    regrets: Any = (1.0, 0.5, 0.0, 0.0, 0.0),
    seed: int = 0,
    late: float = 0.0,
    **changes: Any,
) -> Any:
    """A run as it could have been."""
    settings = {
        "env_id": "promptpo/Chain-v0", "variant": variant, "engine": "oracle", "seed": seed, "prompt_tokens": 3800,
        "steps": 50, "ends": tuple(range(10, 10 + 10 * len(regrets), 10)), "regrets": tuple(regrets),
        "last_quarter": late, "calls": 100, "invalid": 10, "rounds": 20, "planned": 10, "cpu_seconds": 0.1,
        "date": "2026-01-01T00:00:00+00:00", "versions": {"python": "3"},
    }  # fmt: skip
    return Run(**{**settings, **changes})


def test_the_regret_at_a_step_is_that_of_the_latest_four_episodes() -> None:
    """Nothing before the first has ended."""
    run = made()
    assert run.regret_at(9) is None
    assert run.regret_at(10) == 1.0
    assert run.regret_at(49) == pytest.approx(1.5 / 4)
    assert run.regret_at(50) == pytest.approx(0.5 / 4)


def test_a_curve_is_the_mean_over_seeds() -> None:
    """With its standard error, from where all seeds have finished an episode."""
    points = curve([made(regrets=(1.0,) * 5), made(regrets=(0.0,) * 5, seed=1)])
    assert curve([made(), made(ends=(30, 35, 40, 45, 50))])[0].step == pytest.approx(30)
    assert points[-1].regret == 0.5
    assert points[-1].error == pytest.approx(0.5)
    assert points[-1].seeds == 2
    assert points[0].step == pytest.approx(10)


def test_the_summary_has_calls_per_decision() -> None:
    """And those that wait for each other."""
    (line,) = summary([made(), made(seed=1, late=0.2)])
    assert line[4:8] == ("0.100 ± 0.100", "10.0", "2.0", "10.0%")


@pytest.mark.parametrize(
    ("broken", "holds"),
    [
        ({}, True),
        ({"late": 0.07}, False),
        ({"cpu": 1.1}, False),
        ({"random": 0.1}, False),
        ({"seeds": 15}, False),
    ],
)
def test_one_broken_limit_is_enough(broken: Any, holds: Any) -> None:
    """Regret, CPU time, a control that learns, and too few seeds."""
    runs = []
    for seed in range(broken.get("seeds", 16)):
        runs.append(
            made("icpi", seed=seed, late=broken.get("late", 0.02), cpu_seconds=broken.get("cpu", 0.5))
        )
        runs.append(made("random-policy", (broken.get("random", 0.3),) * 5, seed))
        runs.append(made("lookup", (0.1,) * 5, seed))
    found = check("promptpo/Chain-v0", runs)
    assert found.holds is holds
    assert found.cells[-1] == ("yes" if holds else "NO")


def test_the_published_points_are_as_read_off() -> None:
    """Where a curve is hidden there is no point; what was not published has none."""
    assert published_points("promptpo/Chain-v0", "icpi")[0] == (0.10, 0.49)
    assert len(published_points("promptpo/Chain-v0", "tabular-q")) == 5
    assert published_points("promptpo/Chain-v0", "random") == []
    for env_id in LIMITS:
        for variant in ("icpi", "no-argmax", "tabular-q", "matching"):
            points = published_points(env_id, variant)
            assert len(points) >= 5
            assert all(0 <= regret <= 1 and 0 < share < 1 for share, regret in points)


def test_a_run_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    """A second store finds the first one's rows."""
    wanted = cells(["promptpo/Chain-v0"], ["random", "matching"], [0, 1], engine="oracle", prompt_tokens=3800)
    first = list(RunStore(tmp_path).make(wanted))
    again = list(RunStore(tmp_path).make(wanted))
    assert [is_new for _, is_new in first] == [True] * 4
    assert [is_new for _, is_new in again] == [False] * 4
    assert [run.regrets for run, _ in again] == [run.regrets for run, _ in first]
    assert [json.loads(line)["seed"] for line in (tmp_path / ROWS).read_text().splitlines()] == [0, 1, 0, 1]


def test_the_command_writes_csv_png_and_a_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """For the domains, variants and seeds that were asked for."""
    words = ["--domains", "Chain", "--variants", "icpi,matching", "--seeds", "2", "--out", str(tmp_path)]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "Matching Model" in out
    with (tmp_path / "curves.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["variant"] for row in rows} == {"icpi", "matching"}
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert "python -m benchmarks.icpi --domains Chain" in (tmp_path / "curves.md").read_text()
    assert main(words) == 0
    assert capsys.readouterr().err == ""


def test_a_second_engine_has_runs_and_tables_of_its_own(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Its calls are made within its own limit, and the tables of the first stay as they were."""
    words = ["--domains", "Chain", "--variants", "icpi", "--seeds", "1", "--out", str(tmp_path)]
    assert main([*words, "--engine", "lookup"]) == 0
    first = {path.name: path.read_bytes() for path in tmp_path.glob("curves*")}
    for answer in ("done = False", "done = True"):
        engine = f"exec:{sys.executable} -c 'print(\"{answer}\")'"
        assert main([*words, "--engine", engine, "--max-calls", "2"]) == 1
        assert "the limit of 2 language-model calls is reached" in capsys.readouterr().err
    completions = list((tmp_path / "completions").iterdir())
    assert len(completions) == 2
    assert all(path.name.startswith("promptpo-Chain-v0-icpi-1000-exec-") for path in completions)
    for folder in completions:
        events = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
        assert sum(event["kind"] == "completion" for event in events) == 2
    assert main(words) == 0
    assert {name: (tmp_path / name).read_bytes() for name in first} == first
    assert len(list(tmp_path.glob("curves*.md"))) == 2


def test_acceptance_with_too_few_seeds_does_not_hold(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Exit code 1, and the table is written."""
    assert main(["--acceptance", "--domains", "Chain", "--seeds", "2", "--out", str(tmp_path)]) == 1
    assert "NO" in capsys.readouterr().out
    assert (tmp_path / "acceptance.md").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--domains", "Chian"], "--domains knows Chain"),
        (["--variants", "icp"], "--variants knows icpi"),
        (["--seeds", "-1"], "--seeds must be at least 1"),
        (["--acceptance", "--engine", "lookup"], "leave --engine out"),
    ],
)
def test_wrong_usage_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str], said: str
) -> None:
    """Exit code 2."""
    assert main([*words, "--out", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1


def test_every_variant_has_a_name_of_its_own() -> None:
    """Legends and tables tell them apart."""
    assert len({variant.title for variant in VARIANTS.values()}) == len(VARIANTS)
    assert set(NEEDED) < set(VARIANTS)
    assert not set(CURVES) & set(ABLATIONS)
