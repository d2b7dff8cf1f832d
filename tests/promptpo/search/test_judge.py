"""Who is best, decided with as few episodes as it takes."""

import asyncio
import random
import statistics
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from promptpo.envs.task import Task
from promptpo.errors import BudgetSpentError
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.config import Budget, Config
from promptpo.run.evidence import Evidence
from promptpo.run.journal import Journal
from promptpo.run.ledger import Ledger
from promptpo.run.records import Attempt, Candidate, Measured, Seeds
from promptpo.run.spender import Played
from promptpo.search.history import History
from promptpo.search.judge import Judge, _with_margin
from promptpo.search.strategies import Asked

CONFIG = Config(Task("CartPole-v1"), episodes=5, validation_episodes=20, budget=Budget(steps=100_000))


def start_of(seed: Any) -> Any:
    """How much the start with this seed is worth to every policy alike."""
    return random.Random(seed).uniform(-50, 50)


class Field:
    """Policies whose return is a quality, the luck of the start that all share, and noise of their own."""

    def __init__(self, directory: Any, config: Any = CONFIG, **qualities: Any) -> None:
        self.qualities, self.config = qualities, config
        self.journal = Journal(directory)
        self.ledger = Ledger(config.budget)
        self.journal.listen(self.ledger.add)
        self.asked = []
        self.llm = SimpleNamespace(language_model=False)

    def episode(self, id_: Any, seed: Any) -> Any:
        """One episode of ten steps."""
        quality, noise = self.qualities[id_]
        return EpisodeRecord(
            seed, quality + start_of(seed) + random.Random(f"{id_}{seed}").gauss(0, noise), 10
        )

    async def roll_out(self, kind: Any, key: Any, subject: Any, seeds: Any, *, horizon: Any) -> Any:
        """As the spender does it, journal and all."""
        found = self.journal.find(kind, key)
        if found is None:
            self.asked.append((subject.candidate, tuple(seeds)))
            episodes = tuple(self.episode(subject.candidate, seed) for seed in seeds)
            steps = 10 * len(seeds)
            if steps > self.ledger.steps_left():
                raise BudgetSpentError("no steps")
            measured = Measured(
                Evaluation("ok", episodes, steps), "", {"validation": steps}, subject.candidate
            )
            self.journal.add(kind, key, measured)
            return Played(measured, None)
        return Played(self.journal_value(found), None)

    def journal_value(self, found: Any) -> Any:
        """What the journal has."""
        from promptpo.run.journal import from_json

        return from_json(Measured, found)

    def attempts(self) -> Any:
        """All of them, rolled out on the training seeds."""
        seeds = Seeds(self.config.seed).train(self.config.train_episodes)
        return [
            Attempt(
                Candidate(id_, "x" * 9, 1, digest=id_),
                Evaluation("ok", tuple(self.episode(id_, seed) for seed in seeds), 50),
            )
            for id_ in self.qualities
        ]

    def judged(self, history: Any = None, round_: int = 1, threshold: Any = None) -> Any:
        """The history after one round's judgement."""
        history = history or History(self.attempts())
        judge = Judge(self, self.config, 10, threshold)
        asyncio.run(judge.judge(history, history.attempts, round_))
        return history

    def episodes(self, id_: Any) -> Any:
        """How many fresh episodes a candidate was given."""
        return sum(len(seeds) for who, seeds in self.asked if who == id_)


def test_what_is_clearly_worse_gets_no_fresh_episode(tmp_path: Path) -> None:
    """Training on shared seeds is enough to see it; the new leader is looked at once."""
    field = Field(tmp_path, good=(100, 1), poor=(0, 1))
    assert field.judged().best().id == "good"
    assert (field.episodes("good"), field.episodes("poor")) == (5, 0)


