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
    """A result of 41 episodes of 130 steps."""
    return TuningResult("r1c1", Program("x = 1\n"), **{"evaluations": 41, "steps": 5330, **more})


@pytest.mark.parametrize(
    ("result", "into", "said"),
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
def test_tuning_in_vain_is_told(result: TuningResult, into: str, said: str) -> None:
    """An untuned score must not be read as the most that a structure can do."""
    assert outcome_in_words(result, 3, into) == said


def test_what_moved_the_return_is_told() -> None:
    """By name and share; the others counted; bounds named."""
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


def test_a_plan_of_few_steps_is_no_promise() -> None:
    """Some, or less than an episode; and where nothing is ever tuned there is nothing to say."""
    some = RunStatus(2, 4, tunes=True, tuning_steps=40_735, length=1000.0)
    assert "About 40,735 steps (40 episodes of 1,000 steps) are planned for tuning" in describe_status(some)
    none = RunStatus(4, 4, tunes=True, tuning_steps=145, length=1000.0)
    assert "too small to tune PARAMS, unless episodes turn out short" in describe_status(none)
    never = RunStatus(4, 4)
    assert "tun" not in describe_status(never)
