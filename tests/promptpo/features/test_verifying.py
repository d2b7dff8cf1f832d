"""Choosing a simulator's policy by its simulated return and a few real episodes."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from promptpo.core.candidate import Attempt, Candidate
from promptpo.core.config import Config
from promptpo.core.history import History
from promptpo.core.journal import Journal
from promptpo.envs.task import Task
from promptpo.features.simulator.feature import SimulatorSearch
from promptpo.features.simulator.networks import TrainedNetwork
from promptpo.features.simulator.programs import ProgramSearch, TunedProgram, shortest_first
from promptpo.features.simulator.prompts import in_lanes, numbers_table
from promptpo.features.simulator.records import RecordedNetwork
from promptpo.features.simulator.verifying import VerifiedPolicy, count_real_episodes, near_best
from promptpo.program import Program
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.simulator.finish import Finish, FinishResult
from promptpo.simulator.fit import FittedNumber

GROWN = "class Policy:\n    def act(self, obs):\n        return 0\n\n\nNAME = "
"""A program, up to the value of `NAME`."""


def verified_policy(found: Any, *returns: float, outcome: Any = "ok") -> VerifiedPolicy:
    """A policy with real episodes of these returns."""
    records = tuple(EpisodeRecord(n, value, 10) for n, value in enumerate(returns))
    return VerifiedPolicy(found, Evaluation(outcome, records, 10))


def tuned_program(value: float, stderr: float) -> TunedProgram:
    """A program with this simulated return."""
    return TunedProgram("p1", "", value, stderr)


def test_disappointment_must_be_large_and_beyond_noise() -> None:
    """It is a quarter of the promised gain over chance, and two standard errors."""
    assert verified_policy(tuned_program(1000.0, 1.0), 700.0, 720.0).disappoints(0.0)
    assert not verified_policy(tuned_program(1000.0, 1.0), 900.0, 910.0).disappoints(0.0)
    assert not verified_policy(tuned_program(1000.0, 100.0), 700.0, 720.0).disappoints(0.0)
    assert verified_policy(tuned_program(-100.0, 1.0), -900.0, -880.0).disappoints(-1200.0)


def test_policy_that_fails_for_real_has_no_value() -> None:
    failed = verified_policy(TrainedNetwork("n1", "", 1000.0, 1.0, ""), 0.0, outcome="crashed")
    assert failed.mean == -math.inf
    assert failed.kind == "network"


@pytest.mark.parametrize(
    ("space", "words"),
    [
        (spaces.Box(-1, 1, (3,)), "a float array [n, 3]"),
        (spaces.Discrete(4), "an int array [n]"),
        (spaces.Box(0, 5, (2, 2), np.int64), "an int array [n, 2, 2]"),
        (spaces.MultiDiscrete([2, 3]), "an int array [n, 2]"),
    ],
)
def test_batch_is_described_in_words(space: Any, words: str) -> None:
    assert in_lanes(space) == words


def test_only_near_best_policies_are_verified() -> None:
    """Near means within a simulator's error; returns may be negative."""
    programs = [tuned_program(1000.0, 1.0), tuned_program(920.0, 1.0), tuned_program(700.0, 1.0)]
    networks = [TrainedNetwork("n1", "", 900.0, 1.0, ""), TrainedNetwork("n2", "", 20.0, 1.0, "")]
    assert near_best(programs, 0.0) == programs[:2]
    assert near_best(networks, 0.0) == networks[:1]
    assert [
        policy.value for policy in near_best([tuned_program(-150.0, 1.0), tuned_program(-1200.0, 1.0)], 0.0)
    ] == [-150.0]
    assert near_best([], 0.0) == []


@pytest.mark.parametrize(
    ("stderr", "left", "played"),
    [(0.1, 100, 2), (10.0, 100, 8), (10.0, 7, 3), (900.0, 1000, 32), (900.0, 3, 2)],
)
def test_noisier_policies_get_more_real_episodes(stderr: float, left: int, played: int) -> None:
    """They take at most half of the steps left, but two episodes if affordable."""
    search: Any = SimulatorSearch.__new__(SimulatorSearch)
    search._real, search._context = SimpleNamespace(left=left * 50), SimpleNamespace(horizon=50)
    wanted = count_real_episodes(tuned_program(400.0, stderr), 0.0)
    assert search._plan_episodes(1, wanted) == {"policies": 1, "episodes": played}


@pytest.mark.parametrize(
    ("left", "plan"),
    [(10, (2, 2)), (4, (2, 2)), (3, (1, 2)), (1, (1, 1)), (0, (1, 0))],
)
def test_one_policy_plays_twice_before_two_play_once(left: int, plan: tuple[int, int]) -> None:
    search: Any = SimulatorSearch.__new__(SimulatorSearch)
    search._real, search._context = SimpleNamespace(left=left * 50), SimpleNamespace(horizon=50)
    assert tuple(search._plan_episodes(2, 2.0).values()) == plan


EASE = np.random.default_rng(0).normal(0.0, 100.0, 32)
"""How much each initial state adds to every program's return."""


