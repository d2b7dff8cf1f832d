"""Reference policies: random and zero actions, against which every result is compared.

Both are programs like those that the model writes: they run in the sandbox, on the same seeds as the
candidates, so that they are compared in pairs.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.errors import BudgetSpentError, EnvironmentFaultError
from promptpo.program import Program
from promptpo.run.budget import step_allotment, units
from promptpo.run.records import ALWAYS, REFERENCE_TEST, Attempt, Candidate
from promptpo.telling import feedback

if TYPE_CHECKING:
    from promptpo.rollouts.evaluation import Episodes, Evaluation
    from promptpo.run.history import History
    from promptpo.search.context import SearchContext

Space = spaces.Space[Any]

REFERENCE_POLICIES = ("random", "zero")
"""Their names."""

PARTS = 5
"""Of the steps for references: one each for random actions and for none, the others for constant ones."""

AGAIN = "-again"
"""How the name of the best constant action ends where it plays as many episodes as a candidate."""

MAX_CONSTANTS, MAX_CONSTANT_EPISODES = 18, 20
"""Discrete actions of which each is tried alone, and episodes of the zero action that are compared."""

TEST_FIRST = 10
"""So many test episodes tell how long all of them take."""

MIN_REFERENCE_SECONDS = 20.0
"""Seconds that all test episodes of a reference may take in any case; else twice the winner's own test. The first few
of both may take as long together as that test."""


def programs(action_space: Space) -> Mapping[str, str]:
    """The sources of both policies, by name."""
    return dict(
        zip(REFERENCE_POLICIES, (random_policy(action_space), zero_policy(action_space)), strict=True)
    )


def random_policy(action_space: Space) -> str:
    """A policy that draws every action evenly from the space (as its own ``sample`` does where it is unbounded)."""
    return _module("Acts at random.", "self.rng = np.random.default_rng()", _drawn(action_space))


def zero_policy(action_space: Space) -> str:
    """A policy that always gives zeros, or what of the space is nearest to them."""
    return _module("Always acts with zeros.", "pass", _zero(action_space))


async def measure_at_start(context: SearchContext) -> None:
    """Roll both out on training seeds and on the validation seeds that judging begins with.

    There are fewer episodes, or none, where they could take more than a small share of the step budget; more follow
    where the first ones turn out to be short. What has no result, since the budget is spent or the environment fails, is left out.

    Args:
        context: Of the run.
    """
    spender, horizon, seeds = context.spender, context.horizon, context.seeds
    steps, wanted = context.config.budget.steps, context.config.train_episodes
    allowed = step_allotment("references", steps, parts=PARTS)
    certain = units("references", steps, PARTS * horizon, 2 * wanted)
    pairs = zip(seeds.train(wanted), seeds.validation(wanted), strict=True)
    chosen = [seed for pair in pairs for seed in pair]

    def are_short(early: Evaluation) -> bool:
        expected = early.steps / max(1, len(early.episodes)) * len(chosen)
        return early.outcome == "ok" and (allowed is None or expected <= allowed)

    async def one(name: str, source: str) -> Evaluation | None:
        if not certain and spender.journal.find("reference", name) is None:
            return None
        with contextlib.suppress(BudgetSpentError, EnvironmentFaultError):
            played = await spender.roll_out(
                "reference",
                name,
                Candidate(name, source, 0),
                chosen,
                horizon=horizon,
                early=(certain, are_short),
            )
            return played.evaluation
        return None

    found = await _each(one, context.spec.action_space)
    length = (
        found[REFERENCE_POLICIES[1]].steps / len(found[REFERENCE_POLICIES[1]].episodes)
        if REFERENCE_POLICIES[1] in found
        else horizon
    )
    constants = {
        k: v for k, v in constant_policies(context.spec.action_space).items() if k != REFERENCE_POLICIES[1]
    }
    paid = (
        wanted
        if allowed is None
        else int((PARTS - len(REFERENCE_POLICIES)) * allowed / max(1.0, len(constants) * length))
    )
    if constants and paid:
        certain, chosen = wanted, [*seeds.train(min(wanted, paid))]
        tried = await asyncio.gather(*(one(name, source) for name, source in constants.items()))
        ran = {
            name: found.mean_return
            for name, found in zip(constants, tried, strict=True)
            if found and found.outcome == "ok"
        }
        chosen = [*seeds.train(wanted)]
        best = max(ran, key=ran.__getitem__, default=None)
        if best is not None:
            await one(f"{best}{AGAIN}", constants[best])


async def join(context: SearchContext, history: History) -> None:
    """Have the zero action, and the other constant ones that were tried, join the candidates where they beat the best.

    That is when the search is over, so that no request is about them. The steps of a zero action that nothing paid for at the start are outside the budget, like a test's.
    """
    best = history.best()
    if best is None:
        return
    seeds = [episode.seed for episode in history.evidence(best).episodes][:MAX_CONSTANT_EPISODES]
    for name, source in constant_policies(context.spec.action_space).items():
        digest = Program.parse(source).digest
        candidate = Candidate(name, source, history.rounds + 1, digest, origin="reference")
        played = history.marks.get(f"{name}{AGAIN}", history.marks.get(name))
        if played is None and name == REFERENCE_POLICIES[1]:
            key = f"{name}.compared{REFERENCE_TEST}"
            with contextlib.suppress(BudgetSpentError, EnvironmentFaultError):
                rolled = await context.spender.roll_out(
                    "reference", key, candidate, seeds, horizon=context.horizon
                )
                played = rolled.evaluation
        if played is not None and played.outcome == "ok" and _clearly_better(played, history.evidence(best)):
            attempt = Attempt(candidate, played, feedback.aggregate(played))
            context.journal.once("attempt", name, functools.partial(replace, attempt))


def _clearly_better(one: Evaluation, other: Episodes) -> bool:
    """Whether the mean return over the episodes that both have played is larger by two standard errors."""
    theirs = {episode.seed: episode.return_ for episode in other.episodes}
    gains = [episode.return_ - theirs[episode.seed] for episode in one.episodes if episode.seed in theirs]
    return len(gains) > 1 and statistics.fmean(gains) > max(
        0.0, 2 * statistics.stdev(gains) / math.sqrt(len(gains))
    )


async def measure_on_test(
    context: SearchContext, seeds: Sequence[int], test: Evaluation
) -> dict[str, Evaluation]:
    """Roll both out on the seeds of the final test, outside the step budget like the test itself.

    Args:
        context: Of the run.
        seeds: Those of the test.
        test: The winner's, which says how long an episode may take. Where all episodes of a reference would take
            much longer, the first few stand for them.
    """
    horizon, seconds = context.horizon, test.seconds
    longest = horizon * seconds / max(1, test.steps)  # of one episode, in seconds
    both = max(MIN_REFERENCE_SECONDS, seconds) / max(longest, 1e-9)
    first = max(1, min(TEST_FIRST, int(both / len(REFERENCE_POLICIES))))

    def worth_it(early: Evaluation) -> bool:
        expected = early.seconds / max(1, len(early.episodes)) * len(seeds)
        return early.outcome == "ok" and expected <= max(MIN_REFERENCE_SECONDS, 2 * seconds)

    async def one(name: str, source: str) -> Evaluation | None:
        with contextlib.suppress(EnvironmentFaultError):
            played = await context.spender.roll_out(
                "reference",
                f"{name}{REFERENCE_TEST}",
                Candidate(name, source, 0),
                seeds,
                horizon=horizon,
                early=(first, worth_it),
            )
            return played.evaluation
        return None

    return await _each(one, context.spec.action_space)


def constant_policies(space: Space) -> Mapping[str, str]:
    """The sources of the policies that always do the same, by name: zeros, and of a few discrete actions each of the others."""
    found = {REFERENCE_POLICIES[1]: zero_policy(space)}
    if isinstance(space, spaces.Discrete) and space.n <= MAX_CONSTANTS:
        others = range(int(space.start), int(space.start + space.n))
        found |= {f"{ALWAYS}{one}": _module(f"Always acts with {one}.", "pass", repr(one)) for one in others}
        found.pop(f"{ALWAYS}{_zero(space)}")
    return found


async def _each(measure: Callable[[str, str], Any], action_space: Space) -> dict[str, Evaluation]:
    sources = programs(action_space)
    found = await asyncio.gather(*(measure(name, source) for name, source in sources.items()))
    return {
        name: evaluation
        for name, evaluation in zip(sources, found, strict=True)
        if evaluation is not None and evaluation.outcome == "ok" and evaluation.episodes
    }


def _module(docstring: str, begin: str, action: str) -> str:
    return (
        f'"""{docstring}"""\n\nimport numpy as np\n\n\nclass Policy:\n'
        f"    def __init__(self):\n        {begin}\n\n"
        f"    def act(self, obs):\n        return {action}\n"
    )


def _drawn(space: Space) -> str:
    """An expression for a random element of a space."""
    if isinstance(space, spaces.Discrete):
        return f"int(self.rng.integers({int(space.start)}, {int(space.start + space.n)}))"
    if isinstance(space, spaces.MultiDiscrete):
        start, n = _array(space.start), _array(space.nvec)
        return f"({start} + self.rng.integers(0, {n}, size={space.shape!r})).astype(np.{space.dtype})"
    if isinstance(space, spaces.MultiBinary):
        return f"self.rng.integers(0, 2, size={space.shape!r}).astype(np.{space.dtype})"
    if isinstance(space, spaces.Box):
        return _drawn_from_box(space)
    if isinstance(space, spaces.Text):
        letters = "".join(space.character_list)
        length = f"int(self.rng.integers({space.min_length}, {space.max_length + 1}))"
        return f'"".join({letters!r}[int(self.rng.integers(0, {len(letters)}))] for _ in range({length}))'
    return _nest_expression(space, _drawn)


def _drawn_from_box(space: spaces.Box) -> str:
    shape = f"size={space.shape!r}"
    if np.issubdtype(space.dtype, np.integer) or space.dtype == np.bool_:
        least, most = (_array(bound.astype(np.int64)) for bound in (space.low, space.high))
        return f"self.rng.integers({least}, {most}, {shape}, endpoint=True).astype(np.{_dtype(space)})"
    below, above = space.bounded_below, space.bounded_above
    low, high = np.where(below, space.low, 0.0), np.where(above, space.high, 0.0)
    both = below & above
    between = _array(np.where(both, low, 0.0)), _array(np.where(both, high, 0.0))
    parts = {
        f"self.rng.uniform({', '.join(between)}, {shape})": both,
        f"{_array(low)} + self.rng.exponential({shape})": below & ~above,
        f"{_array(high)} - self.rng.exponential({shape})": ~below & above,
        f"self.rng.normal({shape})": ~below & ~above,
    }
    used = [(text, where) for text, where in parts.items() if where.any()]
    text = used[0][0] if used else f"np.zeros({space.shape!r})"
    for other, where in used[1:]:
        text = f"np.where({_array(where)}, {other}, {text})"
    bounds = ", ".join(_array(bound) for bound in (space.low, space.high))
    return f"np.clip({text}, {bounds}).astype(np.{_dtype(space)})"


def _zero(space: Space) -> str:
    """An expression for the element of a space that is nearest to zeros."""
    if isinstance(space, spaces.Discrete):
        return repr(int(min(max(0, space.start), space.start + space.n - 1)))
    if isinstance(space, spaces.MultiDiscrete):
        nearest = np.clip(np.zeros_like(space.start), space.start, space.start + space.nvec - 1)
        return f"np.full({space.shape!r}, {_array(nearest)}, np.{space.dtype})"
    if isinstance(space, spaces.MultiBinary):
        return f"np.zeros({space.shape!r}, np.{space.dtype})"
    if isinstance(space, spaces.Box):
        low, high = space.low, space.high
        nearest = np.clip(np.zeros(space.shape), low, high)
        return f"np.full({space.shape!r}, {_array(nearest)}, np.{_dtype(space)})"
    if isinstance(space, spaces.Text):
        return repr(space.character_list[0] * space.min_length)
    return _nest_expression(space, _zero)


def _nest_expression(space: Space, inner: Callable[[Space], str]) -> str:
    if isinstance(space, spaces.Dict):
        return "{" + ", ".join(f"{key!r}: {inner(item)}" for key, item in space.spaces.items()) + "}"
    if isinstance(space, spaces.Tuple):
        return "(" + "".join(f"{inner(item)}, " for item in space.spaces) + ")"
    raise TypeError(f"no policy can be written for a {type(space).__name__}")


def _dtype(space: Space) -> str:
    return "bool_" if space.dtype == np.bool_ else str(space.dtype)


def _array(values: Any) -> str:
    """Numbers as an expression, once where all are the same."""
    flat = np.asarray(values).ravel()
    if flat.size and (flat == flat[0]).all():
        return _docstring_of(repr(flat[0].item()))
    return f"np.array({_docstring_of(repr(np.asarray(values).tolist()))})"


def _docstring_of(text: str) -> str:
    return text.replace("inf", "np.inf").replace("nan", "np.nan")
