"""What program search does with world models before the first round, decision by decision."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from gymnasium import spaces

import promptpo
from promptpo.envs.task import Task
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.config import Budget, Config
from promptpo.run.history import History
from promptpo.run.journal import Journal
from promptpo.run.records import Attempt
from promptpo.search.context import SearchContext
from promptpo.world import search as world_search
from promptpo.world.modelling import Modelled
from promptpo.world.search import Found, WorldSearch

USABLE, USELESS = {"usable": True, "worth": 0.9}, {"usable": False, "worth": 0.04}
NOTHING = Found("", 0.0)


class Measurer:
    """Measures what it is told to."""

    def __init__(self, journal: Journal, returns: list[float]) -> None:
        self.journal, self.returns, self.measurer = journal, returns, self

    async def measure(self, candidate: Any, _history: Any, **_: Any) -> Attempt:
        """One episode with the next return."""
        return Attempt(candidate, Evaluation("ok", (EpisodeRecord(1, self.returns.pop(0), 10),), 10))

    def recorded(self, attempt: Attempt) -> Attempt:
        """As it is, in the journal."""
        self.journal.once("attempt", attempt.id, lambda: attempt)
        return attempt


def searching(
    journal: Journal,
    measured: list[float],
    observation: spaces.Space[Any],
    action: spaces.Space[Any],
    threshold: float = 100.0,
) -> WorldSearch:
    """One without an executor."""
    spender: Any = SimpleNamespace(
        journal=journal, executor=None, llm=SimpleNamespace(language_model=False),
        ledger=SimpleNamespace(room=lambda _: 1000),
    )  # fmt: skip
    spec: Any = SimpleNamespace(
        observation_space=observation, action_space=action, reward_threshold=threshold
    )
    config = Config(Task("Any-v0"), recipe="model", budget=Budget(steps=10_000))
    return WorldSearch(SearchContext(spec, config, spender, 10), cast("Any", Measurer(journal, measured)))


def studied(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    worlds: list[dict[str, Any]],
    found: list[Found],
    tries: list[float],
    measured: list[float],
    *,
    mark: float = 0.0,
    elsewhere: tuple[float, ...] = (0.0,),
) -> tuple[History, dict[str, Any], list[str]]:
    """Studies with all that costs replaced by what it is to give; the history, the notes, and the probes."""
    history, probes = History(), list[str]()
    history.marks = {"random": Evaluation("ok", (EpisodeRecord(1, mark, 10),), 10)}
    with Journal(tmp_path) as journal:
        journal.follow(history.add)
        search = searching(journal, measured, spaces.Box(-1, 1, (2,)), spaces.Box(-1, 1, (1,)))

        async def play(key: str, *_: Any) -> list[float]:
            probes.append(key)
            return list(elsewhere) if key.endswith(".elsewhere") else [tries.pop(0) if tries else mark]

        async def model(_key: str) -> Modelled:
            return Modelled("", worlds.pop(0) if worlds else USELESS)

        async def find(_n: int, _world: Modelled) -> Found:
            return found.pop(0) if found else NOTHING

        async def curious(_n: int) -> str:
            return "curious"

        async def looked(_marks: Any) -> None:
            search._chance = search._nothing = search._luckiest = mark

        monkeypatch.setattr(search, "_play", play)
        monkeypatch.setattr(search, "_look_around", looked)
        monkeypatch.setattr(search.modeller, "model", model)
        monkeypatch.setattr(search, "_found", find)
        monkeypatch.setattr(search._dreamer, "curious", curious)
        asyncio.run(search.before_round(1, history))
        notes = {event.key: event.data for event in journal.of_kind("note")}
    return history, notes, probes


def test_what_earns_as_promised_is_a_candidate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy that does in two real episodes what the model says is measured; at the threshold studying ends."""
    history, notes, probes = studied(tmp_path, monkeypatch, [USABLE], [Found("p", 120.0)], [110.0], [105.0])
    assert [attempt.id for attempt in history.attempts] == ["w1c1"]
    assert history.attempts[0].candidate.round == 0
    assert (probes, notes) == (["w1.try"], {})


