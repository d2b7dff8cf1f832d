"""Running cells: skipping, failing, resuming and reporting, with real runs as small as possible."""

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from promptpo.cli.app import run as command
from promptpo.errors import UsageError
from promptpo_benchmarks import cli
from promptpo_benchmarks.benchmark import Benchmark, run
from promptpo_benchmarks.runner.cells import Cell, plan
from promptpo_benchmarks.runner.estimate import START_SECONDS, describe_duration
from promptpo_benchmarks.runner.methods import METHODS, CellBudget, choose
from promptpo_benchmarks.runner.processes import CellRunner, read_failures
from promptpo_benchmarks.runner.suite import Suite, SuiteTask, suite_names
from promptpo_benchmarks.statistics.rows import read_rows
from tests.waiting import says, wait_until

BOARD = SuiteTask("promptpo_benchmarks.environments:promptpo/NoiseWorld-0-v0")
SMALL = CellBudget(steps=1_500, rounds=1, candidates=2, test_episodes=3)


def benchmark(
    root: Any, tasks: Any, methods: Any, seeds: int = 1, models: Any = (), budget: Any = SMALL
) -> Any:
    """Return a benchmark in a folder."""
    suite = Suite("mine", "Mine", tuple(tasks))
    return Benchmark(
        suite, choose(methods), models, seeds, budget, root, ["mine.toml", "--seeds", str(seeds)]
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A benchmark, its failures and its output: one board, two methods and a task that cannot be built."""
    made = benchmark(
        tmp_path_factory.mktemp("bench"),
        [BOARD, SuiteTask("NoSuchThing-v0")],
        ["search", "oracle"],
    )
    lines: list[str] = []
    made = replace(made, published=made.root.with_name("kept"))
    failures = run(made, 2, lines.append)
    return made, failures, lines


def test_failed_cell_is_reported_and_the_others_finish(finished: Any) -> None:
    made, failures, lines = finished
    assert [failure.cell for failure in failures] == [
        "NoSuchThing-v0 · search · seed 0",
    ]
    assert all("NoSuchThing" in failure.message for failure in failures)
    assert read_failures(made.root) == failures
    assert len(lines) == 3
    assert len(read_rows(made.suite, made.cells())) == 2


def test_cells_are_ordinary_runs(finished: Any) -> None:
    """The documented folder has all their files."""
    made, *_ = finished
    search = next(cell for cell in made.cells() if cell.column == "search")
    assert search.directory.relative_to(made.root).as_posix() == "cells/NoiseWorld-0-v0/search/seed-0"
    for name in ("config.toml", "journal.jsonl", "best.py", "result.json", "report.html"):
        assert (search.directory / name).exists()
    assert json.loads((search.directory / "result.json").read_text())["steps"]["total"] > 0


@pytest.mark.slow
def test_finished_cells_are_skipped(finished: Any) -> None:
    """A second pass runs only failed ones, and writes the same report."""
    made, *_ = finished
    page = (made.root / "report.html").read_bytes()
    before = {cell.name: cell.result for cell in made.cells()}
    lines: list[str] = []
    run(made, 2, lines.append)
    assert len(lines) == 1
    assert all("failed" in line for line in lines)
    assert {cell.name: cell.result for cell in made.cells()} == before
    assert (made.root / "report.html").read_bytes() == page


def test_report_has_scores_failures_and_the_command(finished: Any) -> None:
    """Published scores are listed separately; the CSV has one line per cell."""
    made, *_ = finished
    text = (made.root / "report.md").read_text()
    rows = {row.cell.column: row for row in read_rows(made.suite, made.cells())}
    assert "promptpo benchmark mine.toml --seeds 1" in text
    assert "2 of 3 runs are finished" in text
    assert "NoSuchThing-v0 · search · seed 0" in text
    assert "Published scores, obtained by others" in text
    assert rows["oracle"].score > rows["search"].score
    lines = (made.root / "results.csv").read_text().splitlines()
    assert len(lines) == 1 + 2
    assert lines[0].startswith("task,method,model,seed")


def test_page_is_self_contained(finished: Any) -> None:
    """Every figure is valid SVG with a caption and the command that draws it."""
    made, *_ = finished
    page = (made.root / "report.html").read_text()
    assert not re.findall(r"""(?:src|href)=["']https?://""", page)
    assert page.count("<svg") == page.count("<figcaption>") > 0
    assert page.count("--report-only") == page.count("<figcaption>")
    for path in (made.root / "figures").glob("*.svg"):
        ET.fromstring(path.read_text())  # noqa: S314 - written by ourselves a moment ago


def test_published_files_are_one_page_its_images_and_a_table(finished: Any) -> None:
    """The page has no links to files that are not published."""
    made, *_ = finished
    kept = made.published
    text = (kept / "report.md").read_text()
    assert text.replace("\n", " ").count("## ") > 3
    assert "cells/" not in text
    assert "2 of 3 runs are finished" in text
    shown = re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)
    assert {path.name for path in kept.iterdir()} == {"report.md", "results.csv", *shown}
    assert all((kept / name).read_bytes().startswith(b"\x89PNG") for name in shown)
    assert (kept / "results.csv").read_text() == (made.root / "results.csv").read_text()


