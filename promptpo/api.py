"""promptpo from Python: `optimize`, `resume`, `evaluate`, `export`, and the values they return."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.envs.objects import EnvLike, WrapperLike, same_environment, task_of
from promptpo.envs.task import Task, Variant
from promptpo.errors import RunError, UsageError
from promptpo.files import read_text
from promptpo.output.exporting import exported, policy_part
from promptpo.output.report.variants import by_variant
from promptpo.output.run_result import RunResult, best_source, load_run
from promptpo.rollouts import Job, LocalExecutor, Settings, evaluation_of, roll_out
from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.checking import checked, config_of
from promptpo.run.config import CONFIG, Budget, Config, load_config
from promptpo.run.observer import Observer
from promptpo.session import Session, default_name, provenance, run_async

if TYPE_CHECKING:
    from promptpo.llm.base import LLM

AGENTS = "promptpo.agents"
"""Entry-point group of what plays trained agents, by the ending of their files."""


def optimize(
    env_id: EnvLike,
    *,
    model: str | None = None,
    rounds: int = 5,
    candidates: int = 4,
    episodes: int | None = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    wrappers: Sequence[WrapperLike] = (),
    variants: Sequence[Mapping[str, Any] | Variant] = (),
    held_out: Sequence[Mapping[str, Any] | Variant] = (),
    show_variant: bool = False,
    max_episode_steps: int | None = None,
    max_steps: int | None = 500_000,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_usd: float | None = None,
    max_seconds: float | None = None,
    llm: LLM | None = None,
    observer: Observer | None = None,
    **settings: Any,
) -> RunResult:
    """Search for a policy for a Gymnasium environment, or for a family of variants of one.

    Args:
        env_id: As Gymnasium writes it, ``module:EnvId`` included; a class or function that builds an environment,
            itself or as ``module:Class`` or ``./file.py:Class``; or an environment.
        model: "anthropic:MODEL", "openai:MODEL", "exec:COMMAND", "inbox:DIR", "replay:RUN" or "search"; None chooses
            by the keys in the environment.
        rounds: Prompts.
        candidates: Samples per round.
        episodes: Training episodes per candidate; None chooses by the step budget.
        seed: Decides training seeds and everything random on our side.
        out: Run directory; must not hold a run. None makes one under ``runs/``.
        env_kwargs: For the environment.
        wrappers: Put around it, the first one innermost: names as ``--wrapper`` takes them, classes, or pairs of
            either with a mapping of arguments.
        variants: Keyword arguments beyond `env_kwargs`, a mapping for each variant: one policy is to solve all.
        held_out: The same for variants that only the test plays.
        show_variant: Observations become ``{"observation": ..., "variant": n}``.
        max_episode_steps: Horizon; None keeps the environment's.
        max_steps: Environment steps for everything but the final test.
        max_calls: Language-model calls.
        max_tokens: Input plus output tokens.
        max_usd: Money.
        max_seconds: Wall time.
        llm: A provider object to use instead of `model`.
        observer: Told what happens.
        **settings: Any other field of `promptpo.run.config.Config`.

    Raises:
        PromptPOError: One sentence that says what to do; see `promptpo.errors`.
    """
    config = config_of(
        task=task_of(
            env_id,
            env_kwargs,
            max_episode_steps,
            wrappers=wrappers,
            variants=variants,
            held_out=held_out,
            show_variant=show_variant,
        ),
        model=llm.name if llm else model,
        candidates=candidates,
        episodes=episodes,
        seed=seed,
        budget=Budget(rounds, max_steps, max_calls, max_tokens, max_usd, max_seconds),
        **settings,
    )
    return start(config, out=out, llm=llm, observer=observer)


def start(
    config: Config,
    *,
    out: str | os.PathLike[str] | None = None,
    llm: LLM | None = None,
    observer: Observer | None = None,
) -> RunResult:
    """Begin a run from a complete configuration; see `optimize`."""
    config = checked(config)
    directory = Path(out) if out is not None else default_directory(config.task)
    if (directory / CONFIG).exists():
        raise RunError(
            f"{directory} already holds a run; continue it with: promptpo resume {directory}, or choose another --out."
        )
    return Session(config, directory, llm, observer or Observer()).run()


def resume(
    run: str | os.PathLike[str],
    *,
    env: EnvLike | None = None,
    llm: LLM | None = None,
    observer: Observer | None = None,
    price: tuple[float, float] | None = None,
    max_prompt_tokens: int | None = None,
    max_output_tokens: int | None = None,
    **budget: float | None,
) -> RunResult:
    """Go on with a run that was interrupted, or extend one that ended.

    Args:
        run: The run directory.
        env: The environment, where the run was begun with an object that no module has.
        llm: A provider object to use instead of the recorded one.
        observer: Told what happens.
        price: US dollars per million input and output tokens, where they were not known.
        max_prompt_tokens: New bound on a prompt.
        max_output_tokens: New limit for one answer.
        **budget: Fields of `promptpo.run.config.Budget` to change, for example ``rounds=10``.

    Raises:
        RunError: It is no run, or another process has it open.
    """
    directory = Path(run)
    config = load_config(directory / CONFIG)
    if env is not None:
        same_environment(config.task, env)
    changes = {name: value for name, value in budget.items() if value is not None}
    config = replace(
        config,
        price=price or config.price,
        max_prompt_tokens=max_prompt_tokens or config.max_prompt_tokens,
        max_output_tokens=max_output_tokens or config.max_output_tokens,
        budget=replace(config.budget, **changes),  # type: ignore[arg-type] # checked next
    )
    return Session(checked(config), directory, llm, observer or Observer()).run()


def default_directory(task: Task) -> Path:
    """A new directory under ``runs/``, named after the environment and the time."""
    base = Path("runs") / f"{default_name(task)}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    directory, n = base, 1
    while directory.exists():
        n += 1
        directory = base.with_name(f"{base.name}-{n}")
    return directory


def export(run: str | os.PathLike[str], *, candidate: str | None = None, filename: str = "policy.py") -> str:
    """The text of a policy file for the best candidate of a run, or for another one.

    Args:
        run: The run directory.
        candidate: Its id; None means the best.
        filename: For the usage line in the file.

    Raises:
        RunError: The run or the candidate cannot be read, or nothing ran.
    """
    from promptpo.envs.building import make_env

    loaded = load_run(run)
    config = load_config(loaded.directory / CONFIG)
    best = loaded.data["best"]
    if candidate is None and best is None:
        raise RunError(f"no candidate of {loaded.directory} ran; see: promptpo show {loaded.directory}")
    content: Mapping[str, Any] = loaded.data
    source = loaded.source
    if candidate is not None and (best is None or candidate != best["candidate"]):
        source = best_source(loaded.directory, candidate)
        content = {**loaded.data, "best": {"candidate": candidate}, "test": None}
    env = make_env(config.task)
    try:
        space = env.action_space
    finally:
        env.close()
    return exported(
        source, provenance(loaded.directory, content, config), action_space=space, filename=filename
    )


@dataclass(frozen=True, slots=True)
class Played:
    """What `evaluate` found.

    Attributes:
        env_id: The environment.
        evaluation: Outcome, returns, steps, error.
        seconds: Wall time.
        task: What was played.
    """

    env_id: str
    evaluation: Evaluation
    seconds: float
    task: Task

    def as_json(self) -> dict[str, Any]:
        """The value that ``promptpo evaluate --json`` prints."""
        evaluation = self.evaluation
        mean = evaluation.mean_return
        return {
            "env": self.env_id,
            "episodes": len(evaluation.episodes),
            "returns": list(evaluation.returns),
            "mean_return": mean if math.isfinite(mean) else None,
            "success_rate": evaluation.success_rate,
            "steps": evaluation.steps,
            "seconds": round(self.seconds, 3),
            "outcome": evaluation.outcome,
            "error": evaluation.error or None,
            **by_variant(self.task, evaluation.episodes),
        }


def evaluate(
    policy: str | os.PathLike[str],
    env_id: EnvLike | Task,
    *,
    episodes: int = 10,
    seed: int = 0,
    env_kwargs: Mapping[str, Any] | None = None,
    wrappers: Sequence[WrapperLike] = (),
    variants: Sequence[Mapping[str, Any] | Variant] = (),
    max_episode_steps: int | None = None,
    jobs: int = 1,
    allow_weaker_sandbox: bool = False,
) -> Played:
    """Roll a policy file out in the sandbox, or play a trained agent.

    Args:
        policy: An exported file or a bare policy module; or a zip file of stable-baselines3, which is
            loaded outside the sandbox by unpickling, so it must be one that you trust.
        env_id: The environment, in any form that `optimize` takes; or a whole task, and then none of the following.
        episodes: How many.
        seed: Of the first episode; the following ones count up.
        env_kwargs: For the environment.
        wrappers: As for `optimize`.
        variants: As for `optimize`; episodes take turns.
        max_episode_steps: Horizon; None keeps the environment's.
        jobs: Rollout processes; 0 means one per core.
        allow_weaker_sandbox: Accept a machine that lacks sandbox layers.

    Raises:
        UsageError: The file cannot be read.
        EnvironmentFaultError: The environment failed.
    """
    from promptpo.envs.building import make_env
    from promptpo.envs.family import longest
    from promptpo.program import Program
    from promptpo.run.config import UNBOUNDED_HORIZON
    from sandbox import Limits, Trial

    if episodes < 1:
        raise UsageError(f"episodes must be at least 1, not {episodes}.")
    if seed < 0:
        raise UsageError(f"the seed must be 0 or more, not {seed}.")
    path = Path(policy)
    task = (
        env_id
        if isinstance(env_id, Task)
        else task_of(env_id, env_kwargs, max_episode_steps, wrappers=wrappers, variants=variants)
    ).checked()
    if path.suffix == ".zip":
        started = time.monotonic()
        evaluation = _play_agent(path, task, range(seed, seed + episodes))
        return Played(task.env_id, evaluation, time.monotonic() - started, task)
    source = policy_part(read_text(path))
    env = make_env(task)  # a wrong id is told before any process starts
    horizon = longest(env) or task.max_episode_steps or UNBOUNDED_HORIZON
    env.close()
    params = Program.parse(source).values
    trials = tuple(Trial(seed + n, params, horizon) for n in range(episodes))

    async def work() -> Evaluation:
        executor = LocalExecutor(Settings(task, Limits(), allow_weaker_sandbox), jobs)
        try:
            return evaluation_of(await roll_out(executor, Job(source, trials)))
        finally:
            executor.close()

    started = time.monotonic()
    evaluation = run_async(work)
    return Played(task.env_id, evaluation, time.monotonic() - started, task)


def _play_agent(path: Path, task: Task, seeds: Sequence[int]) -> Evaluation:
    """Have the installed package that knows trained agents play one."""
    for entry in metadata.entry_points(group=AGENTS, name=path.suffix.lstrip(".")):
        evaluation: Evaluation = entry.load()(path, task, seeds)
        return evaluation
    raise UsageError(f"nothing is installed that plays {path}; promptpo plays policies, which are .py files.")
