"""An interrupted tuning of a run: what was found is there, and resuming goes on at the same batch."""

import asyncio

import pytest
from promptpo.search.arena import Arena

from promptpo.envs.task import Task
from promptpo.program import Program
from promptpo.rollouts import LocalExecutor, Settings
from promptpo.run.config import Budget, Config
from promptpo.run.journal import Journal
from promptpo.run.ledger import Ledger
from promptpo.search.tuning import Start
from sandbox import Limits

LEANING = """PARAMS = {"lean": (0.0, -1.0, 1.0), "speed": (0.0, -1.0, 1.0)}


class Policy:
    def __init__(self, params):
        self.lean, self.speed = params["lean"], params["speed"]

    def act(self, obs):
        return 1 if self.lean * obs[2] + self.speed * obs[3] > 0 else 0
"""


@pytest.fixture(scope="module")
def executor():
    """One worker with CartPole."""
    executor = LocalExecutor(Settings(Task("CartPole-v1"), Limits(), allow_weaker=True), 1)
    yield executor
    executor.close()


def tune_until(executor, directory, batches):
    """Tune CartPole, cancel after so many batches; returns the best so far and what the journal holds."""
    task = Task("CartPole-v1")
    with Journal(directory) as journal:
        config = Config(task, budget=Budget())
        arena = Arena(executor, 500, config, journal, Ledger(config.budget, journal.events))
        start = Start("r1c1", Program(LEANING), 9.4)

        def enough():
            return sum(event.kind == "tuning" for event in journal.events) >= batches

        async def work():
            tuning = asyncio.ensure_future(arena.tune(1, [start], 50_000, None))
            journal.listen(lambda _: enough() and tuning.cancel())
            await asyncio.wait([tuning])

        assert arena.tuned_so_far(1) == ()
        asyncio.run(work())
        return arena.tuned_so_far(1), [e.key for e in journal.events if e.kind == "tuning"]


def test_the_best_so_far_survives_a_cancellation(executor, tmp_path):
    """Cancelled in the middle, the tuned numbers are better than those that it began with; so again after a resume."""
    (tuned,), keys = tune_until(executor, tmp_path / "run", 6)
    assert tuned.changes
    assert tuned.score > 50
    assert tuned.program.values["lean"] + tuned.program.values["speed"] > 0
    (later,), more = tune_until(executor, tmp_path / "run", 9)
    assert more[: len(keys)] == keys
    assert len(more) > len(keys)
    assert later.score >= tuned.score - 50
