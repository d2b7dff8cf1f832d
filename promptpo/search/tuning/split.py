"""How many steps of a run go into new structures, and how many into their numbers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

UNLIMITED_STEPS = 100_000
"""Steps of one round's tuning where the run has no step limit."""

EPISODES = 10_000
"""Episodes of one round's tuning, about: very short ones cost more than their steps tell."""

FIRST_EPISODES = 40_000
"""The same for the first round where no language model writes; later rounds get half each."""

WORTH = 30
"""A part of fewer episodes finds nothing: rather tune in fewer rounds."""

LEAST = 8
"""Fewer episodes than this prove nothing about numbers: their choice would be luck, and measuring it costs as much again."""

FEW_EPISODES = 1000
"""Where no language model writes and no more episodes than this are left, one round gets them all."""


@dataclass(frozen=True, slots=True)
class Round:
    """What a round's part of the budget depends on.

    Attributes:
        number: Counted from 1.
        left: Rounds that are left, this one included.
        lengths: Steps of the episodes that its candidates have played.
        measuring: Steps that measuring and validating what tuning gives may take.
        language_model: Whether a language model learns from the rounds.
        coming: Steps that each later round needs for its candidates, before it is tuned.
        closing: Steps that looking again at the best needs when the rounds are over.
    """

    number: int
    left: int
    lengths: Sequence[int]
    measuring: int
    language_model: bool
    coming: int = 0
    closing: int = 0


def tuning_steps(round_: Round, steps_left: int | None) -> int:
    """Steps for tuning one round's candidates.

    Steps that are left are divided evenly over the rounds that are left, so that later structures, which
    know more, get as much as early ones; what the candidates of later rounds and the last choice will need is left out,
    so that the last round has its share. Where no language model learns from the rounds, a round gets half
    of what is left: going on is worth more than beginning again; and all where that is little. Of a round's
    part, tuning gets what measuring and validating its result does not need: judging a structure takes a few
    episodes, finding its numbers takes hundreds. Where the parts are too small to find anything, fewer rounds are tuned, the
    first and the last before others, with as much as finds something and no more; what cannot pay for a few whole episodes
    is not tuned at all.

    Args:
        round_: The round.
        steps_left: Of the run's budget; None where it has no limit.

    Returns:
        At least 0 where anything is left to spend.
    """
    if not round_.lengths:
        return 0
    length = statistics.fmean(round_.lengths)
    episodes = EPISODES if round_.language_model else FIRST_EPISODES / 2 ** (round_.number - 1)
    most = round(episodes * length)
    if steps_left is None:
        return min(most, UNLIMITED_STEPS)
    if round_.language_model:
        return min(most, _models_part(round_, steps_left, length))
    parts = 1 if steps_left <= FEW_EPISODES * length else max(1, min(2, round_.left))
    part = steps_left // parts - round_.measuring
    part = part if part > 0 else steps_left - round_.measuring
    return max(0, min(most, part if part > 0 else _half(steps_left, length)))


def _half(steps_left: int, length: float) -> int:
    """What a small budget gives, which cannot pay for measuring in the worst case: episodes are seldom as long as that."""
    half = steps_left // 2
    return half if half >= WORTH * length else 0


def kept_for_the_last(round_: Round, steps_left: int | None) -> bool:
    """Whether a round is not tuned, since the steps that are left pay for tuning a part of the rounds only.

    Then the first round is tuned, whose structures cannot be judged otherwise, and the last, whose structures know most; but
    nothing is kept for a last round that what is left will not pay for.
    """
    if steps_left is None or not round_.language_model or not round_.lengths:
        return False
    if round_.number == 1 or round_.left <= 1:
        return False
    length = statistics.fmean(round_.lengths)
    free, worth, even = _parts(round_, steps_left, length)
    pays = min(worth, free - round_.measuring // 2) >= LEAST * length
    return pays and even < worth and 2 * (free // (worth + round_.measuring)) <= round_.left


def _models_part(round_: Round, steps_left: int, length: float) -> int:
    """An even part of what others need not; where even parts are too small for anything, as much as finds something."""
    if kept_for_the_last(round_, steps_left):
        return 0
    free, worth, even = _parts(round_, steps_left, length)
    part = even if even >= worth else min(worth, free - round_.measuring)
    if part < LEAST * length and round_.left <= 1:  # what the last round leaves is of no use to anybody
        part = min(worth, steps_left - round_.measuring // 2)
    return part if part >= LEAST * length else 0


def _parts(round_: Round, steps_left: int, length: float) -> tuple[int, int, int]:
    """What others need not, the least that finds something, and an even part."""
    later = max(0, round_.left - 1)
    free = steps_left - later * round_.coming - round_.closing
    return free, math.ceil(WORTH * length), free // (later + 1) - round_.measuring
