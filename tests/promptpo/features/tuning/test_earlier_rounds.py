"""Which programs a round tunes: its own and the best of earlier rounds."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from promptpo.core.budget import Ledger
from promptpo.core.candidate import Attempt, Candidate
from promptpo.core.config import Config
from promptpo.core.feature import SearchContext
from promptpo.core.history import History
from promptpo.core.journal import Journal
from promptpo.core.work import RecordedWork
from promptpo.envs.task import Task
from promptpo.features.tuning.feature import Tuner
from promptpo.features.tuning.outcome import TuningResult
from promptpo.llm.scripted import ScriptedLLM
from promptpo.program import Program
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.rollouts.packed import inflate
from tests.promptpo.optimizing import Model, optimize, read_run
from tests.promptpo.policies import IDLE, TUNABLE


class FakeMeasurer:
    """Returns attempts without rolling them out."""

    observation_space = None

    def __init__(self) -> None:
        self.measurer = self

    async def measure(self, candidate: Candidate, history: History, **more: Any) -> Attempt:
        """Return an attempt without episodes."""
        return Attempt(candidate, Evaluation("ok", (), 0))

    def record(self, attempt: Attempt) -> Attempt:
        """Return the attempt unchanged."""
        return attempt


@pytest.mark.slow
def test_earlier_leader_is_tuned_in_every_round(tmp_path: Path) -> None:
    """Each round tunes on other seeds."""
    other = TUNABLE.replace("self.angle * obs[2]", "self.angle * (obs[2] + 0.1 * obs[1])")
    model = Model({"r1.c1": TUNABLE}, default=other)
    run = optimize(model, tmp_path / "run", rounds=3, candidates=1, max_steps=8_000)
    events = read_run(run.directory)
    tuned = {event.key: event.data["candidates"] for event in events["tuning"] if event.key.endswith(".t1")}
    standing = {event.key: event.data["best"] for event in events["round"]}
    assert tuned["r1.t1"] == ["r1c1"]
    assert standing["r1"] in tuned["r2.t1"]
    first, second = ({e.seed for e in tuning_episodes(events, n)} for n in (1, 2))
    assert first
    assert second
    assert not first & second


def tuning_episodes(events: Any, round_: int) -> Any:
    """Yield the episodes of a round's tuning."""
    for event in events["tuning"]:
        if event.key.startswith(f"r{round_}."):
            yield from (
                episode for rollout in inflate(event.data["rollouts"]) for episode in rollout.episodes
            )


def test_program_tuned_in_a_simulator_is_not_tuned_again(tmp_path: Path) -> None:
    config, measurer = Config(Task("CartPole-v1")), cast("Any", FakeMeasurer())
    played = Evaluation("ok", (EpisodeRecord(0, 9.0, 10),), 10)
    source = TUNABLE.strip("`\n").removeprefix("python\n")
    attempts = [
        Attempt(Candidate("s1", source, 0, digest="s", tuned={"angle": (0.0, 1.0)}), played),
        Attempt(Candidate("r1c1", source.replace("angle", "other"), 1, digest="r"), played),
    ]
    with Journal(tmp_path) as journal:
        work = RecordedWork(ScriptedLLM([]), None, config, journal, Ledger(config.budget))
        starts = Tuner(SearchContext(cast("Any", None), config, work, 10), measurer)._starts(
            History(attempts), attempts, None
        )
    assert [start.id for start in starts] == ["r1c1"]


def test_tuned_earlier_leader_is_a_candidate_of_the_current_round(tmp_path: Path) -> None:
    """Its id follows those of the round."""
    config, measurer = Config(Task("CartPole-v1"), candidates=3), cast("Any", FakeMeasurer())

    def attempt(id_: str, source: str, return_: float) -> Attempt:
        played = EpisodeRecord(0, return_, 10, None, terminated=True, truncated=False)
        return Attempt(Candidate(id_, source, int(id_[1]), digest=id_), Evaluation("ok", (played,), 10))

    best, new = attempt("r1c2", TUNABLE, 50.0), attempt("r2c1", IDLE, 9.0)
    history = History([best, new], rounds=1)
    better = TuningResult(
        "r1c2", Program.from_source(TUNABLE).with_values({"angle": 1.0}), {"angle": (-1.0, 1.0)}
    )
    with Journal(tmp_path) as journal:
        work = RecordedWork(ScriptedLLM([]), None, config, journal, Ledger(config.budget))
        tuner = Tuner(SearchContext(cast("Any", None), config, work, 10), measurer)
        tuned = asyncio.run(tuner._measure(better, history, 2))
    assert tuned is not None
    assert (tuned.id, tuned.candidate.round, tuned.candidate.parents) == ("r2c4t", 2, ("r1c2",))
