"""Selecting the best candidate with as few episodes as possible."""

import asyncio
import random
import statistics
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from promptpo.core.budget import Ledger
from promptpo.core.candidate import Attempt, Candidate, RolloutResult, Seeds
from promptpo.core.config import Budget, Config
from promptpo.core.feature import SearchContext
from promptpo.core.history import History
from promptpo.core.journal import Journal, from_json, to_json
from promptpo.core.returns import Evidence
from promptpo.core.select import CandidateSelector
from promptpo.envs.task import Task
from promptpo.errors import BudgetSpentError
from promptpo.features.program_search import SearchLLM
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation

CONFIG = Config(Task("CartPole-v1"), episodes=5, validation_episodes=20, budget=Budget(steps=100_000))


def seed_effect(seed: Any) -> Any:
    """How much the initial state of this seed adds to every policy's return."""
    return random.Random(seed).uniform(-50, 50)


class FakePolicies:
    """Policies whose return is quality plus the effect of the seed plus noise of their own."""

    def __init__(self, directory: Any, config: Any = CONFIG, **qualities: Any) -> None:
        self.qualities, self.config = qualities, config
        self.journal = Journal(directory)
        self.ledger = Ledger(config.budget)
        self.journal.listen(self.ledger.add)
        self.asked = []
        self.followed: Any = None
        self.llm = SearchLLM()

    def episode(self, id_: Any, seed: Any) -> Any:
        """Return an episode of ten steps."""
        quality, noise = self.qualities[id_]
        return EpisodeRecord(
            seed, quality + seed_effect(seed) + random.Random(f"{id_}{seed}").gauss(0, noise), 10
        )

    async def roll_out(self, kind: Any, key: Any, subject: Any, seeds: Any, *, horizon: Any) -> Any:
        """Roll out as a run does, through the journal."""

        def played() -> Any:
            self.asked.append((subject.id, tuple(seeds)))
            episodes = tuple(self.episode(subject.id, seed) for seed in seeds)
            steps = 10 * len(seeds)
            if steps > self.ledger.steps_left():
                raise BudgetSpentError("no steps")
            evaluation = to_json(Evaluation("ok", episodes, steps))
            return {"evaluation": evaluation, "spent": {"validation": steps}, "candidate": subject.id}

        return RolloutResult(from_json(Evaluation, self.journal.once(kind, key, played)["evaluation"]), None)

    def attempts(self) -> Any:
        """Return an attempt for each policy on the training seeds."""
        seeds = Seeds(self.config.seed).train(self.config.train_episodes)
        return [
            Attempt(
                Candidate(id_, "x = 1\n" + "y = x\n" * place, 1, digest=id_),
                Evaluation("ok", tuple(self.episode(id_, seed) for seed in seeds), 50),
            )
            for place, id_ in enumerate(self.qualities)
        ]

    def context(self, threshold: Any = None) -> Any:
        """The search context."""
        spec: Any = SimpleNamespace(reward_threshold=threshold)
        return SearchContext(spec, self.config, cast("Any", self), 10)

    def validate(self, history: Any = None, round_: int = 1, threshold: Any = None) -> Any:
        """Validate one round and return the history."""
        history = history or History(self.attempts())
        if history is not self.followed:
            self.followed = history
            self.journal.follow(history.add)
        selector = CandidateSelector(self.context(threshold))
        asyncio.run(selector.validate_round(history, history.attempts, round_))
        return history

    def fresh_episodes(self, id_: Any) -> Any:
        """Number of fresh episodes that a candidate was given."""
        return sum(len(seeds) for who, seeds in self.asked if who == id_)


def test_clearly_worse_candidate_is_not_validated(tmp_path: Path) -> None:
    """Training on shared seeds suffices to tell; the new leader is validated once."""
    field = FakePolicies(tmp_path, good=(100, 1), poor=(0, 1))
    assert field.validate().best().id == "good"
    assert (field.fresh_episodes("good"), field.fresh_episodes("poor")) == (5, 0)


def test_close_contenders_get_more_episodes(tmp_path: Path) -> None:
    close = FakePolicies(tmp_path / "close", a=(100, 20), b=(108, 20), c=(-300, 20))
    assert close.validate().best() is not None
    wide = FakePolicies(tmp_path / "wide", a=(100, 20), b=(200, 20), c=(-300, 20))
    assert wide.validate().best().id == "b"
    assert close.fresh_episodes("a") > wide.fresh_episodes("a")
    assert close.fresh_episodes("c") == 0


def test_challengers_play_the_leaders_seeds(tmp_path: Path) -> None:
    """All candidates share one order of seeds, so that the leader plays none again."""
    field = FakePolicies(tmp_path, a=(100, 30), b=(101, 30))
    history = field.validate()
    leader = history.leader_id
    known = {episode.seed for episode in history.evidence(history.find(leader)).episodes}
    history.rounds = 1
    field.asked.clear()
    field.qualities["c"] = (105, 30)
    more = [replace(a, candidate=replace(a.candidate, round=2)) for a in field.attempts()[2:]]
    history = replace(history, attempts=[*history.attempts, *more])
    field.validate(history, 2)
    first = next(set(seeds) for who, seeds in field.asked if who == "c")
    assert first <= known
    assert not any(set(seeds) & known for who, seeds in field.asked if who == leader)
    assert not {seed for _, seeds in field.asked for seed in seeds} & set(Seeds().test(100))