def test_contenders_get_episodes_until_the_order_is_clear(tmp_path: Path) -> None:
    """A small difference under noise takes more looks than a large one."""
    close = Field(tmp_path / "close", a=(100, 20), b=(108, 20), c=(-300, 20))
    assert close.judged().best() is not None
    wide = Field(tmp_path / "wide", a=(100, 20), b=(200, 20), c=(-300, 20))
    assert wide.judged().best().id == "b"
    assert close.episodes("a") > wide.episodes("a")
    assert close.episodes("c") == 0


def test_each_round_has_fresh_seeds_and_all_contenders_share_them(tmp_path: Path) -> None:
    """No seed that decided one round decides the next."""
    field = Field(tmp_path, a=(100, 30), b=(101, 30))
    history = field.judged()
    first = {seed for _, seeds in field.asked for seed in seeds}
    assert {seeds for who, seeds in field.asked if who == "a"} == {
        seeds for who, seeds in field.asked if who == "b"
    }
    history.rounds = 1
    field.asked.clear()
    field.qualities["c"] = (102, 30)
    history.attempts += [replace(a, candidate=replace(a.candidate, round=2)) for a in field.attempts()[2:]]
    field.judged(history, 2)
    assert not first & {seed for _, seeds in field.asked for seed in seeds}
    assert not first & set(Seeds().test(100))


def test_those_that_behave_alike_are_looked_at_once(tmp_path: Path) -> None:
    """Equal returns on all seeds: the shortest stands for them, the others cost nothing."""
    field = Field(tmp_path, a=(100, 0), b=(100, 0), c=(-50, 0))
    history = field.judged()
    assert len(history.alike) == 1
    assert sum(bool(field.episodes(id_)) for id_ in "ab") == 1


@pytest.mark.parametrize(
    ("threshold", "fresh"), [(996.0, 20), (500.0, 10), (2000.0, 5)], ids=["close", "clear", "missed"]
)
def test_what_may_end_the_search_is_looked_at_until_it_is_believed(
    tmp_path: Path, threshold: float, fresh: int
) -> None:
    """Close to the threshold the winner plays all of the round's fresh episodes, clearly above it fifteen in all."""
    field = Field(tmp_path, a=(1000, 1), b=(0, 1))
    history = field.judged(threshold=threshold)
    assert history.best().id == "a"
    assert field.episodes("a") == fresh


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-100, 100), min_size=2, max_size=30), st.integers(-120, 120))
def test_a_threshold_is_held_by_two_standard_errors_in_fifteen_episodes(
    returns: list[int], threshold: int
) -> None:
    """A mean above it is not enough, nor are fewer episodes, however equal."""
    evidence = Evidence(tuple(EpisodeRecord(n, float(value), 10) for n, value in enumerate(returns)))
    error = statistics.stdev(returns) / len(returns) ** 0.5
    below = statistics.fmean(returns) - 2 * error
    assume(abs(below - threshold) > 1e-9 or error == 0)
    assert _with_margin(evidence, threshold) == (len(returns) >= 15 and below >= threshold)


def test_a_spent_budget_keeps_what_was_seen(tmp_path: Path) -> None:
    """The limit ends it in the middle; the looks until then count, and someone is the leader."""
    field = Field(tmp_path, replace(CONFIG, budget=Budget(steps=40)), a=(100, 30), b=(101, 30))
    history = History(field.attempts())
    with pytest.raises(BudgetSpentError):
        field.judged(history)
    assert history.leader_id in {"a", "b"}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.floats(0, 60))
def test_the_best_is_found_and_never_at_more_than_its_price(
    tmp_path_factory: pytest.TempPathFactory, seed: Any, count: Any, noise: Any
) -> None:
    """Whoever wins is not clearly worse than another on what they share; nobody plays more than the round has."""
    dice = random.Random(seed)
    qualities = {f"p{i}": (dice.uniform(0, 100), noise) for i in range(count)}
    field = Field(tmp_path_factory.mktemp("run"), **qualities)
    history = field.judged()
    best = history.best()
    for other in history.attempts:
        assert history.against(other, best).verdict <= 0
    assert all(field.episodes(id_) <= 20 for id_ in qualities)


