"""What is asked for in each round."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from gymnasium import spaces

from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.config import RECIPES
from promptpo.run.records import Attempt, Candidate, Diagnosis
from promptpo.search.history import History
from promptpo.search.planning import island_of, plan_round
from promptpo.search.strategies import RHYTHM, STRATEGIES, Asked
from promptpo.telling import prompting
from promptpo.telling.known import Known
from promptpo.telling.promises import EARN
from promptpo.telling.standing import Where


def evaluation(*returns: Any, outcome: str = "ok", success: Any = None) -> Any:
    """An evaluation with these returns."""
    episodes = tuple(EpisodeRecord(seed, value, 10, success) for seed, value in enumerate(returns))
    return Evaluation(outcome, episodes, 10 * len(returns), error="" if outcome == "ok" else "it broke")


def attempt(id_: Any, *returns: Any, source: Any = None, **more: Any) -> Any:
    """An attempt of the round that its id names, of a structure of its own."""
    round_ = int(id_[1 : id_.index("c")])
    source = source or f"def {id_}():\n    pass\n"
    return Attempt(Candidate(id_, source, round_, digest=source), evaluation(*returns, **more))


def history(*attempts: Any, rounds: int = 1, stalled: int = 0) -> Any:
    """A history after `rounds` rounds."""
    return History(list(attempts), rounds=rounds, stalled=stalled)


def test_paper_recipe_asks_n_times_for_the_same() -> None:
    """The published procedure draws N samples from one prompt and shows the winners of all rounds."""
    past = history(attempt("r1c1", 1.0), attempt("r1c2", 5.0), attempt("r2c1", 3.0), rounds=2)
    plans = plan_round(past, RECIPES["paper"], candidates=3, seed=0)
    assert {(p.direction, p.strategy) for p in plans} == {("improve", "")}
    assert [a.id for a in plans[0].shown] == ["r1c2", "r2c1"]
    assert all(replace(p, slot=0) == plans[0] for p in plans)
    assert plans[0].winners
    assert {p.parents[0].id for p in plans} == {"r1c2"}  # the one to beat is the best, not the latest
    assert plans[0].lines == ()


def test_default_recipe_keeps_one_sample_for_another_strategy() -> None:
    """While the best improves, most samples refine it, each in a respect of its own, and one looks elsewhere."""
    past = history(attempt("r1c1", 1.0, 3.0, 2.0), attempt("r1c2", 5.0, 1.5, 7.0))
    plans = plan_round(past, RECIPES["default"], candidates=4, seed=0)
    assert [p.direction for p in plans] == ["improve", "improve", "merge", "different"]
    assert [p.respect for p in plans] == ["Level", "Weakest part", "", ""]
    assert "r1c1 is better than r1c2 on 1, most on 2 (+1.5)" in plans[2].aspect
    assert plans[3].strategy
    assert {p.parents[0].id for p in plans} == {"r1c2"}


def test_only_programs_that_have_something_to_give_are_merged() -> None:
    """Not one that is worse on every start, nor one that differs in numbers only."""
    worse = history(attempt("r1c1", 1.0, 1.0, 2.0), attempt("r1c2", 5.0, 1.5, 7.0))
    worse.attempts[0] = attempt("r1c1", 1.0, 1.0, 1.0)
    tuned = history(
        attempt("r1c1", 1.0, 9.0, 2.0, source="a = 1\n"), attempt("r1c2", 5.0, 1.5, 7.0, source="a = 2\n")
    )
    long = history(
        attempt("r1c1", 1.0, 9.0, 2.0, source="a = 1\n" * 900),
        attempt("r1c2", 5.0, 1.5, 7.0, source="b = 2\n" * 900),
    )
    for past in (worse, tuned, long):
        plans = plan_round(past, RECIPES["default"], candidates=4, seed=0)
        assert [p.direction for p in plans] == ["improve", "improve", "improve", "different"]


def test_a_stalled_run_changes_the_question() -> None:
    """After a round without improvement half of the samples build on what is there, half start afresh."""
    past = history(attempt("r1c1", 1.0, 9.0, 1.0), attempt("r1c2", 5.0, 5.0, 5.0), rounds=2, stalled=1)
    plans = plan_round(past, RECIPES["default"], candidates=4, seed=0)
    assert [p.direction for p in plans] == ["merge", "fresh", "improve", "fresh"]
    assert [a.id for a in plans[0].parents] == ["r1c2", "r1c1"]
    assert "r1c1 is better than r1c2 on 1, most on 2 (+4)" in plans[0].aspect
    assert plans[1].strategy != plans[3].strategy


def test_after_two_rounds_without_gain_all_but_one_look_elsewhere() -> None:
    """Each with a strategy of its own; one still builds on the best, whose code it is shown."""
    past = history(attempt("r1c1", 1.0, 9.0, 1.0), attempt("r1c2", 5.0, 5.0, 5.0), rounds=3, stalled=2)
    plans = plan_round(past, RECIPES["default"], candidates=4, seed=0)
    assert [p.direction for p in plans] == ["merge", "fresh", "fresh", "fresh"]
    assert len({p.strategy for p in plans[1:]}) == 3
    past.asked = {"r2c1": Asked("merge", "r1c2", other="r1c1")}
    plans = plan_round(past, RECIPES["default"], candidates=4, seed=0)
    assert [p.direction for p in plans] == [
        "improve",
        "fresh",
        "fresh",
        "fresh",
    ]  # a merger is asked for once


def test_losers_appear_as_lines_and_not_as_code() -> None:
    """What is not shown in full is mentioned, crashes included."""
    past = history(*(attempt(f"r1c{n}", float(n)) for n in range(1, 6)), attempt("r1c6", outcome="crashed"))
    plan = plan_round(past, RECIPES["default"], candidates=1, seed=0)[0]
    assert [a.id for a in plan.parents] == ["r1c5"]
    assert [a.id for a in plan.lines] == ["r1c1", "r1c2", "r1c3", "r1c4", "r1c6"]


@pytest.mark.parametrize("recipe", ["default", "evolve"])
@pytest.mark.parametrize(("rounds", "stalled"), [(0, 0), (1, 0), (2, 1), (3, 2)])
@pytest.mark.parametrize("candidates", [1, 2, 3, 12])
def test_no_two_requests_of_a_round_are_the_same(
    recipe: str, rounds: int, stalled: int, candidates: int
) -> None:
    """Whatever the evidence and however many samples, no prompt is written twice."""
    attempts = [attempt(f"r1c{n}", float(n), 2.0, 3.0 * n) for n in range(1, 5)] if rounds else []
    past = history(*attempts, rounds=rounds, stalled=stalled)
    known = Known(past, Where(rounds + 1, 9))
    plans = plan_round(past, RECIPES[recipe], candidates=candidates, seed=0)
    prompts = {prompting.policy_prompt(plan, known, max_tokens=9000) for plan in plans}
    assert len(prompts) == candidates


def test_a_round_after_failures_only_has_different_requests_too() -> None:
    """There is nothing to refine, and still no prompt is written twice."""
    past = history(attempt("r1c1", outcome="crashed"), rounds=1, stalled=1)
    plans = plan_round(past, RECIPES["default"], candidates=3, seed=0)
    known = Known(past, Where(2, 9))
    assert len({prompting.policy_prompt(plan, known, max_tokens=9000) for plan in plans}) == 3


def test_the_strategies_that_the_model_named_are_dealt_out() -> None:
    """In their order, before the list that suits any task; a rhythm is nothing for a grid world."""
    past = history(attempt("r1c1", 1.0), rounds=2, stalled=2)
    past.strategies = ("walls first", "a map", "the left hand")
    grid = SimpleNamespace(text="", one_start=False, action_space=spaces.Discrete(4))
    plans = plan_round(past, RECIPES["default"], candidates=4, seed=0, spec=grid)
    dealt = [p.strategy for p in plans]
    assert {"walls first", "a map", "the left hand"} & set(dealt)
    named = {
        p.strategy
        for r in range(9)
        for p in plan_round(replace(past, rounds=r + 1), RECIPES["default"], candidates=4, seed=0, spec=grid)
    }
    assert {"walls first", "a map", "the left hand"} <= named
    assert RHYTHM not in named
    walker = SimpleNamespace(text="", one_start=False, action_space=spaces.Box(-1, 1, (2,)))
    rhythmic = {
        p.strategy
        for p in plan_round(
            replace(past, strategies=()), RECIPES["default"], candidates=9, seed=0, spec=walker
        )
    }
    assert RHYTHM in rhythmic


def test_only_the_first_request_asks_for_more_than_a_policy() -> None:
    """Strategies in the first round; the published procedure asks for none."""
    first = plan_round(history(rounds=0), RECIPES["default"], candidates=3, seed=0)
    assert [p.asks_strategies for p in first] == [True, False, False]
    assert not any(p.may_end for p in first)
    later = plan_round(history(attempt("r1c1", 1.0)), RECIPES["default"], candidates=3, seed=0)
    assert all(p.may_end and not p.asks_strategies for p in later)
    for plan in plan_round(history(attempt("r1c1", 1.0)), RECIPES["paper"], candidates=3, seed=0):
        assert not any((plan.may_end, plan.asks_strategies))


def test_islands_take_parents_from_home_and_migrants_now_and_then() -> None:
    """In the evolutionary recipe a sample's parents come from its island, except in migration rounds."""
    recipe = replace(RECIPES["evolve"], islands=2, best_k=1, migrate_every=3)
    attempts = [attempt(f"r1c{n}", float(10 * (n % 2) + n)) for n in range(1, 9)]
    for seed in range(20):
        plans = plan_round(history(*attempts, rounds=1), recipe, candidates=2, seed=seed)
        assert [island_of(p.parents[0], 2) for p in plans] == [0, 1]
    met = {
        plan_round(history(*attempts, rounds=2), recipe, candidates=2, seed=seed)[1].parents[0].id
        for seed in range(40)
    }
    assert any(island_of(attempt(id_, 0.0), 2) == 0 for id_ in met)


