"""Methods, and their command lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from promptpo.errors import UsageError, suggest
from promptpo_benchmarks.oracles import has_oracle
from promptpo_benchmarks.runner.suite import Suite

Kind = Literal["optimize", "baseline", "oracle"]


@dataclass(frozen=True, slots=True)
class BenchmarkMethod:
    """A way to obtain a policy.

    Attributes:
        name: Its name in tables.
        about: A description in one line.
        kind: "optimize" runs ``promptpo optimize``, "baseline" runs ``promptpo baseline NAME``, "oracle"
            plays an oracle of `promptpo_benchmarks.oracles`.
        options: Command-line options of its own.
        asks_model: Whether it runs once for each model of ``--models``.
        learns: Whether it spends training steps.
        seeds: Whether its runs differ by seed.
        resumes: Whether it needs a flag to continue a run in its directory.
        model_flag: The flag that takes the model.
        takes: Whether it can query a model, given as in ``--models``.
        covers: Whether it supports an environment ID.
        at_once: Whether all its policies answer the same prompt, so that no round learns from another.
    """

    name: str
    about: str
    kind: Kind
    options: tuple[str, ...] = ()
    asks_model: bool = False
    learns: bool = True
    seeds: bool = True
    resumes: bool = True
    model_flag: str = "--model"
    takes: Callable[[str], bool] = lambda _: True
    covers: Callable[[str], bool] = lambda _: True
    at_once: bool = False


NO_LANGUAGE_MODELS = ("search", "replay")
"""Models that write policies and can do nothing else."""

METHODS: Mapping[str, BenchmarkMethod] = {
    method.name: method
    for method in (
        BenchmarkMethod(
            "promptpo",
            "policies written by a language model, numbers tuned; dynamics withheld",
            "optimize",
            ("--reveal", "named"),
            asks_model=True,
        ),
        BenchmarkMethod(
            "promptpo-source",
            "promptpo, shown the environment's source",
            "optimize",
            ("--reveal", "source"),
            asks_model=True,
        ),
        BenchmarkMethod(
            "promptpo-simulate",
            "promptpo, which first writes a simulator and searches in it; dynamics withheld",
            "optimize",
            ("--reveal", "named", "--simulate"),
            asks_model=True,
        ),
        BenchmarkMethod(
            "promptpo-paper",
            "the published procedure, without tuning",
            "optimize",
            ("--recipe", "paper", "--reveal", "named"),
            asks_model=True,
        ),
        BenchmarkMethod(
            "promptpo-anonymous",
            "promptpo, without the names of the environment and its parts",
            "optimize",
            ("--reveal", "anonymous"),
            asks_model=True,
        ),
        BenchmarkMethod(
            "promptpo-bare",
            "promptpo, told the spaces only",
            "optimize",
            ("--reveal", "bare"),
            asks_model=True,
        ),
        BenchmarkMethod(
            "best-of-n",
            "as many policies, all asked for at once: no feedback, no experiments; numbers tuned",
            "optimize",
            ("--reveal", "named", "--option", "feedback_class=false", "--option", "probe=false"),
            asks_model=True,
            at_once=True,
        ),
        BenchmarkMethod(
            "search",
            "program search without a language model, numbers tuned",
            "optimize",
            ("--model", "search"),
        ),
        BenchmarkMethod(
            "search-untuned",
            "program search without a language model and without tuning",
            "optimize",
            ("--model", "search", "--tune", "none"),
        ),
        BenchmarkMethod("ppo", "PPO of stable-baselines3", "baseline"),
        BenchmarkMethod("trpo", "TRPO of sb3-contrib", "baseline"),
        BenchmarkMethod("sac", "SAC of stable-baselines3", "baseline"),
        BenchmarkMethod("tqc", "TQC of sb3-contrib", "baseline"),
        BenchmarkMethod("crossq", "CrossQ of sb3-contrib", "baseline", ("--hyperparams", "ours")),
        BenchmarkMethod("dqn", "DQN of stable-baselines3", "baseline"),
        BenchmarkMethod("qrdqn", "QR-DQN of sb3-contrib", "baseline"),
        BenchmarkMethod(
            "icpi",
            "in-context policy iteration, the oracle as its model",
            "baseline",
            ("--engine", "oracle"),
            resumes=False,
            covers=lambda env_id: env_id.startswith("promptpo_baselines.icpi:"),
        ),
        BenchmarkMethod(
            "llm-agent",
            "a language model that acts by itself, a call for each step",
            "baseline",
            asks_model=True,
            learns=False,
            seeds=False,
            resumes=False,
            model_flag="--engine",
            takes=lambda model: model.partition(":")[0] not in NO_LANGUAGE_MODELS,
        ),
        BenchmarkMethod("random", "uniformly random actions", "baseline", learns=False, seeds=False),
        BenchmarkMethod("zero", "the zero action, or action 0", "baseline", learns=False, seeds=False),
        BenchmarkMethod(
            "oracle",
            "Meta-World's scripted policies; the optimum of NoiseWorld",
            "oracle",
            learns=False,
            seeds=False,
            covers=has_oracle,
        ),
    )
}


def choose(names: Sequence[str]) -> list[BenchmarkMethod]:
    """Return the methods with these names, each once; ``tune`` is an old name of ``search``.

    Raises:
        UsageError: There is no such method.
    """
    names = ["search" if name == "tune" else name for name in names]
    for name in names:
        if name not in METHODS:
            hint = suggest(name, METHODS)
            raise UsageError(
                f"--methods takes {', '.join(METHODS)}, not {name!r}{f'; {hint}' if hint else '.'}"
            )
    return [METHODS[name] for name in dict.fromkeys(names)]


@dataclass(frozen=True, slots=True)
class CellBudget:
    """Budget of a cell, where it overrides the suite's.

    Attributes:
        steps: Environment steps; None takes the suite's.
        rounds: Number of rounds; None takes the suite's.
        candidates: Samples per prompt; None takes the suite's.
        test_episodes: Held-out episodes; None takes the suite's.
        usd: Money for a cell that queries a model; None sets no limit.
        calls: Language-model answers of all cells together; None sets no limit.
        executor: "local", or "ray" for rollouts on a Ray cluster.
    """

    steps: int | None = None
    rounds: int | None = None
    candidates: int | None = None
    test_episodes: int | None = None
    usd: float | None = None
    calls: int | None = None
    executor: str = "local"


def samples_of(method: BenchmarkMethod, suite: Suite, budget: CellBudget) -> tuple[int, int]:
    """Return (rounds, policies requested in each) of a cell that writes policies."""
    rounds, samples = budget.rounds or suite.rounds, budget.candidates or suite.candidates
    return (1, rounds * samples) if method.at_once else (rounds, samples)
