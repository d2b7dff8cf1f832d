"""All that decides a run, as frozen values that are written to ``config.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from promptpo.core.journal import adapter, file_of_run
from promptpo.core.recipe import RECIPES, REVEALED, Recipe, RecipeName
from promptpo.core.settings import RunSetting, check_names, options_of
from promptpo.envs.task import Reveal, Task
from promptpo.errors import RunError
from promptpo.llm.base import Effort
from promptpo.llm.credentials import hide_credentials, strip_credentials
from promptpo.llm.prices import parse_price
from promptpo_sandbox.errors import SandboxError

CONFIG = "config.toml"

MAX_TOML_CHARACTERS = 8_000
"""Characters of TOML that is read here; tomllib may take minutes for longer ones, which the reader is given."""

JudgeName = Literal["model", "me"]
TuneMethod = Literal["cma", "none"]
Product = Literal["program", "network", "any"]

MOST_TRAINED, MOST_VALIDATED, MOST_TESTED = 10, 20, 100
"""Episodes of training, validation and test where the user names no number, at most."""

OUTPUT_TOKENS = 16_384
"""Of one answer where the user names no limit; a model whose reasoning uses all of them gets more."""

MOST_EPISODES = 100_000
"""Test episodes that a user may name: their seeds are listed, also for a run that somebody else has configured."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits, each of which ends a run cleanly with its best policy; None means no limit."""

    rounds: Annotated[
        int,
        RunSetting(
            "Maximum number of rounds; each requests --candidates policies.",
            "Budget",
            least=1,
            resumed="New number of rounds.",
        ),
    ] = 5
    steps: Annotated[
        int | None,
        RunSetting(
            "Maximum number of environment steps, not counting the final test.",
            "Budget",
            keyword="max_steps",
            above=0,
            resumed="New limit on environment steps.",
        ),
    ] = 500_000
    calls: Annotated[
        int | None,
        RunSetting(
            "Maximum number of language-model calls.",
            "Budget",
            keyword="max_calls",
            above=0,
            resumed="New limit on language-model calls.",
        ),
    ] = None
    tokens: Annotated[
        int | None,
        RunSetting(
            "Maximum number of input plus output tokens.",
            "Budget",
            keyword="max_tokens",
            above=0,
            resumed="New limit on tokens.",
        ),
    ] = None
    usd: Annotated[
        float | None,
        RunSetting(
            "Maximum cost in US dollars; refused for a model whose price is unknown.",
            "Budget",
            keyword="max_usd",
            above=0,
            resumed="New limit on cost in US dollars.",
        ),
    ] = None
    seconds: Annotated[
        float | None,
        RunSetting(
            "Maximum wall-clock time of this process in seconds.",
            "Budget",
            keyword="max_seconds",
            above=0,
            resumed="New limit on wall-clock time, counted from now; the other limits count the whole run.",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Config:
    """One run.

    Attributes:
        task: What is to be solved.
        models: Several models that write policies, which share the samples in turn; `model` is what they are called together.
        written: How many of `start`, the last ones, the model wrote while the reward for the goal was judged.
        budget: Limits.
        files: Digests of the files of one's own that the environment is built from, by path, as they were when the run began.
    """

    task: Task
    model: Annotated[
        str | None,
        RunSetting(
            "anthropic[:MODEL], openai[:MODEL], embedded[:MODEL] (small, on this machine), exec:COMMAND, inbox:DIR (answered by hand), replay:RUN, or search (no language model). By default: the provider whose key is set, else search. Repeatable: several models take turns.",
            "Model",
            metavar="MODEL",
            words=list[str],
        ),
    ] = None
    models: tuple[str, ...] = ()
    base_url: Annotated[
        str | None,
        RunSetting(
            "Address of an OpenAI- or Anthropic-compatible server.",
            "Model",
            resumed="New address of the model's server.",
        ),
    ] = None
    effort: Annotated[
        Effort | None, RunSetting("Reasoning effort of the model; by default the model's own.", "Model")
    ] = None
    price: Annotated[
        tuple[float, float] | None,
        RunSetting(
            "US dollars per million input and output tokens of the model; by default looked up.",
            "Model",
            metavar="IN,OUT",
            words=str,
            read=parse_price,
            resumed="US dollars per million input and output tokens of the model; by default looked up.",
        ),
    ] = None
    repair_model: Annotated[
        str | None,
        RunSetting(
            "Model that repairs policies; by default the one that wrote them.", "Model", metavar="MODEL"
        ),
    ] = None
    check: Annotated[
        bool,
        RunSetting(
            "Skip the check of API keys, servers and model names before the run starts.",
            "Model",
            flags="--no-check",
        ),
    ] = True
    temperature: Annotated[
        float | None,
        RunSetting("Sampling temperature; by default the provider's.", "Model", least=0),
    ] = None
    frames: Annotated[
        bool | None,
        RunSetting(
            "Show the model film strips of episodes, and the first frames if observations are images; on by default for models known to accept images.",
            "Model",
            flags="--frames/--no-frames",
        ),
    ] = None
    max_output_tokens: Annotated[
        int,
        RunSetting(
            "Maximum tokens of one answer, reasoning included; unless set, it grows fourfold if reasoning uses it up.",
            "Model",
            least=1,
            resumed="New limit on the tokens of one answer.",
        ),
    ] = OUTPUT_TOKENS
    max_prompt_tokens: Annotated[
        int,
        RunSetting(
            "Maximum tokens of a prompt; the history is shortened to fit.",
            "Model",
            least=1,
            resumed="New limit on the tokens of a prompt.",
        ),
    ] = 24_000
    goal: Annotated[
        str,
        RunSetting(
            'The goal in words, such as "walk backwards without falling"; the model first writes a reward for it.',
            "Environment",
            metavar="TEXT",
        ),
    ] = ""
    judge: Annotated[
        JudgeName,
        RunSetting(
            "Who decides, before the search, which of two episodes comes closer to --goal: the model, or you, on a local web page.",
            "Environment",
        ),
    ] = "model"
    budget: Budget = field(default_factory=Budget)
    files: Mapping[str, str] = field(default_factory=dict)
    candidates: Annotated[
        int, RunSetting("Policies requested per round.", "Budget", flags="--candidates -n", least=1)
    ] = 4
    episodes: Annotated[
        int | None,
        RunSetting(
            "Training episodes per policy; by default 10, or fewer if they are too long for the step budget.",
            "Budget",
            least=1,
        ),
    ] = None
    validation_episodes: Annotated[
        int | None,
        RunSetting(
            "Validation episodes for choosing the best policy; by default 20, or fewer if they are too long for the step budget.",
            "Budget",
            least=1,
        ),
    ] = None
    test_episodes: Annotated[
        int | None,
        RunSetting(
            "Held-out episodes for the reported score; by default 100, or fewer if they would take more than 10 minutes.",
            "Budget",
            least=1,
            most=MOST_EPISODES,
        ),
    ] = None
    hint: Annotated[
        str,
        RunSetting(
            "What you know about the task, in words; added to every prompt.", "Search", metavar="TEXT"
        ),
    ] = ""
    start: Annotated[
        tuple[str, ...],
        RunSetting(
            "Initial policy, your own or an exported one, evaluated before the first round; repeatable.",
            "Search",
            metavar="POLICY.py",
            words=list[Path],
        ),
    ] = ()
    written: int = 0
    seed: Annotated[
        int,
        RunSetting(
            "Seed of training episodes and of all other random choices of promptpo.", "Search", least=0
        ),
    ] = 0
    teacher: Annotated[
        str | None,
        RunSetting(
            "A trained stable-baselines3 agent to learn from and beat. Loading it runs code in the file.",
            "Search",
            metavar="AGENT.zip",
            words=Path,
        ),
    ] = None
    recipe: Annotated[RecipeName, RunSetting("Search procedure; see docs/recipes.md.", "Search")] = "default"
    recipe_options: Annotated[
        Mapping[str, Any],
        RunSetting(
            "Override one switch of the recipe; repeatable.",
            "Search",
            flags="--option",
            metavar="NAME=VALUE",
            words=list[str],
            read=options_of,
        ),
    ] = field(default_factory=dict)
    stop_at: Annotated[
        float | None,
        RunSetting(
            "Stop when the mean validation return reaches this value; by default the environment's registered threshold.",
            "Search",
        ),
    ] = None
    tune: Annotated[
        TuneMethod,
        RunSetting("cma tunes declared PARAMS between rounds; none leaves them as written.", "Search"),
    ] = "cma"
    simulate: Annotated[
        bool | None,
        RunSetting(
            "Have the model write a simulator of the environment first, and search in it, where steps are free; see docs/simulator.md.",
            "Search",
            flags="--simulate/--no-simulate",
        ),
    ] = None
    policy: Annotated[
        Product | None,
        RunSetting(
            "Which policy found in the simulator becomes best.py: the readable program, the network, or any (the better of the two). By default the program, if it returns at least 90 % of what the network does.",
            "Search",
        ),
    ] = None
    repairs: Annotated[
        int, RunSetting("Maximum number of repair requests for a policy that fails.", "Search", least=0)
    ] = 2
    reveal: Annotated[
        Reveal | None,
        RunSetting(
            "What the model sees of the environment: its source, everything but its dynamics (named), numbers without names and words "
            "(anonymous), or shapes only (bare). By default source; the recipe paper withholds it.",
            "Environment",
        ),
    ] = None
    spec_file: Annotated[
        str | None,
        RunSetting(
            "An edited spec file to show instead of the generated one.",
            "Environment",
            flags="--spec",
            words=Path,
        ),
    ] = None
    clip_actions: Annotated[
        bool,
        RunSetting(
            "Fail a policy whose continuous action is out of bounds instead of clipping the action.",
            "Advanced",
            flags="--no-clip",
        ),
    ] = True
    jobs: Annotated[int, RunSetting("Rollout processes; 0 means one per core.", "Advanced", least=0)] = 0
    executor: Annotated[
        Literal["local", "ray"],
        RunSetting(
            "Where rollouts run: local, or ray (RAY_ADDRESS names a cluster; by default one is started here).",
            "Advanced",
        ),
    ] = "local"
    allow_weaker_sandbox: Annotated[
        bool,
        RunSetting(
            "Run even if the system lacks sandbox layers.",
            "Advanced",
            resumed="Run even if the system lacks sandbox layers.",
        ),
    ] = False

    def __post_init__(self) -> None:
        if self.base_url is not None:  # what is in it beside the address is nobody's but the user's
            object.__setattr__(self, "base_url", strip_credentials(self.base_url))

    def shows_frames(self, llm: Any) -> bool:
        """Whether prompts to this model show pictures, which tell which environment it is."""
        sees = llm.capabilities.sees if llm.capabilities.language_model else False
        wanted = sees is True if self.frames is None else self.frames and sees is not False
        return wanted and self.reveals in {"source", "named"}

    @property
    def reveals(self) -> Reveal:
        """How much of the environment the model is shown, with defaults resolved."""
        return self.reveal or REVEALED.get(self.recipe, "source")

    @property
    def published(self) -> bool:
        """Whether the procedure is the published one, which neither compares nor saves as much as the others."""
        return self.recipe == "paper"

    @property
    def train_episodes(self) -> int:
        """Training episodes per candidate, decided."""
        return self.episodes or MOST_TRAINED

    @property
    def score_episodes(self) -> int:
        """Validation episodes, decided."""
        return self.validation_episodes or MOST_VALIDATED

    @property
    def most_tested(self) -> int:
        """Test episodes at most."""
        return self.test_episodes or MOST_TESTED

    @property
    def switches(self) -> Recipe:
        """The recipe with `recipe_options` and `tune` applied.

        Raises:
            UsageError: An option that recipes do not have.
        """
        check_names(self.recipe_options, (field.name for field in fields(Recipe)), "recipes have no switch")
        untuned = {"tune": False} if self.tune == "none" else {}
        return replace(RECIPES[self.recipe], **{**self.recipe_options, **untuned})


def config_text(config: Config) -> str:
    """A configuration as TOML; None values are left out."""
    import tomli_w

    return tomli_w.dumps(_without_none(asdict(config)))


def load_config(path: Path) -> Config:
    """Read what `config_text` gave.

    Raises:
        RunError: The file is missing or does not describe a run.
    """
    text = file_of_run(path)
    try:
        table = _table(text.decode())
        _check_address(path, table.get("base_url"))
        config: Config = adapter(Config).validate_python(table)
    except (ValueError, RecursionError, SandboxError) as error:  # pydantic's and tomllib's are ValueErrors
        raise RunError(f"{path} is damaged: {' '.join(str(error).split())[:200]}.") from error
    return config


def _check_address(path: Path, address: Any) -> None:
    """Refuse a configuration that holds a password.

    Raises:
        RunError: The address of its server has one.
    """
    if isinstance(address, str) and hide_credentials(address) != address:
        raise RunError(
            f"{path} has a user name or password in base_url; take them out, and set OPENAI_BASE_URL (or ANTHROPIC_BASE_URL) "
            "to the address with them."
        )


def _table(text: str) -> Any:
    if len(text) < MAX_TOML_CHARACTERS:
        return tomllib.loads(text)
    from promptpo.program.reader import read  # imported when it is needed

    return read("toml", text)


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_without_none(item) for item in value]
    return value
