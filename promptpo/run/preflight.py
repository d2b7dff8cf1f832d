"""Before a run starts: what its episodes are, what the budget pays for, and what it may cost."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from promptpo.llm.base import Still, Usage, tokens_of
from promptpo.run.budget import (
    GOAL_EPISODES,
    TEST_SECONDS,
    Purpose,
    allotted,
    allowance,
    horizon_within,
    in_words,
)
from promptpo.run.journal import to_json

if TYPE_CHECKING:
    from promptpo.llm.base import LLM
    from promptpo.rollouts.evaluation import Evaluation
    from promptpo.run.config import Config
    from promptpo.spec import TaskSpec

SOURCES: Mapping[str, str] = {
    "user": "--max-episode-steps",
    "time limit": "its registered time limit",
    "environment": "an attribute of the environment",
    "observed": "the common length of the episodes that were played to their end",
    "spec file": "the spec file",
    "none": "no limit was seen: what the budget pays for; set --max-episode-steps",
}
"""Where the longest episode comes from, in words, by `TaskSpec.horizon_source`."""


WORTH_SAYING = 20.0
"""Seconds from which a person is told how long the final test takes."""

GOAL_CALLS = 4
"""For a goal, beside writing its reward: a first policy, preferences, a better reward, and the verdict on the best."""

RECORDED = Usage(2_700, 0, 840)
"""Tokens of a call, the median of those of `RECORDED_FROM`; answers by hand, counted as four characters each."""

RECORDED_FROM = "28 recorded runs on as many tasks (benchmarks/results/proof)"


@dataclass(frozen=True, slots=True)
class Preflight:
    """What is known before anything is asked or rolled out.

    Attributes:
        horizon: Longest episode, in steps.
        horizon_source: Where that comes from, in words.
        episodes: For training, for validation and for the test, per policy.
        policies: How many the model is asked for.
        steps: The budget; None without a limit.
        division: Steps of each purpose of the budget's table that the run has, if every episode is as long as it can be.
        evaluation_steps: One policy's training and validation in the same case.
        unknown: What the description of the task could not find out.
        calls: Of the language model, at most.
        tokens: (input, output) of these calls, at most.
        recorded_usd: What they cost with as many tokens as recorded calls took; None where the price is not known.
        usd: What they cost at most; None where the price is not known.
        steps_per_second: Of the environment alone, as measured.
        tried: What trying the models found, where that was wanted.
        one_episode: Whether seeds change nothing, so that all episodes of a policy are the same.
        seconds: For all steps of the budget and the test, without the model's thinking; None where it is not known.
    """

    horizon: int
    horizon_source: str
    episodes: tuple[int, int, int]
    policies: int
    steps: int | None
    division: Mapping[Purpose, int]
    evaluation_steps: int
    unknown: tuple[str, ...]
    calls: int
    tokens: tuple[int, int]
    usd: float | None
    recorded_usd: float | None
    steps_per_second: float | None
    seconds: float | None
    one_episode: bool = False
    tried: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether the budget pays for one full evaluation whatever happens."""
        return self.steps is None or self.evaluation_steps <= self.steps

    def as_json(self) -> dict[str, Any]:
        """As ``result.json`` has it."""
        return {**to_json(self), "evaluation_fits": self.fits}

    def brief(self) -> list[str]:
        """As a run begins with: one line, a second one where something has to be known; `lines` has the rest."""
        if not self.fits:
            return [self._division()]
        limit = "No limit on steps" if self.steps is None else f"{self.steps:,} steps"
        plan = f"{limit}, episodes of at most {_counted(self.horizon, 'step')} ({self.horizon_source}); --estimate tells more."
        return [plan, *self._gaps()]

    def lines(self) -> list[str]:
        """As ``--estimate`` shows it."""
        found = [f"Episodes: at most {_counted(self.horizon, 'step')}, by {self.horizon_source}."]
        found += [self._division(), *self._gaps()]
        if self.calls:
            found.append(self._model())
            found += self.tried
        else:
            found.append("Model: none is asked.")
        if self.steps_per_second and self.seconds is not None:
            rate = float(f"{self.steps_per_second:.2g}")
            found.append(
                f"Time: about {duration(self.seconds)} for all steps at {rate:,.0f} a second and process, and what the "
                f"policies and the model think; a slow policy's test takes about {duration(TEST_SECONDS)} at most."
            )
        return found

    def _gaps(self) -> list[str]:
        """What is not known about the task, where that is something."""
        told = f"Not found out: {'; '.join(self.unknown)}. An edited --spec or --hint can say it."
        return [told] if self.unknown else []

    def _model(self) -> str:
        """Calls, and what recorded ones took: the bounds on tokens are far from what any run takes."""
        given, written = RECORDED.input_tokens, RECORDED.output_tokens
        price = "their price is not known (--price)"
        if self.usd is not None and self.recorded_usd is not None:
            price = f"all of these would be ${self.recorded_usd:.2f}, and are never more than ${self.usd:.2f}"
        return (
            f"Model: at most {self.calls} calls. {RECORDED_FROM} took {given:,} tokens in and {written:,} out a "
            f"call, thinking not counted; {price}."
        )

    def _division(self) -> str:
        train, validation, test = self.episodes
        each = (
            f"{_counted(train, 'training episode')} for each policy, up to {_counted(validation, 'validation episode')} in a round "
            f"for each that may be the best, {_counted(test, 'test episode')} for the best of the run"
        )
        if self.steps is None:
            return f"Steps: no limit; {each}."
        if not self.fits:
            return (
                f"Steps: {self.steps:,} may not pay for one full evaluation ({self.evaluation_steps:,}: {each}): "
                "raise --max-steps, or set fewer --episodes or a shorter --max-episode-steps."
            )
        return f"{in_words(self.steps, self.division)[:-1]}; {each}."


