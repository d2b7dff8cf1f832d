"""Campaigns: other ways of requesting the same number of answers, a cap on answers, and recordings."""

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promptpo.errors import UsageError
from promptpo.llm.inbox import put_answer, waiting
from promptpo.llm.replay import ReplayLLM
from promptpo_benchmarks.benchmark import Benchmark, run
from promptpo_benchmarks.runner.answers import AnswerCap
from promptpo_benchmarks.runner.cells import plan
from promptpo_benchmarks.runner.estimate import calls_of
from promptpo_benchmarks.runner.methods import CellBudget, choose
from promptpo_benchmarks.runner.processes import NO_ANSWERS_LEFT, CellRunner
from promptpo_benchmarks.runner.suite import Suite, SuiteTask, load_suite

SMALL = CellBudget(steps=2_000, rounds=2, candidates=2, test_episodes=2)
POLE = SuiteTask("CartPole-v1")
POLICY = """```python
class Policy:
    def act(self, obs):
        return int(obs[2] + obs[3] > 0)
```"""


def cells(tmp_path: Path, *methods: str, suite: Suite | None = None, seeds: int = 1) -> Any:
    """Return the cells of a suite of one task."""
    return plan(suite or Suite("mine", "Mine", (POLE,)), choose(methods), ["inbox:box"], seeds, tmp_path)


def option_values(cell: Any, name: str) -> list[str]:
    """Return the values of an option in a cell's command."""
    line = cell.command(Suite("mine", "Mine", (POLE,)), SMALL)
    return [line[i + 1] for i, word in enumerate(line) if word == name]


def test_best_of_n_requests_all_answers_in_one_round(tmp_path: Path) -> None:
    """Two rounds of two become one of four, without feedback or experiments."""
    (cell,) = cells(tmp_path, "best-of-n")
    assert (option_values(cell, "--rounds"), option_values(cell, "--candidates")) == (["1"], ["4"])
    assert option_values(cell, "--option") == ["feedback_class=false", "probe=false"]
    assert calls_of(cell, Suite("mine", "Mine", (POLE,)), SMALL) == 4


def test_reveal_levels_are_methods(tmp_path: Path) -> None:
    reveal = [
        option_values(cell, "--reveal") for cell in cells(tmp_path, "promptpo-anonymous", "promptpo-bare")
    ]
    assert reveal == [["anonymous"], ["bare"]]


def test_suite_restricts_methods_to_some_tasks(tmp_path: Path) -> None:
    """Its table "only" does so."""
    path = tmp_path / "mine.toml"
    path.write_text(
        'title = "t"\nsteps = 9\ntasks = ["CartPole-v1", "Acrobot-v1"]\n[only]\npromptpo-bare = ["Acrobot-v1"]\n'
    )
    planned = cells(tmp_path, "promptpo", "promptpo-bare", suite=load_suite(str(path)))
    assert [(cell.task.label, cell.method.name) for cell in planned] == [
        ("CartPole-v1", "promptpo"),
        ("Acrobot-v1", "promptpo"),
        ("Acrobot-v1", "promptpo-bare"),
    ]
    path.write_text(path.read_text().replace('["Acrobot-v1"]\n', '["Pong"]\n'))
    with pytest.raises(UsageError, match="names Pong under only"):
        load_suite(str(path))


def test_model_name_is_formatted_for_each_cell(tmp_path: Path) -> None:
    """Task, method and seed are filled in, so that every cell can have its own inbox."""
    suite = Suite("mine", "Mine", (POLE,))
    (_, cell) = plan(suite, choose(["promptpo"]), ["inbox:{task}/{method}-{seed}"], 2, tmp_path)
    assert cell.asked == "inbox:CartPole-v1/promptpo-1"


def test_answer_cap_holds_for_all_cells_together(tmp_path: Path) -> None:
    """A cell that cannot get all it needs is not started, and unused answers are granted again."""
    suite = Suite("mine", "Mine", (POLE,))
    first, second = cells(tmp_path, "best-of-n", seeds=2)
    cap = AnswerCap([first, second], suite, replace(SMALL, calls=9))
    assert cap.grant(first) == 6  # four candidates, and two repairs
    assert cap.grant(second) == 0
    cap.settle(first)  # it used none
    assert cap.grant(second) == 6


def test_ending_cell_keeps_its_answers_while_they_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell that starts meanwhile is granted none of them."""
    first, second = cells(tmp_path, "best-of-n", seeds=2)
    cap = AnswerCap([first, second], Suite("mine", "Mine", (POLE,)), replace(SMALL, calls=6))
    assert cap.grant(first) == 6
    counting = threading.Event()

    def count_slowly(cell: Any) -> int:
        counting.set()
        time.sleep(0.3)
        return 4

    monkeypatch.setattr("promptpo_benchmarks.runner.answers.count_answers", count_slowly)
    ending = threading.Thread(target=cap.settle, args=(first,))
    ending.start()
    assert counting.wait(100)
    assert cap.grant(second) == 0
    ending.join()


@pytest.mark.slow
def test_cells_are_answered_by_hand_and_recorded(tmp_path: Path) -> None:
    """Two cells wait for their inboxes side by side, a third exceeds the cap, and the recordings can be replayed."""
    budget = replace(SMALL, calls=10)
    benchmark = Benchmark(
        Suite("mine", "Mine", (POLE,)), choose(["best-of-n"]), [f"inbox:{tmp_path}/boxes/{{seed}}"], 3,
        budget, tmp_path / "bench", [], tmp_path / "kept",
    )  # fmt: skip
    assert CellRunner(benchmark.suite, budget, 1, lambda _: None).run([]) == []
    ended = threading.Event()
    answerer = threading.Thread(target=_answer, args=(tmp_path / "boxes", ended))
    answerer.start()
    try:
        failures = run(benchmark, 2, lambda _: None)
    finally:
        ended.set()
        answerer.join()
    assert [failure.message for failure in failures] == [NO_ANSWERS_LEFT]
    kept = sorted((tmp_path / "kept/recordings").iterdir())
    assert [path.name for path in kept] == [f"CartPole-v1--best-of-n--seed-{n}.jsonl.xz" for n in (0, 1)]
    assert ReplayLLM(kept[0]).capabilities.purposes >= {"policy"}


def _answer(boxes: Path, ended: threading.Event) -> None:
    """Give every question the same policy, as a person would."""
    while not ended.is_set():
        for box in boxes.glob("*"):
            for question in waiting(box):
                put_answer(box, question.number, POLICY)
        time.sleep(0.2)
