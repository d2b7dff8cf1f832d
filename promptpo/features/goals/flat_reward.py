"""A check of rewards before much is spent on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from promptpo.program.reference_policies import REFERENCE_POLICIES
from promptpo.prompts.feedback import number

if TYPE_CHECKING:
    from promptpo.core.history import History
    from promptpo.core.journal import Event


def warn_of_flat_reward(event: Event, history: History, warn: Callable[[str], None]) -> None:
    """Warn once random actions and the zero action are known to return the same in every episode."""
    known = history.reference_evaluations
    if (
        event.kind == "reference"
        and event.key in REFERENCE_POLICIES
        and known.keys() >= {*REFERENCE_POLICIES}
    ):
        returns = {value for name in REFERENCE_POLICIES for value in known[name].returns}
        if len(returns) == 1:
            warn(
                f"the reward does not distinguish policies yet: every episode of random and of zero actions returns "
                f"{number(returns.pop())}. Unless that is intended, stop (Ctrl-C) and make it reward progress."
            )
