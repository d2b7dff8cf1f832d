"""The parts of a spec, before they are rendered as Python."""

from __future__ import annotations

import itertools
import keyword
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


TOLERANCE = 1e-6
"""Tolerance relative to a bound: rounding to 32 bits does not exceed it."""


@dataclass(frozen=True, slots=True)
class Field:
    """A named number, or group of numbers, of an observation or action.

    Attributes:
        name: A Python identifier.
        path: The expression that reads it, for example ``obs["observation"][3]``.
        meaning: Its meaning, with the unit; empty if unknown.
        form: Its type if it is no number, for example "uint8 array of shape (7, 7, 3)".
        declared: Bounds that the space declares; None if unbounded.
        seen: Smallest and largest observed values; None if none were observed.
    """

    name: str
    path: str
    meaning: str = ""
    form: str = ""
    declared: tuple[float, float] | None = None
    seen: tuple[float, float] | None = None

    @property
    def is_left(self) -> bool:
        """Whether observed values exceed the declared bounds."""
        if self.declared is None or self.seen is None:
            return False
        (low, high), (least, most) = self.declared, self.seen
        return least < low - slack(low) or most > high + slack(high)


def slack(bound: float) -> float:
    """Return how far rounding to 32 bits may exceed a bound."""
    return TOLERANCE * (1 + abs(bound)) if math.isfinite(bound) else 0.0


@dataclass(frozen=True, slots=True)
class ActionValue:
    """One value of a discrete action."""

    name: str
    value: int
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Parts:
    """The content of a spec.

    Attributes:
        title: The name of the task; empty if it is not revealed.
        description: The task in words.
        observation_form: For example "np.ndarray of shape (4,), float32".
        observation: Its fields.
        observation_note: Further remarks on the observation.
        action_form: For example "int in 0 .. 2".
        action_example: A valid action, as Python.
        action: Fields of a structured action.
        choices: Values of a discrete action.
        action_note: Further remarks on the action.
        blocks: Name of a module constant to its multi-line text, for example the first frame of a picture.
        functions: "reward" and "terminated" to their code, if a model has written any.
        notes: Comments below the functions.
        start: How an episode begins.
        end: When it ends.
        horizon: Longest episode in steps.
        success: When an episode counts as a success; empty if the environment does not say.
        threshold: The mean return from which the task counts as solved.
        sampling: The sample behind the observed ranges, in words.
        reward_seen: Observed rewards, in words.
        ends_seen: Observed endings of episodes, in words.
    """

    title: str = ""
    description: str = ""
    observation_form: str = ""
    observation: Sequence[Field] = ()
    observation_note: str = ""
    action_form: str = ""
    action_example: str = ""
    action: Sequence[Field] = ()
    choices: Sequence[ActionValue] = ()
    action_note: str = ""
    blocks: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    start: str = ""
    end: str = ""
    horizon: int | None = None
    success: str = ""
    threshold: float | None = None
    sampling: str = ""
    reward_seen: str = ""
    ends_seen: str = ""


_STOP = frozenset(
    "the of a an and in to on at by is its with respect value values current equals for from along".split()  # noqa: SIM905 - reads better as a sentence
)
NAME_WORDS = 6


def identifier(text: str) -> str:
    """Return a Python identifier made of a text's content words; empty if it has none."""
    plain = re.sub(r"\([^)]*\)|\[[^\]]*\]", " ", text)
    plain = re.sub(r"(?<!\w)-(?=\d)", "minus ", plain.replace("n't", " not"))
    parts = [part.lower() for part in re.findall(r"[A-Za-z0-9]+", plain)]
    # the last word stays: "a" may be a name
    name = "_".join([*(part for part in parts[:-1] if part not in _STOP), *parts[-1:]][:NAME_WORDS])
    return f"n_{name}" if name[:1].isdigit() or keyword.iskeyword(name) else name


def unique(names: Sequence[str]) -> list[str]:
    """Return the names with numbers appended to repeated ones."""
    taken = dict[str, None]()
    for name in names:
        numbered = (f"{name}_{n}" for n in itertools.count(2))
        taken[
            next(candidate for candidate in itertools.chain([name], numbered) if candidate not in taken)
        ] = None
    return list(taken)
