"""The model's feedback class in a run: asked for once, repaired when it fails, given up when it stays broken."""

from pathlib import Path
from typing import Any

import pytest

from tests.promptpo.optimizing import Model, optimize, read_run
from tests.promptpo.policies import FEEDBACK, WEAK, variant

BROKEN = FEEDBACK.replace("angles =", "raise KeyError(len(trajectory['rewards']))\n        angles =")


@pytest.mark.parametrize("mended", [BROKEN, FEEDBACK])
def test_candidates_whose_summaries_fail_at_the_same_time(mended: str, tmp_path: Path) -> None:
    """One repair for all of them; where none helps, steps of the episodes stand in for words."""
    policies = {f"r1.c{n}": variant(WEAK, n) for n in range(1, 5)}
    model = Model({"feedback": BROKEN, "feedback.repair1": mended, **policies})
    run = optimize(model, tmp_path / "run", rounds=1, candidates=4, repairs=1)
    assert model.asked().count("feedback.repair1") == 1
    said: Any = [event.data["feedback"] for event in read_run(run.directory)["attempt"]]
    assert len(said) == 4
    for text in said:
        assert ("the largest lean was" in text) == (mended == FEEDBACK)
        assert ("step|" in text) or mended == FEEDBACK
