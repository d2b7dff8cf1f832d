"""Actions as words: the answers that a model may give, and how they are read."""

from __future__ import annotations

import ast
import math
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from tokenize import TokenError
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo.errors import UnsupportedSpaceError
from promptpo.prompts.feedback import number
from promptpo.spec.reading import read

LABELS = string.ascii_uppercase
"""Labels of actions: each is one token in every known tokenizer."""

MOST_NUMBERS = 8
"""Maximum size of an action that a model is asked for."""

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class ReadAction:
    """An answer that was read.

    Attributes:
        action: The action for the environment.
        clipped: Whether a number was out of bounds and was clipped.
    """

    action: Any
    clipped: bool = False


class Named:
    """Discrete actions, each with a letter.

    Args:
        space: A space of at most 26 actions.
        names: Name and meaning by value; actions without one are called by their number.

    Attributes:
        labels: One for each action.
        opening: The end of the question, which an answer continues.
        stop: Texts that end an answer.
        wanted: Description of a valid answer.
    """

    opening = "("
    stop: tuple[str, ...] = ("\n", ")")

    def __init__(self, space: spaces.Discrete, names: dict[int, str]) -> None:
        self._first = int(space.start)
        self.labels: Sequence[str] = LABELS[: int(space.n)]
        self._names = [names.get(self._first + n, f"action {self._first + n}") for n in range(int(space.n))]
        self.wanted = f"one of the letters {', '.join(self.labels)}"

    def describe(self) -> str:
        """Return the letters with names and meanings."""
        return "\n".join(f"({label}) {name}" for label, name in zip(self.labels, self._names, strict=True))

    def format(self, choice: ReadAction) -> str:
        """Return the letter with the name, without its meaning."""
        n = choice.action - self._first
        return f"({self.labels[n]}) {self._names[n].split(':')[0]}"

    def of(self, index: int) -> ReadAction:
        """Return the action with this index."""
        return ReadAction(self._first + index)

    def read(self, text: str) -> ReadAction | None:
        """Read a letter at the beginning, alone, in brackets or after the word "action"; else the only name in the text."""
        line = next((line.strip() for line in text.splitlines() if line.strip(" `*")), "").strip("`*\"' ")
        found = re.match(r"(?:action\s*[:=]?\s*)?\(?\s*([A-Za-z])\s*(?:[).:,]|$|\s-)", line, re.IGNORECASE)
        if found and found[1].upper() in self.labels:
            return self.of(self.labels.index(found[1].upper()))
        folded = text.casefold()
        names = [name.split(":")[0].casefold() for name in self._names]
        named = [n for n, name in enumerate(names) if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded)]
        lettered = {letter for letter in re.findall(r"\(([A-Z])\)", text) if letter in self.labels}
        if len(named) == 1:
            return self.of(named[0])
        return self.of(self.labels.index(lettered.pop())) if len(lettered) == 1 else None


class Numbers:
    """A few numbers, written in square brackets.

    Args:
        space: A box of at most `MOST_NUMBERS` numbers.
        names: Name and meaning by index in the flattened action.
    """

    labels: Sequence[str] = ()
    opening = "["
    stop: tuple[str, ...] = ("\n", "]")

    def __init__(self, space: spaces.Box, names: dict[int, str]) -> None:
        self._space, self._names = space, names
        self._count = math.prod(space.shape)
        self.wanted = f"{self._count} number{'s' if self._count > 1 else ''} in square brackets"

    def describe(self) -> str:
        """Return each number's bounds and its description, if known."""
        low, high = self._space.low.ravel(), self._space.high.ravel()
        lines = [
            f"{n + 1}. from {number(float(low[n]))} to {number(float(high[n]))}"
            + (f": {self._names[n]}" if n in self._names else "")
            for n in range(self._count)
        ]
        return "\n".join([f"An action is {self.wanted}, in this order:", *lines])

    def format(self, choice: ReadAction) -> str:
        """Return the numbers, with four digits."""
        return f"[{', '.join(number(float(value)) for value in np.ravel(choice.action))}]"

    def read(self, text: str) -> ReadAction | None:
        """Read the required number of numbers, from the first brackets if there are any; they are clipped."""
        inside = re.search(r"\[([^\[\]]*)\]", text)
        found = [
            float(value) for value in _NUMBER.findall(inside[1] if inside else text.split("]", maxsplit=1)[0])
        ]
        if len(found) != self._count or not all(map(math.isfinite, found)):
            return None
        asked = np.asarray(found).reshape(self._space.shape)
        action = np.clip(asked, self._space.low, self._space.high)
        return ReadAction(action.astype(self._space.dtype), clipped=bool((action != asked).any()))


def actions_of(space: spaces.Space[Any], spec: str) -> Named | Numbers:
    """Return the actions of a space, with the names that a spec gives them.

    Args:
        space: The action space.
        spec: The text of the task's spec.

    Raises:
        UnsupportedSpaceError: They are neither a few choices nor a few numbers.
    """
    if isinstance(space, spaces.Discrete) and 1 <= space.n <= len(LABELS):
        return Named(space, _read_action_names(spec))
    is_real = isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.floating)
    if isinstance(space, spaces.Box) and is_real and 1 <= math.prod(space.shape) <= MOST_NUMBERS:
        return Numbers(space, _read_action_names(spec))
    raise UnsupportedSpaceError(
        f"llm-agent takes Discrete actions ({len(LABELS)} at most) and boxes of at most {MOST_NUMBERS} numbers, "
        f"not {space}; promptpo optimize writes programs for it."
    )


def _read_action_names(spec: str) -> dict[int, str]:
    """Read the class Action of a spec: map the value or index of each action to its name and meaning."""
    try:
        action = read(spec).parts.get("Action")
    except (SyntaxError, TokenError):  # a user's own text
        return {}
    if action is None:
        return {}
    entries = [(constant.value, constant.name, constant.remark) for constant in action.constants]
    entries += [
        (field.expression.slice.value, field.name, field.remark)
        for field in action.fields
        if isinstance(field.expression, ast.Subscript) and isinstance(field.expression.slice, ast.Constant)
    ]
    return {
        place: f"{name}: {remark}" if remark else name
        for place, name, remark in entries
        if isinstance(place, int)
    }
