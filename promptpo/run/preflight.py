"""Facts before a run starts: its episodes, what the budget pays for, and its possible cost."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from promptpo.core.budget import ALLOTMENTS, TEST_SECONDS, challengers
from promptpo.core.feature import writes_reward
from promptpo.llm.base import Usage, members_of
from promptpo.run.episodes import division_rows, horizon_within

if TYPE_CHECKING:
    from promptpo.core.budget import Demand
    from promptpo.core.candidate import PlannedTest
    from promptpo.core.config import Config
    from promptpo.envs.task import Reveal
    from promptpo.llm.base import LLM
    from promptpo.spec import TaskSpec

SOURCES: Mapping[str, str] = {
    "user": "--max-episode-steps",
    "time limit": "the environment's registered time limit",
    "environment": "an attribute of the environment",
    "observed": "the length of all sampled episodes",
    "spec file": "the spec file",
    "none": "the most that the budget allows, since no limit is known; --max-episode-steps sets one",
}
"""Source of the maximum episode length, in words, by `TaskSpec.horizon_source`."""


SHOWN: Mapping[Reveal, str] = {
    "source": "The environment's source {goes}. --reveal named keeps the dynamics out of the prompts for policies; --reveal anonymous, or "
    "named with a --spec of your own, keeps them out of every prompt.",
    "named": "The model is shown observations, actions, reward and documentation, but not the dynamics.",
    "anonymous": "The model is shown neither which environment this is nor its dynamics.",
    "bare": "The model is shown shapes and bounds only.",
}
"""What the model is shown of the environment, in words; the destination of the source is filled in."""

FORMALISED = (
    "The environment's source {goes} in one call, which writes the spec; prompts for policies do not contain the code of the dynamics. "
    "With a --spec of your own no prompt does."
)
"""The same if the model writes the spec."""

ENDS_EARLY_STEPS = 40
"""If random episodes are shorter than this, the horizon says little about an episode's cost."""

RECORDED = Usage(2_700, 0, 840)
"""Tokens of a call, as the median over `RECORDED_FROM`; answers by hand count as four characters per token."""

RECORDED_FROM = "28 recorded runs (benchmarks/results/proof)"


