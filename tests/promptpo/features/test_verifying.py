"""Which policy of a simulator is believed, by its promise and by a few real episodes."""

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
"""A program, but for its name."""


def verified(found: Any, *returns: float, outcome: Any = "ok") -> VerifiedPolicy:
    """A policy with real episodes of these returns."""
    records = tuple(EpisodeRecord(n, value, 10) for n, value in enumerate(returns))
    return VerifiedPolicy(found, Evaluation(outcome, records, 10))


def program(value: float, stderr: float) -> TunedProgram:
    """A program that was promised so much."""
    return TunedProgram("p1", "", value, stderr)


def test_where_nothing_varies_reality_is_believed() -> None:
    """Two episodes that differ by nothing say what the policy returns, whatever was promised."""
    assert verified(program(1000.0, 0.0), 600.0, 600.0).estimate(0.0) == pytest.approx(600.0)


def test_where_episodes_differ_much_the_promise_is_believed() -> None:
    """Two lucky episodes of a noisy task do not put a policy before a better one."""
    lucky, better = verified(program(100.0, 50.0), 400.0, 500.0), verified(program(200.0, 50.0), 100.0, 150.0)
    assert better.estimate(0.0) > lucky.estimate(0.0)


def test_a_shortfall_has_to_be_large_and_beyond_noise() -> None:
    """A quarter of what was promised above chance, and two standard errors."""
    assert verified(program(1000.0, 1.0), 700.0, 720.0).disappoints(0.0)
    assert not verified(program(1000.0, 1.0), 900.0, 910.0).disappoints(0.0)
    assert not verified(program(1000.0, 100.0), 700.0, 720.0).disappoints(0.0)
    assert verified(program(-100.0, 1.0), -900.0, -880.0).disappoints(-1200.0)


def test_what_fails_in_reality_is_worth_nothing() -> None:
    """However good it was in the simulator."""
    failed = verified(TrainedNetwork("n1", "", 1000.0, 1.0, ""), 0.0, outcome="crashed")
    assert failed.estimate(0.0) == -math.inf
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
def test_lanes_in_words(space: Any, words: str) -> None:
    """The form of n observations or actions side by side."""
    assert in_lanes(space) == words


def test_only_what_may_be_the_best_of_its_kind_may_play_for_real() -> None:
    """As far behind as a simulator errs; where returns are negative and no reference is known, too."""
    programs = [program(1000.0, 1.0), program(920.0, 1.0), program(700.0, 1.0)]
    networks = [TrainedNetwork("n1", "", 900.0, 1.0, ""), TrainedNetwork("n2", "", 20.0, 1.0, "")]
    assert near_best(programs, 0.0) == programs[:2]
    assert near_best(networks, 0.0) == networks[:1]
    assert [one.value for one in near_best([program(-150.0, 1.0), program(-1200.0, 1.0)], 0.0)] == [-150.0]
    assert near_best([], 0.0) == []


@pytest.mark.parametrize(
    ("stderr", "left", "played"),
    [(0.1, 100, 2), (10.0, 100, 8), (10.0, 7, 3), (900.0, 1000, 32), (900.0, 3, 2)],
)
def test_scattered_outcomes_are_played_more(stderr: float, left: int, played: int) -> None:
    """As many episodes as tell chance from what a simulator errs by, for half of the steps that are left; two where they can be paid."""
    search: Any = SimulatorSearch.__new__(SimulatorSearch)
    search._real, search._context = SimpleNamespace(left=left * 50), SimpleNamespace(horizon=50)
    wanted = count_real_episodes(program(400.0, stderr), 0.0)
    assert search._payable(1, wanted) == {"policies": 1, "episodes": played}


EASE = np.random.default_rng(0).normal(0.0, 100.0, 32)
"""How much easier than others the initial states are in which programs are compared."""


def measured(id_: str, source: str, value: float, noise: float) -> TunedProgram:
    """A program with simulated returns around `value`, which vary with the initial state and, by itself, with so much noise."""
    own = np.random.default_rng(len(id_ + source)).normal(0.0, 1.0, len(EASE))
    returns = value + EASE - EASE.mean() + noise * (own - own.mean())
    error = float(returns.std(ddof=1) / math.sqrt(len(returns)))
    return TunedProgram(id_, source, value, error, returns=tuple(returns.tolist()))


