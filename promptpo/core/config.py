"""The configuration of a run as frozen values; features declare their own settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from promptpo.envs.task import Reveal, Task
from promptpo.llm.base import Effort
from promptpo.llm.credentials import strip_credentials
from promptpo.llm.prices import parse_price
from promptpo.settings import RunSetting, options_of

G = TypeVar("G", bound="SettingsGroup")

RecipeName = Literal["default", "paper", "evolve", "model"]

TuneMethod = Literal["cma", "none"]

REVEALED: Mapping[RecipeName, Reveal] = {"paper": "named"}
"""What recipes show of the environment if less than its source."""

MOST_TRAINED, MOST_VALIDATED, MOST_TESTED = 10, 20, 100
"""Maximum numbers of training, validation and test episodes if the user sets none."""

OUTPUT_TOKENS = 16_384
"""Limit on one answer if the user sets none; a model that reasons through all of it gets more."""

MOST_EPISODES = 100_000
"""Maximum number of test episodes that a user may set: their seeds are listed, even for somebody else's run."""


_limit = partial(RunSetting, "Budget", above=0, resumed=True)


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits, each of which ends a run cleanly with its best policy; None means no limit.

    Attributes:
        rounds: Maximum number of rounds; each requests --candidates policies.
        steps: Maximum number of environment steps, not counting the final test.
        calls: Maximum number of language-model calls.
        tokens: Maximum number of input plus output tokens.
        usd: Maximum cost in US dollars; refused for a model whose price is unknown.
        seconds: Maximum wall-clock time of this process in seconds; the other limits count the whole run.
    """

    rounds: Annotated[int, RunSetting("Budget", least=1, resumed=True)] = 5
    steps: Annotated[int | None, _limit(keyword="max_steps")] = 500_000
    calls: Annotated[int | None, _limit(keyword="max_calls")] = None
    tokens: Annotated[int | None, _limit(keyword="max_tokens")] = None
    usd: Annotated[float | None, _limit(keyword="max_usd")] = None
    seconds: Annotated[float | None, _limit(keyword="max_seconds")] = None


@dataclass(frozen=True)
class SettingsGroup:
    """Related settings; a feature's are in ``settings.py`` of its folder."""


class Switches(SettingsGroup):
    """Values of ``--option``, with defaults that depend on the recipe."""

    by_recipe: ClassVar[Mapping[RecipeName, Mapping[str, Any]]] = {}


@dataclass(frozen=True)
class Recipe(Switches):
    """The switches in which the procedures differ; docs/recipes.md justifies each.

    Attributes:
        feedback_class: Whether the model writes a class that summarises trajectories, before round 1, if a later request can show it.
        tune: Whether to tune declared PARAMS.
        early_stop: Whether to stop when the best reaches the threshold, or another round is not worth its calls and steps.
    """

    by_recipe: ClassVar = {"paper": {"tune": False, "early_stop": False}, "evolve": {"feedback_class": False}}

    feedback_class: bool = True
    tune: bool = True
    early_stop: bool = True


def groups_of(kind: type[G]) -> list[type[G]]:
    """Return the groups of a kind, including those of features, which only `promptpo.features` knows."""
    import_module("promptpo.features")
    return kind.__subclasses__()


