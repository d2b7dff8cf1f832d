"""Candidates that are hopeless in the world model cost no step, and a wrong model is noticed."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.cli.show import overview
from promptpo.llm.scripted import ScriptedLLM
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.journal import Journal, read_run
from promptpo.run.records import Attempt, Candidate
from promptpo.search import model_rounds, screening
from promptpo.search.history import History
from promptpo.search.modelling import Modelled
from promptpo.search.screening import Screen
from tests.promptpo.optimizing import Model, attempts_of, optimize
from tests.promptpo.policies import GOOD, WEAK

WORLD = Modelled("", {"usable": True, "worth": 0.9})


def policy(name: str, params: str = "") -> str:
    """A policy that can be told from others."""
    return f"{params}\nclass Policy:\n    def act(self, obs):\n        return {name!r}\n"


class Dreamer:
    """A model that promises what it is told to; tuning adds 50."""

    def __init__(self, promises: Mapping[str, float]) -> None:
        self.promises, self.tuned = promises, 0

    def dream(self, _source: str, _params: Any) -> Any:
        """Nothing."""
        return None

    def keep(self, journal: Any, key: str, data: Any) -> None:
        """Write down what was worked out."""
        journal.add("dream", key, data)

    async def returns(self, _dream: Any, source: str, *_: Any) -> tuple[float, ...]:
        """Ten episodes that differ a little."""
        name = source.split("return ")[1].strip().strip("'")
        more = 50.0 * ("(0.75, 0.0, 1.0)" in source)
        return tuple(self.promises[name] + more + 0.1 * n for n in range(10))

    async def tuning(self, _n: int, _dream: Any, starts: Any, _steps: int) -> Any:
        """The same program with another number."""
        from types import SimpleNamespace

        self.tuned += 1
        return SimpleNamespace(program=starts[0].program.with_values({"k": 0.75}))


def known(**earned: float) -> History:
    """A history of policies that earned so much."""
    history = History()
    for n, (name, mean) in enumerate(earned.items()):
        candidate = Candidate(f"r1c{n + 1}", policy(name), 1, digest=f"{n}")
        records = tuple(EpisodeRecord(seed, mean, 10) for seed in range(4))
        history.attempts.append(Attempt(candidate, Evaluation("ok", records, 40)))
    return history


def looked(
    tmp_path: Path,
    promises: Mapping[str, float],
    history: History,
    source: str,
    digest: str = "00000001",
    world: Modelled | None = WORLD,
) -> Evaluation | None:
    """What the screen says of one candidate."""
    with Journal(tmp_path) as journal:
        dreamer: Any = Dreamer(promises)
        screen = Screen(dreamer, journal)
        if world is not None:
            screen.use(world, 0.0)
        candidate = Candidate("r2c1", source, 2, digest=digest)
        first = asyncio.run(screen.look(candidate, history))
        before = len(journal.events)
        assert asyncio.run(screen.look(candidate, history)) == first  # decided once
        assert len(journal.events) == before
        return first


def test_what_is_far_below_the_best_in_the_model_takes_no_step(tmp_path: Path) -> None:
    """A hopeless candidate is told as screened, with both promises and the model's error."""
    found = looked(tmp_path, {"a": 100.0, "b": 52.0, "c": 20.0}, known(a=98.0, b=50.0), policy("c"))
    assert found is not None
    assert (found.outcome, found.steps) == ("screened", 0)
    assert "promises 20.45 of it and 100.5 of r1c1" in found.error
    assert "wrong by 2.5 at most" in found.error


@pytest.mark.parametrize(
    ("promises", "earned", "why"),
    [
        ({"a": 100.0, "b": 52.0, "c": 90.0}, {"a": 98.0, "b": 50.0}, "it is near the best"),
        ({"a": 100.0, "b": 160.0, "c": 20.0}, {"a": 98.0, "b": 50.0}, "the model is wrong by more"),
        ({"a": 100.0, "c": 20.0}, {"a": 98.0}, "too little is known of the model's error"),
    ],
)
def test_what_the_model_cannot_tell_is_measured(
    tmp_path: Path, promises: dict[str, float], earned: dict[str, float], why: str
) -> None:
    """Nothing is ruled out within the model's error about returns, or where that error is not known."""
    assert looked(tmp_path, promises, known(**earned), policy("c")) is None, why


