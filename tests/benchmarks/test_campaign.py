"""Campaigns: methods that ask for the same number of answers in other ways, a cap on answers, recordings."""

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
    """The cells of a suite of one task."""
    return plan(suite or Suite("mine", "Mine", (POLE,)), choose(methods), ["inbox:box"], seeds, tmp_path)


def words(cell: Any, name: str) -> list[str]:
    """What follows an option in a cell's command, each time."""
    line = cell.command(Suite("mine", "Mine", (POLE,)), SMALL)
    return [line[i + 1] for i, word in enumerate(line) if word == name]


def test_best_of_n_asks_as_much_at_once(tmp_path: Path) -> None:
    """Two rounds of two become one of four, without feedback or experiments."""
    (cell,) = cells(tmp_path, "best-of-n")
    assert (words(cell, "--rounds"), words(cell, "--candidates")) == (["1"], ["4"])
    assert words(cell, "--option") == ["feedback_class=false", "probe=false"]
    assert calls_of(cell, Suite("mine", "Mine", (POLE,)), SMALL) == 4


def test_what_is_told_is_a_method(tmp_path: Path) -> None:
    """Less of the environment is told under another method's name."""
    told = [words(cell, "--reveal") for cell in cells(tmp_path, "promptpo-anonymous", "promptpo-bare")]
    assert told == [["anonymous"], ["bare"]]


def test_a_suite_says_which_methods_play_some_tasks_only(tmp_path: Path) -> None:
    """Methods under "only" have cells for those tasks, the others for all."""
    path = tmp_path / "mine.toml"
    path.write_text(
        'title = "t"\nsteps = 9\ntasks = ["CartPole-v1", "Acrobot-v1"]\n[only]\npromptpo-bare = ["Acrobot-v1"]\n'
    )
    found = cells(tmp_path, "promptpo", "promptpo-bare", suite=load_suite(str(path)))
    assert [(cell.task.label, cell.method.name) for cell in found] == [
        ("CartPole-v1", "promptpo"),
        ("Acrobot-v1", "promptpo"),
        ("Acrobot-v1", "promptpo-bare"),
    ]
    path.write_text(path.read_text().replace('["Acrobot-v1"]\n', '["Pong"]\n'))
    with pytest.raises(UsageError, match="names Pong under only"):
        load_suite(str(path))


def test_a_model_may_be_another_for_each_cell(tmp_path: Path) -> None:
    """Task, method and seed are filled in, so that every cell can have an inbox of its own."""
    suite = Suite("mine", "Mine", (POLE,))
    (_, cell) = plan(suite, choose(["promptpo"]), ["inbox:{task}/{method}-{seed}"], 2, tmp_path)
    assert cell.asked == "inbox:CartPole-v1/promptpo-1"


def test_a_cap_holds_for_all_cells_together(tmp_path: Path) -> None:
    """Who could not ask all that it needs is not begun, and what others did not use is granted again."""
    suite = Suite("mine", "Mine", (POLE,))
    first, second = cells(tmp_path, "best-of-n", seeds=2)
    cap = AnswerCap([first, second], suite, replace(SMALL, calls=9))
    assert cap.grant(first) == 6  # four, and two for repairs
    assert cap.grant(second) == 0
    cap.settle(first)  # it asked nothing
    assert cap.grant(second) == 6


def test_a_cell_that_ends_is_counted_all_the_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell that begins while another's answers are being counted is granted none of them."""
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
    """Two cells wait side by side for their inboxes; a third is beyond the cap; the recordings can be replayed."""
    budget = replace(SMALL, calls=10)
    asked = Benchmark(
        Suite("mine", "Mine", (POLE,)), choose(["best-of-n"]), [f"inbox:{tmp_path}/boxes/{{seed}}"], 3,
        budget, tmp_path / "bench", [], tmp_path / "kept",
    )  # fmt: skip
    assert CellRunner(asked.suite, budget, 1, lambda _: None).run([]) == []
    ended = threading.Event()
    answerer = threading.Thread(target=_answer, args=(tmp_path / "boxes", ended))
    answerer.start()
    try:
        failures = run(asked, 2, lambda _: None)
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