def test_another_budget_in_the_same_folder_is_refused(finished: Any) -> None:
    """Cells of one folder must be comparable."""
    made, *_ = finished
    other = benchmark(made.root, [BOARD], ["random"], budget=CellBudget(steps=1))
    with pytest.raises(UsageError, match="another budget"):
        run(other, 1, print)


@pytest.mark.slow
def test_killed_benchmark_resumes_its_cell(tmp_path: Path) -> None:
    """Instead of starting it again."""
    path = tmp_path / "mine.toml"
    path.write_text('title = "t"\nsteps = 4000\nrounds = 10\ntest_episodes = 5\ntasks = ["Acrobot-v1"]\n')
    line = [
        sys.executable,
        "-m",
        "promptpo",
        "benchmark",
        str(path),
        "--methods",
        "search",
        "--out",
        str(tmp_path / "out"),
    ]
    cell = tmp_path / "out" / "cells" / "Acrobot-v1" / "search" / "seed-0"
    process = subprocess.Popen(line, start_new_session=True, stderr=subprocess.DEVNULL)
    journal = cell / "journal.jsonl"
    wait_until(lambda: says(journal, '"attempt"'), process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (cell / "result.json").exists()
    kept = journal.read_text()
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert journal.read_text().startswith(kept[: kept.rindex("\n") + 1])
    assert (cell / "result.json").exists()


@pytest.mark.slow
def test_icpi_is_a_method(tmp_path: Path) -> None:
    """Its cell is trained with the oracle as its model."""
    made = benchmark(
        tmp_path,
        [SuiteTask("promptpo_baselines.icpi:promptpo/Chain-v0")],
        ["icpi"],
        budget=CellBudget(10, test_episodes=2),
    )
    (cell,) = made.cells()
    assert command(cell.command(made.suite, made.budget)[3:]) == 0
    (row,) = read_rows(made.suite, made.cells())
    assert (len(row.values), row.searched) == (2, 10)


def process_list() -> Any:
    """Return the command lines of all processes."""
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


def test_cell_over_its_time_limit_is_ended_with_its_workers(tmp_path: Path) -> None:
    made = benchmark(tmp_path / "out", [SuiteTask("Acrobot-v1")], ["search"])
    cell = made.cells()[0]
    failures = CellRunner(made.suite, made.budget, 1, lambda _: None, limit=0.5).run([cell])
    assert [failure.message for failure in failures] == ["not finished after 0.5 seconds"]
    assert str(cell.directory) not in process_list()


def test_commands_of_models_baselines_and_oracles(tmp_path: Path) -> None:
    suite = Suite("s", "S", (SuiteTask("CartPole-v1", {"g": 1}, max_episode_steps=50),), steps=1000, rounds=2)
    task, out = suite.tasks[0], tmp_path / "x"

    def line(name: str, model: Any = None, usd: Any = None) -> Any:
        return " ".join(Cell(task, METHODS[name], model, 3, out).command(suite, CellBudget(usd=usd))[1:])

    command_line = line("promptpo-paper", "exec:mine", 2.5)
    assert command_line.startswith(
        "-m promptpo optimize CartPole-v1 --max-steps 1000 --test-episodes 100 --rounds 2"
    )
    assert "--model exec:mine --max-usd 2.5 --recipe paper" in command_line
    assert command_line.endswith(
        f"""--env-kwargs {{"g": 1}} --max-episode-steps 50 --seed 3 --json --out {out}"""
    )
    assert line("ppo").startswith(
        "-m promptpo baseline ppo CartPole-v1 --test-episodes 100 --max-steps 1000 --resume"
    )
    assert line("oracle").startswith(
        "-m promptpo_benchmarks.oracles CartPole-v1 --test-episodes 100 --env-kwargs"
    )
    assert "--tune none" in line("search-untuned")
    assert "--tune" not in line("search")


def test_plan_covers_every_cell_once(tmp_path: Path) -> None:
    """Models, seeds and oracles apply only to methods that use them."""
    suite = Suite("s", "S", (BOARD, SuiteTask("CartPole-v1")), steps=10)
    cells = plan(
        suite, choose(["promptpo", "search", "random", "oracle"]), ["a:1", "replay:x/{task}"], 2, tmp_path
    )
    names = [cell.name for cell in cells]
    assert len(names) == len(set(names)) == 2 * 2 * 2 + 2 * 2 + 2 + 1
    assert len({cell.directory for cell in cells}) == len(cells)
    replayed = next(cell for cell in cells if cell.model == "replay:x/{task}" and cell.task is BOARD)
    assert replayed.asked == "replay:x/NoiseWorld-0-v0"
    with pytest.raises(UsageError, match="needs a model"):
        plan(suite, choose(["promptpo"]), [], 1, tmp_path)


def test_unused_models_are_refused(tmp_path: Path) -> None:
    """Runs of the oracle must not look like runs of the models."""
    suite = Suite("s", "S", (BOARD,), steps=10)
    with pytest.raises(UsageError, match="icpi asks the oracle; promptpo baseline icpi --engine MODEL"):
        plan(suite, choose(["icpi"]), ["a", "b"], 1, tmp_path)
    with pytest.raises(UsageError, match="--methods has none of them; leave --models out"):
        plan(suite, choose(["search", "zero"]), ["a"], 1, tmp_path)


def test_unknown_method_suggests_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="did you mean random"):
        choose(["randm"])