def test_judging_again_is_judging_the_same(tmp_path: Path) -> None:
    """A resumed run finds its decisions and its episodes in the journal: nothing is spent twice."""
    field = Field(tmp_path, a=(100, 30), b=(101, 30), c=(99, 30))
    first = field.judged().best().id
    spent = len(field.asked)
    assert field.judged().best().id == first
    assert len(field.asked) == spent


def test_the_parent_of_a_better_tuned_child_is_no_contender(tmp_path: Path) -> None:
    """Nobody will return it: the child of the same structure and another candidate are looked at, the parent is not."""
    field = Field(tmp_path, parent=(90, 1), parentt=(100, 1), other=(96, 30))
    attempts = {attempt.id: attempt for attempt in field.attempts()}
    child = replace(attempts["parentt"].candidate, parents=("parent",), tuned={"a": (0.0, 1.0)})
    attempts["parentt"] = replace(attempts["parentt"], candidate=child)
    field.judged(History([attempts["parent"], attempts["other"], attempts["parentt"]]))
    assert "parent" not in {name for name, _ in field.asked}
    assert {name for name, _ in field.asked} == {"parentt", "other"}


def test_the_parent_of_a_tuned_child_that_is_not_worse_is_no_contender(tmp_path: Path) -> None:
    """Tuning chose the numbers on episodes of its own: a gain on the training starts, clear or not, is enough."""
    field = Field(tmp_path, parent=(98, 9), parentt=(106, 9), other=(96, 30))
    attempts = {attempt.id: attempt for attempt in field.attempts()}
    child = replace(attempts["parentt"].candidate, parents=("parent",), tuned={"a": (0.0, 1.0)})
    attempts["parentt"] = replace(attempts["parentt"], candidate=child)
    past = History(list(attempts.values()))
    difference = past.against(attempts["parentt"], attempts["parent"])
    assert difference.mean > 0
    assert difference.verdict == 0
    field.judged(past)
    assert "parent" not in {name for name, _ in field.asked}


@pytest.mark.parametrize(("second", "looked"), [("x = 2.5\n", False), ("y = [2.5]\nz = y\n", True)])
def test_copies_with_other_numbers_are_looked_at_once(tmp_path: Path, second: str, looked: bool) -> None:
    """The same structure, returns within two per cent of each other on every start: one stands for both."""
    field = Field(tmp_path, a=(1000, 6), b=(1000.2, 6))
    a, b = field.attempts()
    past = History(
        [
            replace(a, candidate=replace(a.candidate, source="x = 1.5\n")),
            replace(b, candidate=replace(b.candidate, source=second)),
        ]
    )
    field.judged(past)
    names = {name for name, _ in field.asked}
    assert len(names) == (2 if looked else 1)


class Stumbling(Field):
    """The candidate "fast" earns most and falls in one of six fresh episodes, in none of the first seeds."""

    def episode(self, id_: Any, seed: Any) -> Any:
        """As before, without luck."""
        falls = id_ == "fast" and seed >= 11_000_000 and seed % 6 == 0
        return EpisodeRecord(
            seed, 200.0 if falls else {"fast": 1030.0, "sure": 1000.0, "slow": 500.0}[id_], 10
        )


def test_steps_that_are_left_go_into_the_final_order(tmp_path: Path) -> None:
    """What falls now and then loses to what never does, though it led on few episodes; what is far behind costs nothing."""
    field = Stumbling(tmp_path, fast=(0, 0), sure=(0, 0), slow=(0, 0))
    history = field.judged()
    assert history.best().id == "fast"
    history.rounds = 1
    judge = Judge(field, field.config, 10)
    asyncio.run(judge.confirm(history))
    assert history.best().id == "sure"
    assert field.episodes("slow") == 0
    before, told = list(field.asked), history.leader_id
    again = field.judged()
    again.rounds = 1
    asyncio.run(Judge(field, field.config, 10).confirm(again))
    assert (again.leader_id, field.asked) == (told, before)  # a resumed run finds it all in the journal


