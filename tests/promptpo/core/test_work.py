"""Recorded work: in the journal first, counted, never twice; what is asked is received."""

import ast
import asyncio
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
from promptpo.errors import BudgetSpentError
from promptpo.llm.base import Completion, Message
from promptpo.llm.scripted import ScriptedLLM
from promptpo.rollouts import Job
from promptpo.rollouts.packed import AWAITING_FEEDBACK, size_of
from promptpo_sandbox import Episode, Failure, Trajectory, Trial
from tests.promptpo.fake_executor import FakeExecutor

PROGRAM = Candidate("r1c1", "class Policy: ...", 1)


class Work:
    """Recorded work with a journal of its own, a scripted model and an executor without processes."""

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
        """One call."""
        return self.recorded.ask(key, "policy", [Message("user", "?")], system="s")

    def roll(self, kind: str = "evaluation", key: str = "a", seeds: Any = (1, 2, 3, 4), **more: Any) -> Any:
        """Episodes of at most ten steps."""
        return self.recorded.roll_out(kind, key, PROGRAM, seeds, horizon=10, **more)


def test_an_answer_is_on_disk_before_anyone_reads_it_and_is_asked_for_once(tmp_path: Path) -> None:
    """The second time it comes from the journal, in this process and in the next."""
    asked = []
    first = Work(tmp_path, lambda request: asked.append(request.key) or "answer")
    assert asyncio.run(first.ask()).text == "answer"
    assert asyncio.run(first.ask()).text == "answer"
    assert next(first.journal.of_kind("completion")).key == "r1.c1"
    first.journal.close()
    assert asyncio.run(Work(tmp_path, lambda _: pytest.fail("asked again")).ask()).text == "answer"
    assert asked == ["r1.c1"]


def test_every_paid_call_for_an_answer_counts(tmp_path: Path) -> None:
    """A provider that gets no text asks again only while the limit on calls leaves room."""

    async def empty(request: Any) -> Any:
        calls = 1
        while request.may_ask_again():
            calls += 1
        return Completion("", "m", calls=calls)

    work = Work(tmp_path, empty, calls=5)

    async def ask_two() -> Any:
        return await asyncio.gather(work.ask("r1.c1"), work.ask("r1.c2"))

    assert sum(completion.calls for completion in asyncio.run(ask_two())) == work.ledger.calls == 5
    assert work.ledger.calls_in_flight == 0
    with pytest.raises(BudgetSpentError):
        asyncio.run(work.ask("r1.c3"))


def test_what_was_asked_is_received_though_the_search_ends(tmp_path: Path) -> None:
    """Cancelling the one who waits does not cancel the call; `receive` waits until it is on disk."""
    let_go = asyncio.Event()

    async def slow(_: Any) -> Any:
        await let_go.wait()
        return Completion("late", "m", cost_usd=1.0)

    work = Work(tmp_path, slow)

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


@pytest.mark.parametrize("repeats", [False, True])
def test_an_answer_that_never_comes_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repeats: bool
) -> None:
    """After the time that it is given; at once where asking again costs nothing."""
    monkeypatch.setattr("promptpo.core.work.RECEIVING_SECONDS", 30.0 if repeats else 0.3)

    async def never(_: Any) -> None:
        await asyncio.sleep(60)

    work = Work(tmp_path, never)
    work.llm.capabilities = replace(work.llm.capabilities, repeats=repeats)

    async def search() -> Any:
        waiting = asyncio.ensure_future(work.ask())
        await asyncio.sleep(0.05)
        began = time.monotonic()
        await work.recorded.receive_answers()
        waiting.cancel()
        return time.monotonic() - began

    assert asyncio.run(search()) < 20


def test_a_call_beyond_the_limit_is_not_made(tmp_path: Path) -> None:
    """And takes nothing away from the one before it."""
    work = Work(tmp_path, lambda _: "answer", calls=1)
    assert asyncio.run(work.ask("r1.c1")).text == "answer"
    with pytest.raises(BudgetSpentError, match="1 language-model calls"):
        asyncio.run(work.ask("r1.c2"))
    assert work.ledger.calls == 1


def test_rollouts_are_made_once_and_counted_by_purpose(tmp_path: Path) -> None:
    """Each kind has its purpose; the test is outside the budget."""
    work = Work(tmp_path, steps=80)
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


def test_what_is_hopeless_early_is_not_rolled_out_further(tmp_path: Path) -> None:
    """Two stages in one event: the others only where the first are worth it."""
    work = Work(tmp_path)
    poor = asyncio.run(work.roll(early=(2, lambda first: max(first.returns) > 2)))
    good = asyncio.run(work.roll(key="b", early=(3, lambda first: max(first.returns) > 2)))
    assert (poor.evaluation.returns, good.evaluation.returns) == ((1.0, 2.0), (1.0, 2.0, 3.0, 4.0))
    assert len(list(work.journal.of_kind("evaluation"))) == 2


