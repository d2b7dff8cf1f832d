"""Last steps on a tuned program: drop numbers that do nothing, round the others, and verify."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.program import Program
from promptpo.rollouts.jobs import SandboxWork
from promptpo.simulator.contract import Simulation
from promptpo.simulator.play import why_alone
from promptpo_sandbox.simulators import LanePlay

if TYPE_CHECKING:
    from promptpo_sandbox import Sandbox
    from promptpo_sandbox.simulators import SimulatorGuest

Array = np.ndarray[Any, Any]

LANES = 32
"""Episodes of each candidate."""

TOLERANCE = 0.02
"""Part of the return that dropping numbers may cost in all."""

DIGITS = 3
"""Significant digits of a rounded number."""


@dataclass(frozen=True, slots=True)
class PruneResult:
    """A program without the numbers that do nothing.

    Attributes:
        source: The program, with nought in their places.
        value: Mean simulated return.
        unpruned_value: The same before.
        dropped: Names of numbers that are nought now.
        simulated_steps: Of all episodes.
    """

    source: str
    value: float
    unpruned_value: float
    dropped: tuple[str, ...]
    simulated_steps: int


@dataclass(frozen=True, slots=True)
class RoundResult:
    """A program with rounded numbers.

    Attributes:
        source: The program.
        value: Mean simulated return.
        stderr: Standard error of that mean.
        unrounded_value: Mean return before, in the same initial states.
        digits: Significant digits that it took.
        simulated_steps: Of all episodes.
    """

    source: str
    value: float
    stderr: float
    unrounded_value: float
    digits: int
    simulated_steps: int


class _Player:
    """Mean returns of a program's candidates in the same initial states."""

    def __init__(self, simulation: Simulation, source: str, seed: int, guest: SimulatorGuest) -> None:
        self._source, self._seed, self._guest = source, seed, guest
        self._horizon, self.steps = simulation.horizon, 0
        self._together = not why_alone(guest, source, seed)

    def returns(self, candidates: list[dict[str, float]], lanes: int) -> Array:
        """Returns of each, a row of so many episodes."""
        vectors: list[Any] = [candidate or None for candidate in candidates]
        played = self._guest.play(
            LanePlay(self._source, vectors, lanes, self._horizon, together=self._together, seed=self._seed)
        )
        self.steps += int(played.lengths.sum())
        return np.where(played.sound, played.returns, -np.inf)


@dataclass(frozen=True, slots=True)
class Prune(SandboxWork):
    """A request to drop numbers that do nothing, the most harmless first, as long as the return stays.

    Attributes:
        simulation: The simulator.
        source: The tuned program.
        seed: Decides all random numbers.
        tolerance: Part of the return that this may cost in all.
    """

    simulation: Simulation
    source: str
    seed: int = 0
    tolerance: float = TOLERANCE

    def run(self, sandbox: Sandbox) -> PruneResult:
        """See `SandboxWork.run`.

        Raises:
            SimulatorFailedError: The simulator is refused or fails.
        """
        program = Program.parse(self.source)
        values = dict(program.values or {})
        names = [name for name, (value, low, high) in program.params.items() if value and low <= 0 <= high]
        with self.simulation.open(sandbox, self.seed) as guest:
            player = _Player(self.simulation, self.source, self.seed, guest)
            dropped: list[str] = []
            if not names:
                value = float(player.returns([values], LANES).mean())
                return PruneResult(self.source, value, value, (), player.steps)
            singles = [values, *(values | {name: 0.0} for name in names)]
            alone = player.returns(singles, LANES).mean(axis=1)
            first = float(alone[0])
            floor = first - self.tolerance * abs(first)
            order = [names[i] for i in np.argsort(-alone[1:]) if alone[1 + i] >= floor]
            batch = [values | dict.fromkeys(order[: k + 1], 0.0) for k in range(len(order))]
            reached = [first, *player.returns(batch, LANES).mean(axis=1).tolist()] if batch else [first]
            kept = max((k for k, mean in enumerate(reached) if mean >= floor), default=0)
            dropped = order[:kept]
        source = program.with_values(dict.fromkeys(dropped, 0.0)).source
        return PruneResult(source, float(reached[kept]), first, tuple(dropped), player.steps)


@dataclass(frozen=True, slots=True)
class Round(SandboxWork):
    """A request to round a program's numbers and to verify that it plays the same.

    Attributes:
        simulation: The simulator.
        source: The tuned program.
        seed: Decides all random numbers.
        lanes: Episodes.
        tolerance: Part of the return that rounding may cost; more digits are kept where it costs more.
    """

    simulation: Simulation
    source: str
    seed: int = 0
    lanes: int = 64
    tolerance: float = 0.01

    def run(self, sandbox: Sandbox) -> RoundResult:
        """See `SandboxWork.run`.

        Raises:
            SimulatorFailedError: The simulator is refused or fails.
        """
        program = Program.parse(self.source)
        values = dict(program.values or {})
        trials = [DIGITS, DIGITS + 1, DIGITS + 2]
        candidates = [values, *({n: round_to(v, digits) for n, v in values.items()} for digits in trials)]
        with self.simulation.open(sandbox, self.seed) as guest:
            player = _Player(self.simulation, self.source, self.seed, guest)
            returns = player.returns(candidates, self.lanes)
        means = returns.mean(axis=1)
        floor = means[0] - self.tolerance * abs(means[0])
        row = next((i for i in range(1, len(candidates)) if means[i] >= floor), 0)
        error = float(np.std(returns[row], ddof=1) / math.sqrt(self.lanes)) if self.lanes > 1 else math.nan
        source = program.with_values(candidates[row]).source if row else self.source
        digits = trials[row - 1] if row else 6
        return RoundResult(source, float(means[row]), error, float(means[0]), digits, player.steps)


def round_to(value: float, digits: int) -> float:
    """Return a number with so many significant digits."""
    return float(f"{value:.{digits}g}")
