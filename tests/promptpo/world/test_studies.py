"""What program search does with world models before the first round, decision by decision."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from gymnasium import spaces

from promptpo.envs.task import Task
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.config import RECIPES, Budget, Config
from promptpo.run.evidence import Evidence
from promptpo.run.journal import Journal
from promptpo.run.records import Attempt
from promptpo.search import imagination
from promptpo.search.dreaming import Dreamer
from promptpo.search.history import History
from promptpo.search.imagination import Found, WorldSearch
from promptpo.search.modelling import Modelled
from promptpo.world.data import Experience
from sandbox import Episode, Failure, Rollout, Trajectory, WorldFailedError

USABLE = {"usable": True, "worth": 0.9}
USELESS = {"usable": False, "worth": 0.0}


class Sampler:
    """Measures what it is told to."""

    def __init__(self, returns: list[float]) -> None:
        self.returns = returns
        self.watch: Any = None
        self.measurer = self

    async def measure(self, candidate: Any, _history: Any, **_: Any) -> Attempt:
        """One episode with the next return."""
        return Attempt(candidate, Evaluation("ok", (EpisodeRecord(1, self.returns.pop(0), 10),), 10))

    def recorded(self, attempt: Attempt) -> Attempt:
        """As it is."""
        return attempt


def studied(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    worlds: list[dict[str, Any]],
    found: list[Found | None],
    tries: list[float],
    measured: list[float],
    *,
    marks: Mapping[str, float] = MappingProxyType({}),
    elsewhere: list[float] | None = None,
) -> tuple[History, dict[str, list[Any]], list[str]]:
    """One study with all that costs replaced by what it is to give; the history, the notes, and the probes."""
    config = Config(Task("Any-v0"), recipe="model", budget=Budget(steps=10_000))
    assert RECIPES["model"].world
    history, probes = History(), []
    history.references = {name: Evidence((EpisodeRecord(1, mark, 10),)) for name, mark in marks.items()}
    with Journal(tmp_path) as journal:
        ledger = SimpleNamespace(steps={"probe": 0})
        spender: Any = SimpleNamespace(
            journal=journal, ledger=ledger, executor=None, llm=SimpleNamespace(language_model=False)
        )
        spec: Any = SimpleNamespace(
            observation_space=spaces.Box(-1, 1, (2,)), action_space=spaces.Box(-1, 1, (1,))
        )
        sampler: Any = Sampler(measured)
        search = WorldSearch(spec, sampler, spender, config, 10, threshold=100.0)

        async def probe(key: str, _source: str, _seeds: Any) -> list[float]:
            probes.append(key)
            ledger.steps["probe"] += 100
            if key.endswith(".elsewhere") and elsewhere is not None:
                return elsewhere
            return [tries.pop(0)] if key.endswith(".try") else [marks.get("random", 0.0)]

        async def model(_key: str) -> Modelled:
            return Modelled("", worlds.pop(0) if worlds else USELESS)

        async def find(_n: int, _world: Modelled) -> Found | None:
            search._dreamer.work += 10
            return found.pop(0)

        async def curious(_n: int) -> str:
            return "curious"

        monkeypatch.setattr(search._paid, "play", probe)
        monkeypatch.setattr(search.modeller, "model", model)
        monkeypatch.setattr(search, "_found", find)
        monkeypatch.setattr(search._dreamer, "curious", curious)
        asyncio.run(search.study(history))
        notes = {event.key: event.data for event in journal.of_kind("note")}
    return history, notes, [key for key in probes if not key.startswith("w0.")]


def test_what_earns_as_promised_is_a_candidate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy that does in two real episodes what the model says is measured; at the threshold studying ends."""
    history, notes, probes = studied(tmp_path, monkeypatch, [USABLE], [Found("p", 120.0)], [110.0], [105.0])
    assert [attempt.id for attempt in history.attempts] == ["w1c1"]
    assert history.attempts[0].candidate.round == 0
    assert probes == ["w1.try"]
    assert notes == {}


