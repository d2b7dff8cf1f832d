"""All that decides a run, as frozen values that are written to ``config.toml``."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from promptpo.envs.task import Task
from promptpo.errors import NoSuchRunError, RunError, UsageError
from promptpo.files import read_regular, write_atomically
from promptpo.llm.base import Effort
from promptpo.run.adapters import adapter
from promptpo.run.budget import MANY, SHORT_EPISODE, TABLE, TINY_EPISODE, longest_episode, units
from promptpo.spec.levels import Reveal, SpecDetail

CONFIG = "config.toml"

RecipeName = Literal["default", "paper", "evolve", "model"]
JudgeName = Literal["model", "me"]
TuneMethod = Literal["cma", "none"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """The switches in which the procedures differ; docs/recipes.md justifies each.

    Attributes:
        feedback_class: The model writes a class that summarises trajectories, before round 1.
        feedback_sees_all: That class sees actions, rewards and how the episode ended, not only observations.
        feedback_episodes: "typical" summarises the worst, the median and the best episode next to aggregates over
            all; "all" summarises each.
        reflection: A call between rounds that reflects on the last attempt.
        history: "winners" shows each round's winner, all of them; "best" shows the best few and the
            last few in a bounded prompt; "parents" shows parents sampled from an island.
        best_k: With "parents", how many are drawn.
        duplicates: Recognise sources with the same normalised syntax tree and do not roll them out again.
        racing: Episodes after which a candidate that can no longer win is given up; 0 rolls out all.
        directions: Ask for different things in different samples; let the model say that nothing better is possible.
        validate: How many of a round's candidates are scored on validation seeds.
        islands: Separate populations; 1 means one.
        migrate_every: Rounds between migrations of each island's best.
        tune: Tune declared PARAMS.
        early_stop: End the search when the best reaches the threshold, or another round is not worth its calls and steps.
        world: Learn a world model from what is recorded, and search in it first; see docs/world-models.md.
        probe: Let the model write experiments before the first round, and one in later rounds; see docs/experiments.md.
        probe_episodes: Episodes of an experiment, at most.
        probe_steps: Environment steps of an experiment, at most.
    """

    feedback_class: bool = True
    feedback_sees_all: bool = True
    feedback_episodes: Literal["typical", "all"] = "typical"
    reflection: bool = False
    history: Literal["winners", "best", "parents"] = "best"
    best_k: int = 2
    duplicates: bool = True
    racing: int = 3
    directions: bool = True
    validate: int = 2
    islands: int = 1
    migrate_every: int = 3
    tune: bool = True
    early_stop: bool = True
    world: bool = False
    probe: bool = True
    probe_episodes: int = 2
    probe_steps: int = 1000


RECIPES: Mapping[RecipeName, Recipe] = {
    "default": Recipe(),
    "paper": Recipe(
        feedback_sees_all=False,
        feedback_episodes="all",
        reflection=True,
        history="winners",
        duplicates=False,
        racing=0,
        directions=False,
        validate=1,
        tune=False,
        early_stop=False,
        probe=False,
    ),
    "evolve": Recipe(feedback_class=False, history="parents", islands=3, probe=False),
    "model": Recipe(world=True),
}


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
        model: As in ``--model``; None chooses by the keys in the environment. Of several, what they are called together.
        models: Several models that write policies, which share the samples in turn.
        repair_model: Who repairs; None leaves it to whoever wrote the policy.
        base_url: Address of an OpenAI- or Anthropic-compatible server.
        price: US dollars per million input and output tokens; None looks them up.
        recipe: The procedure; see docs/recipes.md.
        candidates: Samples per round (the paper's N).
        episodes: Training episodes per candidate; None lets `with_episodes` choose.
        validation_episodes: Episodes on validation seeds for candidates that may become the best; None
            lets `with_episodes` choose.
        test_episodes: Held-out episodes for the reported number; None plays `MOST_TESTED`, fewer of a slow policy.
        seed: Decides training seeds and everything random on our side.
        reveal: How much the prompt tells about which environment it is.
        tune: How declared PARAMS are tuned.
        clip_actions: Clip continuous actions into their bounds instead of failing the candidate.
        stop_at: Stop when the validation mean return reaches this; None takes the environment's
            registered threshold.
        temperature: Sampling temperature; None leaves the provider's default.
        effort: How hard a reasoning model thinks; None leaves the provider's default.
        max_output_tokens: Limit for one answer.
        max_prompt_tokens: Bound on the prompt; history is shortened to fit.
        repairs: Repair calls per broken candidate.
        jobs: Rollout processes; 0 means one per core.
        executor: Where rollouts run.
        allow_weaker_sandbox: Accept a machine that lacks sandbox layers.
        spec_file: An edited spec to use instead of the generated one.
        spec_detail: How long the generated spec may become; "normal" stays under about 2,000 tokens.
        frames: Whether prompts show pictures; None where the model is known to see them.
        hint: What the user says about the task; in every prompt.
        goal: What is to be done, in the user's words: the model writes the reward for it first.
        judge: Who says which of two episodes comes closer to the goal: the model, or a person on a page of this machine.
        start: Policy modules to begin with: candidates of their own before the first round.
        written: How many of these, the last ones, the model wrote while the reward for the goal was judged.
        teacher: File of a trained agent: a mark to beat, and what to learn from.
        check: Whether models, keys and servers are tried before the run begins.
        budget: Limits.
        recipe_options: Switches that override parts of the recipe.
    """

    task: Task
    model: str | None = None
    models: tuple[str, ...] = ()
    repair_model: str | None = None
    base_url: str | None = None
    price: tuple[float, float] | None = None
    recipe: RecipeName = "default"
    candidates: int = 4
    episodes: int | None = None
    validation_episodes: int | None = None
    test_episodes: int | None = None
    seed: int = 0
    reveal: Reveal = "named"
    tune: TuneMethod = "cma"
    clip_actions: bool = True
    stop_at: float | None = None
    temperature: float | None = None
    effort: Effort | None = None
    max_output_tokens: int = 16_384
    max_prompt_tokens: int = 24_000
    repairs: int = 2
    jobs: int = 0
    executor: Literal["local", "ray"] = "local"
    allow_weaker_sandbox: bool = False
    spec_file: str | None = None
    spec_detail: SpecDetail = "normal"
    frames: bool | None = None
    hint: str = ""
    goal: str = ""
    judge: JudgeName = "model"
    start: tuple[str, ...] = ()
    written: int = 0
    teacher: str | None = None
    check: bool = True
    budget: Budget = field(default_factory=Budget)
    recipe_options: Mapping[str, Any] = field(default_factory=dict)

    def shows_frames(self, llm: Any) -> bool:
        """Whether prompts to this model show pictures, which tell which environment it is."""
        sees = getattr(llm, "sees", False) if llm.language_model else False
        wanted = sees is True if self.frames is None else self.frames and sees is not False
        return wanted and self.reveal in {"source", "named"}

    @property
    def train_episodes(self) -> int:
        """Training episodes per candidate, decided."""
        return self.episodes or TABLE["training"].cap

    @property
    def score_episodes(self) -> int:
        """Validation episodes, decided."""
        return self.validation_episodes or TABLE["validation"].cap

    @property
    def most_tested(self) -> int:
        """Test episodes at most."""
        return self.test_episodes or MOST_TESTED

    def is_written(self, candidate: str) -> bool:
        """Whether a candidate of round 0 was written by the model, while the reward for the goal was judged."""
        number = re.match(r"r0c(\d+)$", candidate)
        return number is not None and 0 <= len(self.start) - int(number[1]) < self.written

    @property
    def switches(self) -> Recipe:
        """The recipe with `recipe_options` applied.

        Raises:
            UsageError: An option that recipes do not have.
        """
        known = {f.name for f in fields(Recipe)}
        for name in self.recipe_options:
            if name not in known:
                raise UsageError(f"recipes have no switch {name!r}; they have: {', '.join(sorted(known))}.")
        return replace(RECIPES[self.recipe], **self.recipe_options)


