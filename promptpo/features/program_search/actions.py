"""Writing actions: from a space to the code that turns a few scores into an action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo.errors import UnsupportedSpaceError
from promptpo.features.program_search.features import subspaces
from promptpo_sandbox.spaces import plain_key

MOST_SCORES = 18
"""Discrete actions up to which each gets a score of its own; more are taken as an ordered scale."""

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
        outputs: How many scores it takes.
        expression: The action, in terms of the list ``u`` of scores.
        helpers: Module-level functions that the expression uses.
        continuous: Whether every score is a magnitude (a Box), not only a comparison.
        words: The same as a sentence.
    """

    outputs: int
    expression: str
    helpers: tuple[str, ...] = ()
    continuous: bool = False
    words: str = "Comparisons and limits make an action of the scores."


def write_action(space: spaces.Space[Any], *, ordered: bool = False) -> Head:
    """The code that makes an action of a space out of scores.

    Args:
        space: The action space.
        ordered: Take a Discrete space as an ordered scale with one score.

    Raises:
        UnsupportedSpaceError: A space for which scores make no action.
    """
    return _head(space, 0, ordered=ordered)


def count_actions(space: spaces.Space[Any]) -> int | None:
    """How many actions a Discrete space has; None for other spaces."""
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
    """What brings a flat array of actions into the form of their space."""
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
    listed = f"u[{first}:{first + n}]" if first else "u"
    words = f"The largest of u0 to u{n - 1} decides for action {start} to {start + n - 1}."
    return Head(n, f"{offset}largest({listed})", (LARGEST_HELPER,), words=words)


def _box(space: Any, first: int) -> Head:
    low, high = np.ravel(space.low).astype(float), np.ravel(space.high).astype(float)
    terms = []
    for i, (a, b) in enumerate(zip(low, high, strict=True)):
        score = f"clip(u[{first + i}])"
        if not (np.isfinite(a) and np.isfinite(b)):
            terms.append(f"u[{first + i}]")
        elif a == -b:
            terms.append(score if b == 1.0 else f"{b:.6g} * {score}")
        else:
            terms.append(f"{(a + b) / 2:.6g} + {(b - a) / 2:.6g} * {score}")
    n = len(terms)
    if n > 1 and all(term == f"clip(u[{first + i}])" for i, term in enumerate(terms)):
        listed = f"[clip(v) for v in u[{first}:{first + n}]]" if first else "[clip(v) for v in u]"
    else:
        listed = f"[{', '.join(terms)}]"
    if np.issubdtype(space.dtype, np.integer):
        listed = f"np.round({listed})"
    expression = f"np.array({listed}, dtype=np.{np.dtype(space.dtype).name}){_reshape(space)}"
    words = "From -1 to 1 it becomes an action between its bounds."
    return Head(n, expression, (CLIP,), continuous=True, words=words)


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
        expression = "(" + "".join(f"{head.expression}, " for head in heads) + ")"
    return Head(at - first, expression, helpers, continuous=all(head.continuous for head in heads))