def test_change_of_leader_is_announced_with_its_difference(tmp_path: Path) -> None:
    """The first leader of a run is not a change."""
    field = FakePolicies(tmp_path, a=(100, 1))
    history = field.validate()
    assert history.changes == []
    field.qualities["b"] = (150, 1)
    more = [replace(a, candidate=replace(a.candidate, round=2)) for a in field.attempts()[1:]]
    history = replace(history, attempts=[*history.attempts, *more])
    field.validate(history, 2)
    assert len(history.changes) == 1
    assert history.changes[0].startswith("b takes the lead from a: +")


def test_equivalent_candidates_are_validated_once(tmp_path: Path) -> None:
    field = FakePolicies(tmp_path, a=(100, 0), b=(100, 0), c=(-50, 0))
    history = field.validate()
    assert len(history.equivalents) == 1
    assert sum(bool(field.fresh_episodes(id_)) for id_ in "ab") == 1


@pytest.mark.parametrize(
    ("threshold", "fresh"), [(996.0, 20), (500.0, 10), (2000.0, 5)], ids=["close", "clear", "missed"]
)
def test_validation_near_the_threshold_takes_more_episodes(
    tmp_path: Path, threshold: float, fresh: int
) -> None:
    """Close to the threshold the leader plays all fresh episodes; clearly above it, fifteen episodes in all suffice."""
    field = FakePolicies(tmp_path, a=(1000, 1), b=(0, 1))
    history = field.validate(threshold=threshold)
    assert history.best().id == "a"
    assert field.fresh_episodes("a") == fresh


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-100, 100), min_size=2, max_size=30), st.integers(-120, 120))
def test_threshold_holds_by_two_standard_errors_in_fifteen_episodes(
    returns: list[int], threshold: int
) -> None:
    evidence = Evidence(tuple(EpisodeRecord(n, float(value), 10) for n, value in enumerate(returns)))
    error = statistics.stdev(returns) / len(returns) ** 0.5
    below = statistics.fmean(returns) - 2 * error
    assume(abs(below - threshold) > 1e-9 or error == 0)
    assert evidence.exceeds(threshold) == (len(returns) >= 15 and below >= threshold)


def test_validation_before_an_exhausted_budget_counts(tmp_path: Path) -> None:
    """A leader is still chosen."""
    field = FakePolicies(tmp_path, replace(CONFIG, budget=Budget(steps=40)), a=(100, 30), b=(101, 30))
    history = History(field.attempts())
    with pytest.raises(BudgetSpentError):
        field.validate(history)
    assert history.leader_id in {"a", "b"}


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.floats(0, 60))
def test_best_candidate_is_selected_within_the_episodes_of_a_round(
    tmp_path_factory: pytest.TempPathFactory, seed: Any, count: Any, noise: Any
) -> None:
    dice = random.Random(seed)
    qualities = {f"p{i}": (dice.uniform(0, 100), noise) for i in range(count)}
    field = FakePolicies(tmp_path_factory.mktemp("run"), **qualities)
    history = field.validate()
    best = history.best()
    for other in history.attempts:
        assert history.value_difference(other, best).mean <= 1e-6
    assert all(field.fresh_episodes(id_) <= 20 for id_ in qualities)


def test_repeated_validation_costs_nothing(tmp_path: Path) -> None:
    """A resumed run finds its decisions and episodes in the journal."""
    field = FakePolicies(tmp_path, a=(100, 30), b=(101, 30), c=(99, 30))
    first = field.validate().best().id
    spent = len(field.asked)
    assert field.validate().best().id == first
    assert len(field.asked) == spent


class OccasionallyFailing(FakePolicies):
    """The candidate "fast" returns most but fails in one of six fresh episodes, and in no training episode."""

    def episode(self, id_: Any, seed: Any) -> Any:
        """Return an episode without noise."""
        falls = id_ == "fast" and seed >= 11_000_000 and seed % 6 == 0
        return EpisodeRecord(
            seed, 200.0 if falls else {"fast": 1030.0, "sure": 1000.0, "slow": 500.0}[id_], 10
        )


def test_last_validation_uses_leftover_steps_while_undecided(tmp_path: Path) -> None:
    """Even a candidate that is well behind so far plays on."""
    field = FakePolicies(tmp_path, replace(CONFIG, validation_episodes=4), a=(100, 60), b=(70, 60))
    history = field.validate()
    history.rounds = 1
    asyncio.run(CandidateSelector(field.context()).validate_run(history, "last"))
    played = len(history.evidence(history.best()).episodes)
    difference = history.value_difference(*history.attempts)
    assert played > 9
    assert difference.verdict or played >= 60
    seeds = [seed for who, some in field.asked if who == "a" for seed in some]
    assert len(set(seeds)) == len(seeds)


def test_last_validation_stays_within_the_budget(tmp_path: Path) -> None:
    """It does nothing if no other candidate is close."""
    poor = OccasionallyFailing(
        tmp_path / "a", replace(CONFIG, budget=Budget(steps=140)), fast=(0, 0), sure=(0, 0)
    )
    history = poor.validate()
    left = poor.ledger.steps_left()
    asyncio.run(CandidateSelector(poor.context()).validate_run(history, "last"))
    assert poor.ledger.steps_left() == left < 100 == 2 * 5 * 10  # a block for both
    alone = OccasionallyFailing(tmp_path / "b", fast=(0, 0), slow=(0, 0))
    history = alone.validate()
    asked = list(alone.asked)
    asyncio.run(CandidateSelector(alone.context()).validate_run(history, "last"))
    assert alone.asked == asked