def test_a_failure_ends_training_but_not_the_test(tmp_path: Path) -> None:
    """In the test it is one episode of many, and counted."""

    def play(_: Any, trial: Any) -> Any:
        return Failure("crashed", "it broke", seed=trial.seed) if trial.seed == 2 else 5.0

    work = Work(tmp_path, play=play)
    assert asyncio.run(work.roll()).evaluation.outcome == "crashed"
    test = asyncio.run(work.roll("test", "t")).evaluation
    assert (test.outcome, test.failed, test.returns) == ("crashed", 1, (5.0, 5.0, 5.0))


def test_trajectories_wait_for_their_feedback(tmp_path: Path) -> None:
    """Kept beside the journal until something was said about them; gone afterwards."""
    work = Work(tmp_path)
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


def test_trajectories_that_were_lost_take_no_more_steps_than_are_left(tmp_path: Path) -> None:
    """Rolled out again within the limit; where none are left, there are none, and what was judged stays."""
    work = Work(tmp_path, steps=50)
    asyncio.run(work.roll(record=True))
    work.recorded.drop_trajectories("a")
    again = [asyncio.run(work.recorded.replay_trajectories("a", PROGRAM, (1,), horizon=10)) for _ in range(2)]
    assert [len(rollout.episodes) for rollout in again] == [1, 0]
    assert work.ledger.steps["train"] == 50


def test_damaged_trajectories_are_rolled_out_once_more(tmp_path: Path) -> None:
    """A file cut by a full disk is no trajectory."""
    work = Work(tmp_path)
    asyncio.run(work.roll(record=True))
    file = tmp_path / AWAITING_FEEDBACK / "a"
    file.write_text(file.read_text()[:40])
    again = asyncio.run(work.recorded.replay_trajectories("a", PROGRAM, (1, 2), horizon=10))
    assert [episode.return_ for episode in again.episodes] == [1.0, 2.0]


def test_observations_of_parts_that_differ_in_shape_are_counted() -> None:
    """A tuple of a number, flags and a grid; a dictionary by its parts."""
    parts = (3, np.zeros(4), {"grid": np.zeros((2, 5)), "mode": 1})
    trajectory = Trajectory([parts] * 4, [0] * 3, [1.0] * 3)
    episode = Episode(0, 3.0, 3, True, False, None, 0, 0.0, trajectory, None)
    numbers = 8 * (4 + 10)
    assert numbers < size_of([episode]) / 3 < 2 * numbers


def tuned(work: Any, episodes: int) -> Any:
    """Three jobs whose episodes may last 500 steps and last ten."""
    jobs = [Job("class Policy: ...", tuple(Trial(seed, None, 500) for seed in range(episodes)))] * 3
    return asyncio.run(work.recorded.play("tuning", "r1.t1", jobs))


def test_episodes_that_end_early_are_paid_for_as_they_are(tmp_path: Path) -> None:
    """What the longest episodes would cost ends no run, as long as those that are played fit the limit."""
    work = Work(tmp_path, steps=600)
    assert [rollout.steps for rollout in tuned(work, 4)] == [40] * 3
    assert work.ledger.steps["tune"] == 120


def test_no_step_beyond_the_limit_is_taken_where_jobs_go_in_turn(tmp_path: Path) -> None:
    """The limit holds exactly, and what was taken before it is counted."""
    work = Work(tmp_path, steps=600)
    with pytest.raises(BudgetSpentError, match="600 environment steps"):
        tuned(work, 25)
    assert 500 <= work.ledger.steps["tune"] <= 600


def calls_outside_the_room() -> list[tuple[Path, ast.Call]]:
    """Every call in the rooms that decide and play."""
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


def test_whoever_decides_writes_through_once_and_plays_through_the_spender() -> None:
    """Only what happens anew in every process is added as it is; nobody rolls out without it."""
    calls = calls_outside_the_room()
    added = {
        call.args[0].value
        for _, call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "add" and len(call.args) > 1
        if isinstance(call.args[0], ast.Constant)
    }
    assert added == {"session", "stop", "note"}  # a note that a search in a simulator begins
    rolling = {path.name for path, call in calls if ast.unparse(call.func) in {"roll_out", "play_agent"}}
    assert rolling == {
        "settings.py"
    }  # of a teacher, which only looks whether the agent can play, and steps nothing


@pytest.mark.parametrize(("key", "counted"), [("zero.test", 0), ("zero", 10)])
def test_interrupted_references_count_as_finished_ones_do(tmp_path: Path, key: str, counted: int) -> None:
    """Steps on test seeds are none of the budget's, also those of an episode that led to nothing."""
    work = Work(tmp_path)
    jobs = [Job(PROGRAM.source, [Trial(1)])]

    async def cut() -> None:
        async with work.recorded._reserve(*budget_row("reference", key), jobs) as roll_out:
            await roll_out(jobs)
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cut())
    assert work.ledger.steps["reference"] == 10
    assert work.ledger.searched_steps == counted
