"""Upper bounds on a run's calls and their cost, before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptpo.llm.base import Usage
from promptpo.llm.prices import price_of
from promptpo_baselines.icpi_flags import WITH_ENGINE

if TYPE_CHECKING:
    from promptpo_baselines.icpi.run import RunConfig
    from promptpo_baselines.icpi.setting import Setting

FREE = ("oracle", "embedded", "llamacpp")
"""Engines that are free of charge."""
ANSWER_TOKENS = 40
"""Tokens of a generous answer line."""
TEST_STEPS = 8
"""Assumed steps of a test episode without a known bound."""


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """Upper bounds on the calls, tokens and cost of a run.

    Attributes:
        most_calls: Calls if every rollout has full length; retries after invalid answers come on top.
        most_tokens: Tokens of their prompts.
        most_usd: Their price without caching; None if unknown.
    """

    most_calls: int
    most_tokens: int
    most_usd: float | None

    @classmethod
    def of(cls, model: str, calls: int, tokens: int, answer: int) -> CallEstimate:
        """Make an estimate with a model's price, if that is known.

        Args:
            model: The value of ``--engine``; its last part is looked up in the price list.
            calls: Number of calls.
            tokens: Tokens of all prompts.
            answer: Tokens of one answer.
        """
        provider, _, name = model.partition(":")
        if provider in FREE:
            return cls(calls, tokens, 0.0)
        price = price_of("openai" if provider == "completion" else provider, name)
        cost = price.cost(Usage(round(tokens / max(calls, 1)), 0, answer)) if price else None
        return cls(calls, tokens, None if cost is None else cost * calls)

    def sentence(self, model: str) -> str:
        """Return the estimate in words."""
        tokens = self.most_tokens
        many = f"{tokens / 1e6:,.1f} million" if tokens >= 1e5 else f"{tokens:,}"  # noqa: PLR2004 - where it reads better
        price = "nothing is charged for them."
        if self.most_usd is None:
            price = f"the price of {model} is unknown (PROMPTPO_PRICES can name it)."
        elif self.most_usd:
            price = f"at most ${self.most_usd:,.2f}, before what prompt caching saves."
        return f"{model}: at most {self.most_calls:,} calls with {many} prompt tokens if all answers are valid; {price}"


def estimate(setting: Setting, config: RunConfig, *, episode_steps: int | None) -> CallEstimate:
    """Estimate the calls of a run in which every rollout reaches its cap.

    Args:
        setting: The environment.
        config: Configuration of the run.
        episode_steps: Length of an episode; None takes a guess.
    """
    if config.method not in WITH_ENGINE:
        return CallEstimate(0, 0, 0.0)
    # Episodes may turn out so short that the agent decides for itself almost from the first step on.
    steps = config.steps + config.test_episodes * (episode_steps or TEST_STEPS)
    per_imagined_step = 5 if config.profile.fast else 4
    per_rollout = per_imagined_step * setting.max_rollout - 2
    calls = steps * (setting.n_actions * per_rollout if config.method == "icpi" else 1)
    return CallEstimate.of(str(config.engine), calls, calls * config.profile.prompt_tokens, ANSWER_TOKENS)