def test_what_disappoints_is_no_candidate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy that earns far less than promised is told of, not measured; the next model is tried."""
    history, notes, probes = studied(
        tmp_path, monkeypatch, [USABLE, USABLE], [Found("p", 90.0), Found("q", 120.0)], [20.0, 119.0], [118.0]
    )
    assert [attempt.id for attempt in history.attempts] == ["w2c1"]
    assert "promised 90, earned 20" in notes["w1"]
    assert probes == ["w1.try", "w2.try"]


def test_a_model_that_promises_nothing_sends_a_probe_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the model knows nothing better than chance, steps go where the run has not been."""
    history, notes, probes = studied(
        tmp_path, monkeypatch, [USABLE, USABLE], [None, Found("q", 120.0)], [119.0], [118.0]
    )
    assert probes == ["w1.elsewhere", "w2.try"]
    assert "nothing better than chance" in notes["w1"]
    assert [attempt.id for attempt in history.attempts] == ["w2c1"]


def test_what_doing_nothing_earns_is_no_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy that earns no more than zeros throughout is not measured, however much better than random actions it is."""
    history, notes, probes = studied(
        tmp_path, monkeypatch, [USABLE] * 8, [Found("idle", 0.0)] * 8, [0.0] * 8, [],
        marks={"random": -33.0, "zero": 0.0},
    )  # fmt: skip
    assert history.attempts == []
    assert "nothing better than chance" in notes["w1"]
    assert probes[:4] == ["w1.try", "w1.elsewhere", "w2.try", "w2.elsewhere"]


@pytest.mark.parametrize(("returns", "ids"), [([-150.0, -170.0], ["w1c2", "w2c2"]), ([-150.0, -500.0], [])])
def test_a_look_that_pays_is_a_candidate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, returns: list[float], ids: list[str]
) -> None:
    """What went where the run had not been is measured where each of its episodes beat all of those who know nothing."""
    history, _, _ = studied(
        tmp_path, monkeypatch, [USABLE] * 8, [None] * 8, [], [-160.0, -159.0, -160.0],
        marks={"random": -500.0, "zero": -500.0}, elsewhere=returns,
    )  # fmt: skip
    assert [attempt.id for attempt in history.attempts][:2] == ids


@pytest.mark.parametrize(("most", "studies"), [(100.0, 2), (650.0, 3), (1e9, 8)])
def test_looking_around_in_vain_has_a_share_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: float, studies: int
) -> None:
    """Looks that bring nothing end after two, or where they have cost what they may."""
    monkeypatch.setattr(imagination, "LOST", most / 10_000)
    monkeypatch.setattr(imagination, "FIRST_STEPS", 0)
    monkeypatch.setattr(imagination, "SHARE", 1.0)
    _, _, probes = studied(tmp_path, monkeypatch, [USABLE] * 8, [None] * 8, [], [])
    assert probes == [f"w{n}.elsewhere" for n in range(1, studies + 1)]


def test_models_that_do_not_become_better_end_studies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three models in a row that are not good enough and worth the same are the last; one that is worth more is no such."""
    poor = [{"usable": False, "worth": 0.25 + 0.01 * n} for n in range(8)]
    _, _, probes = studied(tmp_path, monkeypatch, poor, [], [], [])
    assert probes == ["w1.elsewhere", "w2.elsewhere", "w3.elsewhere"]
    (tmp_path / "again").mkdir()
    rising = [{"usable": False, "worth": 0.1 + 0.06 * n} for n in range(8)]
    _, _, probes = studied(tmp_path / "again", monkeypatch, rising, [], [], [])
    assert len(probes) > 3


