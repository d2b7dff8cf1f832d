"""Results of tuning a program's numbers, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from promptpo.prompts.feedback import episodes_in_words
from promptpo.prompts.limits import NAMED
from promptpo.prompts.shortening import count_of

if TYPE_CHECKING:
    from promptpo.core.candidate import Sensitivity, TuningResult

NO_NUMBERS = "Not tuned: it declares no PARAMS that can be read as literals"
NO_STEPS = "Not tuned"
NOT_PAID = "Not tuned, as steps were spent on more promising programs"
SPARED = "Not tuned: a policy of its round reached the threshold in training, and was looked at again first"
AT_TARGET = "Not tuned: it is at the threshold as it was written"


def outcome_in_words(tuned: TuningResult, numbers: int, into: str = "") -> str:
    """Describe the result of tuning one program, as a sentence without a full stop.

    Args:
        tuned: The result.
        numbers: How many numbers the program declares.
        into: Id of the candidate with the tuned numbers; empty where there is none.
    """
    if not tuned.evaluations:
        return NOT_PAID
    what = f"its {count_of(numbers, 'number')}" if numbers else "its table"
    tried = f"{what} over {_episodes(tuned)}"
    if into:
        return f"Tuning {tried} gave {into}"
    matters = sensitivity_in_words(tuned.sensitivity)
    if tuned.outcome == "given up":
        return f"Tuning {what} was given up for another structure after {_episodes(tuned)}"
    if tuned.outcome == "nothing ran":
        return f"Tuning {tried}: no values with which every episode runs to its end"
    if tuned.outcome == "alike":
        return f"Tuning {tried}: no gain, all values that were tried scored alike"
    return f"Tuning {tried}: no gain" + (f"; {matters}" if matters else "")


def sensitivity_in_words(sensitivity: Mapping[str, Sensitivity]) -> str:
    """Which numbers moved the return, which did not, and which stand at a bound; empty where nothing is known."""
    if not sensitivity:
        return ""
    moved = sorted((n for n in sensitivity if sensitivity[n].share > 0), key=lambda n: -sensitivity[n].share)
    named = ", ".join(f"{name} ({sensitivity[name].share:.0%})" for name in moved[:NAMED])
    if len(moved) > NAMED:
        named += f" and {len(moved) - NAMED} more"
    parts = [f"the return was moved by {named}" if moved else "no single number moved the return clearly"]
    still = len(sensitivity) - len(moved)
    if moved and still:
        parts.append(f"{count_of(still, 'other')} made no clear difference")
    ends = [f"{name} ({effect.at_bound})" for name, effect in sensitivity.items() if effect.at_bound]
    if ends:
        more = f" and {len(ends) - NAMED} more" if len(ends) > NAMED else ""
        parts.append(f"at a bound: {', '.join(ends[:NAMED])}{more}")
    return "; ".join(parts)


def _episodes(tuned: TuningResult) -> str:
    """How many there were, and how long: short ones do not see what happens late."""
    n = tuned.evaluations
    return f"{episodes_in_words(n)} of {tuned.steps / n:,.0f} steps on average"
