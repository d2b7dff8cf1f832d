"""Running cells: skipping, failing, resuming; the report of what came out. Real runs, as small as possible."""

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
    """A benchmark in a folder."""
    suite = Suite("mine", "Mine", tuple(tasks))
    return Benchmark(
        suite, choose(methods), models, seeds, budget, root, ["mine.toml", "--seeds", str(seeds)]
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One board, two methods and a task that cannot be built, run once for this module."""
    asked = benchmark(
        tmp_path_factory.mktemp("bench"),
        [BOARD, SuiteTask("NoSuchThing-v0")],
        ["search", "oracle"],
    )
    told: list[str] = []
    asked = replace(asked, published=asked.root.with_name("kept"))
    failures = run(asked, 2, told.append)
    return asked, failures, told


def test_a_failed_cell_is_reported_and_the_others_go_on(finished: Any) -> None:
    """The cell of the unknown environment fails, with its reason; those of the board are done."""
    asked, failures, told = finished
    assert [failure.cell for failure in failures] == [
        "NoSuchThing-v0 · search · seed 0",
    ]
    assert all("NoSuchThing" in failure.message for failure in failures)
    assert read_failures(asked.root) == failures
    assert len(told) == 3
    assert len(read_rows(asked.suite, asked.cells())) == 2


def test_cells_are_normal_runs(finished: Any) -> None:
    """With all that promptpo writes, where the benchmark says."""
    asked, *_ = finished
    search = next(cell for cell in asked.cells() if cell.column == "search")
    assert search.directory.relative_to(asked.root).as_posix() == "cells/NoiseWorld-0-v0/search/seed-0"
    for name in ("config.toml", "journal.jsonl", "best.py", "result.json", "report.html"):
        assert (search.directory / name).exists()
    assert json.loads((search.directory / "result.json").read_text())["steps"]["total"] > 0


@pytest.mark.slow
def test_finished_cells_are_skipped(finished: Any) -> None:
    """A second pass tries the failed ones only, leaves results alone, and writes the same report, drawings included."""
    asked, *_ = finished
    page = (asked.root / "report.html").read_bytes()
    before = {cell.name: cell.result for cell in asked.cells()}
    told: list[str] = []
    run(asked, 2, told.append)
    assert len(told) == 1
    assert all("failed" in line for line in told)
    assert {cell.name: cell.result for cell in asked.cells()} == before
    assert (asked.root / "report.html").read_bytes() == page


def test_the_report_says_what_was_measured(finished: Any) -> None:
    """Scores, costs, failures, published numbers apart, and the command; CSV with one line a cell."""
    asked, *_ = finished
    text = (asked.root / "report.md").read_text()
    rows = {row.cell.column: row for row in read_rows(asked.suite, asked.cells())}
    assert "promptpo benchmark mine.toml --seeds 1" in text
    assert "2 of 3 runs are finished" in text
    assert "NoSuchThing-v0 · search · seed 0" in text
    assert "Published scores, obtained by others" in text
    assert rows["oracle"].score > rows["search"].score
    lines = (asked.root / "results.csv").read_text().splitlines()
    assert len(lines) == 1 + 2
    assert lines[0].startswith("task,method,model,seed")


def test_the_page_is_self_contained(finished: Any) -> None:
    """Nothing is loaded from elsewhere; figures are well-formed and named; every figure has its command."""
    asked, *_ = finished
    page = (asked.root / "report.html").read_text()
    assert not re.findall(r"""(?:src|href)=["']https?://""", page)
    assert page.count("<svg") == page.count("<figcaption>") > 0
    assert page.count("--report-only") == page.count("<figcaption>")
    for path in (asked.root / "figures").glob("*.svg"):
        ET.fromstring(path.read_text())  # noqa: S314 - written by ourselves a moment ago


def test_what_is_published_is_one_page_and_one_table(finished: Any) -> None:
    """A page whose pictures are beside it and which leads to nothing that stayed behind, and every row."""
    asked, *_ = finished
    kept = asked.published
    text = (kept / "report.md").read_text()
    assert text.replace("\n", " ").count("## ") > 3
    assert "cells/" not in text
    assert "2 of 3 runs are finished" in text
    shown = re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)
    assert {path.name for path in kept.iterdir()} == {"report.md", "results.csv", *shown}
    assert all((kept / name).read_bytes().startswith(b"\x89PNG") for name in shown)
    assert (kept / "results.csv").read_text() == (asked.root / "results.csv").read_text()


def test_another_budget_in_the_same_folder_is_refused(finished: Any) -> None:
    """Cells of one folder are comparable."""
    asked, *_ = finished
    other = benchmark(asked.root, [BOARD], ["random"], budget=CellBudget(steps=1))
    with pytest.raises(UsageError, match="another budget"):
        run(other, 1, print)


