"""The worth of a mechanism: the same runs by two versions, judged alike."""

import sys
from typing import Any

import pytest

from promptpo_benchmarks.worth.cases import cases
from promptpo_benchmarks.worth.runs import measure
from promptpo_benchmarks.worth.screening import effects, factors, levels, parse_number
from promptpo_benchmarks.worth.table import describe_effect, final_differences, tuning_differences


def heard(label: str, case: str, *scores: float, steps: int = 1000, calls: int = 4) -> dict[str, Any]:
    """A row of a run whose rounds ended with programs of these returns on CartPole."""
    digests = [f"{score:.0f}" for score in scores]
    return {
        "label": label, "case": case, "kind": "recorded", "task": "CartPole-v1", "success": False,
        "digests": digests, "judged": dict(zip(digests, scores, strict=True)), "steps": steps, "calls": calls,
    }  # fmt: skip


def test_only_cases_that_both_versions_have_are_compared() -> None:
    """Without less with, on the scale of the anchors, on which 500 is 1 and random actions are 0."""
    rows = [
        heard("old", "a", 500.0, 500.0, steps=1000), heard("new", "a", 500.0, 500.0, steps=500),
        heard("old", "b", 22.7, 500.0), heard("new", "b", 22.7, 22.7, steps=0), heard("old", "c", 22.7),
    ]  # fmt: skip
    words = describe_effect(rows, "recorded", "old", "new")
    assert words.startswith("-0.500 [-0.500, -0.500] at the end, -0.250 ")
    assert words.endswith("2 pairs; 25% of the steps, 100% of the calls")
    assert describe_effect(rows, "search", "old", "new") == "not measured"


def test_a_run_that_stopped_early_keeps_what_it_has() -> None:
    """Rounds that one version saved count with its last program, not as nothing."""
    rows = [heard("old", "a", 100.0, 500.0, 500.0), heard("new", "a", 500.0)]
    assert "+0.000 [+0.000, +0.000] at the end, +0.279 " in describe_effect(rows, "recorded", "old", "new")


def test_a_run_without_a_policy_counts_as_random_actions() -> None:
    """Neither skipped nor below what random actions return."""
    nothing = {**heard("new", "a", 500.0), "digests": [""], "judged": {}}
    assert final_differences([(heard("old", "a", 500.0), nothing)]) == {"CartPole-v1": [-1.0]}
    assert final_differences([(heard("old", "a", 0.0), nothing)]) == {"CartPole-v1": [0.0]}


def test_tuning_is_compared_on_the_scale_of_the_anchors() -> None:
    """On which Swimmer's 360 is 1 and -2.09 is 0."""
    rows = [
        ({"env": "Swimmer", "after": 360.0}, {"env": "Swimmer", "after": after}) for after in (360.0, -2.09)
    ]
    assert tuning_differences(rows) == {"Swimmer-v5": pytest.approx([0.0, -1.0], abs=1e-4)}


def test_there_are_recordings_enough() -> None:
    """At least sixty recorded runs, and three seeds of program search on twelve tasks; each with a name of its own."""
    found = cases()
    assert sum(case.kind == "recorded" for case in found) >= 60
    assert sum(case.kind == "search" for case in found) == 36
    assert len({case.name for case in found}) == len(found)


@pytest.mark.slow
def test_a_recorded_run_is_heard_and_judged() -> None:
    """By the version whose interpreter is given; what was judged before is not judged again."""
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
    """A constant that adds one in every task has that effect; one that does nothing has none."""
    rows = [
        {
            "task": task,
            "high": [*(["a"] if n & 1 else []), *(["b"] if n & 2 else [])],
            "score": base + (n & 1),
        }
        for task, base in (("x", 0.0), ("y", 10.0))
        for n in range(4)
    ]
    found = effects(rows)
    assert found["a"][0] == 1.0
    assert found["b"][0] == 0.0


@pytest.mark.parametrize(
    ("text", "low", "high"), [("6", 3, 12), ("0.2", 0.1, 0.4), ("0.9", 0.45, 0.95), ("2 / 3", 1 / 3, 5 / 6)]
)
def test_levels_are_half_and_twice_and_shares_stay_shares(text: str, low: float, high: float) -> None:
    """Of a number as the table writes it."""
    value = parse_number(text)
    assert value is not None
    assert levels(value) == pytest.approx((low, high))


def test_each_kind_of_run_has_its_constants() -> None:
    """The tuner's are those of the whole search, too; each has two values."""
    tuning, search = factors("tuning"), factors("search")
    assert tuning
    assert tuning.keys() < search.keys()
    assert all(low != high for low, high in search.values())
