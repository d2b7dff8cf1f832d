"""Recorded work reaches the journal first, is counted and is never repeated; requested answers are received."""

import ast
import asyncio
import gc
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from promptpo.core.budget import Ledger, budget_row
from promptpo.core.candidate import Candidate
from promptpo.core.config import Budget, Config
from promptpo.core.journal import Journal
from promptpo.core.work import RecordedWork
from promptpo.envs.task import Task
from promptpo.errors import BudgetSpentError, ProviderError
from promptpo.llm.base import Completion, Message
from promptpo.llm.scripted import ScriptedLLM
from promptpo.rollouts import Job
from promptpo.rollouts.packed import AWAITING_FEEDBACK, size_of
from promptpo_sandbox import Episode, Failure, Trajectory, Trial
from tests.promptpo.fake_executor import FakeExecutor

PROGRAM = Candidate("r1c1", "class Policy: ...", 1)


class WorkBench:
    """Recorded work with a journal, a scripted model and an executor without processes."""

    def __init__(
        self,
        directory: Any,
        answer: Any = lambda _: "text",
        play: Any = lambda _, trial: float(trial.seed),
        **limits: Any,
    ) -> None:
        config = Config(Task("CartPole-v1"), budget=Budget(**limits))
        self.journal = Journal(directory)
        self.ledger = Ledger(config.budget, self.journal.events)
        self.journal.listen(self.ledger.add)
        self.llm = ScriptedLLM(answer)
        self.executor = FakeExecutor(play)
        self.recorded = RecordedWork(self.llm, self.executor, config, self.journal, self.ledger)

    def ask(self, key: str = "r1.c1") -> Any:
        """Make one call."""
        return self.recorded.ask(key, "policy", [Message("user", "?")], system="s")

    def roll(self, kind: str = "evaluation", key: str = "a", seeds: Any = (1, 2, 3, 4), **more: Any) -> Any:
        """Roll out episodes of at most ten steps."""
        return self.recorded.roll_out(kind, key, PROGRAM, seeds, horizon=10, **more)


def test_answer_is_journaled_and_requested_once(tmp_path: Path) -> None:
    """Later requests read the journal, in this process and in the next."""
    asked = []
    first = WorkBench(tmp_path, lambda request: asked.append(request.key) or "answer")
    assert asyncio.run(first.ask()).text == "answer"
    assert asyncio.run(first.ask()).text == "answer"
    assert next(first.journal.of_kind("completion")).key == "r1.c1"
    first.journal.close()
    assert asyncio.run(WorkBench(tmp_path, lambda _: pytest.fail("asked again")).ask()).text == "answer"
    assert asked == ["r1.c1"]


def test_every_paid_call_counts(tmp_path: Path) -> None:
    """A provider without text retries only within the limit on calls."""

    async def empty(request: Any) -> Any:
        calls = 1
        while request.may_ask_again():
            calls += 1
        return Completion("", "m", calls=calls)

    work = WorkBench(tmp_path, empty, calls=5)

    async def ask_two() -> Any:
        return await asyncio.gather(work.ask("r1.c1"), work.ask("r1.c2"))

    assert sum(completion.calls for completion in asyncio.run(ask_two())) == work.ledger.calls == 5
    assert work.ledger.calls_in_flight == 0
    with pytest.raises(BudgetSpentError):
        asyncio.run(work.ask("r1.c3"))


def test_pending_answer_is_received_after_the_search(tmp_path: Path) -> None:
    """Cancelling the waiting task does not cancel the call."""
    let_go = asyncio.Event()

    async def slow(_: Any) -> Any:
        await let_go.wait()
        return Completion("late", "m", cost_usd=1.0)

    work = WorkBench(tmp_path, slow)

    async def search() -> None:
        waiting = asyncio.ensure_future(work.ask())
        await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert work.ledger.calls == 0
        let_go.set()
        await work.recorded.receive_answers()

    asyncio.run(search())
    assert work.ledger.calls == 1
    assert work.ledger.cost_usd == 1.0


def test_pending_call_that_fails_after_the_search_is_silent(tmp_path: Path) -> None:
    """Nobody waits for it any more, and asyncio would print its traceback."""
    printed: list[Any] = []

    async def fail_late(_: Any) -> None:
        await asyncio.sleep(0.1)
        raise ProviderError("down")

    async def search() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: printed.append(context))
        work = WorkBench(tmp_path, fail_late)
        waiting = asyncio.ensure_future(work.ask())
        await asyncio.sleep(0.02)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await work.recorded.receive_answers()
        gc.collect()

    asyncio.run(search())
    assert printed == []


