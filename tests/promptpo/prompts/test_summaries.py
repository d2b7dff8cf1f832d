"""The model's feedback class in a run: requested once, repaired if it fails, and dropped if it stays broken."""

from pathlib import Path
from typing import Any

import pytest

from tests.promptpo.optimizing import Model, optimize, read_run
from tests.promptpo.policies import FEEDBACK, WEAK, variant

POLICY = WEAK.partition("```python\n")[2].partition("```")[0]
BROKEN = FEEDBACK.replace("angles =", "raise KeyError(len(trajectory['rewards']))\n        angles =")


@pytest.mark.parametrize("repaired", [BROKEN, FEEDBACK])
def test_simultaneous_failures_share_one_repair(repaired: str, tmp_path: Path) -> None:
    """If the repair fails too, tables of steps replace the summaries."""
    policies = {f"r1.c{n}": variant(WEAK, n) for n in range(1, 5)}
    model = Model({"feedback": BROKEN, "feedback.repair1": repaired, **policies})
    run = optimize(model, tmp_path / "run", rounds=2, candidates=4, repairs=1)
    assert model.asked().count("feedback.repair1") == 1
    attempts: Any = read_run(run.directory)["attempt"]
    texts = [event.data["feedback"] for event in attempts if event.key.startswith("r1")]
    assert len(texts) == 4
    for text in texts:
        assert ("the largest lean was" in text) == (repaired == FEEDBACK)
        assert ("step|" in text) or repaired == FEEDBACK


@pytest.mark.parametrize(("rounds", "with_start", "requests"), [(1, False, 0), (1, True, 1), (2, False, 1)])
def test_class_is_requested_only_if_a_later_request_shows_its_texts(
    rounds: int, with_start: bool, requests: int, tmp_path: Path
) -> None:
    """In a single round that holds only if the user gave a policy."""
    start = tmp_path / "mine.py"
    start.write_text(POLICY)
    model = Model()
    optimize(model, tmp_path / "run", rounds=rounds, candidates=1, start=[start] if with_start else [])
    assert model.asked().count("feedback") == requests