def simulated_program(id_: str, source: str, value: float, noise: float) -> TunedProgram:
    """A program with simulated returns around `value`: the effect of the initial state plus its own noise."""
    own = np.random.default_rng(len(id_ + source)).normal(0.0, 1.0, len(EASE))
    returns = value + EASE - EASE.mean() + noise * (own - own.mean())
    error = float(returns.std(ddof=1) / math.sqrt(len(returns)))
    return TunedProgram(id_, source, value, error, returns=tuple(returns.tolist()))


def difference_error(one: TunedProgram, other: TunedProgram) -> float:
    """Return the standard error of a paired difference."""
    return float(np.std(np.subtract(one.returns, other.returns), ddof=1) / math.sqrt(len(EASE)))


@pytest.mark.parametrize("seed", range(20))
def test_shortest_of_the_equally_good_leads(seed: int) -> None:
    """A longer program needs a gain beyond noise."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 6))
    values, noises, lengths = rng.normal(100, 5, count), rng.uniform(0, 30, count), rng.permutation(count)
    programs = [simulated_program(f"p{n}", "x" * int(lengths[n]), values[n], noises[n]) for n in range(count)]
    first, *others = shortest_first(programs)
    best = max(programs, key=lambda each: each.value)
    assert {first.id, *(each.id for each in others)} == {each.id for each in programs}
    assert best.value - first.value <= difference_error(best, first)
    assert others == sorted(others, key=lambda each: -each.value)
    for each in others:
        if len(each.source) < len(first.source):
            assert best.value - each.value > difference_error(best, each)


def test_programs_are_compared_on_equal_initial_states() -> None:
    """Being better in each of them outweighs any spread of returns."""
    short, long_ = simulated_program("p1", "x", 100.0, 1.0), simulated_program("g1", "xx", 105.0, 1.0)
    assert long_.value - short.value < short.stderr
    assert shortest_first([short, long_])[0] is long_


def test_failing_program_ranks_last() -> None:
    """Its return is minus infinity and its standard error NaN."""
    failed = TunedProgram("g1", "", -math.inf, math.nan, returns=(-math.inf,) * len(EASE))
    assert shortest_first([failed, simulated_program("p1", "x", 1.0, 1.0)])[0].id == "p1"
    assert shortest_first([failed]) == [failed]


def grow_twice(
    answer: Callable[[str], str], tune: Callable[[str, str], TunedProgram]
) -> tuple[list[str], list[str]]:
    """The programs' names after two changes of p1 (return 100), best first, and what the writer was shown.

    Args:
        answer: From the key of a request to the module that the writer answers with.
        tune: From a program's name and module to what tuning makes of it.
    """
    shown: list[str] = []

    class Search(ProgramSearch):
        """Tunes by a table."""

        async def _tune(self, key: str, source: str, *_: Any) -> TunedProgram:
            return tune(key, source)

        async def _ask(self, key: str, question: str) -> str:
            shown.append(question)
            return f"```python\n{answer(key)}\n```"

    class Silent:
        """Describes nothing."""

        async def behaviour(self, *_: Any) -> str:
            return ""

    search: Any = Search.__new__(Search)
    search._simulators, search._steps, search._longer, search._longer_steps = Silent(), 1000, (), 0
    simulation: Any = None
    found = asyncio.run(search.grow([simulated_program("p1", GROWN, 100.0, 16.0)], simulation, None))
    return [tuned_program.id for tuned_program in found], shown


@pytest.mark.parametrize(("gain", "leader"), [(0.0, "p1"), (1.0, "p1"), (20.0, "g2")])
def test_terms_without_a_clear_gain_are_removed(gain: float, leader: str) -> None:
    """The next change starts from the program without them."""
    found, shown = grow_twice(
        lambda key: f"{GROWN}{key.rpartition('.')[2]!r}",
        lambda key, source: simulated_program(key, source, 100.0 + gain * int(key[1:]), 16.0),
    )
    assert found[0] == leader
    assert ("p1, with its tuned numbers" in shown[1]) == (leader == "p1")


@pytest.mark.parametrize(
    ("returns", "played"),
    [
        ({}, [["p1", "n1"]]),
        ({"p1": 100.0}, [["p1", "n1"], ["p2"]]),
        ({"p1": 100.0, "p2": 100.0, "n1": 0.0}, [["p1", "n1"], ["p2", "n2"]]),
    ],
)
def test_next_policy_is_verified_if_the_best_disappoints(
    returns: dict[str, float], played: list[list[str]]
) -> None:
    """Otherwise its real steps are saved."""
    asked: list[list[str]] = []

    class Search(SimulatorSearch):
        """Plays by a table."""

        async def _verify(self, found: Any, *_: Any) -> list[VerifiedPolicy]:
            asked.append([policy.id for policy in found])
            return [verified_policy(policy, *[returns.get(policy.id, policy.value)] * 2) for policy in found]

    search = Search.__new__(Search)
    programs = [
        replace(tuned_program(value, 1.0), id=name) for name, value in (("p1", 1000.0), ("p2", 950.0))
    ]
    networks = [TrainedNetwork(name, "", 900.0, 1.0, "") for name in ("n1", "n2")]
    asyncio.run(search._verify_kinds(programs, networks, 0.0, 0))
    assert asked == played


def test_programs_are_finished_separately_in_each_simulator() -> None:
    """Recorded results of one simulator must not be reused in the next."""
    done: dict[str, FinishResult] = {}

    class Journalled:
        """Does each piece of work once, by its name."""

        async def work(self, key: str, work: Finish, *_: Any) -> FinishResult:
            return done.setdefault(key, FinishResult(work.source, 1.0, 0.0, (), 0))

    search: Any = ProgramSearch.__new__(ProgramSearch)
    search._simulators, search._seed = Journalled(), 0
    first, second = (replace(tuned_program(1.0, 0.0), source=source) for source in ("first", "second"))
    simulation: Any = None
    for found, name in ((first, ""), (second, ".refit1")):
        finished = asyncio.run(search.finish(found, simulation, prune=False, name=name))
        assert finished.source == found.source


@pytest.mark.parametrize(
    ("policy", "program_return", "best"),
    [
        (None, 270.0, "s1"),
        (None, 100.0, "s2"),
        ("any", 270.0, "s2"),
        ("program", 100.0, "s1"),
        ("network", 290.0, "s2"),
    ],
)
def test_policy_option_outranks_returns(
    tmp_path: Path, policy: str | None, program_return: float, best: str
) -> None:
    """By default the program wins with nine tenths of the network's return."""
    idle = "class Policy:\n    def act(self, obs):\n        return {}\n"
    with Journal(tmp_path) as journal:
        history = History()
        journal.follow(history.add)
        search: Any = SimulatorSearch.__new__(SimulatorSearch)
        search._journal, search._policy = journal, policy
        search._measurer = SimpleNamespace(record=lambda it: journal.once("attempt", it.id, lambda: it))
        source = Program.from_source(idle.format(0))
        candidate = Candidate("s1", source.source, 0, digest=source.digest)
        records = tuple(EpisodeRecord(n, program_return + n % 3, 100) for n in range(15))
        search._measurer.record(Attempt(candidate, Evaluation("ok", records, 1500)))
        lucky = verified_policy(None, 280.0, 284.0).real
        journal.once("decision", "s.network", lambda: RecordedNetwork(idle.format(1), 285.0, lucky))
        products = search.record_products(history)
        assert set(products) == {"program", "network"}
        assert history.best().id == best