@pytest.mark.parametrize("repeats", [False, True])
def test_pending_answer_is_abandoned_after_a_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repeats: bool
) -> None:
    """It is abandoned at once if repeating the request is free."""
    monkeypatch.setattr("promptpo.core.work.RECEIVING_SECONDS", 30.0 if repeats else 0.3)

    async def never(_: Any) -> None:
        await asyncio.sleep(60)

    work = WorkBench(tmp_path, never)
    work.llm.capabilities = replace(work.llm.capabilities, repeats=repeats)

    async def search() -> Any:
        waiting = asyncio.ensure_future(work.ask())
        await asyncio.sleep(0.05)
        began = time.monotonic()
        await work.recorded.receive_answers()
        waiting.cancel()
        return time.monotonic() - began

    assert asyncio.run(search()) < 20


def test_call_beyond_the_limit_is_not_made(tmp_path: Path) -> None:
    work = WorkBench(tmp_path, lambda _: "answer", calls=1)
    assert asyncio.run(work.ask("r1.c1")).text == "answer"
    with pytest.raises(BudgetSpentError, match="1 language-model calls"):
        asyncio.run(work.ask("r1.c2"))
    assert work.ledger.calls == 1


def test_rollouts_are_recorded_once_and_counted_by_purpose(tmp_path: Path) -> None:
    """Test steps are outside the budget."""
    work = WorkBench(tmp_path, steps=80)
    played = asyncio.run(work.roll())
    assert played.evaluation.returns == (1.0, 2.0, 3.0, 4.0)
    assert asyncio.run(work.roll()).rollout is None
    asyncio.run(work.roll("validation", "b"))
    asyncio.run(work.roll("test", "c"))
    assert len(work.executor.asked) == 3
    steps = {purpose: n for purpose, n in work.ledger.steps.items() if n}
    assert steps == {"train": 40, "validation": 40, "test": 40}
    assert {event.data["candidate"] for event in work.journal.of_kind("evaluation")} == {"r1c1"}
    with pytest.raises(BudgetSpentError, match="80 environment steps"):
        asyncio.run(work.roll("validation", "d"))


def test_early_check_skips_the_remaining_seeds(tmp_path: Path) -> None:
    """Both stages form one event."""
    work = WorkBench(tmp_path)
    poor = asyncio.run(work.roll(early=(2, lambda first: max(first.returns) > 2)))
    good = asyncio.run(work.roll(key="b", early=(3, lambda first: max(first.returns) > 2)))
    assert (poor.evaluation.returns, good.evaluation.returns) == ((1.0, 2.0), (1.0, 2.0, 3.0, 4.0))
    assert len(list(work.journal.of_kind("evaluation"))) == 2


def test_failure_ends_training_but_not_the_test(tmp_path: Path) -> None:
    """In the test it is one failed episode of many."""

    def play(_: Any, trial: Any) -> Any:
        return Failure("crashed", "it broke", seed=trial.seed) if trial.seed == 2 else 5.0

    work = WorkBench(tmp_path, play=play)
    assert asyncio.run(work.roll()).evaluation.outcome == "crashed"
    test = asyncio.run(work.roll("test", "t")).evaluation
    assert (test.outcome, test.failed, test.returns) == ("crashed", 1, (5.0, 5.0, 5.0))


def test_trajectories_are_kept_until_their_feedback(tmp_path: Path) -> None:
    """Replaying dropped ones costs steps."""
    work = WorkBench(tmp_path)
    asyncio.run(work.roll(record=True))
    assert [path.name for path in (tmp_path / AWAITING_FEEDBACK).iterdir()] == ["a"]
    again = asyncio.run(work.recorded.replay_trajectories("a", PROGRAM, (1, 2, 3, 4), horizon=10))
    assert [episode.return_ for episode in again.episodes] == [1.0, 2.0, 3.0, 4.0]
    assert len(work.executor.asked) == 1
    work.recorded.drop_trajectories("a")
    assert not (tmp_path / AWAITING_FEEDBACK).exists()
    asyncio.run(work.recorded.replay_trajectories("a", PROGRAM, (3,), horizon=10))
    assert len(work.executor.asked) == 2
    assert work.ledger.steps["train"] == 50  # rolled out once more, and counted


