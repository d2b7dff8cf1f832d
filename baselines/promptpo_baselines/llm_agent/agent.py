"""From what is seen to an action, for several episodes at once.

With log-probabilities the rule is SayCan's (Ahn et al., "Do As I Can, Not As I Say", 2022, arXiv:2204.01691): of
all actions the one with the largest product of the language model's probability of naming it and, where there are
values, its value. There the values are those of trained skills; here they come from the run's random rollouts.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.errors import UsageError
from promptpo.llm.base import Usage
from promptpo_baselines.icpi.engines.server import AROUND_LABELS
from promptpo_baselines.llm_agent.actions import Named, Numbers, ReadAction
from promptpo_baselines.llm_agent.prompts import Prompts, ShownStep, written

if TYPE_CHECKING:
    from promptpo_baselines.icpi.engines.base import Engine
    from promptpo_baselines.icpi.values import CompletionRequest, Result
    from promptpo_baselines.llm_agent.values import StepValues

ATTEMPTS = 2
"""Tries at an answer that can be read, before an action is drawn at random; the second says what was wrong."""


COUNTS = ("calls", "repeated", "unreadable", "drawn", "scored", "clipped")
"""Of an episode: answers that were asked for; steps whose question had been answered before in this run, which were not
asked again; answers that could not be read; actions that were drawn at random after as many of them as there are tries;
actions chosen by their probabilities; actions with numbers out of bounds."""


@dataclass
class Acting:
    """One episode as the agent knows it.

    Attributes:
        seed: Of the episode; actions that are drawn at random depend on it and on the run's seed.
        observation: What is seen now.
        steps: What happened so far.
        rng: For answers that cannot be read.
        counts: How often there was what `COUNTS` names, and calls whose price is not known ("unpriced").
        usage: Tokens of the calls.
        usd: Their price, where it is known.
        seconds: That the answers took, one after the other.
    """

    seed: int
    observation: Any
    rng: np.random.Generator
    steps: list[ShownStep] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)
    usd: float = 0.0
    seconds: float = 0.0

    def pay(self, result: Result) -> None:
        """Count a call."""
        self.counts.update(calls=1, unpriced=int(result.cost_usd is None))
        self.usage += result.usage
        self.seconds += result.seconds
        self.usd += result.cost_usd or 0.0


class LanguageAgent:
    """Asks an engine what to do.

    Args:
        engine: Who is asked.
        prompts: Writes the questions.
        actions: Reads the answers.
        values: Of the actions in a state; None leaves the choice to the language model alone.
        must_score: Answers have to come with log-probabilities.
        repeats: The same question is asked again, as it should be where answers are drawn at a temperature.
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
        self._known: dict[str, Result] = {}

    def act(self, episodes: Sequence[Acting]) -> list[ReadAction]:
        """An action for each episode, which is told what asking took.

        Raises:
            ProviderError: The engine failed.
            BudgetSpentError: The next question would pass a limit.
            UsageError: Log-probabilities are needed, and the answers have none.
        """
        choices: list[ReadAction | None] = [None] * len(episodes)
        refused = [""] * len(episodes)
        for attempt in range(ATTEMPTS):
            still = [n for n, choice in enumerate(choices) if choice is None]
            if not still:
                break
            requests = [
                self._prompts.request(
                    episodes[n].steps, written(episodes[n].observation), attempt=attempt, refused=refused[n]
                )
                for n in still
            ]
            results = self._ask([episodes[n] for n in still], requests)
            for n, result in zip(still, results, strict=True):
                choices[n] = self._choose(episodes[n], result)
                refused[n] = result.text
                episodes[n].counts["unreadable"] += choices[n] is None
        return [choice or self._drawn(episode) for choice, episode in zip(choices, episodes, strict=True)]

    def _ask(self, episodes: Sequence[Acting], requests: Sequence[CompletionRequest]) -> list[Result]:
        """The answers; what was answered in this run, or stands twice in the batch, is asked for once."""
        keys = [self._key(n, request) for n, request in enumerate(requests)]
        wanted: dict[str, tuple[Acting, CompletionRequest]] = {}
        for key, episode, request in zip(keys, episodes, requests, strict=True):
            if key in self._known or key in wanted:
                episode.counts["repeated"] += 1
            else:
                wanted[key] = episode, request
        results = self._engine.complete([request for _, request in wanted.values()]) if wanted else []
        found = {key: self._known[key] for key in keys if key in self._known}
        for (key, (episode, _)), result in zip(wanted.items(), results, strict=True):
            episode.pay(result)
            found[key] = result
        if not self._repeats:
            self._known.update(found)
        return [found[key] for key in keys]

    def _key(self, n: int, request: CompletionRequest) -> str:
        """A question by its text; where answers are drawn, each is a question of its own."""
        digest = hashlib.blake2b(request.prompt.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return f"{n} {digest}" if self._repeats else digest

    def _choose(self, episode: Acting, result: Result) -> ReadAction | None:
        """What an answer comes to: by probabilities where it has them, else as it reads."""
        actions = self._actions
        chances = label_logprobs(result.logprobs, actions.labels) if isinstance(actions, Named) else None
        if isinstance(actions, Named) and chances is not None:
            if self._values is not None:
                chances = chances + np.log(self._values.of(episode.observation))
            episode.counts["scored"] += 1
            return actions.of(int(np.argmax(chances)))
        if self._must_score and not result.logprobs:
            raise UsageError(
                f"{self._engine.name} gives no log-probabilities, which --weigh and --choose score need; leave them "
                "out, and the model names its actions."
            )
        choice = actions.read(result.text)
        episode.counts["clipped"] += choice is not None and choice.clipped
        return choice

    def _drawn(self, episode: Acting) -> ReadAction:
        episode.counts["drawn"] += 1
        return self._actions.any(episode.rng)


def label_logprobs(tokens: Mapping[str, float], labels: Sequence[str]) -> np.ndarray | None:
    """The log-probability of each label among the likeliest first tokens of an answer.

    A label's tokens, with and without a space or bracket around it, are added up. A label that is not among the
    likeliest has at most the probability of the least likely of them, which it is given.

    Args:
        tokens: Token to log-probability.
        labels: Single letters.

    Returns:
        Shape (labels,); None where no label is among the tokens.
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
