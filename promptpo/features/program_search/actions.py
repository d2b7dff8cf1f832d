"""Actions of a program: code that turns scores into an action of a space."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import tuple_expression
from promptpo.errors import UnsupportedSpaceError
from promptpo.features.program_search.features import subspaces
from promptpo_sandbox.spaces import plain_key

MOST_SCORES = 18
"""Maximum number of discrete actions with one score each; more are treated as an ordered scale."""

LARGEST_HELPER = (
    'def largest(scores):\n    """Index of the largest score."""\n    return scores.index(max(scores))'
)
CLIP = 'def clip(value):\n    """Limit a score to -1..1."""\n    return max(-1.0, min(1.0, value))'
LEVEL = (
    'def level(value, n):\n    """A score from -1 to 1 as one of n ordered levels."""\n'
    "    return min(n - 1, int(0.5 * (clip(value) + 1.0) * n))"
)


@dataclass(frozen=True, slots=True)
class Head:
    """How a policy turns scores into an action.

    Attributes:
        outputs: Number of scores.
        expression: The action in terms of the list ``u`` of scores.
        helpers: Module-level functions used by the expression.
        continuous: Whether all scores are magnitudes (a Box), not only compared.
        words: A sentence that explains the expression.
    """

    outputs: int
    expression: str
    helpers: tuple[str, ...] = ()
    continuous: bool = False
    words: str = "Comparisons and limits make an action of the scores."


def write_action(space: spaces.Space[Any], *, ordered: bool = False) -> Head:
    """Return the code that makes an action of a space from scores.

    Args:
        space: The action space.
        ordered: Whether to treat a Discrete space as an ordered scale with one score.

    Raises:
        UnsupportedSpaceError: No action of the space can be made from scores.
    """
    head = _head(space, 0, ordered=ordered)
    scores = "u" if head.outputs > 1 else "[u[0]]"
    return replace(head, expression=head.expression.replace(f"u[0:{head.outputs}]", scores))


def count_actions(space: spaces.Space[Any]) -> int | None:
    """Return the number of actions of a Discrete space; None for other spaces."""
    return int(space.n) if isinstance(space, spaces.Discrete) else None


def _head(space: spaces.Space[Any], first: int, *, ordered: bool) -> Head:
    if isinstance(space, spaces.Discrete):
        return _discrete(int(space.n), int(space.start), first, ordered=ordered)
    if isinstance(space, spaces.Box):
        return _box(space, first)
    if isinstance(space, spaces.MultiBinary):
        n = int(np.prod(space.shape))
        return Head(
            n, f"np.array([int(v > 0.0) for v in u[{first}:{first + n}]], dtype=np.int8){_reshape(space)}"
        )
    if isinstance(space, spaces.MultiDiscrete):
        sizes = [int(n) for n in np.ravel(space.nvec)]
        levels = ", ".join(f"level(u[{first + i}], {n})" for i, n in enumerate(sizes))
        start = np.ravel(space.start)
        offset = f" + np.array({start.tolist()})" if np.any(start) else ""
        return Head(
            len(sizes), f"np.array([{levels}], dtype=np.int64){_reshape(space)}{offset}", (CLIP, LEVEL)
        )
    if isinstance(space, spaces.Tuple | spaces.Dict):
        return _write_compound_head(space, first, ordered=ordered)
    raise UnsupportedSpaceError(
        f"program search cannot act in a {type(space).__name__} action space; use a language model."
    )


def _reshape(space: Any) -> str:
    """Return the call that reshapes a flat array of actions; empty if the space is flat."""
    return "" if len(space.shape) == 1 else f".reshape({tuple(space.shape)})"


def _discrete(n: int, start: int, first: int, *, ordered: bool) -> Head:
    offset = f"{start} + " if start else ""
    if n == 1:
        return Head(1, str(start))
    if n == 2:  # noqa: PLR2004
        words = f"Above 0 the action is {start + 1}, else {start}."
        return Head(1, f"{offset}int(u[{first}] > 0.0)", words=words)
    if ordered or n > MOST_SCORES:
        words = f"From -1 to 1 it becomes an action from {start} to {start + n - 1}."
        return Head(1, f"{offset}level(u[{first}], {n})", (CLIP, LEVEL), words=words)
    words = f"The largest of u0 to u{n - 1} decides for action {start} to {start + n - 1}."
    return Head(n, f"{offset}largest(u[{first}:{first + n}])", (LARGEST_HELPER,), words=words)


def _box(space: Any, first: int) -> Head:
    ends = zip(np.ravel(space.low).tolist(), np.ravel(space.high).tolist(), strict=True)
    terms = [_within(*end, f"u[{first + i}]", space.dtype) for i, end in enumerate(ends)]
    n = len(terms)
    if n > 1 and all(term == f"clip(u[{first + i}])" for i, term in enumerate(terms)):
        listed = f"[clip(v) for v in u[{first}:{first + n}]]"
    else:
        listed = f"[{', '.join(terms)}]"
    if np.issubdtype(space.dtype, np.integer):
        listed = f"np.round({listed})"
    expression = f"np.array({listed}, dtype=np.{np.dtype(space.dtype).name}){_reshape(space)}"
    words = "From -1 to 1 it becomes an action between its bounds."
    return Head(n, expression, (CLIP,), continuous=True, words=words)


def _within(low: float, high: float, score: str, dtype: Any) -> str:
    """Return an expression for a number within its bounds, which rounded constants may exceed slightly."""
    middle, half = (float(f"{n:.6g}") for n in ((low + high) / 2, (high - low) / 2))
    term = score
    if math.isfinite(half):
        term = f"clip({score})" if half == 1.0 else f"{half:.6g} * clip({score})"
        term = f"{middle:.6g} + {term}" if middle else term
    with np.errstate(invalid="ignore"):
        least, most = np.array([middle - half, middle + half]).astype(dtype)
    if not (low <= least and most <= high):
        for name, end in (("max", low), ("min", high)):
            term = f"{name}({float(end)!r}, {term})" if math.isfinite(end) else term
    return term


def _write_compound_head(space: Any, first: int, *, ordered: bool) -> Head:
    heads, at = [], first
    for sub in subspaces(space):
        heads.append(_head(sub, at, ordered=ordered))
        at += heads[-1].outputs
    helpers = tuple(dict.fromkeys(helper for head in heads for helper in head.helpers))
    if isinstance(space.spaces, dict):
        items = [
            f"{plain_key(key)!r}: {head.expression}" for key, head in zip(space.spaces, heads, strict=True)
        ]
        expression = "{" + ", ".join(items) + "}"
    else:
        expression = tuple_expression([head.expression for head in heads])
    return Head(at - first, expression, helpers, continuous=all(head.continuous for head in heads))
