"""Fixtures of the tests of reports."""

import pytest

from promptpo_benchmarks.report import figures


@pytest.fixture
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip figures, for tests that check only the text; drawing takes most of the time."""
    for name in ("learning_curves", "profiles", "cost_against_score"):
        monkeypatch.setattr(figures, name, lambda *_: None)