@pytest.mark.slow
def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    """Killed while a cell is searching, the benchmark resumes that cell instead of starting it again."""
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
def test_icpi_is_a_method_like_others(tmp_path: Path) -> None:
    """Its cell is trained with the oracle as its model and has a score."""
    asked = benchmark(
        tmp_path,
        [SuiteTask("promptpo_baselines.icpi:promptpo/Chain-v0")],
        ["icpi"],
        budget=CellBudget(10, test_episodes=2),
    )
    (cell,) = asked.cells()
    assert command(cell.command(asked.suite, asked.budget)[3:]) == 0
    (row,) = read_rows(asked.suite, asked.cells())
    assert (len(row.values), row.searched) == (2, 10)


def running() -> Any:
    """The command lines of all processes."""
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


def test_a_cell_that_takes_too_long_is_ended_with_its_workers(tmp_path: Path) -> None:
    """It is reported as failed, and nothing of it is left running."""
    asked = benchmark(tmp_path / "out", [SuiteTask("Acrobot-v1")], ["search"])
    cell = asked.cells()[0]
    failures = CellRunner(asked.suite, asked.budget, 1, lambda _: None, limit=0.5).run([cell])
    assert [failure.message for failure in failures] == ["not finished after 0.5 seconds"]
    assert str(cell.directory) not in running()


def test_commands_of_every_kind(tmp_path: Path) -> None:
    """What is run for a model, a baseline and an agent."""
    suite = Suite("s", "S", (SuiteTask("CartPole-v1", {"g": 1}, max_episode_steps=50),), steps=1000, rounds=2)
    task, out = suite.tasks[0], tmp_path / "x"

    def line(name: str, model: Any = None, usd: Any = None) -> Any:
        return " ".join(Cell(task, METHODS[name], model, 3, out).command(suite, CellBudget(usd=usd))[1:])

    asked = line("promptpo-paper", "exec:mine", 2.5)
    assert asked.startswith(
        "-m promptpo optimize CartPole-v1 --max-steps 1000 --test-episodes 100 --rounds 2"
    )
    assert "--model exec:mine --max-usd 2.5 --recipe paper" in asked
    assert asked.endswith(f"""--env-kwargs {{"g": 1}} --max-episode-steps 50 --seed 3 --json --out {out}""")
    assert line("ppo").startswith(
        "-m promptpo baseline ppo CartPole-v1 --test-episodes 100 --max-steps 1000 --resume"
    )
    assert line("oracle").startswith(
        "-m promptpo_benchmarks.oracles CartPole-v1 --test-episodes 100 --env-kwargs"
    )
    assert "--tune none" in line("search-untuned")
    assert "--tune" not in line("search")


def test_the_plan_covers_everything_once(tmp_path: Path) -> None:
    """Models for methods that ask one; seeds for methods that differ by seed; oracles where there are any."""
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


def test_models_that_no_method_asks_are_refused(tmp_path: Path) -> None:
    """Instead of runs of the oracle that look like runs of the models."""
    suite = Suite("s", "S", (BOARD,), steps=10)
    with pytest.raises(UsageError, match="icpi asks the oracle; promptpo baseline icpi --engine MODEL"):
        plan(suite, choose(["icpi"]), ["a", "b"], 1, tmp_path)
    with pytest.raises(UsageError, match="--methods has none of them; leave --models out"):
        plan(suite, choose(["search", "zero"]), ["a"], 1, tmp_path)


def test_unknown_methods_are_refused() -> None:
    """With the nearest name."""
    with pytest.raises(UsageError, match="did you mean random"):
        choose(["randm"])


def invoke(arguments: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command line, in this process."""
    from typer.testing import CliRunner

    monkeypatch.setattr(sys, "argv", ["promptpo", "benchmark", *arguments])
    return CliRunner().invoke(cli.app, arguments)


def test_a_dry_run_tells_what_it_takes_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps, calls, tokens, dollars and hours, by column; 2 seeds of 5 x 4 answers, a feedback class and experiments."""
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
def test_a_dry_run_tells_what_steps_become_and_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that a learner takes but its test is within its steps, as in a search; short work is told in seconds or minutes."""
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


def test_a_dry_run_tells_every_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As other commands take them, module and keyword arguments included."""
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


def test_the_list_of_suites(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, sizes and titles."""
    done = invoke(["list"], monkeypatch)
    assert "hard-exploration" in done.output
    assert len(done.output.splitlines()) == len(suite_names())


def test_fresh_refuses_a_folder_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of mixing two benchmarks."""
    done = invoke(["classic", "--methods", "zero", "--fresh", "--out", str(tmp_path)], monkeypatch)
    assert isinstance(done.exception, UsageError)