def search_both(
    longer: float, threshold: float | None = None, *, early_stop: bool = True
) -> tuple[Any, bool]:
    """Return the values that a search in a simulator finds, and whether it grew programs."""
    search: Any = SimulatorSearch.__new__(SimulatorSearch)
    search._policy, search._simulators = "program", SimpleNamespace(say=lambda *_: None)
    search._context = SimpleNamespace(
        threshold=threshold, config=Config(Task("CartPole-v1"), recipe_options={"early_stop": early_stop})
    )
    grown = []

    async def begin(*_: Any) -> list[TunedProgram]:
        return [tuned_program(287.1, 3.7)]

    async def tune_further(*_: Any) -> TunedProgram:
        return tuned_program(longer, 17.9)

    async def grow_twice(programs: Any, *_: Any) -> Any:
        grown.append(programs)
        return programs

    async def unchanged(programs: Any, *_: Any) -> Any:
        return programs

    search._programs = SimpleNamespace(begin=begin, tune_further=tune_further, grow=grow_twice)
    search._finish = unchanged
    box = SimpleNamespace(observation_space=spaces.Box(-1, 1, (2,)), action_space=spaces.Box(-1, 1, (1,)))
    programs, networks = asyncio.run(search._search_both(box, ""))
    assert networks == []
    return [found.value for found in programs], bool(grown)


@pytest.mark.parametrize(("longer", "kept"), [(239.3, 287.1), (326.5, 326.5)])
def test_longer_tuning_is_dropped_if_worse(longer: float, kept: float) -> None:
    """Its choice between finalists is noisy."""
    assert search_both(longer)[0] == [kept]


@pytest.mark.parametrize(
    ("threshold", "early_stop", "grown"),
    [(None, True, True), (300.0, True, False), (330.0, True, True), (300.0, False, True)],
)
def test_solving_program_is_not_grown(threshold: float | None, early_stop: bool, grown: bool) -> None:
    """Growing costs calls; it is done if there is something to gain or early stopping is off."""
    assert search_both(326.5, threshold, early_stop=early_stop) == ([326.5], grown)


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (0.5, 0.01, ""),
        (0.9, 0.01, "far from what you wrote"),
        (1.0, 0.01, "far from what you wrote, at its bound"),
        (1.0, 0.9, "at its bound"),
        (0.5, math.inf, "no effect on these steps"),
    ],
)
def test_remarks_on_fitted_parameters(value: float, error: float, words: str) -> None:
    """Being far from the initial value does not hide being at a bound."""
    table = numbers_table([FittedNumber("gain", 0.5, value, error, 0.0, 1.0)])
    assert table.splitlines()[1].split("|")[-1] == words
