"""One table divides the step budget."""

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


def played(kind: str, steps: int) -> Event:
    """A journaled rollout of so many steps."""
    return Event(0, 0.0, kind, "a", {"spent": {budget_row(kind, "a")[1]: steps}})


@given(st.sampled_from(KINDS), st.integers(0, 10**7), st.integers(1, 10**4))
def test_a_purpose_stays_within_its_share_floor_and_cap(kind: str, steps: int, each: int) -> None:
    """Above the floor never more than the share; never above the cap."""
    found, row = affordable_units(kind, steps, each), ALLOTMENTS[kind]
    assert found <= row.cap
    if found > row.floor or row.optional:
        assert found * each <= row.share * steps
    assert found >= row.floor or (row.optional and found == 0)


def test_the_small_purposes_leave_most_to_programs_and_their_numbers() -> None:
    """Training, validation and tuning are what a run is for; a simulator decides between programs, too."""
    small = [ALLOTMENTS[k].share for k in KINDS if k not in {"evaluation", "validation", "tuning", "real"}]
    assert sum(small) < 0.33


def test_the_ledger_knows_what_a_purpose_may_still_take() -> None:
    """Its share less what it took, and never more than is left at all."""
    ledger = Ledger(Budget(steps=10_000), [played("probe", 300), played("tuning", 9_600)])
    assert ledger.room("probe") == 100
    assert (ledger.room("validation"), ledger.room("validation", parts=4)) == (100, 25)
    assert Ledger(Budget(steps=10_000), [played("probe", 900)]).room("probe") == 0
    assert Ledger(Budget(steps=10_000), [played("real", 900)]).room("probe") == 500
    assert Ledger(Budget(steps=None)).room("tuning") is None
    assert step_allotment("validation", 10_000) == 2_000


@pytest.mark.parametrize("kind", ["probe", "reference", "reward"])
def test_a_kind_that_has_taken_its_part_begins_nothing_more(kind: str) -> None:
    """Whatever else is left; references on test seeds are outside, and search and tuning go on."""
    ledger = Ledger(Budget(steps=10_000))
    ledger.limits = {kind: 200}

    async def takes(payer: str | None) -> int:
        async with ledger.reserve(payer, 500) as granted:
            return granted

    ledger.add(Event(0, 0.0, kind, "random.test", {"spent": {"reference": 200}}))
    assert asyncio.run(takes(kind)) == 500
    ledger.add(played(kind, 200))
    with pytest.raises(BudgetSpentError, match=ALLOTMENTS[kind].what):
        asyncio.run(takes(kind))
    assert [asyncio.run(takes(other)) for other in ("evaluation", "tuning", None)] == [500] * 3


@given(st.integers(0, 10**7), st.integers(1, 10), st.integers(0, 10**5), st.integers(1, 1000), st.booleans())
def test_tuning_never_takes_more_than_is_left(
    left: int, rounds: int, coming: int, length: int, learns: bool
) -> None:
    """And takes enough to find something or nothing, but in the last round, after which steps are of no use."""
    found = tuning_steps(left, rounds=rounds, coming=coming, length=length, learns=learns)
    assert 0 <= found <= left
    assert found == 0 or not learns or rounds == 1 or found >= ALLOTMENTS["tuning"].floor * length


def test_rounds_get_even_parts_of_what_others_need_not() -> None:
    """The last one what is left of it."""
    assert tuning_steps(100_000, rounds=4, coming=5_000, length=100, learns=True) == 20_000
    assert tuning_steps(100_000, rounds=4, coming=5_000, length=3_000, learns=True) == 0
    assert tuning_steps(10_000, rounds=1, coming=8_000, length=100, learns=True) == 5_000
    assert tuning_steps(10_000, rounds=1, coming=8_000, length=1_000, learns=True) == 0
    assert tuning_steps(100_000, rounds=4, coming=5_000, length=100, learns=False) == 100_000


@pytest.mark.parametrize(
    ("steps", "sampled", "found"),
    [(None, 50.0, 10_000), (60_000, 20.0, 200), (60_000, float("inf"), 120), (10**7, 5_000.0, 10_000)],
)
def test_episodes_without_a_limit_are_cut_by_the_budget(
    steps: int | None, sampled: float, found: int
) -> None:
    """As long as the table pays for, and some times as long as those of random actions."""
    config = Config(Task("X-v0"), budget=Budget(rounds=5, steps=steps), candidates=2, episodes=10)
    assert horizon_within(config, None, sampled) == found
    assert horizon_within(config, 7, sampled) == 7


