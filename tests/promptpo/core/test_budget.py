"""The division of the step budget between purposes."""

import ast
import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.core.budget import (
    ALLOTMENTS,
    Ledger,
    affordable,
    affordable_units,
    budget_row,
    step_allotment,
)
from promptpo.core.config import Budget, Config
from promptpo.core.journal import Event
from promptpo.envs.task import Task
from promptpo.errors import BudgetSpentError
from promptpo.features.experiments.settings import allowance, count_experiments
from promptpo.features.program_search import SearchLLM
from promptpo.features.simulator.settings import SimulatorSettings
from promptpo.features.tuning.feature import tuning_steps
from promptpo.llm.base import ALL_PURPOSES
from promptpo.llm.scripted import ScriptedLLM
from promptpo.run.episodes import division_rows, horizon_within, spec_steps

KINDS = sorted(ALLOTMENTS)


def rollout_event(kind: str, steps: int) -> Event:
    """A journaled rollout of `steps` steps."""
    return Event(0, 0.0, kind, "a", {"spent": {budget_row(kind, "a")[1]: steps}})


@given(st.sampled_from(KINDS), st.integers(0, 10**7), st.integers(1, 10**4))
def test_purpose_stays_within_its_share_floor_and_cap(kind: str, steps: int, each: int) -> None:
    """The share binds above the floor, the cap always."""
    units, row = affordable_units(kind, steps, each), ALLOTMENTS[kind]
    assert units <= row.cap
    if units > row.floor or row.optional:
        assert units * each <= row.share * steps
    assert units >= row.floor or (row.optional and units == 0)


def test_minor_purposes_take_less_than_a_third() -> None:
    """Most steps go to training, validation, tuning and choosing between simulators."""
    small = [ALLOTMENTS[k].share for k in KINDS if k not in {"evaluation", "validation", "tuning", "real"}]
    assert sum(small) < 0.33


def test_steps_left_for_a_kind_are_the_unused_share() -> None:
    """It never exceeds the steps left overall."""
    ledger = Ledger(Budget(steps=10_000), [rollout_event("probe", 300), rollout_event("tuning", 9_600)])
    assert ledger.steps_left_for("probe") == 100
    assert (ledger.steps_left_for("validation"), ledger.steps_left_for("validation", parts=4)) == (100, 25)
    assert Ledger(Budget(steps=10_000), [rollout_event("probe", 900)]).steps_left_for("probe") == 0
    assert Ledger(Budget(steps=10_000), [rollout_event("real", 900)]).steps_left_for("probe") == 500
    assert Ledger(Budget(steps=None)).steps_left_for("tuning") is None
    assert step_allotment("validation", 10_000) == 2_000


@pytest.mark.parametrize("kind", ["probe", "reference", "reward"])
def test_exhausted_purpose_may_not_reserve_steps(kind: str) -> None:
    """References on test seeds are outside the budget; other purposes continue."""
    ledger = Ledger(Budget(steps=10_000))
    ledger.limits = {kind: 200}

    async def reserve_steps(payer: str | None) -> int:
        async with ledger.reserve(payer, 500) as granted:
            return granted

    ledger.add(Event(0, 0.0, kind, "random.test", {"spent": {"reference": 200}}))
    assert asyncio.run(reserve_steps(kind)) == 500
    ledger.add(rollout_event(kind, 200))
    with pytest.raises(BudgetSpentError, match=ALLOTMENTS[kind].what):
        asyncio.run(reserve_steps(kind))
    assert [asyncio.run(reserve_steps(other)) for other in ("evaluation", "tuning", None)] == [500] * 3


@given(st.integers(0, 10**7), st.integers(1, 10), st.integers(0, 10**5), st.integers(1, 1000), st.booleans())
def test_tuning_takes_nothing_or_enough_within_the_steps_left(
    left: int, rounds: int, coming: int, length: int, learns: bool
) -> None:
    """The last round has no floor, because leftover steps are of no other use."""
    found = tuning_steps(left, rounds=rounds, coming=coming, length=length, learns=learns)
    assert 0 <= found <= left
    assert found == 0 or not learns or rounds == 1 or found >= ALLOTMENTS["tuning"].floor * length


def test_tuning_steps_are_shared_evenly_between_rounds() -> None:
    """The last round gets the remainder."""
    assert tuning_steps(100_000, rounds=4, coming=5_000, length=100, learns=True) == 20_000
    assert tuning_steps(100_000, rounds=4, coming=5_000, length=3_000, learns=True) == 0
    assert tuning_steps(10_000, rounds=1, coming=8_000, length=100, learns=True) == 5_000
    assert tuning_steps(10_000, rounds=1, coming=8_000, length=1_000, learns=True) == 0
    assert tuning_steps(100_000, rounds=4, coming=5_000, length=100, learns=False) == 100_000


@pytest.mark.parametrize(
    ("steps", "sampled", "found"),
    [(None, 50.0, 10_000), (60_000, 20.0, 200), (60_000, float("inf"), 120), (10**7, 5_000.0, 10_000)],
)
def test_unbounded_episodes_are_cut_by_the_budget(steps: int | None, sampled: float, found: int) -> None:
    """The cut is a multiple of the length of random episodes."""
    config = Config(Task("X-v0"), budget=Budget(rounds=5, steps=steps), candidates=2, episodes=10)
    assert horizon_within(config, None, sampled) == found
    assert horizon_within(config, 7, sampled) == 7


