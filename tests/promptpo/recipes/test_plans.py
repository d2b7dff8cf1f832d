"""The requests that a recipe plans for each round."""

import random
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from promptpo.core.candidate import Attempt, Candidate
from promptpo.core.feature import Plan, RunStatus, SearchContext
from promptpo.core.history import History
from promptpo.prompts import prompting
from promptpo.prompts.context import PromptContext
from promptpo.recipes import planner
from promptpo.recipes.evolve import ISLANDS, island_of
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation


def evaluation(*returns: Any, outcome: str = "ok", steps: int = 10, terminated: bool = False) -> Any:
    """Return an evaluation with these returns."""
    episodes = tuple(
        EpisodeRecord(seed, value, steps, terminated=terminated) for seed, value in enumerate(returns)
    )
    return Evaluation(outcome, episodes, steps * len(returns), error="" if outcome == "ok" else "it broke")


def attempt(id_: Any, *returns: Any, source: Any = None, **more: Any) -> Any:
    """Return an attempt of the round that its id names, with a structure of its own."""
    round_ = int(id_[1 : id_.index("c")])
    source = source or f"def {id_}():\n    pass\n"
    return Attempt(Candidate(id_, source, round_, digest=source), evaluation(*returns, **more))


def history(*attempts: Any, rounds: int = 1, stalled: int = 0) -> Any:
    """Return a history after `rounds` rounds."""
    return History(list(attempts), rounds=rounds, stalled=stalled)


def plan_round(
    past: History, recipe: Any, *, candidates: int, seed: int = 0, one_start: bool = False
) -> list[Plan]:
    """Return the plans of a round."""
    spec: Any = SimpleNamespace(one_start=one_start)
    config: Any = SimpleNamespace(seed=seed)
    context = SearchContext(spec, config, cast("Any", None), 10)
    return planner(recipe)(context, past, candidates)


def test_paper_recipe_repeats_one_request() -> None:
    """It draws N samples from one prompt, which shows the winners of all rounds."""
    past = history(attempt("r1c1", 1.0), attempt("r1c2", 5.0), attempt("r2c1", 3.0), rounds=2)
    plans = plan_round(past, "paper", candidates=3, seed=0)
    assert {p.kind for p in plans} == {"improve"}
    assert [a.id for a in plans[0].winners or ()] == ["r1c2", "r2c1"]
    assert all(replace(p, slot=0) == plans[0] for p in plans)
    assert {p.parents[0].id for p in plans} == {"r1c2"}  # the one to beat is the best, not the latest


@pytest.mark.parametrize(
    ("stalled", "candidates", "kinds"),
    [
        (0, 1, ["improve"]),
        (1, 1, ["new_structure"]),
        (0, 2, ["improve", "new_structure"]),
        (0, 3, ["improve", "merge", "new_structure"]),
        (2, 4, ["improve", "merge", "improve", "new_structure"]),
    ],
)
def test_most_requests_refine_and_one_explores(stalled: int, candidates: int, kinds: Any) -> None:
    """The first refines the leader, the next merges it with the runner-up; each kind is numbered."""
    past = history(attempt("r1c1", 1.0, 3.0, 2.0), attempt("r1c2", 5.0, 1.5, 7.0), stalled=stalled)
    plans = plan_round(past, "default", candidates=candidates, seed=0)
    assert [p.kind for p in plans] == kinds
    assert [a.id for a in plans[0].parents] == ["r1c2"]
    assert all([a.id for a in p.parents] == ["r1c2", "r1c1"] for p in plans if p.kind == "merge")
    assert len({(p.kind, p.variant) for p in plans}) == candidates
    assert all(p.may_end for p in plans)


def test_parents_are_drawn_by_their_probability_of_being_the_best() -> None:
    """Of two that noise cannot separate both are drawn, and a clearly worse one rarely."""
    close = [
        attempt("r1c1", 10.0, 30.0, 21.0),
        attempt("r1c2", 22.0, 9.0, 31.0),
        attempt("r1c3", 0.0, 0.1, 0.0),
    ]
    drawn = [
        plan.parents[0].id
        for seed in range(20)
        for plan in plan_round(history(*close), "default", candidates=6, seed=seed)
        if plan.kind == "improve" and plan.slot
    ]
    assert {"r1c1", "r1c2"} <= set(drawn)
    assert drawn.count("r1c3") < len(drawn) / 10


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.floats(-2, 2), st.floats(0.02, 4)), min_size=2, max_size=4),
    st.integers(2, 8),
    st.integers(0, 10_000),
)
@example([(0.0, 2.125), (1.1875, 2.0625), (0.0, 1.5)], 6, 2000)  # a probability of exactly 5 %
@settings(max_examples=80, deadline=None)
def test_merge_is_planned_only_if_either_may_be_the_best(
    programs: list[tuple[float, float]], episodes: int, seed: int
) -> None:
    """According to the probabilities that the prompt itself shows."""
    rng = random.Random(seed)
    tried = [
        attempt(f"r1c{n}", *(rng.gauss(mean, noise) for _ in range(episodes)))
        for n, (mean, noise) in enumerate(programs, 1)
    ]
    past = history(*tried)
    merged = [plan for plan in plan_round(past, "default", candidates=4) if plan.kind == "merge"]
    likely = past.chances
    assert bool(merged) == (max([*likely.values()][1:], default=0.0) >= 0.05)
    for plan in merged:
        text = prompting.policy_prompt(plan, PromptContext(past, RunStatus(2, 9)), max_tokens=9000)
        shown = dict(re.findall(r"^# (r1c\d), .*\((\d+)% likely to be the best[;)]", text, re.MULTILINE))
        assert {parent.id for parent in plan.parents} <= set(shown)
        assert all(5 <= int(shown[parent.id]) <= 95 for parent in plan.parents)


