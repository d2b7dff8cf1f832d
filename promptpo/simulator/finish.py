"""Last steps on a tuned program: drop numbers that do nothing, round the others, and verify."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from promptpo.program import Program
from promptpo.rollouts.jobs import SandboxWork
from promptpo.simulator.contract import Simulation
from promptpo.simulator.play import standard_error, why_alone
from promptpo.simulator.search import FINAL_LANES, FINAL_SEED
from promptpo_sandbox.simulators import LanePlay, LanesPlayed

if TYPE_CHECKING:
    from promptpo_sandbox import Sandbox

Player = Callable[[Sequence[dict[str, float]], int], LanesPlayed]

TRIED_LANES = 8
"""Episodes of each way to leave numbers out; what is left is chosen in those that tuned programs are measured in."""

PRUNING_SECONDS = 320.0
"""Processor time of a program while numbers are left out, about; a slow one with many numbers keeps them."""

LOSS = 0.0005
"""Part of the return that dropping and rounding numbers may cost in all; with 1 %, six of thirteen programs lost 0.5 to 2 %."""

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
        steps = 0
        with self.simulation.open(sandbox, self.seed) as guest:
            together = not why_alone(guest, self.source, self.seed)

            def play(candidates: Sequence[dict[str, float]], lanes: int) -> LanesPlayed:
                """Play candidates in the same initial states, others for each number of lanes."""
                nonlocal steps
                seed = FINAL_SEED + 1 - self.seed + FINAL_LANES - lanes  # the guest adds its own
                vectors = [candidate or None for candidate in candidates]
                played = guest.play(
                    LanePlay(self.source, vectors, lanes, self.simulation.horizon, together, seed)
                )
                steps += int(played.lengths.sum())
                return played

            whole = play([values], FINAL_LANES)
            needless = _needless(program, values, play, whole.acting_seconds) if self.prune else []
            for dropped, digits in product((needless, needless[: len(needless) // 2], []), DIGITS):
                kept = values | dict.fromkeys(dropped, 0.0)
                vector = {name: round_to(value, digits) for name, value in kept.items()}
                (returns,) = play([vector], FINAL_LANES).returns
                if returns.mean() >= _floor(whole.returns.mean()):
                    break
        return FinishResult(
            program.with_values(vector).source,
            float(returns.mean()),
            standard_error(returns),
            tuple(dropped),
            steps,
            tuple(returns.tolist()),
        )


def _needless(program: Program, values: dict[str, float], play: Player, seconds: float) -> list[str]:
    """Names of numbers that can be nought together; none where trying them takes too long.

    Args:
        program: The program.
        values: Its numbers.
        play: Plays candidates.
        seconds: Processor time of the program in `FINAL_LANES` episodes.
    """
    names = [name for name, (value, low, high) in program.params.items() if value and low <= 0 <= high]
    if 2 * len(names) * seconds * TRIED_LANES / FINAL_LANES > PRUNING_SECONDS:
        return []
    tried = [values, *(values | {name: 0.0} for name in names)]
    first, *alone = play(tried, TRIED_LANES).returns.mean(axis=1).tolist()
    floor = _floor(first)
    order = [names[i] for i in np.argsort(alone)[::-1] if alone[i] >= floor]
    batch = [values | dict.fromkeys(order[: k + 1], 0.0) for k in range(len(order))]
    reached = play(batch, TRIED_LANES).returns.mean(axis=1).tolist() if batch else []
    return order[: 1 + max((k for k, mean in enumerate(reached) if mean >= floor), default=-1)]


def _floor(value: float) -> float:
    return value - LOSS * abs(value)


def round_to(value: float, digits: int) -> float:
    """Return a number with so many significant digits."""
    return float(f"{value:.{digits}g}")
