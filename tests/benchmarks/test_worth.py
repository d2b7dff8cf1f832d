"""The worth of a mechanism: the same runs by two versions, judged alike."""

import sys
from typing import Any

import pytest

from promptpo_benchmarks.worth.cases import cases
from promptpo_benchmarks.worth.runs import measure
from promptpo_benchmarks.worth.screening import effects, factors, levels, parse_number
from promptpo_benchmarks.worth.table import describe_effect, final_differences, tuning_differences


def run_row(label: str, case: str, *scores: float, steps: int = 1000, calls: int = 4) -> dict[str, Any]:
    """Return a row of a run whose rounds ended with programs of these returns on CartPole."""
    digests = [f"{score:.0f}" for score in scores]
    return {
        "label": label, "case": case, "kind": "recorded", "task": "CartPole-v1", "success": False,
        "digests": digests, "judged": dict(zip(digests, scores, strict=True)), "steps": steps, "calls": calls,
    }  # fmt: skip


def test_only_shared_cases_are_compared() -> None:
    """New minus old on the scale of the anchors, where 500 is 1 and random actions are 0."""
    rows = [
        run_row("old", "a", 500.0, 500.0, steps=1000), run_row("new", "a", 500.0, 500.0, steps=500),
        run_row("old", "b", 22.7, 500.0), run_row("new", "b", 22.7, 22.7, steps=0), run_row("old", "c", 22.7),
    ]  # fmt: skip
    words = describe_effect(rows, "recorded", "old", "new")
    assert words.startswith("-0.500 [-0.500, -0.500] at the end, -0.250 ")
    assert words.endswith("2 pairs; 25% of the steps, 100% of the calls")
    assert describe_effect(rows, "search", "old", "new") == "not measured"


def test_run_that_stopped_early_counts_with_its_last_program() -> None:
    """That program stands for the rounds that the run saved."""
    rows = [run_row("old", "a", 100.0, 500.0, 500.0), run_row("new", "a", 500.0)]
    assert "+0.000 [+0.000, +0.000] at the end, +0.279 " in describe_effect(rows, "recorded", "old", "new")


def test_run_without_a_policy_counts_as_random_actions() -> None:
    """It counts as the other run's return if that is lower."""
    nothing = {**run_row("new", "a", 500.0), "digests": [""], "judged": {}}
    assert final_differences([(run_row("old", "a", 500.0), nothing)]) == {"CartPole-v1": [-1.0]}
    assert final_differences([(run_row("old", "a", 0.0), nothing)]) == {"CartPole-v1": [0.0]}


def test_tuning_is_compared_on_the_scale_of_the_anchors() -> None:
    """Swimmer's 360 is 1 and -2.09 is 0."""
    rows = [
        ({"env": "Swimmer", "after": 360.0}, {"env": "Swimmer", "after": after}) for after in (360.0, -2.09)
    ]
    assert tuning_differences(rows) == {"Swimmer-v5": pytest.approx([0.0, -1.0], abs=1e-4)}


def test_there_are_enough_recordings() -> None:
    """At least sixty recorded runs, and three seeds of program search on twelve tasks, with unique names."""
    all_cases = cases()
    assert sum(case.kind == "recorded" for case in all_cases) >= 60
    assert sum(case.kind == "search" for case in all_cases) == 36
    assert len({case.name for case in all_cases}) == len(all_cases)


@pytest.mark.slow
def test_recorded_run_is_replayed_and_judged() -> None:
    """Programs that were judged before are not judged again."""
    case = next(case for case in cases() if case.name == "CartPole-v1--promptpo-paper")
    judged: dict[tuple[str, str], float] = {}
    row = measure(case, [sys.executable, "-m", "promptpo"], [], judged)
    assert set(row["judged"].values()) == {500.0}
    assert len(row["bests"]) == len(row["digests"]) >= 2
    assert 0 < row["steps"] <= 20_000
    before = dict.fromkeys(judged, 7.0)
    again = measure(case, [sys.executable, "-m", "promptpo"], ["--option", "probe_steps=99"], before)
    assert set(again["judged"].values()) == {7.0}


def test_effects_compare_high_with_low_within_tasks() -> None:
    """A constant that adds one in every task has that effect; one without influence has none."""
    rows = [
        {
            "task": task,
            "high": [*(["a"] if n & 1 else []), *(["b"] if n & 2 else [])],
            "score": base + (n & 1),
        }
        for task, base in (("x", 0.0), ("y", 10.0))
        for n in range(4)
    ]
    estimated = effects(rows)
    assert estimated["a"][0] == 1.0
    assert estimated["b"][0] == 0.0


@pytest.mark.parametrize(
    ("text", "low", "high"), [("6", 3, 12), ("0.2", 0.1, 0.4), ("0.9", 0.45, 0.95), ("2 / 3", 1 / 3, 5 / 6)]
)
def test_levels_are_half_and_twice_but_shares_stay_below_one(text: str, low: float, high: float) -> None:
    value = parse_number(text)
    assert value is not None
    assert levels(value) == pytest.approx((low, high))


def test_each_kind_of_run_has_its_constants() -> None:
    """Those of tuning are also constants of the whole search."""
    tuning, search = factors("tuning"), factors("search")
    assert tuning
    assert tuning.keys() < search.keys()
    assert all(low != high for low, high in search.values())