def final_test(config: Config, looks: Sequence[Evaluation], rate: float, *, least: int) -> dict[str, Any]:
    """How many episodes the final test is of, and how long it takes by what the policy took before, as the journal has it.

    Args:
        config: Of the run.
        looks: Episodes that the policy has played.
        rate: Steps of the environment alone in a second, as measured; 0 where that is not known.
        least: Episodes in any case.
    """
    most, played = config.most_tested, max(1, sum(len(look.episodes) for look in looks))
    stepping = sum(look.steps for look in looks) / rate if rate else 0.0
    each = (sum(look.policy_seconds for look in looks) + stepping) / played
    kinds = (2 if config.task.held_out else 1) / (config.jobs or os.cpu_count() or 1)
    paid = math.floor(TEST_SECONDS / (kinds * max(each, 1e-9)))
    paid -= paid % max(1, len(config.task.family))
    n = most if config.test_episodes else min(most, max(least, paid))
    return {"episodes": n, "of": most, "seconds_each": each, "seconds": kinds * n * each}


def final_test_in_words(planned: Mapping[str, Any]) -> list[str]:
    """How long the final test takes, and why it plays no more episodes; nothing where nobody waits for it.

    Args:
        planned: The decision on it, as the journal has it.
    """
    n, most, seconds = planned["episodes"], planned["of"], planned["seconds"]
    takes = f"the final test of {_counted(n, 'held-out episode')} takes about {duration(seconds)}, policy included"
    if n == most:
        return [takes] if seconds >= WORTH_SAYING else []
    each = f"{most:,} would take {duration(seconds * most / n)} at {planned['seconds_each']:.3g} s each"
    return [f"{takes}: {each}; --test-episodes {most} plays them all"]


def division(config: Config, llm: LLM, horizon: int) -> dict[Purpose, int]:
    """Steps of each purpose that a run has, if every episode is as long as it can be.

    Args:
        config: With its numbers of episodes decided.
        llm: Who will be asked.
        horizon: Longest episode in steps, decided.
    """
    steps, rounds, tried_out = config.budget.steps, config.budget.rounds, allowance(config, llm)
    looks = (
        rounds * max(1, config.switches.validate) + rounds - 1
    )  # from the second round on also at the leader
    aside: dict[Purpose, int] = {
        "references": 1,
        "teacher": horizon * (config.teacher is not None),
        "goal": GOAL_EPISODES * (bool(config.goal) and config.task.reward is None),
        "world": config.switches.world,
    }
    return {
        "training": rounds * config.candidates * config.train_episodes * horizon,
        "validation": config.score_episodes * looks * horizon,
        "experiments": tried_out.all_steps if tried_out else 0,
        **{purpose: allotted(purpose, steps, each) or 0 for purpose, each in aside.items() if each},
        "tuning": int(config.tune != "none" and config.switches.tune),
    }