def test_what_tells_no_policies_apart_is_not_searched_in(tmp_path: Path) -> None:
    """Where every step earned the same and nothing ended, no step is imagined for a tuned or a planned policy."""
    box = spaces.Box(-1, 1, (2,), np.float32)
    spec: Any = SimpleNamespace(observation_space=box, action_space=spaces.Discrete(2))
    with Journal(tmp_path) as journal:
        spender: Any = SimpleNamespace(journal=journal, executor=None)
        config = Config(Task("Any-v0"), recipe="model")
        search = WorldSearch(spec, cast("Any", Sampler([])), spender, config, 10, threshold=None)
        assert not search.modeller.experience.is_flat  # nothing is known
        steps = np.zeros((4, 2), np.float32), [0, 1, 0], [-1.0] * 3
        for rewards, ended, flat in (
            (steps[2], False, True),
            ([-1.0, -1.0, 0.0], False, False),
            (steps[2], True, False),
        ):
            episode = Episode(
                0, 0.0, 3, terminated=ended, truncated=not ended, success=None, clipped=0, policy_seconds=0.0,
                trajectory=Trajectory(list(steps[0]), steps[1], rewards),
            )  # fmt: skip
            known = search.modeller.experience = Experience(box, spaces.Discrete(2))
            known.add([Rollout((episode,) * 2, None, 6, "", 0.0)])
            assert known.is_flat is flat
            if flat:
                assert asyncio.run(search._dreamt_up(1, Modelled(WORLD, USABLE))) is None


def test_steps_in_the_model_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Studies end when so many steps were imagined without a gain; a candidate that gains renews what is allowed."""
    monkeypatch.setattr(imagination, "EFFORT", 9)
    history, _, probes = studied(tmp_path, monkeypatch, [USABLE] * 8, [Found("p", 60.0)] * 8, [20.0] * 8, [])
    assert history.attempts == []
    assert probes == ["w1.try"]
    (tmp_path / "again").mkdir()
    history, _, _ = studied(
        tmp_path / "again", monkeypatch, [USABLE] * 8, [Found("p", 60.0)] * 8, [60.0] * 8,
        [50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 97.0, 99.0],
    )  # fmt: skip
    assert len(history.attempts) == 3  # until three times that was taken in all


def test_a_model_that_knows_too_little_is_told_with_its_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sentence says that the model is not used, what it is worth on held-out steps, and what would be enough."""
    _, notes, _ = studied(tmp_path, monkeypatch, [{"usable": False, "worth": 0.04}], [], [], [])
    assert notes["w1"].startswith(
        "the model is not good enough (worth 0.04 of 1 on held-out steps, 0.6 is the least)"
    )


@pytest.mark.parametrize(
    ("observation", "action", "why"),
    [
        (spaces.Discrete(16), spaces.Discrete(4), "states and actions are few: a table is learnt"),
        (spaces.Box(-1, 1, (2,)), spaces.Text(3), "program search writes no world model for such"),
        (spaces.Box(0, 255, (84, 84, 3), np.uint8), spaces.Discrete(4), "no world model is learnt"),
    ],
)
def test_where_no_model_is_learnt_the_reason_is_told(
    tmp_path: Path, observation: Any, action: Any, why: str
) -> None:
    """Few states, unbounded actions and pictures have no studies, and a note says why in a sentence."""
    config = Config(Task("Any-v0"), recipe="model", budget=Budget(steps=10_000))
    spec: Any = SimpleNamespace(observation_space=observation, action_space=action)
    with Journal(tmp_path) as journal:
        spender: Any = SimpleNamespace(
            journal=journal, executor=None, llm=SimpleNamespace(language_model=False)
        )
        search = WorldSearch(spec, cast("Any", Sampler([])), spender, config, 10, threshold=None)
        asyncio.run(search.study(History()))
        assert [why in event.data for event in journal.of_kind("note")] == [True]


def test_studies_end_where_their_share_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no model is ever good enough, the run goes on as usual after a share of its steps."""
    history, _, probes = studied(tmp_path, monkeypatch, [], [], [], [])
    assert history.attempts == []
    assert probes == [f"w{n}.elsewhere" for n in range(1, len(probes) + 1)]
    assert 1 <= len(probes) <= 8


def test_studies_end_where_nothing_is_gained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second candidate in a row that is no better than the best is the last."""
    history, _, _ = studied(
        tmp_path,
        monkeypatch,
        [USABLE] * 4,
        [Found("p", 60.0)] * 4,
        [59.0] * 4,
        [58.0, 58.5, 57.0, 99.0],
    )
    assert [attempt.id for attempt in history.attempts] == ["w1c1", "w2c1", "w3c1"]