def test_better_and_shorter_parents_are_likelier() -> None:
    """Sampling prefers the best, and among equals the shorter."""
    recipe = replace(RECIPES["evolve"], islands=1, best_k=1)
    good, poor = attempt("r1c1", 10.0), attempt("r1c2", 1.0)
    picked = [
        plan_round(history(good, poor), recipe, candidates=1, seed=s)[0].parents[0].id for s in range(200)
    ]
    assert 120 < picked.count("r1c1") < 200


@pytest.mark.parametrize("recipe", ["default", "paper", "evolve"])
def test_planning_is_repeatable(recipe: str) -> None:
    """The same history gives the same plans; a resumed run must ask the same questions."""
    past = history(*(attempt(f"r1c{n}", float(n)) for n in range(1, 7)))
    assert plan_round(past, RECIPES[recipe], candidates=4, seed=3) == plan_round(
        past, RECIPES[recipe], candidates=4, seed=3
    )


def test_a_round_where_nothing_ran_is_followed_by_another_try() -> None:
    """With only failures there is nothing to merge or to refine, but a prompt is still made."""
    past = history(attempt("r1c1", outcome="crashed"), rounds=1, stalled=1)
    plans = plan_round(past, RECIPES["default"], candidates=2, seed=0)
    assert {p.direction for p in plans} == {"improve"}
    assert [a.id for a in plans[0].lines] == ["r1c1"]


