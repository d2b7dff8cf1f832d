"""What the rows of the suite "proof" say about its hypotheses: by the rules that were written beforehand."""

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from benchmarks.enough.__main__ import main
from benchmarks.enough.hypotheses import against_learning, answers
from benchmarks.enough.scores import GROUPS, read_scores
from benchmarks.runner.suite import load_suite
from benchmarks.statistics.across_tasks import chance_of_improvement, iqm_across, iqm_lead
from benchmarks.statistics.anchors import anchors_of
from benchmarks.statistics.rows import COLUMNS

SUITE = load_suite("proof")
ANCHORS = anchors_of({task.label: SUITE.score_of(task) for task in SUITE.tasks})
EIGHT = SUITE.only["promptpo-bare"]
TASKS = [task.label for task in SUITE.tasks]


def write(folder: Path, methods: Mapping[str, Callable[[str], float]], failed: str = "") -> Path:
    """A published table: one run of each method on each task, its normalised score by the task."""
    with (folder / "results.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        for method, score in methods.items():
            for task in SUITE.only.get(method, TASKS):
                low, high = ANCHORS[task].low, ANCHORS[task].high
                value = low + score(task) * (high - low)
                width = 0.01 * (high - low)
                line = {
                    "task": task,
                    "method": method,
                    "seed": 0,
                    "score": value,
                    "steps_to_95": 900,
                    "calls_to_95": 2,
                }
                edges = {"score_low": value - width, "score_high": value + width}
                writer.writerow(line | edges | {"failure": "crashed" if task == failed else ""})
    return folder


def verdicts(folder: Path) -> list[str]:
    """What became of the hypotheses, in order."""
    return [answer.verdict for answer in answers(read_scores([folder], "proof"))]


def test_every_task_of_the_suite_has_anchors_and_a_kind() -> None:
    """None could be left out of the page otherwise."""
    assert set(ANCHORS) == set(TASKS)
    assert sum(count for _, count in GROUPS) == len(TASKS)


def test_a_model_that_does_everything_right_meets_what_was_hoped(tmp_path: Path) -> None:
    """All hold, the second against either choice of learners; the bodies of MuJoCo are the only group that lacks something."""
    bodies = set(TASKS[6:12])
    write(
        tmp_path,
        {
            "promptpo": lambda task: 0.9 if task in bodies else 1.0,
            "best-of-n": lambda task: 0.5,
            "promptpo-paper": lambda task: 0.5,
            "promptpo-anonymous": lambda task: 0.95,
            "promptpo-bare": lambda task: 0.5,
            "ppo": lambda task: 0.2,
            "trpo": lambda task: 0.3,
            **dict.fromkeys(("sac", "tqc", "crossq", "dqn", "qrdqn"), lambda task: 0.3),
        },
    )
    assert verdicts(tmp_path) == ["holds"] * 8


def test_a_model_that_is_no_better_than_learning_says_so(tmp_path: Path) -> None:
    """The better learner is what counts on each task, and equal scores are no improvement."""
    write(
        tmp_path,
        {
            "promptpo": lambda task: 0.4,
            "best-of-n": lambda task: 0.4,
            "promptpo-bare": lambda task: 0.37,
            "promptpo-anonymous": lambda task: 0.2,
            "ppo": lambda task: 0.1,
            "trpo": lambda task: 0.7 if task in EIGHT else 0.4,
        },
    )
    scores = read_scores([tmp_path], "proof")
    against = against_learning(scores)
    assert {task for task, sign in against.items() if sign == -1} == set(EIGHT)
    assert set(against.values()) == {0, -1}
    assert verdicts(tmp_path) == ["fails"] * 6 + ["undecided"]


def test_what_is_still_to_be_run_decides_nothing(tmp_path: Path) -> None:
    """Learners on half of the tasks leave open who is better, and so does one that has not been run where it should be."""
    write(
        tmp_path,
        {"promptpo": lambda task: 0.96, "ppo": lambda task: 0.2, "trpo": lambda task: 0.2},
    )
    assert verdicts(tmp_path)[:3] == ["holds", "undecided", "undecided"], "SAC might do better on eight"
    write(tmp_path, dict.fromkeys(("ppo", "trpo", "sac"), lambda task: 0.2) | {"promptpo": lambda task: 0.96})
    assert verdicts(tmp_path)[1:3] == ["holds", "undecided"], "and so might CrossQ on eighteen"
    write(tmp_path, {"promptpo": lambda task: 0.96, "ppo": lambda task: 0.2})
    half = set(TASKS[:14])
    write(tmp_path, {"promptpo": lambda task: 0.96, "ppo": lambda task: 0.2})
    rows = (tmp_path / "results.csv").read_text().splitlines()
    kept = [row for row in rows if ",ppo," not in row or row.split(",")[0] in half]
    (tmp_path / "results.csv").write_text("\n".join(kept) + "\n")
    assert verdicts(tmp_path)[:2] == ["holds", "undecided"]


def test_a_run_that_failed_counts_as_nothing(tmp_path: Path) -> None:
    """A policy that failed in held-out episodes is not sufficient, whatever it earned until then."""
    write(tmp_path, {"promptpo": lambda task: 1.0}, failed="CartPole-v1")
    scores = read_scores([tmp_path], "proof")
    assert scores.found["promptpo", "CartPole-v1"].runs == (0.0,)
    assert not scores.found["promptpo", "CartPole-v1"].enough
    assert scores.found["promptpo", "Acrobot-v1"].enough


def test_the_page_is_drawn_from_the_table_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables on standard output, three figures in a folder; a folder without rows is one sentence."""
    write(tmp_path, {"promptpo": lambda task: 1.0, "ppo": lambda task: 0.2, "tune": lambda task: 0.1})
    assert main([str(tmp_path), "--figures", str(tmp_path / "drawn")]) == 0
    assert "| CartPole-v1 | 500 |" in capsys.readouterr().out
    names = {"enough-tasks.png", "enough-matters.png", "enough-steps.png"}
    assert {path.name for path in (tmp_path / "drawn").iterdir()} == names
    with pytest.raises(SystemExit, match="2"):
        main([str(tmp_path / "drawn")])
    assert "there is no " in capsys.readouterr().err


def test_a_suite_that_was_run_in_parts_is_one(tmp_path: Path) -> None:
    """Runs of all folders count, one that stands in two of them once, as the later has it."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = write(tmp_path / "a", {"promptpo": lambda task: 0.5, "ppo": lambda task: 0.2})
    second = write(tmp_path / "b", {"promptpo": lambda task: 1.0, "sac": lambda task: 0.3})
    scores = read_scores([first, second], "proof")
    assert scores.found["promptpo", "CartPole-v1"].runs == (1.0,)
    assert scores.found["ppo", "CartPole-v1"].runs == pytest.approx((0.2,))
    assert scores.found["sac", "HalfCheetah-v5"].runs == pytest.approx((0.3,))


def test_tasks_are_drawn_anew_where_each_has_one_run() -> None:
    """The interval of a difference that all tasks agree on is a point, and one that they do not agree on is none."""
    one = {str(n): [1.0 + n] for n in range(8)}
    less = {str(n): [0.5 + n] for n in range(8)}
    mixed = {str(n): [2.0 * n] for n in range(8)}
    sure, open_ = chance_of_improvement(one, less), chance_of_improvement(one, mixed)
    assert (sure.value, sure.low, sure.high) == (1.0, 1.0, 1.0)
    assert open_.value == pytest.approx((1 + 0.5) / 8)
    assert open_.low < open_.value < open_.high
    lead = iqm_lead(one, less)
    assert (lead.value, lead.low, lead.high) == pytest.approx((0.5, 0.5, 0.5))
    assert iqm_across(one).value == pytest.approx(np.mean([3, 4, 5, 6]))
    with pytest.raises(ValueError, match="no task"):
        chance_of_improvement(one, {})