def test_successful_exploration_is_repeated() -> None:
    """If the leader came from a request for another structure in the last round, two requests explore."""
    old, new = attempt("r1c1", 1.0, 1.1, 1.0), attempt("r2c4", 9.0, 9.1, 9.0)
    past = history(old, attempt("r2c1", 1.0, 1.3, 1.2), new, rounds=2)
    kinds = [p.kind for p in plan_round(past, "default", candidates=4, seed=0)]
    assert kinds.count("new_structure") == 2
    refined = attempt(
        "r2c3", 9.0, 9.1, 9.0
    )  # the last that was answered, but not for a request of another structure
    past = history(old, attempt("r2c1", 1.0, 1.3, 1.2), refined, rounds=2)
    kinds = [p.kind for p in plan_round(past, "default", candidates=4, seed=0)]
    assert kinds.count("new_structure") == 1


def test_initial_state_is_named_if_its_residual_exceeds_noise() -> None:
    """One that is hard for all programs is no reason."""
    ease = [0.0, -50.0, 3.0, 1.0, 2.0, 0.5, 1.5, 2.5]
    others = [
        attempt(f"r1c{n}", *(90.0 + n / 9 + e + (n * i % 5) / 9 for i, e in enumerate(ease)))
        for n in range(3)
    ]
    hard = attempt("r1c8", *(100.0 + e for e in ease))
    odd = attempt("r1c8", *(100.0 + e - 40 * (i == 3) for i, e in enumerate(ease)))
    for leader, named in ((hard, False), (odd, True)):
        plans = plan_round(history(*others, leader), "default", candidates=4, seed=0)
        assert ("worst_initial_states" in {p.kind for p in plans}) == named


@pytest.mark.parametrize("recipe", ["default", "evolve"])
@pytest.mark.parametrize(("rounds", "stalled"), [(0, 0), (1, 0), (2, 1), (3, 2)])
@pytest.mark.parametrize("candidates", [1, 2, 3, 12])
def test_no_two_prompts_of_a_round_are_equal(recipe: str, rounds: int, stalled: int, candidates: int) -> None:
    attempts = [attempt(f"r1c{n}", float(n), 2.0, 3.0 * n) for n in range(1, 5)] if rounds else []
    past = history(*attempts, rounds=rounds, stalled=stalled)
    known = PromptContext(past, RunStatus(rounds + 1, 9))
    plans = plan_round(past, recipe, candidates=candidates, seed=0)
    prompts = {prompting.policy_prompt(plan, known, max_tokens=9000) for plan in plans}
    assert len(prompts) == candidates


def test_prompts_differ_after_failures_only() -> None:
    past = history(attempt("r1c1", outcome="crashed"), rounds=1, stalled=1)
    plans = plan_round(past, "default", candidates=3, seed=0)
    known = PromptContext(past, RunStatus(2, 9))
    assert len({prompting.policy_prompt(plan, known, max_tokens=9000) for plan in plans}) == 3


def test_first_round_and_paper_recipe_may_not_end() -> None:
    first = plan_round(history(rounds=0), "default", candidates=3, seed=0)
    assert [(p.kind, p.variant, p.may_end) for p in first] == [("first", n, False) for n in (1, 2, 3)]
    for plan in plan_round(history(attempt("r1c1", 1.0)), "paper", candidates=3, seed=0):
        assert not plan.may_end


def test_islands_take_parents_from_home_except_in_migration_rounds() -> None:
    attempts = [attempt(f"r1c{n}", float(n)) for n in range(1, 9)]
    homes = {a.id: island_of(a) for a in attempts}
    for seed in range(20):
        plans = plan_round(history(*attempts, rounds=1), "evolve", candidates=ISLANDS, seed=seed)
        assert [{homes[a.id] for a in p.parents} for p in plans] == [{n} for n in range(ISLANDS)]
    met = {
        a.id
        for seed in range(40)
        for a in plan_round(history(*attempts, rounds=2), "evolve", candidates=ISLANDS, seed=seed)[0].parents
    }
    assert {homes[id_] for id_ in met} == {0, homes["r1c8"]}  # the best of the run migrates


def test_better_parents_are_drawn_more_often() -> None:
    """Two of five on one island are drawn each time."""
    good, poor = attempt("r1c1", 10.0), [attempt(f"r1c{1 + 3 * n}", float(n)) for n in range(1, 5)]
    picked = [
        {a.id for a in plan_round(history(good, *poor), "evolve", candidates=1, seed=s)[0].parents}
        for s in range(200)
    ]
    assert 120 < sum("r1c1" in pair for pair in picked) < 200


@pytest.mark.parametrize("recipe", ["default", "paper", "evolve"])
def test_planning_is_repeatable(recipe: str) -> None:
    """A resumed run must ask the same questions."""
    past = history(*(attempt(f"r1c{n}", float(n)) for n in range(1, 7)))
    assert plan_round(past, recipe, candidates=4, seed=3) == plan_round(past, recipe, candidates=4, seed=3)


def test_round_after_failures_only_has_no_parents() -> None:
    past = history(attempt("r1c1", outcome="crashed"), rounds=1, stalled=1)
    plans = plan_round(past, "default", candidates=2, seed=0)
    assert {p.kind for p in plans} == {"improve"}
    assert not any(p.parents or p.may_end for p in plans)
