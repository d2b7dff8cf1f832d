"""Comparison of two versions of the tuner."""

from promptpo_benchmarks.tuning.paired import STRUCTURES, report, structure


def row(label: str, env: str, seed: int, after: float) -> dict[str, object]:
    """Return a measurement with 1,000 steps, of parameters that return 100 untuned."""
    return {"label": label, "env": env, "budget": 1000, "seed": seed, "untuned": 100.0, "after": after}


def test_only_shared_seeds_are_compared_on_a_common_scale() -> None:
    """0 is the untuned return, 1 the best mean of any label."""
    rows = [
        row("old", "A", 1, 150.0), row("old", "A", 2, 150.0), row("old", "A", 3, 9999.0), row("new", "A", 1, 300.0),
        row("new", "A", 2, 100.0), row("old", "B", 1, 200.0), row("new", "B", 1, 200.0), row("old", "C", 1, 7.0),
    ]  # fmt: skip
    lines = report(rows, 1000).splitlines()
    assert lines[2:] == [
        "| A | 100 | 150 (150, 150) | 200 (300, 100) |",
        "| B | 100 | 200 (200) | 200 (200) |",
        "| normalised mean | | 0.750 | 1.000 |",
        "| tenth percentile over seeds | | 0.750 | 0.600 |",
    ]


def test_recorded_structures_have_parameters() -> None:
    """At least eight environments have some."""
    assert len(STRUCTURES) >= 8
    assert all(structure(name).params for name in STRUCTURES)