@pytest.mark.parametrize("best_k", [1, 2])
def test_an_island_with_one_program_is_not_asked_to_merge(best_k: int) -> None:
    """A merger needs two programs, whatever the recipe and however stalled the run."""
    recipe = replace(RECIPES["evolve"], islands=3, best_k=best_k)
    past = history(*(attempt(f"r1c{n}", float(n)) for n in range(1, 4)), rounds=2, stalled=1)
    for plan in plan_round(past, recipe, candidates=6, seed=0):
        assert plan.direction != "merge" or len(plan.parents) == 2


def test_no_strategy_is_dealt_twice() -> None:
    """Neither one that was asked for, nor one that a program says it follows, nor any twice in a round."""
    spinning = attempt(
        "r1c1", 1.0, source='"""Joint targets along sinusoids, tracked by damped torques."""\n'
    )
    past = history(spinning, attempt("r2c1", 2.0), rounds=3, stalled=2)
    past.strategies = (
        "sinusoids as joint targets, tracked with torques",
        "bounce on both legs",
        "bounce with stiff legs",
        "roll over",
    )
    past.asked = {
        "r2c1": Asked("fresh", "r1c1", "bounce forwards on stiff legs"),
        "r2c2": Asked("different", "", STRATEGIES[0]),
    }
    dealt = [p.strategy for p in plan_round(past, RECIPES["default"], candidates=9, seed=0)]
    assert dealt[1:3] == ["bounce on both legs", "roll over"]
    assert not {"bounce with stiff legs", past.strategies[0], STRATEGIES[0]} & set(dealt)
    named = [strategy for strategy in dealt if strategy]
    assert len(set(named)) == len(named)


