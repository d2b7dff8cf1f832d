"""Estimates for a benchmark before it starts: steps, calls, tokens, dollars, hours."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from promptpo.llm.base import Usage
from promptpo_benchmarks.runner.cells import Cell
from promptpo_benchmarks.runner.methods import CellBudget, samples_of
from promptpo_benchmarks.runner.suite import Suite, SuiteTask

INPUT_TOKENS, OUTPUT_TOKENS = 6_000, 3_000
"""Assumed per call: a spec with a bounded history, and a policy with the reasoning behind it."""
STEP_INPUT_TOKENS, STEP_OUTPUT_TOKENS = 1_500, 8
"""Assumed per call that names one action: a spec with the last steps, and a letter."""
SECONDS_PER_STEP = 1.0
SECONDS_PER_CALL = 40.0
"""Assumed for an answer of that length; the calls of a round are concurrent."""
LEARNING_STEPS_PER_SECOND: Mapping[str, float] = {
    "ppo": 2_500, "trpo": 3_500, "dqn": 3_700, "qrdqn": 550, "crossq": 230, "sac": 180, "tqc": 180,
}  # fmt: skip
"""Speed on one core with small networks, from the recorded tables (benchmarks/results); TQC is assumed to equal SAC."""
START_SECONDS = 5.0
"""Time of a process before its first step and after its last: imports, inspecting the environment, the result."""
VALIDATION_EPISODES = 20
"""For methods that do not learn; those of a learning method are within its ``--max-steps``."""
PROBE_STEPS = 300
"""Steps taken to measure an environment's speed."""
UNKNOWN_HORIZON = 1_000


@dataclass(frozen=True, slots=True)
class ColumnEstimate:
    """Upper bounds for the unfinished cells of one column.

    Attributes:
        column: Method and model.
        cells: Number of unfinished cells.
        each: What the number of steps means in each run.
        steps: Environment steps, validation and the held-out test included.
        calls: Language-model calls.
        tokens: (input, output), by the assumptions above.
        usd: None if calls are made and the model's price is unknown.
        hours: Time in one process; divide by ``--jobs``.
    """

    column: str
    cells: int
    each: str
    steps: int
    calls: int
    tokens: tuple[int, int]
    usd: float | None
    hours: float


@dataclass(frozen=True, slots=True)
class Pace:
    """Speed of a task.

    Attributes:
        steps_per_second: Speed on one core, with random actions.
        horizon: Maximum episode length.
    """

    steps_per_second: float
    horizon: int


def estimate(suite: Suite, cells: Sequence[Cell], budget: CellBudget) -> list[ColumnEstimate]:
    """Estimate the cost of unfinished cells, by column."""
    paces: dict[str, Pace] = {}
    columns: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.result is None:
            columns.setdefault(cell.column, []).append(cell)
            if cell.task.label not in paces:
                paces[cell.task.label] = pace(cell.task)
    return [_column(name, suite, group, budget, paces) for name, group in columns.items()]


def calls_of(cell: Cell, suite: Suite, budget: CellBudget) -> int:
    """Return the calls of a cell that writes policies, without repairs: policies, feedback class, experiments, reflections."""
    if not cell.method.asks_model or cell.method.kind != "optimize":
        return 0
    rounds, samples = samples_of(cell.method, suite, budget)
    if cell.method.at_once:
        return samples
    paper = "paper" in cell.method.options
    return rounds * samples + 1 + (not paper) + (rounds - 1) * paper


def pace(task: SuiteTask) -> Pace:
    """Measure an environment's speed with random actions."""
    from promptpo.envs.building import make_env
    from promptpo.spec.facts import horizon_and_source

    env = make_env(task.as_task())
    try:
        env.action_space.seed(0)
        env.reset(seed=0)
        started = time.perf_counter()
        for _ in range(PROBE_STEPS):
            *_, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                env.reset()
        seconds = time.perf_counter() - started
        return Pace(PROBE_STEPS / max(seconds, 1e-9), horizon_and_source(env)[0] or UNKNOWN_HORIZON)
    finally:
        env.close()


def _column(
    name: str, suite: Suite, cells: Sequence[Cell], budget: CellBudget, paces: Mapping[str, Pace]
) -> ColumnEstimate:
    steps, calls, seconds = 0, 0, 0.0
    acts = cells[0].method.asks_model and cells[0].method.kind == "baseline"
    per_call = (
        Usage(STEP_INPUT_TOKENS, 0, STEP_OUTPUT_TOKENS) if acts else Usage(INPUT_TOKENS, 0, OUTPUT_TOKENS)
    )
    budgets = [budget.steps or suite.steps_of(cell.task) for cell in cells]
    for cell in cells:
        speed = paces[cell.task.label]
        train = (budget.steps or suite.steps_of(cell.task)) if cell.method.learns else 0
        test = (budget.test_episodes or suite.test_episodes) * speed.horizon
        scored = cell.method.kind == "baseline" and not cell.method.learns and not acts
        validation = VALIDATION_EPISODES * speed.horizon if scored else 0
        steps += train + validation + test
        calls += test if acts else calls_of(cell, suite, budget)
        seconds += START_SECONDS + (train + validation + test) / speed.steps_per_second
        if acts:
            seconds += test * SECONDS_PER_STEP
        elif cell.method.name in LEARNING_STEPS_PER_SECOND:
            seconds += train / LEARNING_STEPS_PER_SECOND[cell.method.name]
        if cell.method.asks_model and not acts:
            seconds += (budget.rounds or suite.rounds) * SECONDS_PER_CALL
    tokens = (calls * per_call.input_tokens, calls * per_call.output_tokens)
    return ColumnEstimate(
        name,
        len(cells),
        _each(cells[0], budgets),
        steps,
        calls,
        tokens,
        _dollars(cells[0].asked, calls, per_call, budget, len(cells)),
        seconds / 3600,
    )


def _each(cell: Cell, budgets: Sequence[int]) -> str:
    """Describe which steps of a method count towards the suite's budget: all but the test, or none."""
    if not cell.method.learns:
        return "none"
    least, most = min(budgets), max(budgets)
    number = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return f"--max-steps {number}"


def describe_duration(seconds: float) -> str:
    """Format a duration with a suitable unit."""
    if seconds < 90:
        return f"{math.ceil(seconds)} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def _dollars(model: str | None, calls: int, per_call: Usage, budget: CellBudget, cells: int) -> float | None:
    from promptpo.llm.choose import choose
    from promptpo.llm.prices import price_of

    if not calls or model is None or model.startswith(("replay", "search", "embedded")):
        return 0.0
    choice = choose(model)
    price = price_of(choice.provider, choice.argument)
    cost = price.cost(per_call) if price else None
    if cost is None:
        return None
    return min(calls * cost, budget.usd * cells) if budget.usd else calls * cost