def preflight(spec: TaskSpec, config: Config, llm: LLM) -> Preflight:
    """What is known before a run.

    Args:
        spec: Of the task.
        config: With its numbers of episodes decided.
        llm: Who will be asked.
    """
    budget, policies = config.budget, config.budget.rounds * config.candidates
    horizon = horizon_within(config, spec.horizon, spec.sample_length)
    calls = _most_calls(config, llm)
    prompt = config.max_prompt_tokens + picture_tokens(spec, config, llm)
    given, written = calls * prompt, calls * config.max_output_tokens
    if budget.tokens is not None and given + written > budget.tokens:
        share = budget.tokens / (given + written)
        given, written = round(given * share), round(written * share)
    rate = spec.sample_rate or None
    test = config.most_tested * horizon * (2 if config.task.held_out else 1)
    total = None if budget.steps is None else budget.steps + test
    processes = config.jobs or os.cpu_count() or 1
    return Preflight(
        horizon=horizon,
        horizon_source=SOURCES[spec.horizon_source],
        episodes=(config.train_episodes, config.score_episodes, config.most_tested),
        policies=policies,
        steps=budget.steps,
        division=division(config, llm, horizon),
        evaluation_steps=(config.train_episodes + config.score_episodes) * horizon,
        unknown=spec.gaps,
        calls=calls,
        tokens=(given, written),
        usd=_most_usd(config, llm, calls, Usage(prompt, 0, config.max_output_tokens)),
        recorded_usd=_most_usd(config, llm, calls, RECORDED),
        steps_per_second=rate,
        seconds=total / rate / processes if rate and total is not None else None,
        one_episode=spec.one_episode,
    )


def _most_calls(config: Config, llm: LLM) -> int:
    """Every policy answered badly once and repaired as often as is allowed; the feedback class and experiments likewise."""
    if not llm.language_model:
        return 0
    rounds, recipe = config.budget.rounds, config.switches
    again = "repair" in llm.purposes
    repairs = config.repairs * again
    calls = rounds * config.candidates * (1 + again + repairs)
    if recipe.feedback_class and "feedback" in llm.purposes:
        calls += 1 + repairs
    if recipe.reflection and "reflection" in llm.purposes:
        calls += rounds - 1
    tried_out = allowance(config, llm)
    if tried_out is not None:
        calls += 1 + tried_out.experiments * min(1, repairs)
    if config.goal and config.task.reward is None:
        calls += 1 + repairs + GOAL_CALLS
    return calls if config.budget.calls is None else min(calls, config.budget.calls)


STRIPS, STRIP = 5, (800, 420)
"""Film strips of one prompt at most, and about how many pixels each has, of pictures that are about as high as wide."""


def picture_tokens(spec: TaskSpec, config: Config, llm: LLM) -> int:
    """About the most tokens that the pictures of one prompt take."""
    if not config.shows_frames(llm):
        return 0
    return sum(Still(*frame).tokens for frame in spec.first_frames) + STRIPS * tokens_of(*STRIP)


def _most_usd(config: Config, llm: LLM, calls: int, each: Usage) -> float | None:
    if not calls:
        return 0.0
    price = getattr(llm, "price", None)
    one = price.cost(each) if price else None
    if one is None:
        return None
    limit = math.inf if config.budget.usd is None else config.budget.usd
    return float(min(calls * one, limit))


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """A time in words."""
    if seconds < 120:  # noqa: PLR2004 - up to two minutes in seconds
        return f"{max(1.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"  # noqa: PLR2004
