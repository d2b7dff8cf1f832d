"""All that decides a run, as frozen values that are written to ``config.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from promptpo.records import Reveal, Task

Recipe = Literal["default", "paper", "evolve"]
TuneMethod = Literal["cma", "none"]


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits, each of which ends a run cleanly with its best policy; None means no limit.

    Attributes:
        rounds: Prompts, each with N candidates.
        steps: Environment steps for everything but the final test.
        calls: Language-model calls.
        tokens: Input plus output tokens.
        usd: Money; counts calls whose price is known.
        seconds: Wall time.
    """

    rounds: int = 5
    steps: int | None = 500_000
    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """One run.

    Attributes:
        task: What is to be solved.
        model: As in ``--model``; None chooses by the keys in the environment.
        base_url: Address of an OpenAI- or Anthropic-compatible server.
        recipe: The procedure; see docs/recipes.md.
        candidates: Samples per round (the paper's N).
        episodes: Training episodes per candidate.
        validation_episodes: Episodes on validation seeds for candidates that may become the best.
        test_episodes: Held-out episodes for the reported number.
        seed: Decides training seeds and everything random on our side.
        reveal: How much the prompt tells about which environment it is.
        tune: How declared PARAMS are tuned.
        lift_constants: Turn numeric literals into PARAMS where the model declared none.
        clip_actions: Clip continuous actions into their bounds instead of failing the candidate.
        stop_at: Stop when the validation mean return reaches this; None takes the environment's
            registered threshold.
        temperature: Sampling temperature; None leaves the provider's default.
        max_output_tokens: Limit for one answer.
        max_prompt_tokens: Bound on the prompt; history is shortened to fit.
        repairs: Repair calls per broken candidate.
        jobs: Rollout processes; 0 means one per core.
        executor: Where rollouts run.
        allow_weaker_sandbox: Accept a machine that lacks sandbox layers.
        spec_file: An edited spec to use instead of the generated one.
        budget: Limits.
        recipe_options: Switches that override parts of the recipe.
    """

    task: Task
    model: str | None = None
    base_url: str | None = None
    recipe: Recipe = "default"
    candidates: int = 4
    episodes: int = 10
    validation_episodes: int = 20
    test_episodes: int = 100
    seed: int = 0
    reveal: Reveal = "named"
    tune: TuneMethod = "cma"
    lift_constants: bool = False
    clip_actions: bool = True
    stop_at: float | None = None
    temperature: float | None = None
    max_output_tokens: int = 8192
    max_prompt_tokens: int = 24_000
    repairs: int = 2
    jobs: int = 0
    executor: Literal["local", "ray"] = "local"
    allow_weaker_sandbox: bool = False
    spec_file: str | None = None
    budget: Budget = field(default_factory=Budget)
    recipe_options: Mapping[str, Any] = field(default_factory=dict)
