"""How many calls a run will make and what they will cost, before it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptpo.llm.base import Usage
from promptpo.llm.prices import price_of
from promptpo_baselines.icpi.assembly import WITH_ENGINE

if TYPE_CHECKING:
    from promptpo_baselines.icpi.profile import Profile
    from promptpo_baselines.icpi.run import RunConfig
    from promptpo_baselines.icpi.setting import Setting


@dataclass(frozen=True, slots=True)
class MeasuredCalls:
    """What the oracle engine took over the steps of the paper's figure.

    Attributes:
        paper: Calls per step when questions are asked one by one.
        fast: The same when they are asked at once, some of them in vain.
        prompt_tokens: Mean size of a prompt with the default budget; early prompts are short.
    """

    paper: float
    fast: float
    prompt_tokens: float


MEASURED: Mapping[str, MeasuredCalls] = {
    "promptpo/Chain-v0": MeasuredCalls(24, 24, 800),
    "promptpo/DistractorChain-v0": MeasuredCalls(24, 24, 1050),
    "promptpo/Maze-v0": MeasuredCalls(43, 53, 1350),
    "promptpo/MiniCatch-v0": MeasuredCalls(28, 38, 2700),
    "promptpo/MiniInvaders-v0": MeasuredCalls(33, 45, 2350),
    "promptpo/PointMass-v0": MeasuredCalls(36, 40, 2600),
}
"""Means over three seeds. A model that answers invalidly makes more calls."""

FREE = ("oracle", "embedded", "llamacpp")
"""Engines for which nothing is charged."""
ANSWER_TOKENS = 40
"""A generous line."""
TEST_STEPS = 8.0
"""Steps of a test episode where nothing bounds them better."""


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """What a run will take.

    Attributes:
        expected_calls: From measurements on the same domain; None where there are none.
        most_calls: If every rollout has full length; further tries at invalid answers come on top.
        expected_tokens: Prompt tokens of the expected calls.
        most_tokens: Prompt tokens of the most calls, with full prompts.
        expected_usd: Price of the expected calls; None where calls or price are not known.
        most_usd: Price of the most calls without any caching; None where the price is not known.
    """

    expected_calls: int | None
    most_calls: int
    expected_tokens: int | None
    most_tokens: int
    expected_usd: float | None
    most_usd: float | None

    def sentence(self, model: str) -> str:
        """The estimate in words."""
        parts = [f"{model}: "]
        if self.expected_calls is not None and self.expected_tokens is not None:
            parts.append(
                f"about {self.expected_calls:,} calls with {_millions(self.expected_tokens)} prompt tokens, "
            )
        parts.append(f"at most {self.most_calls:,} calls with {_millions(self.most_tokens)}")
        parts.append(" if all answers are valid; ")
        if self.most_usd is None:
            parts.append(f"the price of {model} is not known (PROMPTPO_PRICES can name it).")
        elif self.most_usd == 0:
            parts.append("nothing is charged for them.")
        else:
            about = f"about ${self.expected_usd:,.2f}, " if self.expected_usd is not None else ""
            parts.append(f"{about}at most ${self.most_usd:,.2f}, before what prompt caching saves.")
        return "".join(parts)


def _millions(tokens: int) -> str:
    return f"{tokens / 1e6:,.1f} million" if tokens >= 1e5 else f"{tokens:,}"  # noqa: PLR2004 - where it reads better


def estimate(setting: Setting, config: RunConfig, *, episode_steps: float | None) -> CallEstimate:
    """What a run will take.

    Args:
        setting: The environment.
        config: Of the run.
        episode_steps: Length of an episode; None takes a guess.
    """
    if config.method not in WITH_ENGINE:
        return CallEstimate(0, 0, 0, 0, 0.0, 0.0)
    profile, model = config.profile, str(config.engine)

    def dollars(calls: int, tokens: int) -> float | None:
        return dollars_of(model, calls, tokens, ANSWER_TOKENS)

    # Episodes may turn out so short that the agent decides for itself almost from the first step on.
    all_steps = config.steps + config.test_episodes * (episode_steps or TEST_STEPS)
    plans = config.method == "icpi"
    most_calls = round(all_steps * (_most_per_step(setting, profile) if plans else 1))
    most_tokens = most_calls * profile.prompt_tokens
    most_usd = dollars(most_calls, most_tokens)
    measured = MEASURED.get(setting.env_id) if plans else None
    if measured is None:
        return CallEstimate(None, most_calls, None, most_tokens, None, most_usd)
    per_step = measured.fast if profile.fast else measured.paper
    calls = min(most_calls, round(all_steps * per_step))
    tokens = round(calls * min(measured.prompt_tokens, profile.prompt_tokens))
    return CallEstimate(calls, most_calls, tokens, most_tokens, dollars(calls, tokens), most_usd)


def dollars_of(model: str, calls: int, tokens: int, answer: int) -> float | None:
    """What calls cost; None where the price is not known.

    Args:
        model: As ``--engine`` says it; its last part is looked up in the price list.
        calls: How many.
        tokens: Of all prompts.
        answer: Tokens of one answer.
    """
    provider, _, name = model.partition(":")
    if provider in FREE:
        return 0.0
    price = price_of("openai" if provider == "completion" else provider, name)
    cost = price.cost(Usage(round(tokens / max(calls, 1)), 0, answer)) if price else None
    return None if cost is None else cost * calls


def _most_per_step(setting: Setting, profile: Profile) -> int:
    """Calls for one decision when every rollout goes on to its cap and every answer is valid."""
    per_imagined_step = 5 if profile.fast else 4
    return setting.n_actions * (per_imagined_step * setting.max_rollout - 2)
