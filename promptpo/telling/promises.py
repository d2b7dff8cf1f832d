"""Rewards that a task's text promises, held against what single steps have earned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.telling import scores
from promptpo.telling.feedback import number
from promptpo.telling.shortening import between_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.search.history import History
    from promptpo.spec.promises import Promise

EARN = "earn the reward that the task text promises and no step has earned: do before it what no program has done"
"""The strategy that is asked for first while a promised reward has never been seen."""

CLEARLY = 1.5
"""A promised amount is one that nobody has earned where it is so many times the most that a step has brought."""

MOST, LONGEST = 2, 200
"""Sentences that are quoted, and characters of each."""


def unseen(found: Sequence[Promise], most: float) -> list[Promise]:
    """Promises that no step has kept, if none has earned more than `most`."""
    high = max(most, 0.0)
    return [one for one in found if one.amount > CLEARLY * high or (not one.amount and most <= 0)]


def to_earn(found: Sequence[Promise], history: History) -> str:
    """The respect in which programs are to be improved where a promised reward was never earned; empty where none is."""
    earned = scores.steps_earned(history)
    open_ = unseen(found, earned[-1]) if earned else []
    if not open_:
        return ""
    return (
        f'Promised reward: the task text says "{between_words(open_[0].words, LONGEST)}", and '
        f"{_only_in_experiments(history, earned[-1])}. Find out "
        "what has to happen before it is paid: what no program has done, or not together, or not in that order. Try that, "
        "whatever it costs otherwise; list first what has been tried."
    )


def _by_experiment(history: History, most: float) -> str:
    """Which experiment has earned clearly more in one step than any program, as a clause; empty where none did."""
    earned = {one.id: one.earned[-1] for one in history.experiments if one.earned}
    best = max(earned, key=lambda id_: earned[id_], default="")
    if not best or earned[best] <= max(CLEARLY * most, 0.0):
        return ""
    return f"a step of experiment {best} earned {number(earned[best])}"


def _least_by_experiment(history: History, least: float, most: float) -> str:
    """Which experiment has lost clearly more in one step than any program, as a clause; empty where none did."""
    lost = {one.id: one.earned[0] for one in history.experiments if one.earned}
    worst = min(lost, key=lambda id_: lost[id_], default="")
    if not worst or least - lost[worst] <= (most - least) / 2:
        return ""
    return f"a step of experiment {worst} earned {number(lost[worst])}"


def _only_in_experiments(history: History, most: float) -> str:
    found = _by_experiment(history, most)
    return f"no program has earned it, but {found}: see what it did" if found else "no step has earned it"


def in_words(found: Sequence[Promise], history: History) -> str:
    """What single steps have earned, and what the task's text promises beyond that; empty where it is not known."""
    earned = scores.steps_earned(history)
    if not earned:
        return ""
    least, most = earned[0], earned[-1]
    dear = _least_by_experiment(history, least, most)
    quoted = list(dict.fromkeys(one.words for one in unseen(found, most)))[:MOST]
    also = _by_experiment(history, most)
    if not quoted:
        said = f"Single steps of programs have earned from {number(least)} to {number(most)} so far"
        return f"{'; '.join(filter(None, [said, also, dear]))}."
    listed = " and ".join(f'"{between_words(words, LONGEST)}"' for words in quoted)
    return (
        f"No step of any program has earned more than {number(most)} so far (least {number(least)}{f'; {dear}' if dear else ''})"
        f"{f', but {also}' if also else ''}{'. The' if also else ', but the'} task text says: {listed}"
    )