def test_the_last_looks_go_on_while_the_order_is_open_and_steps_are_left(tmp_path: Path) -> None:
    """Two whose difference noise hides play on with steps that nobody else needs, also where one is well behind so far."""
    field = Field(tmp_path, replace(CONFIG, validation_episodes=4), a=(100, 60), b=(70, 60))
    history = field.judged()
    history.rounds = 1
    asyncio.run(Judge(field, field.config, 10).confirm(history))
    played = len(history.evidence(history.best()).episodes)
    difference = history.against(*history.attempts)
    assert played > 20
    assert difference.verdict or played >= 60
    seeds = [seed for who, some in field.asked if who == "a" for seed in some]
    assert len(set(seeds)) == len(seeds)


def test_the_last_looks_cost_no_more_than_is_left(tmp_path: Path) -> None:
    """Nothing where the budget is spent, and nothing where nobody is close."""
    poor = Stumbling(tmp_path / "a", replace(CONFIG, budget=Budget(steps=140)), fast=(0, 0), sure=(0, 0))
    history = poor.judged()
    left = poor.ledger.steps_left()
    asyncio.run(Judge(poor, poor.config, 10).confirm(history))
    assert poor.ledger.steps_left() == left < 100 == 2 * 5 * 10  # a block for both
    alone = Stumbling(tmp_path / "b", fast=(0, 0), slow=(0, 0))
    history = alone.judged()
    asked = list(alone.asked)
    asyncio.run(Judge(alone, alone.config, 10).confirm(history))
    assert alone.asked == asked


class Bad(Field):
    """A leader that falls on a few starts, and candidates of which some do not."""

    def episode(self, id_: Any, seed: Any) -> Any:
        """All earn alike, but where some fall."""
        falls = seed in BAD and self.qualities[id_][0] == "falls"
        return EpisodeRecord(seed, -100.0 if falls else 200.0 + seed % 3, 10)


BAD = {Seeds().validation(1)[0]}


def led(field: Field, *names: str) -> History:
    """The history after a first round that the first won, and whose fresh starts had a bad one among them."""
    attempts = field.attempts()
    history = History(attempts, rounds=1, leader_id=attempts[0].id)
    seeds = Seeds().validation(5)
    history.looks["lead"] = [Evaluation("ok", tuple(field.episode("lead", s) for s in seeds), 50)]
    history.asked = {name: Asked("improve", "lead", "", "Robustness") for name in names}
    return history


def test_who_was_asked_to_mend_a_bad_start_plays_it_and_wins_by_it(tmp_path: Path) -> None:
    """On all other starts it is the same; its score has no episode of a start that was chosen for the leader's luck."""
    field = Bad(tmp_path, lead=("falls", 0), mended=("stands", 0), same=("falls", 0))
    history = led(field, "mended")
    field.judged(history, 2)
    (bad,) = BAD
    assert ("mended", (bad,)) in field.asked
    assert history.changed(history.find("mended"), history.find("lead")) == (300.0 + bad % 3,)
    assert bad not in {e.seed for e in history.evidence(history.find("mended")).episodes}
    assert history.best().id == "mended"
    assert "mended" not in history.alike


def test_bad_starts_are_played_once_in_a_run_and_within_the_steps(tmp_path: Path) -> None:
    """A resumed run decides the same; where steps are short nobody plays them."""
    field = Bad(tmp_path / "a", lead=("falls", 0), mended=("stands", 0))
    field.judged(led(field), 2)
    field.asked.clear()
    again = led(field)
    field.judged(again, 2)
    assert not field.asked
    assert again.best().id == "mended"
    short = Bad(
        tmp_path / "b", replace(CONFIG, budget=Budget(steps=60)), lead=("falls", 0), mended=("stands", 0)
    )
    short.judged(led(short), 2)
    assert all(not BAD & set(seeds) for _, seeds in short.asked)