def difference_error(one: TunedProgram, other: TunedProgram) -> float:
    """Standard error of a paired difference."""
    return float(np.std(np.subtract(one.returns, other.returns), ddof=1) / math.sqrt(len(EASE)))


@pytest.mark.parametrize("seed", range(20))
def test_the_shortest_of_those_as_good_as_the_best_leads(seed: int) -> None:
    """A longer program leads only if it returns more beyond noise; what is led by returns less by noise at most."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 6))
    values, noises, lengths = rng.normal(100, 5, count), rng.uniform(0, 30, count), rng.permutation(count)
    programs = [measured(f"p{n}", "x" * int(lengths[n]), values[n], noises[n]) for n in range(count)]
    first, *others = shortest_first(programs)
    best = max(programs, key=lambda each: each.value)
    assert {first.id, *(each.id for each in others)} == {each.id for each in programs}
    assert best.value - first.value <= difference_error(best, first)
    assert others == sorted(others, key=lambda each: -each.value)
    for each in others:
        if len(each.source) < len(first.source):
            assert best.value - each.value > difference_error(best, each)


def test_initial_states_that_differ_are_no_noise_between_programs() -> None:
    """One that is better in each of them leads, however much its returns scatter."""
    short, long_ = measured("p1", "x", 100.0, 1.0), measured("g1", "xx", 105.0, 1.0)
    assert long_.value - short.value < short.stderr
    assert shortest_first([short, long_])[0] is long_


def test_a_program_that_always_fails_leads_nothing() -> None:
    """One that returns minus infinity, with a standard error that is no number, is behind all others; alone it is the first."""
    failed = TunedProgram("g1", "", -math.inf, math.nan, returns=(-math.inf,) * len(EASE))
    assert shortest_first([failed, measured("p1", "x", 1.0, 1.0)])[0].id == "p1"
    assert shortest_first([failed]) == [failed]


def grow(
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
    search._simulators, search._steps = Silent(), 1000
    simulation: Any = None
    found = asyncio.run(search.grow([measured("p1", GROWN, 100.0, 16.0)], simulation, None))
    return [program.id for program in found], shown


@pytest.mark.parametrize(("gain", "leader"), [(0.0, "p1"), (1.0, "p1"), (20.0, "g2")])
def test_terms_that_gain_nothing_beyond_noise_go(gain: float, leader: str) -> None:
    """The next change begins with the program without them, which is also what is published."""
    found, shown = grow(
        lambda key: f"{GROWN}{key.rpartition('.')[2]!r}",
        lambda key, source: measured(key, source, 100.0 + gain * int(key[1:]), 16.0),
    )
    assert found[0] == leader
    assert ("p1, with its tuned numbers" in shown[1]) == (leader == "p1")


TWO = (
    "PARAMS = {{'a': ({a}, 0.0, 2.0), 'b': ({b}, -1.0, 1.0)}}\n\n\nclass Policy:\n    def __init__(self, params):\n"
    "        pass\n\n    def act(self, obs):\n        return [0.0]\n"
)


@pytest.mark.parametrize(
    ("begun", "tuned", "idle"),
    [((1.0, 0.0), (1.0, 0.0), True), ((1.0, 0.0), (1.1, 0.0), False), ((1.0, 0.5), (1.0, 0.5), False)],
)
def test_a_grown_program_whose_new_terms_stay_at_nought_goes(
    begun: tuple[float, float], tuned: tuple[float, float], idle: bool
) -> None:
    """However well it seems to do: it plays as its parent does, and is longer. Its writer is told."""
    first, second = (TWO.format(a=a, b=b) for a, b in (begun, tuned))
    found, shown = grow(
        lambda _: first, lambda key, _: replace(measured(key, second, 200.0, 1.0), begun=first)
    )
    assert (found == ["p1"]) == idle
    assert ("it is dropped" in shown[1]) == idle


@pytest.mark.parametrize(
    ("returns", "played"),
    [
        ({}, [["p1", "n1"]]),
        ({"p1": 100.0}, [["p1", "n1"], ["p2"]]),
        ({"p1": 100.0, "p2": 100.0, "n1": 0.0}, [["p1", "n1"], ["p2", "n2"]]),
    ],
)
def test_the_next_plays_where_the_best_disappoints(
    returns: dict[str, float], played: list[list[str]]
) -> None:
    """Real steps are left for other things where the best of a kind keeps what was promised."""
    asked: list[list[str]] = []

    class Search(SimulatorSearch):
        """Plays by a table."""

        async def _verify(self, found: Any, *_: Any) -> list[VerifiedPolicy]:
            asked.append([policy.id for policy in found])
            return [verified(policy, *[returns.get(policy.id, policy.value)] * 2) for policy in found]

    search = Search.__new__(Search)
    programs = [replace(program(value, 1.0), id=name) for name, value in (("p1", 1000.0), ("p2", 950.0))]
    networks = [TrainedNetwork(name, "", 900.0, 1.0, "") for name in ("n1", "n2")]
    asyncio.run(search._verify_kinds(programs, networks, 0.0, 0))
    assert asked == played


def test_a_program_is_finished_anew_in_each_simulator() -> None:
    """What was pruned and rounded in one simulator is not taken for what was tuned on in the next."""
    done: dict[str, FinishResult] = {}

    class Journalled:
        """Does each piece of work once, by its name."""

        async def work(self, key: str, work: Finish, *_: Any) -> FinishResult:
            return done.setdefault(key, FinishResult(work.source, 1.0, 0.0, (), 0))

    search: Any = ProgramSearch.__new__(ProgramSearch)
    search._simulators, search._seed = Journalled(), 0
    first, second = (replace(program(1.0, 0.0), source=source) for source in ("first", "second"))
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
def test_two_lucky_episodes_of_a_network_do_not_overrule_policy(
    tmp_path: Path, policy: str | None, program_return: float, best: str
) -> None:
    """By default the program is the best of the run if it returns nine tenths of the network, wherever returns rank it."""
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
        lucky = verified(None, 280.0, 284.0).real
        journal.once("decision", "s.network", lambda: RecordedNetwork(idle.format(1), 285.0, lucky))
        products = search.record_products(history)
        assert set(products) == {"program", "network"}
        assert history.best().id == best


def search_both(
    longer: float, threshold: float | None = None, *, early_stop: bool = True
) -> tuple[Any, bool]:
    """What a search in a simulator finds where the best program returns 287.1, and so much after a longer tuning; whether it was grown."""
    search: Any = SimulatorSearch.__new__(SimulatorSearch)
    search._policy, search._simulators = "program", SimpleNamespace(say=lambda *_: None)
    search._context = SimpleNamespace(
        threshold=threshold, config=Config(Task("CartPole-v1"), recipe_options={"early_stop": early_stop})
    )
    grown = []

    async def begin(*_: Any) -> list[TunedProgram]:
        return [program(287.1, 3.7)]

    async def tune_further(*_: Any) -> TunedProgram:
        return program(longer, 17.9)

    async def grow(programs: Any, *_: Any) -> Any:
        grown.append(programs)
        return programs

    async def unchanged(programs: Any, *_: Any) -> Any:
        return programs

    search._programs = SimpleNamespace(begin=begin, tune_further=tune_further, grow=grow)
    search._finish = unchanged
    box = SimpleNamespace(observation_space=spaces.Box(-1, 1, (2,)), action_space=spaces.Box(-1, 1, (1,)))
    programs, networks = asyncio.run(search._search_both(box, ""))
    assert networks == []
    return [found.value for found in programs], bool(grown)


@pytest.mark.parametrize(("longer", "kept"), [(239.3, 287.1), (326.5, 326.5)])
def test_a_long_tuning_that_loses_is_dropped(longer: float, kept: float) -> None:
    """Its choice among finalists is noisy, so what comes out may return less in the common fresh episodes than what went in."""
    assert search_both(longer)[0] == [kept]


@pytest.mark.parametrize(
    ("threshold", "early_stop", "grown"),
    [(None, True, True), (300.0, True, False), (330.0, True, True), (300.0, False, True)],
)
def test_a_program_that_solves_the_task_is_not_grown(
    threshold: float | None, early_stop: bool, grown: bool
) -> None:
    """Growing costs calls; it is asked for where there is something to gain, or where early stopping is off."""
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
def test_all_that_is_known_of_a_fitted_number_is_told(value: float, error: float, words: str) -> None:
    """That it is far from its beginning does not hide that a bound stopped it."""
    table = numbers_table([FittedNumber("gain", 0.5, value, error, 0.0, 1.0)])
    assert table.splitlines()[1].split("|")[-1] == words