@pytest.mark.parametrize(("first", "studies"), [(20.0, 2), (59.0, 3)])
def test_studies_end_early_where_promises_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: float, studies: int
) -> None:
    """Two studies in a row whose policies disappoint are the last, with or without a candidate before them."""
    history, notes, probes = studied(
        tmp_path, monkeypatch, [USABLE] * 8, [Found("p", 60.0)] * 8, [first, *[20.0] * 7], [58.0]
    )
    assert probes == [f"w{n}.try" for n in range(1, studies + 1)]
    assert len(history.disappointments) == len(notes) == 2


def test_where_no_model_can_be_written_no_step_is_spent(tmp_path: Path) -> None:
    """Program search models no more than sixty numbers; the run says so and goes on as it would without."""
    config = Config(Task("Any-v0"), recipe="model", budget=Budget(steps=10_000))
    spec: Any = SimpleNamespace(
        observation_space=spaces.Dict({"level": spaces.Box(-1, 1, (99,))}),
        action_space=spaces.Box(-1, 1, (1,)),
    )
    with Journal(tmp_path) as journal:
        spender: Any = SimpleNamespace(
            journal=journal, executor=None, llm=SimpleNamespace(language_model=False)
        )
        sampler: Any = Sampler([])
        asyncio.run(WorldSearch(spec, sampler, spender, config, 10, threshold=None).study(History()))
        assert "writes no world model" in str(journal.find("note", "w0"))


WORLD = """class World:
    def __init__(self, obs, rng):
        self.sync(obs)

    def sync(self, obs):
        self.obs = obs

    def step(self, action):
        return self.obs, 0.0, False
"""


@pytest.mark.parametrize(
    ("tuned", "planned", "chosen"),
    [
        (-50.0, -20.0, "plan"),
        (-50.0, -46.0, "tuned"),  # hardly more, and it takes its time
        (None, -90.0, "plan"),
        (None, -100.0, None),
        (100.0, 500.0, "tuned"),  # the threshold is reached
        (-50.0, math.inf, "tuned"),  # planning takes too long
    ],
)
def test_a_policy_that_plans_has_to_promise_clearly_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tuned: float | None, planned: float, chosen: str | None
) -> None:
    """Program search plans in its model where tuned numbers promise less by a tenth of what they promise above chance."""
    config = Config(Task("Any-v0"), recipe="model", budget=Budget(steps=10_000))
    spec: Any = SimpleNamespace(
        observation_space=spaces.Box(-1, 1, (2,)), action_space=spaces.Box(-1, 1, (1,))
    )
    with Journal(tmp_path) as journal:
        spender: Any = SimpleNamespace(journal=journal, executor=None)
        search = WorldSearch(spec, cast("Any", Sampler([])), spender, config, 10, threshold=100.0)
        search._paid.chance = -100.0

        async def better(*_: Any, **__: Any) -> tuple[str, float] | None:
            return None if tuned is None else ("tuned", tuned)

        async def returns(_dream: Any, source: str, *_: Any) -> tuple[float, ...]:
            if "class World" in source:
                if math.isinf(planned):
                    raise WorldFailedError(Failure("timeout", "too long"))
                return (planned,) * 2
            return (tuned if tuned is not None and source == "tuned" else -100.0,) * 2

        monkeypatch.setattr(search._dreamer, "tuned_better", better)
        monkeypatch.setattr(search._dreamer, "returns", returns)
        found = asyncio.run(search._dreamt_up(1, Modelled(WORLD, USABLE)))
    kind = None if found is None else "plan" if "class World" in found.source else found.source
    assert kind == chosen


def test_longer_episodes_are_planned_for_longer() -> None:
    """A plan is held against others over half of a long episode, so that one that is too slow for it is noticed."""
    modeller: Any = SimpleNamespace(spaces=(None, None))
    assert Dreamer(modeller, cast("Any", None), 100, 0).planned == (2, 150)
    assert Dreamer(modeller, cast("Any", None), 1000, 0).planned == (2, 500)
