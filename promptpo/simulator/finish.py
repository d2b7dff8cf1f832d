"""Last steps on a tuned program: drop numbers that do nothing, round the others, and verify."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.program import Program
from promptpo.rollouts.jobs import SandboxWork
from promptpo.simulator.contract import Simulation
from promptpo.simulator.play import why_alone
from promptpo.simulator.search import FINAL_LANES, FINAL_SEED
from promptpo_sandbox.simulators import LanePlay

if TYPE_CHECKING:
    from promptpo_sandbox import Sandbox
    from promptpo_sandbox.simulators import SimulatorGuest

Array = np.ndarray[Any, Any]
Player = Callable[[Sequence[dict[str, float]], int], tuple[Array, int]]

TRIED_LANES = 8
"""Episodes of each way to leave numbers out; what is left is chosen in those that tuned programs are measured in."""

LANES_TOGETHER = 128
"""Lanes of one question to a simulator; in a slow one, episodes of many more would be cut by its time limit. A program that plays
copy by copy is slow itself, and is asked for one candidate at a time."""

LOSS = 0.01
"""Part of the return that dropping and rounding numbers may cost in all."""

DIGITS = (3, 4, 5, 17)
"""Significant digits of rounded numbers, the first that keep the return; all of them last."""


@dataclass(frozen=True, slots=True)
class FinishResult:
    """A program without the numbers that do nothing, the others rounded.

    Attributes:
        source: The program.
        value: Mean simulated return.
        stderr: Standard error of that mean.
        dropped: Names of numbers that are nought now.
        simulated_steps: Of all episodes.
        returns: As of a `SearchResult`.
    """

    source: str
    value: float
    stderr: float
    dropped: tuple[str, ...]
    simulated_steps: int
    returns: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Finish(SandboxWork):
    """A request to drop numbers that do nothing, the most harmless first, and to round the others, as long as the return stays.

    Attributes:
        simulation: The simulator.
        source: The tuned program.
        seed: Decides all random numbers.
        prune: Whether numbers are dropped.
    """

    simulation: Simulation
    source: str
    seed: int = 0
    prune: bool = True

    def run(self, sandbox: Sandbox) -> FinishResult:
        """See `SandboxWork.run`.

        Raises:
            SimulatorFailedError: The simulator is refused or fails.
        """
        program = Program.from_source(self.source)
        values = dict(program.values or {})
        with self.simulation.open(sandbox, self.seed) as guest:
            play = _player(self, guest)
            dropped = _needless(program, values, play) if self.prune else []
            choices = [
                (dropped[:count], digits)
                for count in sorted({len(dropped), len(dropped) // 2, 0}, reverse=True)
                for digits in DIGITS
            ]
            vectors = [
                {
                    name: round_to(value, digits)
                    for name, value in (values | dict.fromkeys(names, 0.0)).items()
                }
                for names, digits in choices
            ]
            returns, steps = play(vectors, FINAL_LANES)
        means = returns.mean(axis=1)
        row = np.argmax(means >= _floor(means[-1]))
        return FinishResult(
            program.with_values(vectors[row]).source,
            float(means[row]),
            float(np.std(returns[row], ddof=1) / FINAL_LANES**0.5),
            tuple(choices[row][0]),
            steps,
            tuple(returns[row].tolist()),
        )


def _player(finish: Finish, guest: SimulatorGuest) -> Player:
    """Make a function that plays candidates in the same initial states, others for each number of lanes.

    That gives returns [candidate, lane] and the simulated steps of all its calls so far.
    """
    together, taken = not why_alone(guest, finish.source, finish.seed), 0

    def play(candidates: Sequence[dict[str, float]], lanes: int) -> tuple[Array, int]:
        nonlocal taken
        returns, horizon = [], finish.simulation.horizon
        seed = FINAL_SEED + 1 - finish.seed + FINAL_LANES - lanes  # the guest adds its own
        most = LANES_TOGETHER // lanes if together else 1
        for first in range(0, len(candidates), most):
            vectors: list[Any] = [candidate or None for candidate in candidates[first : first + most]]
            played = guest.play(
                LanePlay(finish.source, vectors, lanes, horizon, together=together, seed=seed)
            )
            returns.append(played.returns)
            taken += int(played.lengths.sum())
        return np.concatenate(returns), taken

    return play


def _needless(program: Program, values: dict[str, float], play: Player) -> list[str]:
    """Names of numbers that can be nought together."""
    names = [name for name, (value, low, high) in program.params.items() if value and low <= 0 <= high]
    first, *alone = (
        play([values, *(values | {name: 0.0} for name in names)], TRIED_LANES)[0].mean(axis=1).tolist()
    )
    floor = _floor(first)
    order = [names[i] for i in np.argsort(alone)[::-1] if alone[i] >= floor]
    batch = [values | dict.fromkeys(order[: k + 1], 0.0) for k in range(len(order))]
    reached = play(batch, TRIED_LANES)[0].mean(axis=1).tolist() if batch else []
    return order[: 1 + max((k for k, mean in enumerate(reached) if mean >= floor), default=-1)]


def _floor(value: float) -> float:
    return value - LOSS * abs(value)


def round_to(value: float, digits: int) -> float:
    """Return a number with so many significant digits."""
    return float(f"{value:.{digits}g}")
