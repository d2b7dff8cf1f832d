"""The model of returns: estimates for programs, initial states and single episodes."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptpo.core.returns import Returns, selection_values
from promptpo.rollouts.evaluation import EpisodeRecord

RECORDED = json.loads(Path(__file__).with_name("champions.json").read_text(encoding="utf-8"))
"""Three runs with a strong model: returns by round, candidate and seed; the last leader's mean on 100 test seeds, with its interval."""

LIFT = {
    "r1c1": 12.85,
    "r1c2": 14.17,
    "r1c3": 14.20,
    "r2c1": 14.65,
    "r2c3": 10.79,
    "r3c1": 14.74,
    "r4c1": 14.35,
}
"""Mean returns of programs for a lift on 100 fresh seeds, the same for all."""

EPISODES = {"r1c1": 10, "r1c2": 8, "r1c3": 8, "r2c1": 10, "r2c3": 4, "r3c1": 10, "r4c1": 10}
"""Number of episodes on which the run judged each of them."""

Table = dict[str, dict[int, float]]


def tables_by_round(task: str) -> list[Table]:
    """Return the table of returns after each round."""
    known: Table = {}
    tables = []
    for each in RECORDED[task]["rounds"]:
        for name, returns in each.items():
            known.setdefault(name, {}).update({int(seed): value for seed, value in returns.items()})
        tables.append({name: dict(returns) for name, returns in known.items()})
    return tables


def leader(model: Returns) -> str:
    """Return the program with the best estimate."""
    return max(model.programs, key=lambda name: model.of(name).mean)


def simulate_returns(
    means: Mapping[str, float],
    episodes: Mapping[str, int],
    seed: int,
    *,
    starts: float = 0.8,
    noise: float = 1.3,
) -> Table:
    """Draw returns of programs with these means."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(0, starts, 20)
    return {
        name: {n: float(mean + ease[n] + rng.normal(0, noise)) for n in range(episodes[name])}
        for name, mean in means.items()
    }


@pytest.mark.parametrize("task", ["elevator", "fourrooms"])
def test_estimate_agrees_with_the_recorded_test(task: str) -> None:
    """The model removes the difficulty of seeds, so that 100 fresh seeds agree."""
    model, run = Returns(tables_by_round(task)[-1]), RECORDED[task]
    estimate = model.of(run["returned"])
    low, high = run["ci95"]
    error = math.hypot(estimate.standard_error, (high - low) / 4)
    assert abs(estimate.mean - run["held_out"]) < 2 * error


def test_difficulty_of_seeds_is_not_a_difference_between_programs() -> None:
    """A reservoir's leaders had raw means of 124.6, 119.8 and 125.5 on different seeds but are equally good."""
    tables = tables_by_round("reservoir")
    model = Returns(tables[-1])
    raw = [float(np.mean(list(tables[-1][name].values()))) for name in ("r1c1", "r2c2", "r4c1")]
    assert max(raw) - min(raw) > 2
    assert all(abs(model.difference(name, "r2c2").mean) < 0.2 for name in ("r1c1", "r3c2", "r4c1"))


@pytest.mark.parametrize("task", RECORDED)
def test_best_estimate_is_never_clearly_worse(task: str) -> None:
    for table in tables_by_round(task):
        model = Returns(table)
        best = leader(model)
        assert all(model.difference(name, best).verdict <= 0 for name in model.programs)
        assert all(model.difference(name, best).mean <= 0 for name in model.programs)


def test_leader_of_the_lift_is_near_the_best() -> None:
    """With as few episodes as in the run, the worst two programs hardly ever lead."""
    regret, bad, inside = [], 0, []
    for seed in range(60):
        model = Returns(simulate_returns(LIFT, EPISODES, seed))
        best = leader(model)
        regret.append(max(LIFT.values()) - LIFT[best])
        bad += best in {"r1c1", "r2c3"}
        for name, mean in LIFT.items():
            found = model.of(name)
            inside.append(abs(found.mean - mean) <= found.margin)
    assert np.mean(regret) < 0.35
    assert bad <= 3
    assert 0.93 <= np.mean(inside) <= 0.985