def test_only_the_budget_module_divides_the_step_budget() -> None:
    """Tuning may divide the budget that it is given."""
    root = Path(__file__).parents[3] / "promptpo"
    dividing = [
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if path.name != "budget.py" and "budget.steps" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mult)
        and any(
            isinstance(leaf, ast.Attribute)
            and leaf.attr == "steps"
            and ast.unparse(leaf.value).endswith("config.budget" if "tuning" in path.parts else "budget")
            for leaf in ast.walk(node)
        )
    ]
    assert dividing == []


@pytest.mark.parametrize(
    ("evaluation_steps", "learns", "steps"),
    [
        (0, True, 20_000),
        (8_000, True, 18_000),
        (90_000, True, 13_750),
        (8_000, False, 92_000),
        (90_000, False, 75_000),
    ],
)
def test_tuning_reserves_steps_for_evaluation(evaluation_steps: int, learns: bool, steps: int) -> None:
    """At most a quarter of the steps left are reserved."""
    found = tuning_steps(
        100_000, rounds=4, coming=5_000, length=100, learns=learns, reserved=evaluation_steps
    )
    assert found == steps


@pytest.mark.parametrize(
    ("left", "each", "validation", "samples"),
    [(None, 100, 10, 4), (1000, 100, 10, 4), (420, 100, 10, 4), (419, 100, 10, 3), (120, 100, 10, 1), (0, 100, 10, 1), (40, 0, 10, 4), (22, 0, 10, 2)],
)  # fmt: skip
def test_number_of_samples_is_what_the_steps_pay_for(
    left: int | None, each: int, validation: int, samples: int
) -> None:
    """Each sample costs its episodes, and two validations are reserved; at least one sample is requested."""
    assert affordable(left, 4, each=each, validation=validation) == samples


@pytest.mark.parametrize(("rounds", "count"), [(1, 3), (2, 3), (3, 4), (5, 6)])
def test_number_of_experiments(rounds: int, count: int) -> None:
    """A run has three before round 1 and one in each further round but the last."""
    assert count_experiments(rounds) == count


@pytest.mark.parametrize(("calls", "offered"), [(None, True), (10, True), (9, False)])
def test_small_call_budget_turns_experiments_off(calls: int | None, offered: bool) -> None:
    """An explicit switch overrides this, but the model must be able to write them."""
    config = Config(Task("CartPole-v1"), budget=Budget(calls=calls))
    able = ScriptedLLM([], purposes=ALL_PURPOSES)
    assert (allowance(config, able) is not None) is offered
    named = replace(config, recipe_options={"probe": True})
    assert allowance(named, able) is not None
    assert allowance(named, ScriptedLLM([])) is None
    assert allowance(replace(config, recipe_options={"probe": False}), able) is None


@pytest.mark.parametrize(
    ("steps", "each", "parts", "given"),
    [(None, 1, 1, None), (100_000, 1, 1, 20_000), (100_000, 1, 4, 5_000), (1_000, 200, 1, 600)],
)
def test_allotment_is_the_larger_of_share_and_floor(
    steps: int | None, each: int, parts: int, given: int | None
) -> None:
    assert step_allotment("evaluation", steps, each, parts) == given


def test_tuning_floor_is_exact() -> None:
    """Without a step limit, tuning has a default of its own."""
    assert tuning_steps(32_000, rounds=4, coming=5_000, length=100, learns=True) == 3_000
    assert tuning_steps(31_999, rounds=4, coming=5_000, length=100, learns=True) == 0
    assert tuning_steps(None, rounds=4, coming=5_000, length=1, learns=True) == 40_000
    assert tuning_steps(None, rounds=4, coming=5_000, length=100, learns=True) == 100_000


def test_units_are_at_least_one_step() -> None:
    assert affordable_units("real", 1_000, 1) == affordable_units("real", 1_000, 0) == 650


def test_division_of_the_budget_is_printed() -> None:
    """Purposes without steps have no row; tuning gets the rest."""
    lines = division_rows(10_000, {"evaluation": 2_500, "probe": 0}, tunes=True)
    assert [line.split() for line in lines] == [
        ["2,500", "25%", "try", "each", "policy"],
        ["the", "rest", "tune", "parameters"],
    ]
    assert len(division_rows(10_000, {"evaluation": 2_500}, tunes=False)) == 1


@pytest.mark.parametrize(("steps", "given"), [(None, None), (5_000, 500), (9, 0)])
def test_observing_for_the_spec_takes_a_tenth(steps: int | None, given: int | None) -> None:
    assert spec_steps(steps) == given


@pytest.mark.parametrize(
    ("simulate", "recipe", "simulated"),
    [(None, "default", False), (None, "model", True), (True, "default", True), (False, "model", False)],
)
def test_simulator_is_requested_only_from_capable_models(
    simulate: bool | None, recipe: Any, simulated: bool
) -> None:
    """Program search builds one from formulas."""
    config = Config(Task("CartPole-v1"), features={"simulate": simulate}, recipe=recipe)
    simulates = config.of(SimulatorSettings).is_on
    assert simulates(config, ScriptedLLM([], purposes=ALL_PURPOSES)) is simulated
    assert simulates(config, SearchLLM()) is simulated
    assert not simulates(config, ScriptedLLM([]))