def test_numbers_are_tuned_before_a_program_is_hopeless(tmp_path: Path) -> None:
    """A program whose numbers are poor is measured where tuned ones make it good in the model."""
    promises = {"a": 100.0, "b": 52.0, "c": 40.0}
    source = policy("c", 'PARAMS = {"k": (0.5, 0.0, 1.0)}')
    assert looked(tmp_path, promises, known(a=98.0, b=50.0), source) is None
    assert looked(tmp_path / "again", promises, known(a=98.0, b=50.0), policy("c")) is not None


def test_policies_that_plan_are_not_played_at_length(tmp_path: Path) -> None:
    """Where the best plans in a model, which takes its time, the best of the others is the mark."""
    history = known(a=98.0, b=50.0, d=200.0)
    planner = history.attempts[2]
    source = f"class World:\n    pass\n{planner.candidate.source}"
    history.attempts[2] = replace(planner, candidate=replace(planner.candidate, source=source))
    found = looked(tmp_path, {"a": 100.0, "b": 52.0, "c": 20.0}, history, policy("c"))
    assert found is not None
    assert "of r1c1" in found.error


def test_one_in_some_number_is_measured_all_the_same(tmp_path: Path) -> None:
    """By its digest, whatever the order of answers; and without a model in use nothing is ruled out."""
    promises, history = {"a": 100.0, "b": 52.0, "c": 20.0}, known(a=98.0, b=50.0)
    of = [
        looked(tmp_path / str(n), promises, history, policy("c"), f"{n:08x}") is None
        for n in range(2 * screening.VERIFIED_OF)
    ]
    assert sum(of) == 2
    assert looked(tmp_path / "none", promises, history, policy("c"), world=None) is None


def test_what_was_ruled_out_wrongly_is_said(tmp_path: Path) -> None:
    """A candidate that the model ruled out, and that was measured and is as good as the best, is told of."""
    history = known(a=98.0, b=50.0)
    with Journal(tmp_path) as journal:
        dreamer: Any = Dreamer({"a": 100.0, "b": 52.0, "c": 20.0})
        screen = Screen(dreamer, journal)
        screen.use(WORLD, 0.0)
        candidate = Candidate("r2c1", policy("c"), 2, digest="00000000")
        assert asyncio.run(screen.look(candidate, history)) is None
        records = tuple(EpisodeRecord(seed, 99.0, 10) for seed in range(4))
        attempt = Attempt(candidate, Evaluation("ok", records, 40))
        history.attempts.append(attempt)
        assert "r2c1" in screen.contradicted(history, [attempt])
        assert screen.contradicted(history, history.attempts[:2]) == ""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[promptpo.RunResult]:
    """Three rounds on CartPole; in the second a program that always pushes to one side is written."""
    hopeless = "```python\nclass Policy:\n    def act(self, obs):\n        return 1\n```"
    model = Model({"r1.c1": GOOD, "r1.c2": WEAK, "r2.c1": hopeless, "r2.c2": hopeless.replace("1", "0")})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screening, "VERIFIED_OF", 10**12)
        patch.setattr(model_rounds, "planning_policy", lambda *_, **__: "")  # which takes its time
        out = tmp_path_factory.mktemp("screen") / "run"
        yield optimize(
            model,
            out,
            rounds=2,
            candidates=2,
            recipe="model",
            max_steps=9000,
            tune="none",
            max_episode_steps=100,
        )


def test_a_screened_candidate_is_shown_and_costs_nothing(run: promptpo.RunResult) -> None:
    """It stands in the run with what the model said; no rollout and no repair was paid for."""
    found = attempts_of(run)
    assert found["r2c1"]["outcome"] == found["r2c2"]["outcome"] == "screened"
    assert "promises" in found["r2c1"]["error"]
    events = read_run(run.directory)
    assert not {"r2c1", "r2c2"} & {event.data["candidate"] for event in events["evaluation"]}
    assert not [event.key for event in events["completion"] if "repair" in event.key]
    assert "not tried out" in overview(run.directory)
    assert "not tried out" in (run.directory / "report.html").read_text()


def test_a_run_with_screened_candidates_goes_on_where_it_was(run: promptpo.RunResult, tmp_path: Path) -> None:
    """A run that is taken up again rules out the same candidates, asks for nothing and takes no step."""
    directory = tmp_path / "again"
    shutil.copytree(run.directory, directory)
    again = Model()
    resumed = promptpo.resume(directory, llm=ScriptedLLM(again), trust=True)
    assert again.requests == []
    assert resumed.data["steps"]["train"] == run.data["steps"]["train"]
    assert attempts_of(resumed)["r2c1"]["error"] == attempts_of(run)["r2c1"]["error"]