def test_a_round_that_an_earlier_version_closed_is_not_played_again(tmp_path: Path) -> None:
    """Its decisions say nothing of bad starts: a resumed run plays none of them for it."""
    field = Bad(tmp_path, lead=("falls", 0), mended=("stands", 0))
    field.journal.add("round", "r2", {})
    field.judged(led(field), 2)
    assert all(not BAD & set(seeds) for _, seeds in field.asked)


def test_equal_programs_that_are_not_recognised_play_bad_starts_each(tmp_path: Path) -> None:
    """As where a recipe has duplicates measured like any other."""
    field = Bad(tmp_path, lead=("falls", 0), one=("stands", 0), other=("stands", 0))
    history = led(field)
    history.attempts = [
        replace(a, candidate=replace(a.candidate, digest="same" if a.id != "lead" else "lead"))
        for a in history.attempts
    ]
    field.judged(history, 2)
    assert [who for who, seeds in field.asked if BAD & set(seeds)] == ["one", "other"]


class Uneven(Bad):
    """A leader that earns most where it does not fall, and others that earn less and never fall."""

    def episode(self, id_: Any, seed: Any) -> Any:
        """A little less than the leader everywhere, but where it falls."""
        found = super().episode(id_, seed)
        return replace(found, return_=found.return_ - (0 if id_ == "lead" else 20))


def test_who_earns_a_little_less_and_never_falls_replaces_who_falls(tmp_path: Path) -> None:
    """It is clearly worse on each start that both played before, none of which is one that the leader falls on."""
    field = Uneven(tmp_path, lead=("falls", 0), steady=("stands", 0))
    history = led(field)
    lead, steady = history.find("lead"), history.find("steady")
    assert history.clearly_worse(steady, lead)
    assert history.evidence(steady).mean_return > history.evidence(lead).mean_return
    field.judged(history, 2)
    assert ("steady", tuple(BAD)) in field.asked
    assert not history.clearly_worse(steady, lead)
    assert history.best().id == "steady"


def test_bad_starts_are_played_by_as_many_as_the_steps_allow(tmp_path: Path) -> None:
    """Who was asked to mend them comes first; the others do without, and a resumed run decides the same."""
    few = replace(CONFIG, budget=Budget(steps=180))
    field = Bad(
        tmp_path, few, lead=("falls", 0), other=("stands", 0), mended=("stands", 0), more=("stands", 0)
    )
    history = led(field, "mended")
    left = field.ledger.steps_left()
    field.judged(history, 2)
    who = [id_ for id_, seeds in field.asked if BAD & set(seeds)]
    assert "mended" in who
    assert 1 <= len(who) <= 0.15 * left / 10 < 3
    assert sorted(field.journal.find("decision", "r2.again")) == sorted(who)


class Rare(Field):
    """A policy that earns 300 but on one start in eight, and on none of the first eight."""

    def episode(self, id_: Any, seed: Any) -> Any:
        """It falls where the seed says so; the second never does."""
        falls = id_ == "rare" and seed % 8 == 7 and seed >= Seeds().validation(1, start=2_000_000)[0]
        return EpisodeRecord(seed, 0.0 if falls else 301.0, 10)


@pytest.mark.parametrize(
    ("name", "model", "ends"), [("rare", True, False), ("sure", True, True), ("rare", False, True)]
)
def test_what_would_end_a_models_run_plays_on_until_a_rare_fall_shows(
    name: str, model: bool, ends: bool, tmp_path: Path
) -> None:
    """Eight episodes without a fall prove little; program search, whose steps are its only cost, is believed sooner."""
    field = Rare(tmp_path, **{name: (0, 0)})
    field.llm.language_model = model
    history = field.judged(threshold=300.0)
    assert history.reaches(300.0) == ends
    played = len(history.evidence(history.best()).episodes)
    assert (played >= 30) == model
    asked = list(field.asked)
    again = field.judged(threshold=300.0)
    assert (field.asked, again.evidence(again.best())) == (asked, history.evidence(history.best()))