PAPER_EPISODES = 5
"""Training episodes in the published procedure."""


MOST_TESTED = 100
"""Test episodes where the user names no number."""

ALIKE = 2
"""Episodes for each purpose where all are the same."""


def with_episodes(
    config: Config, horizon: int | None, sampled: float = math.inf, *, one_episode: bool = False
) -> Config:
    """Decide how many episodes judge a candidate, where the user did not: as many as the budget's table pays for.

    A family of variants takes as many more as let every variant be played equally often.

    Args:
        config: As the user gave it.
        horizon: Longest episode in steps; None where the environment sets none, which are short ones.
        sampled: Mean steps of a few episodes of random actions.
        one_episode: Whether seeds change nothing, so that more episodes tell nothing more.
    """
    if one_episode:
        return replace(
            config,
            episodes=ALIKE,
            validation_episodes=ALIKE,
            test_episodes=min(config.most_tested, ALIKE),
        )
    tiny = horizon is None and sampled < TINY_EPISODE
    if horizon is None:
        own = math.ceil(sampled) if math.isfinite(sampled) else 0
        horizon = math.ceil(2 * sampled) if tiny else max(SHORT_EPISODE, own)
    rounds, steps = config.budget.rounds, config.budget.steps

    def decided(purpose: Literal["training", "validation"], policies: int) -> int:
        return units(purpose, steps, rounds * policies * horizon, MANY[purpose] if tiny else None)

    train = PAPER_EPISODES if config.recipe == "paper" else decided("training", config.candidates)
    validation = decided("validation", config.switches.validate)
    turn = max(1, len(config.task.family))
    return replace(
        config,
        episodes=config.episodes or -(-train // turn) * turn,
        validation_episodes=config.validation_episodes or -(-validation // turn) * turn,
    )


def horizon_within(config: Config, horizon: int | None, sampled: float = math.inf) -> int:
    """Longest episode in steps: the environment's, or, where it has none, what the budget can pay for.

    Args:
        config: With its numbers of episodes decided.
        horizon: The environment's limit, or the user's; None where there is none.
        sampled: Steps of an episode of random actions.
    """
    if horizon is not None:
        return horizon
    policies = config.budget.rounds * config.candidates
    return longest_episode(config.budget.steps, policies * config.train_episodes, sampled)


def save_config(config: Config, path: Path) -> None:
    """Write a configuration as TOML, whole or not at all; None values are left out."""
    write_atomically(path, config_text(config))


def config_text(config: Config) -> str:
    """A configuration as TOML; None values are left out."""
    import tomli_w

    return tomli_w.dumps(_without_none(asdict(config)))


def load_config(path: Path) -> Config:
    """Read what `save_config` wrote.

    Raises:
        RunError: The file is missing or does not describe a run.
    """
    try:
        config: Config = adapter(Config).validate_python(tomllib.loads(read_regular(path).decode()))
    except OSError as error:
        raise NoSuchRunError(
            f"{path.parent} is not a run directory: there is no readable {path.name} in it."
        ) from error
    except (ValueError, RecursionError) as error:  # pydantic's and tomllib's are ValueErrors
        raise RunError(f"{path} is damaged: {str(error).splitlines()[0]}.") from error
    return config


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_without_none(item) for item in value]
    return value
