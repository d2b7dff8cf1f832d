"""Cells of a benchmark: one method, model, task and seed each, and their state on disk."""

from __future__ import annotations

import functools
import itertools
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promptpo.errors import UsageError
from promptpo.output.report import RESULT
from promptpo_benchmarks.runner.methods import METHODS, BenchmarkMethod, CellBudget, samples_of
from promptpo_benchmarks.runner.suite import Suite, SuiteTask

CONFIG = "config.toml"
INTERRUPTED = "interrupted"
"""Beginning of the stop reason of a run that Ctrl-C ended: it has a result, and can be continued."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One run.

    Attributes:
        task: The task to be solved.
        method: The method.
        model: The model, as given in ``--models``; None if the method queries none.
        seed: Seed of the run.
        directory: The run directory.
    """

    task: SuiteTask
    method: BenchmarkMethod
    model: str | None
    seed: int
    directory: Path

    @property
    def column(self) -> str:
        """The method, with its model if it queries one."""
        return f"{self.method.name} ({self.model})" if self.model else self.method.name

    @property
    def asked(self) -> str | None:
        """The model with the names of task, method and seed filled in."""
        if not self.model:
            return None
        filled = {"{task}": self.task.slug, "{method}": self.method.name, "{seed}": str(self.seed)}
        return functools.reduce(lambda text, part: text.replace(*part), filled.items(), self.model)

    @property
    def name(self) -> str:
        """Name of the cell in messages."""
        return f"{self.task.label} · {self.column} · seed {self.seed}"

    @property
    def log(self) -> Path:
        """File with the output of its process."""
        return self.directory.with_name(f"{self.directory.name}.log")

    @property
    def result(self) -> Mapping[str, Any] | None:
        """Content of ``result.json``; None if the run is unfinished, was interrupted, or cannot be read."""
        try:
            content = json.loads((self.directory / RESULT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        interrupted = str(content.get("stop_reason", "")).startswith(INTERRUPTED)
        return None if interrupted else content

    @property
    def by_hand(self) -> bool:
        """Whether its answers are given by hand, which may take any time."""
        return (self.model or "").startswith("inbox:")

    def command(self, suite: Suite, budget: CellBudget, calls: int | None = None) -> list[str]:
        """Return the command line that runs or continues the cell; `calls` limits those of a language model."""
        method, task, out = self.method, self.task, str(self.directory)
        words = [sys.executable, "-m", "promptpo"]
        if method.kind == "optimize" and (self.directory / CONFIG).exists():
            return [*words, "resume", out, "--no-film", "--quiet", "--json"]
        steps = str(budget.steps or suite.steps_of(task))
        tested = ["--test-episodes", str(budget.test_episodes or suite.test_episodes)]
        if method.kind == "oracle":
            words = [sys.executable, "-m", "promptpo_benchmarks.oracles", task.env, *tested]
        elif method.kind == "baseline":
            words += ["baseline", method.name, task.env, *tested, "--max-steps", steps]
            words += ["--resume", "--quiet"] if method.resumes else ["--quiet"]
        else:
            words += ["optimize", task.env, "--max-steps", steps, *tested]
            rounds, samples = samples_of(method, suite, budget)
            words += ["--rounds", str(rounds), "--candidates", str(samples)]
            words += ["--max-calls", str(calls)] if calls else []
            words += ["--jobs", "1", "--executor", budget.executor, "--no-film", "--quiet"]
        if method.kind != "oracle":
            words += [method.model_flag, self.asked] if self.asked else []
            words += ["--max-usd", str(budget.usd)] if budget.usd and method.asks_model else []
        words += list(method.options)
        if task.kwargs:
            words += ["--env-kwargs", json.dumps(dict(task.kwargs), sort_keys=True)]
        if task.max_episode_steps:
            words += ["--max-episode-steps", str(task.max_episode_steps)]
        if method.kind != "oracle":
            words += ["--seed", str(self.seed), "--json"]
        return [*words, "--out", out]


def plan(
    suite: Suite, methods: Sequence[BenchmarkMethod], models: Sequence[str], seeds: int, root: Path
) -> list[Cell]:
    """Plan all cells, seed by seed, so that an interrupted benchmark has every task once before any twice.

    Args:
        suite: The tasks.
        methods: Columns of the tables.
        models: For methods that query a model. ``{task}``, ``{method}`` and ``{seed}`` stand for those of the cell, so
            that one recording for each task is one model: ``replay:recordings/{task}``.
        seeds: Number of runs of each task and method, from seed 0 on.
        root: Directory of the benchmark.

    Raises:
        UsageError: A method queries a model and there is none, or there are models that no method queries.
    """
    asking = [method.name for method in methods if method.asks_model]
    if models and not asking:
        hint = " (icpi asks the oracle; promptpo baseline icpi --engine MODEL asks a model)"
        raise UsageError(
            f"--models is for {', '.join(name for name, method in METHODS.items() if method.asks_model)}, and "
            f"--methods has none of them"
            f"{hint if any(method.name == 'icpi' for method in methods) else ''}; leave --models out, or add one."
        )
    if asking and not models:
        raise UsageError(f"{asking[0]} needs a model; give --models, for example --models anthropic,search.")
    columns = [
        (method, model)
        for method in methods
        for model in (models if method.asks_model else [None])
        if model is None or method.takes(model)
    ]
    return [
        Cell(task, method, model, seed, _directory(root, task, method, model, seed))
        for seed, task, (method, model) in itertools.product(range(seeds), suite.tasks, columns)
        if method.covers(task.env) and suite.has(task, method.name) and (method.seeds or seed == 0)
    ]


def _directory(root: Path, task: SuiteTask, method: BenchmarkMethod, model: str | None, seed: int) -> Path:
    column = f"{method.name}--{_slug(model)}" if model else method.name
    return root / "cells" / task.slug / column / f"seed-{seed}"


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-")
