"""Result of tuning a program's numbers, and its description in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from promptpo.core.candidate import Sensitivity
from promptpo.program import Program
from promptpo.prompts.shortening import count_of
from promptpo.prompts.tuning_summary import sensitivity_in_words

NO_NUMBERS = "Not tuned: it has no PARAMS, or none that can be read as literals"
NO_STEPS = "Not tuned: too few steps were left"
NOT_PAID = "Not tuned: the steps went to more promising programs"
SPARED = "Not tuned: a policy of its round reached the threshold in training and was evaluated further first"
AT_TARGET = "Not tuned: it reaches the threshold as written"
TUNED_BEFORE = "Not tuned: its numbers were tuned before the first round, where steps are free"

TuningOutcome = Literal["better", "none", "alike", "given up", "nothing ran", "too few"]


@dataclass(frozen=True, slots=True)
class TuningResult:
    """Result of tuning a candidate's numbers.

    Attributes:
        id: The candidate's id.
        program: The policy with tuned values; the original if nothing better was found.
        changes: Parameter name to (value before, value after), for the values that changed.
        steps: Environment steps spent on this candidate.
        sensitivity: Parameter name to its sensitivity; empty if too few values were tried.
        evaluations: Number of episodes rolled out for it, full or short.
        outcome: "better" if better values were found, "none" if not; "alike" if all scored the same; "given up" for another
            candidate; "nothing ran" to its end; "too few" steps to try any.
        note: A sentence about the new program, for people.
    """

    id: str
    program: Program
    changes: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    steps: int = 0
    sensitivity: Mapping[str, Sensitivity] = field(default_factory=dict)
    evaluations: int = 0
    outcome: TuningOutcome = "none"
    note: str = ""


def outcome_in_words(tuned: TuningResult, numbers: int, into: str = "") -> str:
    """Describe the result of tuning one program, as a sentence without a full stop.

    Args:
        tuned: The result.
        numbers: Number of numbers that the program declares.
        into: Id of the candidate with the tuned numbers; empty if there is none.
    """
    if not tuned.evaluations:
        return NOT_PAID
    what = f"its {count_of(numbers, 'number')}" if numbers else "its table"
    tried = f"{what} over {_episodes(tuned)}"
    if into:
        return f"Tuning {tried} gave {into}"
    matters = sensitivity_in_words(tuned.sensitivity)
    if tuned.outcome == "given up":
        return f"Tuning {what} was abandoned for another structure after {_episodes(tuned)}"
    if tuned.outcome == "nothing ran":
        return f"Tuning {tried}: no values let every episode run to completion"
    if tuned.outcome == "too few":
        return f"Not tuned: too few tuning steps to try other values of {what}"
    if tuned.outcome == "alike":
        return f"Tuning {tried}: no gain, all values scored the same"
    return f"Tuning {tried}: no gain" + (f"; {matters}" if matters else "")


def _episodes(tuned: TuningResult) -> str:
    """Describe number and length of the episodes: short ones miss what happens late."""
    n = tuned.evaluations
    return f"{count_of(n, 'episode')} of {count_of(tuned.steps / n, 'step')} on average"
