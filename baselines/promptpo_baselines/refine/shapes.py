"""Observations and actions as a network's vectors, and the conversion as Python text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo.errors import UnsupportedSpaceError
from promptpo_baselines.environments import AnySpace, numeric

MOST_INPUTS = 2_000
"""Maximum size of an observation: with more, mostly images, the network would not fit into a readable file."""


@dataclass(frozen=True)
class Actions:
    """An action space as numbers.

    Attributes:
        space: The environment's action space.
        size: Size of the program's action as numbers: one per dimension of a box, one for each choice of a discrete
            action, one per switch of a MultiBinary.
        middle: Middle of a box's bounds; 0 without bounds.
        half: Half the distance of a box's bounds; 1 without bounds.
    """

    space: AnySpace
    size: int
    middle: np.ndarray[Any, Any]
    half: np.ndarray[Any, Any]

    @classmethod
    def of(cls, space: AnySpace) -> Actions:
        """Return the actions of a space.

        Raises:
            UnsupportedSpaceError: It is neither a box of floats, nor discrete from 0 on.
        """
        if isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.floating):
            low, high = (np.asarray(bound, float).ravel() for bound in (space.low, space.high))
            bounded = np.isfinite(low) & np.isfinite(high)
            low, high = np.where(bounded, low, -1.0), np.where(bounded, high, 1.0)
            return cls(space, low.size, low / 2 + high / 2, np.maximum(high / 2 - low / 2, 1e-12))
        discrete = isinstance(space, spaces.Discrete | spaces.MultiDiscrete) and not np.any(space.start)
        if (discrete or isinstance(space, spaces.MultiBinary)) and len(space.shape or ()) <= 1:
            return cls(space, spaces.flatdim(space), np.zeros(0), np.zeros(0))
        raise UnsupportedSpaceError(f"refine has no network for actions of {space}.")

    @property
    def continuous(self) -> bool:
        """Whether actions are a box of floats."""
        return isinstance(self.space, spaces.Box)

    @property
    def choices(self) -> tuple[int, ...]:
        """Number of choices in each part of a discrete action; empty for other spaces."""
        found: Any = getattr(
            self.space, "nvec", getattr(self.space, "n", ())
        )  # of the whole, or of each part
        return () if isinstance(self.space, spaces.MultiBinary) else tuple(np.ravel(found).tolist())

    def _clip_expression(self, numbers: str) -> str:
        """Return an expression for numbers clipped to a box's bounds."""
        low, high = (_array(bound) for bound in (self.space.low, self.space.high))  # type: ignore[attr-defined]
        return f"np.clip({numbers}, {low}, {high})"

    def reading(self, action: str) -> str:
        """Return an expression for the program's action as numbers, which raises if the action is invalid.

        Args:
            action: An expression for what the program returned.
        """
        if self.continuous:
            numbers = f"finite(np.asarray({action}, dtype=float).reshape({self.space.shape}).ravel())"
            return f"({self._clip_expression(numbers)} - {_array(self.middle)}) / {_array(self.half)}"
        if isinstance(self.space, spaces.Discrete):
            return f"one_hot(np.asarray({action}).item(), {self.choices[0]})"
        if isinstance(self.space, spaces.MultiDiscrete):
            parts = f"zip(np.asarray({action}).reshape(-1).tolist(), {list(self.choices)}, strict=True)"
            return f"np.concatenate([one_hot(choice, n) for choice, n in {parts}])"
        return f"np.where(finite(np.asarray({action}, dtype=float).reshape({self.size})) > 0.5, 1.0, -1.0)"

    def combine(self, prior: np.ndarray[Any, Any], added: np.ndarray[Any, Any], scale: float) -> Any:
        """Return environment actions of continuous spaces: the program's and what the network adds, clipped.

        Args:
            prior: The programs' actions as numbers, one row per environment.
            added: The network's output, likewise.
            scale: Scale of the network's output.
        """
        space = self.space
        assert isinstance(space, spaces.Box)  # noqa: S101 - discrete actions are the network's own
        low, high = np.asarray(space.low, float).ravel(), np.asarray(space.high, float).ravel()
        flat = np.clip(self.middle + self.half * (prior + scale * added), low, high)
        return flat.reshape(len(prior), *space.shape).astype(space.dtype)

    def writing(self, output: str, prior: str, scale: float | None) -> str:
        """Return an expression for the environment's action: that of `combine`, or the choice of the largest logit.

        Args:
            output: An expression for the network's last layer.
            prior: An expression for the program's action as numbers.
            scale: Scale of the network's output; None if it acts alone.
        """
        if self.continuous:
            mixed = output if scale is None else f"{prior} + {scale!r} * {output}"
            name = np.dtype(self.space.dtype).name
            moved = f"{_array(self.middle)} + {_array(self.half)} * ({mixed})"
            return f"{self._clip_expression(moved)}.reshape({self.space.shape}).astype(np.{name})"
        if isinstance(self.space, spaces.Discrete):
            return f"int(np.argmax({output}))"
        if isinstance(self.space, spaces.MultiDiscrete):
            ends = np.cumsum(self.choices)[:-1].tolist()
            return f"np.array([np.argmax(part) for part in np.split({output}, {ends})])"
        return f"({output} > 0).astype(np.int8)"


def flat_size(space: AnySpace, name: str) -> int:
    """Return the size of an observation without its text.

    Raises:
        UnsupportedSpaceError: There are none, or too many for a network in a file.
    """
    try:
        size = sum(int(spaces.flatdim(part)) for _, part in numeric(space))
    except (ValueError, NotImplementedError) as error:
        raise UnsupportedSpaceError(f"refine's network does not read observations of {space}.") from error
    if size == 0:
        raise UnsupportedSpaceError(f"{name} observes no numbers, which is all that refine's network reads.")
    if size > MOST_INPUTS:
        raise UnsupportedSpaceError(
            f"{name} observes {size} numbers; refine writes networks of at most {MOST_INPUTS} inputs, and "
            "none for images."
        )
    return size


def flat_text(space: AnySpace, obs: str) -> str:
    """Return an expression for the result of `vector`, for a file that has numpy only."""
    parts = [
        text
        for path, part in numeric(space)
        for text in _texts(part, obs + "".join(f"[{key!r}]" for key in path))
    ]
    return parts[0] if len(parts) == 1 else f"np.concatenate([{', '.join(parts)}])"


def _texts(space: AnySpace, obs: str) -> list[str]:
    if isinstance(space, spaces.Discrete):
        return [f"(np.arange({int(space.n)}) == {obs} - {int(space.start)}).astype(float)"]
    if isinstance(space, spaces.MultiDiscrete):
        chosen = zip(space.nvec.ravel().tolist(), np.asarray(space.start).ravel().tolist(), strict=True)
        flat = f"np.ravel({obs})"
        return [
            f"(np.arange({n}) == {flat}[{i}] - {start}).astype(float)" for i, (n, start) in enumerate(chosen)
        ]
    return [f"np.array({obs}, dtype=float).ravel()"]


def _array(values: Any) -> str:
    """Return numbers as an expression: a single one if all are equal."""
    flat = np.asarray(values, float).ravel()
    same = bool(flat.size) and bool((flat == flat[0]).all())
    text = repr(float(flat[0])) if same else f"np.array({flat.tolist()})"
    return text.replace("inf", "np.inf")
