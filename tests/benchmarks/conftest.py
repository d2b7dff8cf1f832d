"""What tests of reports share."""

import pytest

from promptpo_benchmarks.report import figures


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports have no figures, where tests look at the text alone: drawing takes longer than all else."""
    for name in ("learning_curves", "profiles", "cost_against_score"):
        monkeypatch.setattr(figures, name, lambda *_: None)