def test_what_disappoints_is_no_candidate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy that earns far less than promised is told of, not measured; the next model is tried."""
    history, notes, probes = studied(
        tmp_path, monkeypatch, [USABLE, USABLE], [Found("p", 90.0), Found("q", 120.0)], [20.0, 119.0], [118.0]
    )
    assert [attempt.id for attempt in history.attempts] == ["w2c1"]
    assert "promised 90, earned 20" in notes["w1"]
    assert probes == ["w1.try", "w2.try"]


@pytest.mark.parametrize(("returns", "ids"), [((-150.0, -170.0), ["w1c2"]), ((-150.0, -500.0), [])])
def test_a_look_elsewhere_that_pays_is_a_candidate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, returns: tuple[float, ...], ids: list[str]
) -> None:
    """What went where the run had not been is measured where each of its episodes beat all of those who know nothing."""
    history, notes, _ = studied(
        tmp_path, monkeypatch, [USABLE] * 8, [], [], [-160.0] * 8, mark=-500.0, elsewhere=returns
    )
    assert [attempt.id for attempt in history.attempts][:1] == ids
    assert "nothing better than chance" in notes["w1"]


def test_studies_that_bring_nothing_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two in a row are the last, and why the model is not used is told with what it is worth."""
    history, notes, probes = studied(tmp_path, monkeypatch, [USELESS] * 8, [], [], [])
    assert (history.attempts, probes) == ([], ["w1.elsewhere", "w2.elsewhere"])
    assert notes["w1"].startswith("the model is not good enough (worth 0.04 of 1 on held-out steps, 0.6 is")
    (tmp_path / "gains").mkdir()
    history, _, _ = studied(
        tmp_path / "gains", monkeypatch, [USABLE] * 8, [Found("p", 60.0)] * 8, [59.0] * 8, [58.0, 58.5, 57.0, 99.0]
    )  # fmt: skip
    assert [attempt.id for attempt in history.attempts] == ["w1c1", "w2c1", "w3c1"]


def test_steps_in_the_model_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Studies end when so many steps were imagined."""
    monkeypatch.setattr(world_search, "EFFORT", -1)
    assert studied(tmp_path, monkeypatch, [USABLE], [Found("p", 60.0)], [60.0], [60.0])[2] == []


@pytest.mark.parametrize(
    ("observation", "action", "why"),
    [
        (spaces.Discrete(16), spaces.Discrete(4), "program search writes no world model for such"),
        (spaces.Box(-1, 1, (2,)), spaces.Text(3), "program search writes no world model for such"),
        (spaces.Box(0, 255, (84, 84, 3), np.uint8), spaces.Discrete(4), "no world model is learnt"),
        (spaces.Dict({"a": spaces.Discrete(3)}), spaces.Discrete(4), "no world model is learnt"),
    ],
)
def test_where_no_model_is_learnt_the_reason_is_told(
    tmp_path: Path, observation: Any, action: Any, why: str
) -> None:
    """No step is spent there, and a note says why in a sentence."""
    with Journal(tmp_path) as journal:
        asyncio.run(searching(journal, [], observation, action).before_round(1, History()))
        assert [why in event.data for event in journal.of_kind("note")] == [True]


@pytest.mark.parametrize(
    ("tuned", "planned", "chosen"),
    [
        (-50.0, -20.0, "plan"),
        (-50.0, -46.0, "tuned"),  # hardly more, and it takes its time
        (None, -90.0, "plan"),
        (None, -100.0, ""),
        (100.0, 500.0, "tuned"),  # the threshold is reached
    ],
)
def test_a_policy_that_plans_has_to_promise_clearly_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tuned: float | None, planned: float, chosen: str
) -> None:
    """Program search plans in its model where tuned numbers promise less by a tenth of what they promise above chance."""
    with Journal(tmp_path) as journal:
        search = searching(journal, [], spaces.Box(-1, 1, (2,)), spaces.Box(-1, 1, (1,)))
        search._nothing = -100.0

        async def better(*_: Any) -> tuple[str, float] | None:
            return None if tuned is None else ("tuned", tuned)

        async def promised(_dream: Any, source: str, *_: Any) -> float:
            if "class World" in source:
                return planned
            return tuned if tuned is not None and source == "tuned" else -100.0

        monkeypatch.setattr(search._dreamer, "tuned_better", better)
        monkeypatch.setattr(search._dreamer, "promised", promised)
        found = asyncio.run(search._dreamt_up(1, Modelled("class World:\n    pass\n", USABLE)))
    assert ("plan" if "class World" in found.source else found.source) == chosen


def test_a_run_says_why_its_world_model_was_not_used(tmp_path: Path) -> None:
    """The result's verdict has the sentence, where states are few and no model is written."""
    out = tmp_path / "run"
    promptpo.optimize(
        "FrozenLake-v1", model="search", recipe="model", rounds=1, candidates=1, max_steps=2000,
        test_episodes=2, out=out, progress=False,
    )  # fmt: skip
    told = json.loads((out / "result.json").read_text())["verdict"]
    assert "The world model was not used: study 0: program search writes no world model" in told