def test_where_strategies_ran_out_a_structure_unlike_the_tried_ones_is_asked_for() -> None:
    """No name from a list, which may be what the programs are already; the tried ones have a line each."""
    past = history(attempt("r1c1", 1.0), attempt("r2c1", 2.0), rounds=3, stalled=2)
    past.strategies = ("roll over on the back",)
    past.asked = {
        "r1c1": Asked("first", "", past.strategies[0]),
        "r2c1": Asked("fresh", "", "hop on one leg"),
    }
    plans = plan_round(past, RECIPES["default"], candidates=3, seed=0)
    fresh = [plan for plan in plans if plan.direction == "fresh"]
    assert fresh
    assert all(not plan.strategy for plan in fresh)
    assert fresh[0].unlike == ("hop on one leg", past.strategies[0])
    past.strategies = ()
    named = [plan.strategy for plan in plan_round(past, RECIPES["default"], candidates=9, seed=0)[1:]]
    assert named[0] in STRATEGIES
    assert len({name for name in named if name}) == len([name for name in named if name])


def test_a_strategy_that_was_passed_over_or_promises_too_little_is_not_dealt() -> None:
    """An answer took another in its place: it had been tried; one that reaches less than the best needs no request."""
    past = history(attempt("r1c1", 1000.0), attempt("r2c1", 2.0), rounds=3, stalled=2)
    past.strategies = (
        "relay on the pitch (up to 4,000)",
        "stand still (up to 1000)",
        "fall slowly (up to -20.5)",
        "hop on springs (up to 1,200)",
        "crawl with all legs (up to the gate)",
    )
    past.asked = {"r2c1": Asked("different", "", "a table of torques", dealt=past.strategies[0])}
    dealt = [p.strategy for p in plan_round(past, RECIPES["default"], candidates=9, seed=0)]
    assert [name for name in dealt if name in past.strategies] == list(past.strategies[3:])


def test_a_respect_that_was_asked_for_waits() -> None:
    """What was not asked for yet comes first, whatever came of the rest."""
    past = history(attempt("r1c1", 30.0, 31.0, 29.0, 2.0))
    plans = plan_round(past, RECIPES["default"], candidates=2, seed=0)
    assert [p.respect for p in plans] == ["Robustness", "Level"]
    past.asked = {"r2c1": Asked("improve", "r1c1", "", "Robustness")}
    plans = plan_round(past, RECIPES["default"], candidates=1, seed=0)
    assert [p.respect for p in plans] == ["Level"]


@pytest.mark.parametrize("stalled", [0, 1, 2])
def test_a_round_that_cannot_be_tuned_asks_for_no_structure_that_needs_it(stalled: int) -> None:
    """At most one sample, of a kind whose numbers follow from the task; where programs have no numbers nothing changes."""
    tuned = attempt("r1c1", 1.0, 5.0, source='PARAMS = {"a": (1.0, 0.0, 2.0)}\n')
    past = history(tuned, rounds=3, stalled=stalled)
    plans = plan_round(past, RECIPES["default"], candidates=4, seed=0, tunable=False)
    assert [p.direction in {"fresh", "different"} for p in plans] == [False, False, False, True]
    simple = history(attempt("r1c1", 1.0, 5.0), rounds=3, stalled=2)
    plans = plan_round(simple, RECIPES["default"], candidates=4, seed=0, tunable=False)
    assert [p.direction for p in plans] == ["improve", "fresh", "fresh", "fresh"]
    assert not any(p.final for p in plans)


PROMISING = '''"""A board."""


def reward(obs, action, next_obs):
    """Each step costs a little. Reaching the goal gives a large bonus."""
'''


def test_a_promised_reward_that_nobody_has_earned_comes_first() -> None:
    """One request is for it, one strategy too, and nobody is asked whether this is the best; until it is earned."""
    spec: Any = SimpleNamespace(text=PROMISING, action_space=spaces.Discrete(4), one_start=False)
    past = history(attempt("r1c1", -11.0, -12.0), attempt("r1c2", -15.0, -13.0))
    for n, rewards in enumerate([(-10.0, -1.0), (-10.0, 990.0)]):
        past.attempts = [replace(a, diagnosis=Diagnosis(rewards=rewards)) for a in past.attempts]
        plans = plan_round(past, RECIPES["default"], candidates=3, seed=0, spec=spec)
        respected = [p.aspect.startswith("Promised reward: ") for p in plans]
        assert respected == [n == 0, False, False]
        assert (plans[2].strategy == EARN) == (n == 0)
        assert all(p.may_end == (n == 1) for p in plans)
