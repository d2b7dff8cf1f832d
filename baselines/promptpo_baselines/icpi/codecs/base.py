"""Between values and the lines of code that prompts are made of."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo_baselines.icpi.values import Number, Obs

DONE, NOT_DONE = "assert done", "assert not done"
REWARD_PREFIX = "assert reward == "
_REWARD = re.compile(r"assert reward == (-?\d+(?:\.\d+)?)")

INTEGER = r"(-?\d+)"


def first_line(completion: str) -> str:
    """What of a completion counts: its first line, without blanks around it."""
    return completion.lstrip().split("\n", 1)[0].rstrip()


class Codec(ABC):
    """Renders states, actions, rewards and terminations as Python lines, and reads them back.

    A state is an ``assert`` line: the facts, then, with hints, comparisons that follow from them. Only the
    first line of an action is ever completed; what belongs to it beyond that (`action_suffix`) is ours.

    Attributes:
        header: The line before the first state of a trajectory.
        actions: First line of each action, in the order of their indices.
        action_suffix: Lines after every action; empty or beginning with a line break.
        step_suffix: Lines that end a step in a trajectory; empty or beginning with a line break.
        done_in_trajectory: Whether trajectories show a termination line per step.
    """

    header: str
    actions: Sequence[str]
    action_suffix: str = ""
    step_suffix: str = ""
    done_in_trajectory: bool = False
    pattern: re.Pattern[str]
    """Matches the facts of a state line; what follows must be the end or a hint."""

    @abstractmethod
    def facts(self, obs: Obs) -> str:
        """A state as text, without ``assert`` and without hints."""

    @abstractmethod
    def hint(self, obs: Obs) -> str:
        """What the hint says about a state; empty where there is none."""

    @abstractmethod
    def from_match(self, match: re.Match[str]) -> Obs:
        """The state that `pattern` has matched."""

    def obs(self, obs: Obs, *, hint: bool) -> str:
        """A state line."""
        text = f"assert {self.facts(obs)}"
        extra = self.hint(obs) if hint else ""
        return f"{text} and {extra}" if extra else text

    def action(self, index: int) -> str:
        """An action with the lines that belong to it."""
        return self.actions[index] + self.action_suffix

    @staticmethod
    def reward(value: float) -> str:
        """A reward line; whole numbers are written without a point."""
        return f"{REWARD_PREFIX}{value:.10g}"

    @staticmethod
    def done(value: bool) -> str:
        """A termination line."""
        return DONE if value else NOT_DONE

    @staticmethod
    def parse_done(completion: str) -> bool | None:
        """The termination that a completion states; None when it states none."""
        return {DONE: True, NOT_DONE: False}.get(first_line(completion))

    @staticmethod
    def parse_reward(completion: str) -> float | None:
        """The reward that a completion states; None when it states none."""
        match = _REWARD.fullmatch(first_line(completion))
        return float(match[1]) if match else None

    def parse_action(self, completion: str) -> int | None:
        """The action that a completion names exactly; None when it names none."""
        line = first_line(completion)
        return self.actions.index(line) if line in self.actions else None

    def parse_obs(self, completion: str) -> Obs | None:
        """The state that a completion describes, its hint ignored; None when it describes none."""
        line = first_line(completion)
        match = self.pattern.match(line)
        if match is None or not (match.end() == len(line) or line.startswith(" and ", match.end())):
            return None
        return self.from_match(match)


class IntegerCodec(Codec):
    """A codec whose `pattern` has one group per integer of the state, in order."""

    template: ClassVar[str]

    def __init_subclass__(cls) -> None:
        parts = [re.escape(part) for part in cls.template.split("{}")]
        cls.pattern = re.compile("assert " + INTEGER.join(parts))

    def facts(self, obs: Obs) -> str:
        """The template with the numbers of the state."""
        return self.template.format(*obs)

    def from_match(self, match: re.Match[str]) -> Obs:
        """The groups as integers."""
        return tuple(int(group) for group in match.groups())


def compare(left: str, a: Number, right: str, b: Number) -> str:
    """The true one of ``left == right``, ``left < right`` and ``left > right``."""
    sign = "==" if a == b else "<" if a < b else ">"
    return f"{left} {sign} {right}"


def equality(*, equal: bool) -> str:
    """``==`` or ``!=``."""
    return "==" if equal else "!="