def test_lost_trajectories_are_replayed_within_the_budget(tmp_path: Path) -> None:
    work = WorkBench(tmp_path, steps=50)
    asyncio.run(work.roll(record=True))
    work.recorded.drop_trajectories("a")
    again = [asyncio.run(work.recorded.replay_trajectories("a", PROGRAM, (1,), horizon=10)) for _ in range(2)]
    assert [len(rollout.episodes) for rollout in again] == [1, 0]
    assert work.ledger.steps["train"] == 50


def test_damaged_trajectories_are_rolled_out_again(tmp_path: Path) -> None:
    """A full disk may truncate the file."""
    work = WorkBench(tmp_path)
    asyncio.run(work.roll(record=True))
    file = tmp_path / AWAITING_FEEDBACK / "a"
    file.write_text(file.read_text()[:40])
    again = asyncio.run(work.recorded.replay_trajectories("a", PROGRAM, (1, 2), horizon=10))
    assert [episode.return_ for episode in again.episodes] == [1.0, 2.0]


def test_size_of_structured_observations() -> None:
    """Their components may have unequal shapes."""
    parts = (3, np.zeros(4), {"grid": np.zeros((2, 5)), "mode": 1})
    trajectory = Trajectory([parts] * 4, [0] * 3, [1.0] * 3)
    episode = Episode(0, 3.0, 3, True, False, None, 0, 0.0, trajectory, None)
    numbers = 8 * (4 + 10)
    assert numbers < size_of([episode]) / 3 < 2 * numbers


def play_tuning(work: Any, episodes: int) -> Any:
    """Play three jobs whose episodes may last 500 steps but last ten."""
    jobs = [Job("class Policy: ...", tuple(Trial(seed, None, 500) for seed in range(episodes)))] * 3
    return asyncio.run(work.recorded.play("tuning", "r1.t1", jobs))


def test_episodes_are_charged_by_their_actual_length(tmp_path: Path) -> None:
    """The worst case may exceed the limit."""
    work = WorkBench(tmp_path, steps=600)
    assert [rollout.steps for rollout in play_tuning(work, 4)] == [40] * 3
    assert work.ledger.steps["tune"] == 120


def test_sequential_jobs_respect_the_step_limit(tmp_path: Path) -> None:
    """Steps taken before the limit are counted."""
    work = WorkBench(tmp_path, steps=600)
    with pytest.raises(BudgetSpentError, match="600 environment steps"):
        play_tuning(work, 25)
    assert 500 <= work.ledger.steps["tune"] <= 600


def calls_outside_work() -> list[tuple[Path, ast.Call]]:
    """Return every call in the packages that decide and play, outside `work.py`."""
    root = Path(__file__).parents[3] / "promptpo"
    paths = [
        path
        for room in ("core", "session", "prompts", "features")
        for path in (root / room).rglob("*.py")
        if path.name != "work.py"
    ]
    return [
        (path, node)
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]


def test_only_recorded_work_rolls_out_and_journals() -> None:
    """The exceptions happen anew in every process."""
    calls = calls_outside_work()
    added = {
        call.args[0].value
        for _, call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "add" and len(call.args) > 1
        if isinstance(call.args[0], ast.Constant)
    }
    assert added == {"session", "stop", "note"}  # a note that a search in a simulator begins
    rolling = {path.name for path, call in calls if ast.unparse(call.func) in {"roll_out", "play_agent"}}
    assert rolling == {"settings.py"}  # checks that a teacher can play, without steps


@pytest.mark.parametrize(("key", "counted"), [("zero.test", 0), ("zero", 10)])
def test_interrupted_references_count_like_finished_ones(tmp_path: Path, key: str, counted: int) -> None:
    """Steps on test seeds are outside the budget even if the episode was cut."""
    work = WorkBench(tmp_path)
    jobs = [Job(PROGRAM.source, [Trial(1)])]

    async def cut() -> None:
        async with work.recorded._reserve(*budget_row("reference", key), jobs) as roll_out:
            await roll_out(jobs)
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cut())
    assert work.ledger.steps["reference"] == 10
    assert work.ledger.searched_steps == counted
