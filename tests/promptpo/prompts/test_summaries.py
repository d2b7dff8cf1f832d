"""The model's feedback class in a run: asked for once, repaired when it fails, given up when it stays broken."""

from pathlib import Path
from typing import Any

import pytest

from tests.promptpo.optimizing import Model, optimize, read_run
from tests.promptpo.policies import FEEDBACK, WEAK, variant

POLICY = WEAK.partition("```python\n")[2].partition("```")[0]
BROKEN = FEEDBACK.replace("angles =", "raise KeyError(len(trajectory['rewards']))\n        angles =")


@pytest.mark.parametrize("mended", [BROKEN, FEEDBACK])
def test_candidates_whose_summaries_fail_at_the_same_time(mended: str, tmp_path: Path) -> None:
    """One repair for all of them; where none helps, steps of the episodes stand in for words."""
    policies = {f"r1.c{n}": variant(WEAK, n) for n in range(1, 5)}
    model = Model({"feedback": BROKEN, "feedback.repair1": mended, **policies})
    run = optimize(model, tmp_path / "run", rounds=2, candidates=4, repairs=1)
    assert model.asked().count("feedback.repair1") == 1
    attempts: Any = read_run(run.directory)["attempt"]
    said = [event.data["feedback"] for event in attempts if event.key.startswith("r1")]
    assert len(said) == 4
    for text in said:
        assert ("the largest lean was" in text) == (mended == FEEDBACK)
        assert ("step|" in text) or mended == FEEDBACK


@pytest.mark.parametrize(("rounds", "started", "asked"), [(1, False, 0), (1, True, 1), (2, False, 1)])
def test_a_class_is_requested_only_if_a_later_request_shows_its_texts(
    rounds: int, started: bool, asked: int, tmp_path: Path
) -> None:
    """In the only round of a run nothing has been played before, unless the user gave a policy."""
    start = tmp_path / "mine.py"
    start.write_text(POLICY)
    model = Model()
    optimize(model, tmp_path / "run", rounds=rounds, candidates=1, start=[start] if started else [])
    assert model.asked().count("feedback") == asked
