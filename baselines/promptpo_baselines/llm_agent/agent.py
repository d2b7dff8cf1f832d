"""Choice of actions from observations, for several episodes at once.

With log-probabilities the rule is SayCan's (Ahn et al., "Do As I Can, Not As I Say", 2022, arXiv:2204.01691): the
action with the largest product of the language model's probability of naming it and, if there are values, its value.
In that paper the values are those of trained skills; here they come from the run's random rollouts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from promptpo.errors import UsageError
from promptpo_baselines.icpi.engines.paid import AROUND_LABELS
from promptpo_baselines.llm_agent.actions import Named, Numbers, ReadAction
from promptpo_baselines.llm_agent.prompts import Prompts, format_observation

if TYPE_CHECKING:
    from promptpo.llm.base import Completion
    from promptpo_baselines.icpi.engines.base import Engine
    from promptpo_baselines.icpi.values import CompletionRequest
    from promptpo_baselines.llm_agent.play import AgentLane
    from promptpo_baselines.llm_agent.values import StepValues

ATTEMPTS = 2
"""Attempts to get a readable answer before a random action is taken; the second says what was wrong."""


class LanguageAgent:
    """Lets an engine choose actions.

    Args:
        engine: Answers the questions.
        prompts: Writes the questions.
        actions: Reads the answers.
        values: Values of the actions in a state; None leaves the choice to the language model alone.
        must_score: Whether answers must have log-probabilities.
        repeats: Whether a repeated question is sent again, as it should be if answers are sampled at a temperature.
    """

    def __init__(
        self,
        engine: Engine,
        prompts: Prompts,
        actions: Named | Numbers,
        *,
        values: StepValues | None = None,
        must_score: bool = False,
        repeats: bool = False,
    ) -> None:
        self._engine, self._prompts, self._actions = engine, prompts, actions
        self._values, self._must_score, self._repeats = values, must_score or values is not None, repeats
        self._known: dict[tuple[int, str], Completion] = {}

    def act(self, lanes: Sequence[AgentLane]) -> list[ReadAction]:
        """Return an action for each episode, to which the calls are charged.

        Raises:
            ProviderError: The engine failed.
            BudgetSpentError: The next question would exceed a limit.
            UsageError: Log-probabilities are required, and the answers have none.
        """
        choices: dict[int, ReadAction | None] = dict.fromkeys(range(len(lanes)))
        refused = [""] * len(lanes)
        for attempt in range(ATTEMPTS):
            still = [n for n, choice in choices.items() if choice is None]
            requests = {
                n: self._prompts.request(
                    lanes[n].steps,
                    format_observation(lanes[n].player.observation),
                    attempt=attempt,
                    refused=refused[n],
                )
                for n in still
            }
            for n, answer in zip(still, self._ask(lanes, requests), strict=True):
                choices[n] = self._choose(lanes[n], answer)
                refused[n] = answer.text
                lanes[n].counts["unreadable"] += choices[n] is None
        return [choice or self._drawn(lanes[n]) for n, choice in choices.items()]

    def _ask(self, lanes: Sequence[AgentLane], requests: Mapping[int, CompletionRequest]) -> list[Completion]:
        """Return the answers; a question that was answered in this run, or is twice in the batch, is sent once."""
        keys = {
            n: (n if self._repeats else -1, request.examples + request.query)
            for n, request in requests.items()
        }
        wanted: dict[tuple[int, str], int] = {}
        for n, key in keys.items():
            if key in self._known or key in wanted:
                lanes[n].counts["repeated"] += 1
            else:
                wanted[key] = n
        answers = self._engine.complete([requests[n] for n in wanted.values()]) if wanted else []
        for (key, n), answer in zip(wanted.items(), answers, strict=True):
            lanes[n].pay(answer)
            self._known[key] = answer
        found = [self._known[key] for key in keys.values()]
        if self._repeats:
            self._known.clear()
        return found

    def _choose(self, lane: AgentLane, answer: Completion) -> ReadAction | None:
        """Choose an action by an answer's probabilities if it has them, else by its text."""
        actions = self._actions
        chances = label_logprobs(answer.logprobs, actions.labels) if isinstance(actions, Named) else None
        if isinstance(actions, Named) and chances is not None:
            if self._values is not None:
                chances = chances + np.log(self._values.of(lane.player.observation))
            lane.counts["scored"] += 1
            return actions.of(int(np.argmax(chances)))
        if self._must_score and not answer.logprobs:
            raise UsageError(
                f"{self._engine.name} gives no log-probabilities, which --weigh and --choose score need; leave them "
                "out, and the model names its actions."
            )
        choice = actions.read(answer.text)
        lane.counts["clipped"] += choice is not None and choice.clipped
        return choice

    def _drawn(self, lane: AgentLane) -> ReadAction:
        lane.counts["drawn"] += 1
        return ReadAction(lane.space.sample())


def label_logprobs(tokens: Mapping[str, float], labels: Sequence[str]) -> np.ndarray | None:
    """Return the log-probability of each label among the likeliest first tokens of an answer.

    Probabilities of a label's tokens, with and without a space or bracket around it, are added up. A label that is not
    among the likeliest gets the probability of the least likely of them, which is an upper bound.

    Args:
        tokens: Log-probability by token.
        labels: Single letters.

    Returns:
        Shape (labels,); None if no label is among the tokens.
    """
    found: dict[str, float] = {}
    for token, value in tokens.items():
        label = token.strip(AROUND_LABELS)
        if label in labels and not math.isnan(value):
            found[label] = float(np.logaddexp(found.get(label, -math.inf), value))
    if not found:
        return None
    least = min((value for value in tokens.values() if math.isfinite(value)), default=-100.0)
    return np.array([max(found.get(label, least), -1e9) for label in labels])
