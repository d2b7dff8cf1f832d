"""What is asked for in each round."""

from dataclasses import replace

import pytest

from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.config import RECIPES
from promptpo.run.records import Attempt, Candidate
from promptpo.search.history import History
from promptpo.search.planning import island_of, plan_round


def evaluation(*returns, outcome="ok", success=None):
    """An evaluation with these returns."""
    episodes = tuple(EpisodeRecord(seed, value, 10, success) for seed, value in enumerate(returns))
    return Evaluation(outcome, episodes, 10 * len(returns), error="" if outcome == "ok" else "it broke")


def attempt(id_, *returns, source=None, **more):
    """An attempt of the round that its id names."""
    round_ = int(id_[1 : id_.index("c")])
    source = source or f"# {id_}"
    return Attempt(Candidate(id_, source, round_, digest=source), evaluation(*returns, **more))


def history(*attempts, rounds=1, stalled=0):
    """A history after `rounds` rounds."""
    return History(list(attempts), rounds=rounds, stalled=stalled)


def test_paper_recipe_asks_n_times_for_the_same():
    """The published procedure draws N samples from one prompt and shows the winners of all rounds."""
    past = history(attempt("r1c1", 1.0), attempt("r1c2", 5.0), attempt("r2c1", 3.0), rounds=2)
    plans = plan_round(past, RECIPES["paper"], candidates=3, seed=0)
    assert {(p.direction, p.strategy) for p in plans} == {("improve", "")}
    assert [a.id for a in plans[0].shown] == ["r1c2", "r2c1"]
    assert plans[0].heading == "The best of each round, oldest first"
    assert {p.parents[0].id for p in plans} == {"r1c2"}  # the one to beat is the best, not the latest
    assert plans[0].lines == ()


def test_default_recipe_keeps_one_sample_for_another_strategy():
    """While the best improves, most samples refine it and one looks elsewhere."""
    past = history(attempt("r1c1", 1.0), attempt("r1c2", 5.0))
    plans = plan_round(past, RECIPES["default"], candidates=4, seed=0)
    assert [p.direction for p in plans] == ["improve", "improve", "improve", "different"]
    assert plans[3].strategy
    assert plans[0].shown[0].id == "r1c2"


def test_a_stalled_run_changes_the_question():
    """After a round without improvement half of the samples merge, half start afresh."""
    past = history(attempt("r1c1", 1.0), attempt("r1c2", 5.0), rounds=2, stalled=1)
    plans = plan_round(past, RECIPES["default"], candidates=4, seed=0)
    assert [p.direction for p in plans] == ["merge", "fresh", "merge", "fresh"]
    assert [a.id for a in plans[0].parents] == ["r1c2", "r1c1"]
    assert plans[1].strategy != plans[3].strategy


def test_losers_appear_as_lines_and_not_as_code():
    """What is not shown in full is mentioned, crashes included."""
    past = history(*(attempt(f"r1c{n}", float(n)) for n in range(1, 6)), attempt("r1c6", outcome="crashed"))
    plan = plan_round(past, RECIPES["default"], candidates=1, seed=0)[0]
    assert [a.id for a in plan.shown] == ["r1c5", "r1c4", "r1c3"]
    assert [a.id for a in plan.lines] == ["r1c1", "r1c2", "r1c6"]


def test_islands_take_parents_from_home_and_migrants_now_and_then():
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


def test_better_and_shorter_parents_are_likelier():
    """Sampling prefers the best, and among equals the shorter."""
    recipe = replace(RECIPES["evolve"], islands=1, best_k=1)
    good, poor = attempt("r1c1", 10.0), attempt("r1c2", 1.0)
    picked = [
        plan_round(history(good, poor), recipe, candidates=1, seed=s)[0].parents[0].id for s in range(200)
    ]
    assert 120 < picked.count("r1c1") < 200


@pytest.mark.parametrize("recipe", ["default", "paper", "evolve"])
def test_planning_is_repeatable(recipe):
    """The same history gives the same plans; a resumed run must ask the same questions."""
    past = history(*(attempt(f"r1c{n}", float(n)) for n in range(1, 7)))
    assert plan_round(past, RECIPES[recipe], candidates=4, seed=3) == plan_round(
        past, RECIPES[recipe], candidates=4, seed=3
    )


def test_a_round_where_nothing_ran_is_followed_by_another_try():
    """With only failures there is nothing to merge or to refine, but a prompt is still made."""
    past = history(attempt("r1c1", outcome="crashed"), rounds=1, stalled=1)
    plans = plan_round(past, RECIPES["default"], candidates=2, seed=0)
    assert {p.direction for p in plans} == {"improve"}
    assert [a.id for a in plans[0].lines] == ["r1c1"]


@pytest.mark.parametrize("best_k", [1, 2])
def test_an_island_with_one_program_is_not_asked_to_merge(best_k):
    """A merger needs two programs, whatever the recipe and however stalled the run."""
    recipe = replace(RECIPES["evolve"], islands=3, best_k=best_k)
    past = history(*(attempt(f"r1c{n}", float(n)) for n in range(1, 4)), rounds=2, stalled=1)
    for plan in plan_round(past, recipe, candidates=6, seed=0):
        assert plan.direction != "merge" or len(plan.parents) == 2