def test_no_other_file_has_a_share_of_the_step_budget() -> None:
    """Whoever wants steps asks the table or the ledger; a tuning divides the budget that it is given."""
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
    ("looks", "learns", "steps"),
    [
        (0, True, 20_000),
        (8_000, True, 18_000),
        (90_000, True, 13_750),
        (8_000, False, 92_000),
        (90_000, False, 75_000),
    ],
)
def test_steps_to_look_at_what_comes_out_are_kept_back(looks: int, learns: bool, steps: int) -> None:
    """A quarter of what is left at most, whether rounds follow or not."""
    found = tuning_steps(100_000, rounds=4, coming=5_000, length=100, learns=learns, reserved=looks)
    assert found == steps


@pytest.mark.parametrize(
    ("left", "each", "look", "samples"),
    [(None, 100, 10, 4), (1000, 100, 10, 4), (420, 100, 10, 4), (419, 100, 10, 3), (120, 100, 10, 1), (0, 100, 10, 1), (40, 0, 10, 4), (22, 0, 10, 2)],
)  # fmt: skip
def test_samples_that_the_steps_pay_for(left: int | None, each: int, look: int, samples: int) -> None:
    """Each candidate's episodes, and two looks besides; at least one is asked for, and never more than wanted."""
    assert affordable(left, 4, each=each, validation=look) == samples


@pytest.mark.parametrize(("rounds", "count"), [(1, 3), (2, 3), (3, 4), (5, 6)])
def test_experiments_of_a_run(rounds: int, count: int) -> None:
    """Three before the first round, and one in each but the first and the last."""
    assert count_experiments(rounds) == count


@pytest.mark.parametrize(("calls", "offered"), [(None, True), (10, True), (9, False)])
def test_few_calls_leave_none_for_experiments(calls: int | None, offered: bool) -> None:
    """Unless they are asked for by name; who cannot write any is asked for none."""
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
def test_an_allotment_is_the_share_or_the_floor(
    steps: int | None, each: int, parts: int, given: int | None
) -> None:
    """Whichever is more, in even parts."""
    assert step_allotment("evaluation", steps, each, parts) == given


def test_limits_of_tuning_are_kept_to_the_step() -> None:
    """A part as large as the floor is spent, one below it is not; without a limit of steps there is one of its own."""
    assert tuning_steps(32_000, rounds=4, coming=5_000, length=100, learns=True) == 3_000
    assert tuning_steps(31_999, rounds=4, coming=5_000, length=100, learns=True) == 0
    assert tuning_steps(None, rounds=4, coming=5_000, length=1, learns=True) == 40_000
    assert tuning_steps(None, rounds=4, coming=5_000, length=100, learns=True) == 100_000


def test_a_unit_may_be_a_single_step() -> None:
    """Then there are as many as steps."""
    assert affordable_units("real", 1_000, 1) == affordable_units("real", 1_000, 0) == 650


def test_a_divided_budget_in_lines() -> None:
    """Steps and their share of each kind that has any, and who has the rest."""
    lines = division_rows(10_000, {"evaluation": 2_500, "probe": 0}, tunes=True)
    assert [line.split() for line in lines] == [
        ["2,500", "25%", "try", "each", "policy"],
        ["the", "rest", "tune", "parameters"],
    ]
    assert len(division_rows(10_000, {"evaluation": 2_500}, tunes=False)) == 1


@pytest.mark.parametrize(("steps", "given"), [(None, None), (5_000, 500), (9, 0)])
def test_finding_out_about_the_task_takes_a_tenth(steps: int | None, given: int | None) -> None:
    """Without a limit there is none."""
    assert spec_steps(steps) == given


@pytest.mark.parametrize(
    ("simulate", "recipe", "simulated"),
    [(None, "default", False), (None, "model", True), (True, "default", True), (False, "model", False)],
)
def test_a_simulator_is_written_where_it_is_asked_for(
    simulate: bool | None, recipe: Any, simulated: bool
) -> None:
    """By a model that answers such requests, or of formulas where no model is asked."""
    config = Config(Task("CartPole-v1"), features={"simulate": simulate}, recipe=recipe)
    simulates = config.of(SimulatorSettings).is_on
    assert simulates(config, ScriptedLLM([], purposes=ALL_PURPOSES)) is simulated
    assert simulates(config, SearchLLM()) is simulated
    assert not simulates(config, ScriptedLLM([]))
