"""The table of paired prompts."""

from typing import Any

from promptpo_benchmarks.paired_prompts import beats, render_table, tasks


def row(env: str, version: str, earned: float | None, parent: float) -> dict[str, Any]:
    """One answer."""
    return {
        "env": env,
        "state": env,
        "version": version,
        "earned": earned,
        "parent_earned": parent,
        "characters": 9000,
    }


def test_what_fails_loses_and_the_same_is_half() -> None:
    """Also against a program that fails as well."""
    assert [beats(2.0, 1.0), beats(None, -9.0), beats(1.0, 1.0), beats(None, None)] == [1.0, 0.0, 0.5, 0.5]


def test_the_table_counts_answers_by_version_and_pairs() -> None:
    """Each against its parent, and the new one against the old one; one without a partner is no pair."""
    rows = [
        row("A", "old", 1.0, 2.0),
        row("A", "new", 3.0, 2.0),
        row("B", "old", None, 0.0),
        row("B", "new", 0.0, 0.0),
    ]
    told = render_table([*rows, row("C", "new", 5.0, 6.0)])
    assert told[0] == "5 answers; 2 states of 2 environments answered twice"
    assert told[1].startswith("old: beats its parent in 0% [0%, 0%] of 2; fails in 1;")
    assert told[2].startswith("new: beats its parent in 50% [")
    assert told[3] == "new beats old in 100% [100%, 100%] of 2"


def test_recorded_tasks_are_named_as_their_recordings() -> None:
    """Without namespaces and modules."""
    assert tasks()["push-v3"]["env"] == "Meta-World/push-v3"
    assert tasks()["Glucose-v0"]["env"] == "promptpo_benchmarks.environments:promptpo/Glucose-v0"