@dataclass(frozen=True, slots=True)
class Config:
    """Configuration of one run.

    Attributes:
        task: The task.
        model: anthropic[:MODEL], openai[:MODEL], embedded[:MODEL] (small, on this machine), exec:COMMAND, inbox:DIR (answered by
            hand), replay:RUN, or search (no language model). By default: the provider whose key is set, else search. Repeatable:
            several models take turns.
        models: Models that write policies, if several share the samples in turn; `model` then names them all.
        base_url: Address of an OpenAI- or Anthropic-compatible server.
        effort: Reasoning effort of the model; by default the model's own.
        price: US dollars per million input and output tokens of the model; by default looked up.
        repair_model: Model that repairs policies; by default the one that wrote them.
        check: False: Skip the check of API keys, servers and model names before the run starts.
        temperature: Sampling temperature; by default the provider's.
        frames: Show the model images: first frames of observations that are images, and episodes that it is to compare; on by
            default for models known to accept images.
        max_output_tokens: Maximum tokens of one answer, reasoning included; unless set, it grows fourfold if reasoning uses it
            up.
        max_prompt_tokens: Maximum tokens of a prompt; the history is shortened to fit.
        budget: Limits.
        files: Digests of the user's files that build the environment, by path, as they were when the run began.
        features: Settings of features that differ from their defaults, by name; `of` returns a whole group.
        candidates: Policies requested per round.
        episodes: Training episodes per policy; by default 10, or fewer if they are too long for the step budget.
        validation_episodes: Validation episodes for choosing the best policy; by default 20, or fewer if they are too long for
            the step budget.
        test_episodes: Held-out episodes for the reported score; by default 100, or fewer if they would take more than 10 minutes.
        hint: What you know about the task, in words; added to every prompt.
        start: Initial policy, your own or an exported one, evaluated before the first round; repeatable.
        seed: Seed of training episodes and of all other random choices of promptpo.
        recipe: Search procedure; see docs/recipes.md.
        recipe_options: Override one switch of the recipe; repeatable.
        stop_at: Stop when the best policy's mean return over its training and validation episodes reaches this value; by default
            the environment's registered threshold.
        tune: cma tunes declared PARAMS between rounds; none leaves them as written.
        repairs: Maximum number of repair requests for a policy that fails.
        reveal: What the model sees of the environment: its source, everything but its dynamics (named), numbers without names and
            words (anonymous), or shapes only (bare). By default source; the recipe paper withholds it.
        spec_file: An edited spec file to show instead of the generated one.
        clip_actions: False: Fail a policy whose continuous action is out of bounds instead of clipping the action.
        jobs: Rollout processes; 0 means one per core.
        executor: Where rollouts run: local, or ray (RAY_ADDRESS names a cluster; by default one is started here).
        allow_weaker_sandbox: Run even if the system lacks sandbox layers.
    """

    task: Task
    model: Annotated[str | None, RunSetting("Model", metavar="MODEL", words=list[str])] = None
    models: tuple[str, ...] = ()
    base_url: Annotated[str | None, RunSetting("Model", resumed=True)] = None
    effort: Annotated[Effort | None, RunSetting("Model")] = None
    price: Annotated[
        tuple[float, float] | None,
        RunSetting("Model", metavar="IN,OUT", words=str, read=parse_price, resumed=True),
    ] = None
    repair_model: Annotated[str | None, RunSetting("Model", metavar="MODEL")] = None
    check: Annotated[bool, RunSetting("Model", flags="--no-check")] = True
    temperature: Annotated[float | None, RunSetting("Model", least=0)] = None
    frames: Annotated[bool | None, RunSetting("Model", flags="--frames/--no-frames")] = None
    max_output_tokens: Annotated[int, RunSetting("Model", least=1, resumed=True)] = OUTPUT_TOKENS
    max_prompt_tokens: Annotated[int, RunSetting("Model", least=1, resumed=True)] = 24_000
    budget: Budget = field(default_factory=Budget)
    files: Mapping[str, str] = field(default_factory=dict)
    features: Mapping[str, Any] = field(default_factory=dict)
    candidates: Annotated[int, RunSetting("Budget", flags="--candidates -n", least=1)] = 4
    episodes: Annotated[int | None, RunSetting("Budget", least=1)] = None
    validation_episodes: Annotated[int | None, RunSetting("Budget", least=1)] = None
    test_episodes: Annotated[int | None, RunSetting("Budget", least=1, most=MOST_EPISODES)] = None
    hint: Annotated[str, RunSetting("Search", metavar="TEXT")] = ""
    start: Annotated[tuple[str, ...], RunSetting("Search", metavar="POLICY.py", words=list[Path])] = ()
    seed: Annotated[int, RunSetting("Search", least=0)] = 0
    recipe: Annotated[RecipeName, RunSetting("Search")] = "default"
    recipe_options: Annotated[
        Mapping[str, Any],
        RunSetting("Search", flags="--option", metavar="NAME=VALUE", words=list[str], read=options_of),
    ] = field(default_factory=dict)
    stop_at: Annotated[float | None, RunSetting("Search")] = None
    tune: Annotated[TuneMethod, RunSetting("Search")] = "cma"
    repairs: Annotated[int, RunSetting("Search", least=0)] = 2
    reveal: Annotated[Reveal | None, RunSetting("Environment")] = None
    spec_file: Annotated[str | None, RunSetting("Environment", flags="--spec", words=Path)] = None
    clip_actions: Annotated[bool, RunSetting("Advanced", flags="--no-clip")] = True
    jobs: Annotated[int, RunSetting("Advanced", least=0)] = 0
    executor: Annotated[Literal["local", "ray"], RunSetting("Advanced")] = "local"
    allow_weaker_sandbox: Annotated[bool, RunSetting("Advanced", resumed=True)] = False

    def __post_init__(self) -> None:
        if self.base_url is not None:  # drop credentials embedded in the URL
            object.__setattr__(self, "base_url", strip_credentials(self.base_url))

    def of(self, kind: type[G]) -> G:
        """Return the settings of one group: the user's values, else the recipe's, else the defaults."""
        values = self.features
        if issubclass(kind, Switches):
            values = {**kind.by_recipe.get(self.recipe, {}), **self.recipe_options}
        return kind(**{f.name: values[f.name] for f in fields(kind) if f.name in values})

    def shows_frames(self, llm: Any) -> bool:
        """Whether prompts to this model contain pictures, which reveal the environment's identity."""
        sees = llm.capabilities.sees if llm.capabilities.language_model else False
        wanted = sees is True if self.frames is None else self.frames and sees is not False
        return wanted and self.reveals in {"source", "named"}

    @property
    def reveals(self) -> Reveal:
        """How much of the environment the model is shown, with defaults applied."""
        return self.reveal or REVEALED.get(self.recipe, "source")

    @property
    def follows_paper(self) -> bool:
        """Whether the run keeps to the published procedure, without the comparisons and savings added to it."""
        return self.recipe == "paper"

    @property
    def train_episodes(self) -> int:
        """Number of training episodes per candidate, with the default applied."""
        return self.episodes or MOST_TRAINED

    @property
    def score_episodes(self) -> int:
        """Number of validation episodes, with the default applied."""
        return self.validation_episodes or MOST_VALIDATED

    @property
    def most_tested(self) -> int:
        """Maximum number of test episodes."""
        return self.test_episodes or MOST_TESTED

    @property
    def switches(self) -> Recipe:
        """The recipe's switches with `recipe_options` and `tune` applied, and no feedback class if no later request can show it."""
        off = {"tune": False} if self.tune == "none" else {}
        if self.budget.rounds == 1 and not self.start:
            off["feedback_class"] = False
        return replace(self.of(Recipe), **off)
