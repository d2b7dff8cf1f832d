"""Checks of a reward program before much is spent on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from promptpo.core.journal import evaluation_in
from promptpo.program.reference_policies import REFERENCE_POLICIES
from promptpo.prompts.feedback import number

if TYPE_CHECKING:
    from promptpo.core.journal import Event


class FlatReward:
    """Warns where random actions and the zero action earn the same in every episode.

    Args:
        warn: Given the sentence.
    """

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._returns: dict[str, tuple[float, ...]] = {}

    def event(self, event: Event) -> None:
        """Take an event of the journal into account."""
        if event.kind != "reference" or event.key not in REFERENCE_POLICIES:
            return
        self._returns[event.key] = evaluation_in(event.data).returns
        returns = {value for values in self._returns.values() for value in values}
        if len(self._returns) == len(REFERENCE_POLICIES) and len(returns) == 1:
            self._warn(
                f"the reward does not distinguish policies yet: every episode of random and of zero actions returns "
                f"{number(returns.pop())}. Unless that is intended, stop (Ctrl-C) and make it reward progress."
            )