def test_interval_narrows_with_shared_episodes() -> None:
    """Few episodes cannot establish equality."""
    means = {"a": 14.2, "b": 14.17, "c": 12.9}
    few = Returns(simulate_returns(means, dict.fromkeys(means, 4), 1))
    many = Returns(simulate_returns(means, dict.fromkeys(means, 20), 1, noise=0.05))
    assert few.difference("a", "b").margin > 0.05 * 14
    assert many.difference("a", "b").margin < 0.02 * 14


def test_easy_seeds_do_not_raise_an_estimate() -> None:
    """Seeds that only one program has played are adjusted for."""
    model = Returns({"often": {0: 315.0, 1: 316.0, 900: 200.0, 901: 210.0}, "once": {0: 300.0, 1: 303.0}})
    assert model.of("often").mean > model.of("once").mean


def test_residual_isolates_the_episodes_own_luck() -> None:
    """A seed that is hard for all programs has no residual."""
    table = {name: {n: 100.0 + i + n % 3 for n in range(8)} for i, name in enumerate("abcd")}
    for returns in table.values():
        returns[3] -= 50
    table["b"][5] -= 30
    model = Returns(table)
    assert model.residual("b", 5) < -1.5
    assert abs(model.residual("b", 3)) < 1


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8), min_size=1, max_size=6),
    st.floats(-1e4, 1e4),
    st.floats(0.01, 1e3),
)
def test_estimates_are_finite_antisymmetric_and_equivariant(
    rows: Sequence[Sequence[float]], shift: float, scale: float
) -> None:
    """Shifting or scaling the returns changes nothing else."""
    table = {str(i): dict(enumerate(row)) for i, row in enumerate(rows)}
    model = Returns(table)
    for name in model.programs:
        assert math.isfinite(model.of(name).mean)
        for other in model.programs:
            one, back = model.difference(name, other), model.difference(other, name)
            assert one.mean == -back.mean
            assert one.standard_error == pytest.approx(back.standard_error)
    assert sum(model.probability_best().values()) == pytest.approx(1)
    moved = Returns({name: {s: scale * v + shift for s, v in row.items()} for name, row in table.items()})
    size = max(abs(v) for row in table.values() for v in row.values()) + abs(shift / scale)
    for name in model.programs:
        assert (moved.of(name).mean - shift) / scale == pytest.approx(
            model.of(name).mean, abs=1e-3 * size + 1e-6
        )


def test_success_is_traded_off_against_return() -> None:
    """9 successes in 10 at ten times the return beat 10 in 10; 3 in 10 do not."""

    def played(value: float, won: int) -> list[EpisodeRecord]:
        return [EpisodeRecord(n, value + n, 10, n < won) for n in range(10)]

    def better(programs: Mapping[str, Sequence[EpisodeRecord]]) -> str:
        return leader(Returns(selection_values(programs)))

    assert better({"sure": played(355, 10), "rich": played(3551, 9)}) == "rich"
    assert better({"sure": played(355, 10), "rich": played(3551, 3)}) == "sure"
    alike = {
        name: [replace(e, return_=0.0) for e in played(0, won)] for name, won in (("never", 0), ("sure", 9))
    }
    assert better(alike) == "sure", "success alone decides if all returns are equal"


@given(
    st.lists(st.floats(-3, 3), min_size=2, max_size=5),
    st.lists(st.floats(0.05, 5), min_size=5, max_size=5),
    st.integers(2, 6),
    st.integers(0, 10_000),
)
@settings(max_examples=25, deadline=None)
def test_probable_best_is_not_clearly_worse(
    means: list[float], noise: list[float], starts: int, seed: int
) -> None:
    """Probabilities and intervals must come from one distribution, even with few episodes."""
    rng = np.random.default_rng(seed)
    table = {
        str(i): {s: mean + noise[i] * rng.standard_normal() for s in range(starts + i % 2)}
        for i, mean in enumerate(means)
    }
    model = Returns(table)
    likely = model.probability_best()
    leader = max(table, key=lambda name: model.of(name).mean)
    for name in table:
        if likely[name] >= 0.05 and name != leader:
            assert model.difference(name, leader).verdict == 0
        if model.difference(name, leader).verdict < 0:
            assert likely[name] < 0.05