def invoke(arguments: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command line in this process."""
    from typer.testing import CliRunner

    monkeypatch.setattr(sys, "argv", ["promptpo", "benchmark", *arguments])
    return CliRunner().invoke(cli.app, arguments)


def test_dry_run_estimates_the_cost_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The estimate is for two seeds of 5 x 4 answers, a feedback class and experiments, by column."""
    out = tmp_path / "out"
    arguments = ["real-world", "--methods", "promptpo,random", "--models", "anthropic:claude-opus-4-8"]
    done = invoke([*arguments, "--seeds", "2", "--dry-run", "--out", str(out)], monkeypatch)
    assert done.exit_code == 0, done.output
    tasks = 4
    calls = tasks * 2 * (5 * 4 + 2)
    assert f"{calls:,}" in done.output
    usd = calls * (6_000 * 5 + 3_000 * 25) / 1e6
    assert f"{usd:.2f}" in done.output
    assert f"{2 * 4 * 300_000 + 2 * 100 * (288 + 180 + 600 + 300):,}" in done.output
    assert not out.exists()


@pytest.mark.slow
def test_dry_run_prints_budgets_and_durations(monkeypatch: pytest.MonkeyPatch) -> None:
    """All steps of a training run except its test are within its budget."""
    methods = ["real-world", "--methods", "search,ppo,zero", "--dry-run", "--max-steps", "5000"]
    done = invoke(methods, monkeypatch)
    assert done.exit_code == 0, done.output
    rows = {line.split()[0]: line for line in done.output.splitlines() if line.split()[1:2] == ["4"]}
    assert "--max-steps 5,000" in rows["search"]
    assert "--max-steps 5,000" in rows["ppo"]
    assert "none" in rows["zero"]
    horizons = 288 + 180 + 600 + 300
    assert f"{4 * 5000 + 100 * horizons:,}" in rows["search"]
    assert f"{4 * 5000 + 100 * horizons:,}" in rows["ppo"]
    assert "0.0 hours" not in done.output
    columns = json.loads(invoke([*methods, "--json"], monkeypatch).output)["columns"]
    assert all(column["hours"] * 3600 >= 4 * START_SECONDS for column in columns)
    assert (describe_duration(12.1), describe_duration(133), describe_duration(9000)) == (
        "13 s",
        "2 minutes",
        "2.5 hours",
    )


def test_dry_run_prints_every_environment_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other commands accept the printed form."""
    path = tmp_path / "mine.toml"
    path.write_text(
        'title = "t"\nsteps = 9\ntasks = ["promptpo_benchmarks.environments:promptpo/NoiseWorld-0-v0", '
        '{env = "LunarLander-v3", kwargs = {continuous = true}, name = "Lander"}]\n'
    )
    done = invoke([str(path), "--methods", "zero", "--dry-run"], monkeypatch)
    assert done.output.splitlines()[:2] == [
        "NoiseWorld-0-v0  promptpo_benchmarks.environments:promptpo/NoiseWorld-0-v0",
        "Lander           LunarLander-v3 --env-kwargs '{\"continuous\": true}'",
    ]


def test_list_has_every_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    done = invoke(["list"], monkeypatch)
    assert "hard-exploration" in done.output
    assert len(done.output.splitlines()) == len(suite_names())


def test_fresh_refuses_a_folder_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It must not mix two benchmarks."""
    done = invoke(["classic", "--methods", "zero", "--fresh", "--out", str(tmp_path)], monkeypatch)
    assert isinstance(done.exception, UsageError)