@dataclass(frozen=True, slots=True)
class Preflight:
    """Facts known before the first request or rollout.

    Attributes:
        spec: Spec of the task.
        config: Configuration with numbers of episodes decided.
        llm: The model.
    """

    spec: TaskSpec
    config: Config
    llm: LLM

    @property
    def horizon(self) -> int:
        """Maximum episode length, in steps."""
        spec = self.spec
        return spec.cut or horizon_within(self.config, spec.horizon, spec.sample_length)

    @property
    def episodes(self) -> tuple[int, int, int]:
        """Numbers of training, validation and test episodes per policy."""
        config = self.config
        return config.train_episodes, config.score_episodes, config.most_tested

    @property
    def fits(self) -> bool:
        """Whether the budget pays for one policy's training and validation at full episode length."""
        steps = self.config.budget.steps
        return steps is None or sum(self.episodes[:2]) * self.horizon <= steps

    @property
    def too_few(self) -> str:
        """Why the steps do not pay for one policy's training episodes, so that requests would be useless; empty if they do."""
        steps, (train, _, _) = self.config.budget.steps, self.episodes
        length = self.horizon if self.spec.sample_length >= ENDS_EARLY_STEPS else self.spec.sample_length
        if steps is None or train * length <= steps - self.spec.sample_steps:
            return ""
        return (
            f"{steps:,} steps are too few for one policy's {_count(train, 'training episode')} of {length:,.0f} steps: set "
            f"--max-steps {2 * math.ceil(max(train * length, self.spec.sample_steps))} or more, fewer --episodes or a shorter --max-episode-steps."
        )

    @property
    def demands(self) -> dict[str, Demand]:
        """Demand of each kind of event other than search and tuning."""
        return {
            kind: found
            for kind, part in ALLOTMENTS.items()
            if (found := part.demand(self.config, self.llm, self.horizon))
        }

    @property
    def division(self) -> dict[str, int]:
        """Steps by kind of event at full episode length, without tuning, which gets the rest."""
        config, rounds = self.config, self.config.budget.rounds
        contenders = rounds * challengers(config) + rounds - 1  # from the second round on, the leader too
        return {
            "evaluation": rounds * config.candidates * config.train_episodes * self.horizon,
            "validation": config.score_episodes * contenders * self.horizon,
            **{kind: steps or 0 for kind, (steps, *_) in self.demands.items()},
        }

    @property
    def calls(self) -> int:
        """Maximum number of model calls: every answer bad once, and repaired as often as allowed."""
        config, purposes = self.config, self.llm.capabilities.purposes
        if not self.llm.capabilities.language_model:
            return 0
        rounds, recipe = config.budget.rounds, config.switches
        again = "repair" in purposes
        repairs = config.repairs * again
        calls = rounds * config.candidates * (1 + again + repairs)
        calls += (1 + repairs) * (recipe.feedback_class and "feedback" in purposes)
        calls += (rounds - 1) * (config.follows_paper and "reflection" in purposes)
        calls += 2 * self.formalises
        calls += sum(called for _, called, _ in self.demands.values())
        return calls if config.budget.calls is None else min(calls, config.budget.calls)

    @property
    def usd(self) -> float | None:
        """Cost in US dollars of these calls to the dearest model at recorded token counts, within the limit; None if a price is unknown."""
        if not self.calls:
            return 0.0
        known = [model.capabilities for model in members_of(self.llm)]
        costs = [can.price.cost(RECORDED) if can.price else 0.0 if can.price_known else None for can in known]
        limit = math.inf if self.config.budget.usd is None else self.config.budget.usd
        return None if None in costs else min(self.calls * max(filter(None, costs), default=0.0), limit)

    @property
    def seconds(self) -> float | None:
        """Time for all steps of the budget and the test, without the model; None if unknown."""
        config, rate = self.config, self.spec.sample_rate
        if not rate or config.budget.steps is None:
            return None
        test = config.most_tested * self.horizon * (2 if config.task.held_out else 1)
        total, processes = config.budget.steps + test, config.jobs or os.cpu_count() or 1
        return total / rate / processes

    def as_json(self) -> dict[str, Any]:
        """Return the facts as in ``result.json``."""
        return {
            "horizon": self.horizon,
            "horizon_source": SOURCES[self.spec.horizon_source],
            "episodes": list(self.episodes),
            "steps": self.config.budget.steps,
            "division": self.division,
            "evaluation_fits": self.fits,
            "calls": self.calls,
            "usd": self.usd,
            "steps_per_second": self.spec.sample_rate or None,
            "seconds": self.seconds,
            "one_episode": self.spec.one_episode,
            "repeats": self.spec.repeats,
            "reveal": self.spec.revealed,
            "series": list(self.spec.series),
        }

    def brief(self) -> list[str]:
        """Return one line for the start of a run, with more only if needed; `lines` has the details."""
        first = f"{self._episodes()} Details: --estimate."
        return [*self._reveal_lines(), *([first] if self.fits else self._division())]

    def lines(self) -> list[str]:
        """Return the lines that ``--estimate`` prints."""
        found = [self._episodes(), *self._division(), self._model()]
        found += [line for *_, line in self.demands.values() if line]
        found += self._reveal_lines()
        if self.seconds is not None:
            found.append(
                f"Time: about {duration(self.seconds)} for all steps and the final test, at {self.spec.sample_rate:,.0f} steps per second in each process, "
                "plus the time that policies and the model take."
            )
        return found

    def _episodes(self) -> str:
        source = SOURCES[self.spec.horizon_source]
        return f"Episodes: at most {_count(self.horizon, 'step')} ({source})."

    @property
    def formalises(self) -> bool:
        """Whether the model is shown the source once, to write a spec that withholds it."""
        config, evidence = self.config, self.spec.evidence
        readable = config.reveals == "named" and evidence is not None and bool(evidence.source)
        described = config.spec_file is not None or config.task.reward is not None or writes_reward(config)
        return readable and not described and "spec" in self.llm.capabilities.purposes

    def _reveal_lines(self) -> list[str]:
        """Say what the model is shown of the environment."""
        if not self.llm.capabilities.language_model:
            return []
        text = FORMALISED if self.formalises else SHOWN[self.spec.revealed]
        if self.config.reveals == "source" and self.spec.revealed != "source":
            text = f"The environment's source cannot be read, so the model is shown the rest: {text}"
        return [
            text.format(
                goes="is shown to the model, on this machine"
                if self.llm.capabilities.stays_here
                else "is sent to the model's provider"
            )
        ]

    def _model(self) -> str:
        """Describe the calls and their cost at recorded token counts, since bounds on tokens are far too high."""
        if not self.calls:
            return "Model: none."
        price = (
            "their price is unknown (--price)"
            if self.usd is None
            else f"at that rate, all calls cost at most ${self.usd:.2f}"
        )
        return (
            f"Model: at most {self.calls} calls. In {RECORDED_FROM}, a call took {RECORDED.input_tokens:,} input and "
            f"{RECORDED.output_tokens:,} output tokens, without reasoning; {price}; --max-usd sets a limit."
        )

    def _division(self) -> list[str]:
        train, validation, test = self.episodes
        each = (
            f"{_count(train, 'training episode')} for each policy, up to {_count(validation, 'validation episode')} per round for "
            f"each contender, {_count(test, 'test episode')} for the best"
        )
        steps = self.config.budget.steps
        if steps is None:
            return [f"Steps: no limit; {each}."]
        if sum(self.division.values()) > steps:
            what = "all rounds at full length" if self.fits else "one full evaluation"
            why = f"Steps: {steps:,} may not suffice for {what} ({each}): "
            return [f"{why}raise --max-steps, or set fewer --episodes or a shorter --max-episode-steps."]
        rows = division_rows(steps, self.division, tunes=self.config.switches.tune)
        return [
            f"Steps: {steps:,} before the final test, divided as follows if all episodes have full length:",
            *rows,
            f"  {each}.",
        ]


def final_test_in_words(planned: PlannedTest) -> list[str]:
    """Say why the final test plays fewer episodes than requested, as decided in the journal; empty if it plays all."""
    n, most = planned.episodes, planned.of
    why = f"the final test has {n:,} instead of {most:,} episodes, as many as the policy can play in {duration(TEST_SECONDS)}"
    return [] if n == most else [f"{why}; --test-episodes {most} plays them all"]


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """Return a duration in words."""
    if seconds < 120:  # noqa: PLR2004 - up to two minutes in seconds
        return f"{max(1.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"  # noqa: PLR2004
