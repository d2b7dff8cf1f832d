"""Which programs a round tunes: its own, and the best of earlier rounds."""

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


class Measures:
    """Measures candidates as a sampler does, but for rolling them out."""

    observation_space = None

    def __init__(self) -> None:
        self.measurer = self

    async def measure(self, candidate: Candidate, history: History, **more: Any) -> Attempt:
        """An attempt without episodes."""
        return Attempt(candidate, Evaluation("ok", (), 0))

    def record(self, attempt: Attempt) -> Attempt:
        """As it is."""
        return attempt


@pytest.mark.slow
def test_every_round_tunes_the_best_of_earlier_ones_too(tmp_path: Path) -> None:
    """Beside the round's own programs, in rounds before the last as well, and on other starts."""
    other = TUNABLE.replace("self.angle * obs[2]", "self.angle * (obs[2] + 0.1 * obs[1])")
    model = Model({"r1.c1": TUNABLE}, default=other)
    run = optimize(model, tmp_path / "run", rounds=3, candidates=1, max_steps=8_000)
    events = read_run(run.directory)
    begun = {event.key: event.data["candidates"] for event in events["tuning"] if event.key.endswith(".t1")}
    standing = {event.key: event.data["best"] for event in events["round"]}
    assert begun["r1.t1"] == ["r1c1"]
    assert standing["r1"] in begun["r2.t1"]
    first, second = ({e.seed for e in _tuned_in(events, n)} for n in (1, 2))
    assert first
    assert second
    assert not first & second


def _tuned_in(events: Any, round_: int) -> Any:
    """The episodes of a round's tuning."""
    for event in events["tuning"]:
        if event.key.startswith(f"r{round_}."):
            yield from (
                episode for rollout in inflate(event.data["rollouts"]) for episode in rollout.episodes
            )


def test_what_was_tuned_before_the_first_round_is_not_tuned_again(tmp_path: Path) -> None:
    """Its numbers were tuned where steps are free; those of the round's programs are tuned."""
    config, nobody = Config(Task("CartPole-v1")), cast("Any", Measures())
    played = Evaluation("ok", (EpisodeRecord(0, 9.0, 10),), 10)
    source = TUNABLE.strip("`\n").removeprefix("python\n")
    attempts = [
        Attempt(Candidate("s1", source, 0, digest="s", tuned={"angle": (0.0, 1.0)}), played),
        Attempt(Candidate("r1c1", source.replace("angle", "other"), 1, digest="r"), played),
    ]
    with Journal(tmp_path) as journal:
        work = RecordedWork(ScriptedLLM([]), None, config, journal, Ledger(config.budget))
        starts = Tuner(SearchContext(cast("Any", None), config, work, 10), nobody)._starts(
            History(attempts), attempts, None
        )
    assert [start.id for start in starts] == ["r1c1"]


def test_the_best_of_earlier_rounds_becomes_a_candidate_of_its_round(tmp_path: Path) -> None:
    """Its numbers are worth as much as a new program's; what comes out is named after the round's own."""
    config, nobody = Config(Task("CartPole-v1"), candidates=3), cast("Any", Measures())

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
        tuner = Tuner(SearchContext(cast("Any", None), config, work, 10), nobody)
        tuned = asyncio.run(tuner._measure(better, history, 2))
    assert tuned is not None
    assert (tuned.id, tuned.candidate.round, tuned.candidate.parents) == ("r2c4t", 2, ("r1c2",))
