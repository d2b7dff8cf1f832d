"""Conversion between values and the lines of code that prompts consist of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from promptpo_baselines.icpi.values import Obs
    from promptpo_baselines.icpi_flags import Kind

DONE, NOT_DONE = "assert done", "assert not done"
REWARD_PREFIX = "assert reward == "
_REWARD = re.compile(r"assert reward == (-?\d+(?:\.\d+)?)")

INTEGER, NUMBER = r"(-?\d+)", r"(-?\d+(?:\.\d+)?)"
_FIELD = re.compile(r"\{(.*?)\}")
_MINUS_ZERO = re.compile(r"-(?=0(\.0+)?(?![.\d]))")
"""The sign of a negative number that is rounded to zero."""


def first_line(completion: str) -> str:
    """Return the first line of a completion, stripped; the rest is ignored."""
    return completion.lstrip().split("\n", 1)[0].rstrip()


class Codec:
    """Renders states, actions, rewards and terminations as Python lines, and reads them back.

    A state is an ``assert`` line: the facts, then, with hints, comparisons that follow from them. The model only
    completes the first line of an action; the lines after it (`action_suffix`) are ours.

    Args:
        template: The facts, with a field for each number of a state: ``{}`` for integers, ``{:.2f}`` for others.
        actions: First line of each action, in the order of their indices.
        hint: Returns the hint about a state; empty if there is none.
        header: The line before the first state of a trajectory.
        action_suffix: Lines after every action; empty or beginning with a line break.
        step_suffix: Lines that end a step in a trajectory; empty or beginning with a line break.
        done_in_trajectory: Whether trajectories show a termination line per step.
    """

    def __init__(
        self,
        template: str,
        actions: Sequence[str],
        hint: Callable[[Obs], str] = lambda _: "",
        *,
        header: str = "state, reward = reset()",
        action_suffix: str = "",
        step_suffix: str = "",
        done_in_trajectory: bool = False,
    ) -> None:
        self._template, self._hint, self.header, self.actions = template, hint, header, actions
        self.action_suffix, self.step_suffix = action_suffix, step_suffix
        self.done_in_trajectory = done_in_trajectory
        fields = _FIELD.findall(template)
        self._types = [float if field else int for field in fields]
        groups = [NUMBER if field else INTEGER for field in fields]
        literal = [re.escape(part) for part in _FIELD.split(template)[::2]]
        self.pattern = re.compile("assert " + "".join(map("".join, zip(literal, [*groups, ""], strict=True))))

    def facts(self, obs: Obs) -> str:
        """Return a state as text, without ``assert`` and without hints."""
        return _MINUS_ZERO.sub("", self._template.format(*obs))

    def from_match(self, match: re.Match[str]) -> Obs:
        """Return the state whose facts `pattern` has matched."""
        return tuple(kind(group) for kind, group in zip(self._types, match.groups(), strict=True))

    def obs(self, obs: Obs, *, hint: bool) -> str:
        """Return a state line."""
        text = f"assert {self.facts(obs)}"
        extra = self._hint(obs) if hint else ""
        return f"{text} and {extra}" if extra else text

    def action(self, index: int) -> str:
        """Return an action with the lines that belong to it."""
        return self.actions[index] + self.action_suffix

    @staticmethod
    def reward(value: float) -> str:
        """Return a reward line; whole numbers are written without a point."""
        return f"{REWARD_PREFIX}{value:.10g}"

    @staticmethod
    def done(value: bool) -> str:
        """Return a termination line."""
        return DONE if value else NOT_DONE

    @staticmethod
    def parse_done(completion: str) -> bool | None:
        """Return the termination that a completion states; None if it states none."""
        return {DONE: True, NOT_DONE: False}.get(first_line(completion))

    @staticmethod
    def parse_reward(completion: str) -> float | None:
        """Return the reward that a completion states; None if it states none."""
        match = _REWARD.fullmatch(first_line(completion))
        return float(match[1]) if match else None

    def parse_action(self, completion: str) -> int | None:
        """Return the action that a completion names exactly; None if it names none."""
        line = first_line(completion)
        return self.actions.index(line) if line in self.actions else None

    def parse_obs(self, completion: str) -> Obs | None:
        """Return the state that a completion describes, its hint ignored; None if it describes none."""
        line = first_line(completion)
        match = self.pattern.match(line)
        if match is None or not (match.end() == len(line) or line.startswith(" and ", match.end())):
            return None
        return self.from_match(match)

    def parse(self, kind: Kind, completion: str) -> object:
        """Parse a completion as one of the kinds above; None if it is not a valid answer."""
        readers: dict[Kind, Callable[[str], object]] = {
            "done": self.parse_done,
            "reward": self.parse_reward,
            "next": self.parse_obs,
            "policy": self.parse_action,
        }
        return readers[kind](completion)
