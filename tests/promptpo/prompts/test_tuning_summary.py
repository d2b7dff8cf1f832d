"""The outcome of tuning, in words."""

from typing import Any

import pytest

from promptpo.core.candidate import Sensitivity
from promptpo.core.feature import RunStatus
from promptpo.features.tuning.outcome import NOT_PAID, TuningResult, outcome_in_words
from promptpo.program import Program
from promptpo.prompts.run_status import describe_status
from promptpo.prompts.tuning_summary import sensitivity_in_words


def tuned(**more: Any) -> TuningResult:
    """Return a result of 41 episodes of 130 steps."""
    return TuningResult("r1c1", Program("x = 1\n"), **{"evaluations": 41, "steps": 5330, **more})


@pytest.mark.parametrize(
    ("result", "tuned_id", "text"),
    [
        (tuned(), "", "Tuning its 3 numbers over 41 episodes of 130 steps on average: no gain"),
        (
            tuned(outcome="better"),
            "r1c1t",
            "Tuning its 3 numbers over 41 episodes of 130 steps on average gave r1c1t",
        ),
        (
            tuned(outcome="alike"),
            "",
            "Tuning its 3 numbers over 41 episodes of 130 steps on average: no gain, all values scored the same",
        ),
        (
            tuned(outcome="given up"),
            "",
            "Tuning its 3 numbers was abandoned for another structure after 41 episodes of 130 steps on average",
        ),
        (tuned(evaluations=0), "", NOT_PAID),
    ],
)
def test_tuning_without_gain_is_explained(result: TuningResult, tuned_id: str, text: str) -> None:
    """Otherwise an untuned score might be read as the structure's best."""
    assert outcome_in_words(result, 3, tuned_id) == text


def test_influential_parameters_are_named_with_their_share() -> None:
    """The others are only counted; those at a bound are named."""
    sensitivity = {
        "gain": Sensitivity(0.6, "upper"),
        "lead": Sensitivity(0.2),
        "fold": Sensitivity(0.0),
        "sway": Sensitivity(0.0, "lower"),
    }
    assert sensitivity_in_words(sensitivity) == (
        "the return depended on gain (60%), lead (20%); 2 others made no clear difference; at a bound: gain (upper), "
        "sway (lower)"
    )
    assert sensitivity_in_words({}) == ""
    assert outcome_in_words(tuned(sensitivity=sensitivity), 4).endswith(sensitivity_in_words(sensitivity))


def test_planned_tuning_steps_are_stated_with_their_limits() -> None:
    """Fewer than one episode is called too small, and without tuning nothing is said."""
    enough = RunStatus(2, 4, tunes=True, tuning_steps=40_735, length=1000.0)
    assert "About 40,735 steps (40 episodes of 1,000 steps) are planned for tuning" in describe_status(enough)
    too_few = RunStatus(4, 4, tunes=True, tuning_steps=145, length=1000.0)
    assert "too small to tune PARAMS" in describe_status(too_few)
    never = RunStatus(4, 4)
    assert "tun" not in describe_status(never)
