"""Finish a tuned program: set parameters without effect to 0, round the others, and measure it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from promptpo.program import Program
from promptpo.program.tunables import round_value
from promptpo.rollouts.jobs import SandboxWork
from promptpo.simulator.contract import Simulation
from promptpo.simulator.play import standard_error, why_alone
from promptpo.simulator.search import FINAL_LANES, FINAL_SEED
from promptpo_sandbox.simulators import LanePlay, LanesPlayed

if TYPE_CHECKING:
    from promptpo_sandbox import Sandbox

Player = Callable[[Sequence[dict[str, float]], int], LanesPlayed]

TRIED_LANES = 8
"""Episodes for each trial of dropping parameters; the final choice is made in the episodes that measure tuned programs."""

PRUNING_SECONDS = 320.0
"""Approximate processor time for dropping parameters; slow programs with many parameters keep them all."""

MAX_LOSS_SHARE = 0.0005
"""Share of the return that dropping and rounding may cost in all; with 1 %, six of thirteen programs lost 0.5 to 2 %."""

DIGITS = (3, 4, 5, 17)
"""Significant digits to try, in order, until the return is kept; 17 is full precision."""


@dataclass(frozen=True, slots=True)
class FinishResult:
    """A program without ineffective parameters, the others rounded.

    Attributes:
        source: The program.
        value: Mean simulated return.
        stderr: Standard error of that mean.
        dropped: Names of parameters set to 0.
        simulated_steps: Steps of all episodes.
        returns: As in `SearchResult`.
    """

    source: str
    value: float
    stderr: float
    dropped: tuple[str, ...]
    simulated_steps: int
    returns: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Finish(SandboxWork):
    """A request to drop ineffective parameters, least effective first, and to round the others, if the return is kept.

    Attributes:
        simulation: The simulator.
        source: The tuned program.
        seed: Seed of all random numbers.
        prune: Whether to drop parameters.
    """

    simulation: Simulation
    source: str
    seed: int = 0
    prune: bool = True

    def run(self, sandbox: Sandbox) -> FinishResult:
        """See `SandboxWork.run`.

        Raises:
            SimulatorFailedError: The simulator is rejected or fails.
        """
        program = Program.from_source(self.source)
        values = dict(program.values or {})
        steps = 0
        with self.simulation.open(sandbox, self.seed) as guest:
            together = not why_alone(guest, self.source, self.seed)

            def play(candidates: Sequence[dict[str, float]], lanes: int) -> LanesPlayed:
                """Play candidates in the same initial states, which depend on the number of lanes."""
                nonlocal steps
                seed = FINAL_SEED + 1 - self.seed + FINAL_LANES - lanes  # the guest adds its own
                vectors = [candidate or None for candidate in candidates]
                played = guest.play(
                    LanePlay(self.source, vectors, lanes, self.simulation.horizon, together, seed)
                )
                steps += int(played.lengths.sum())
                return played

            whole = play([values], FINAL_LANES)
            needless = _find_needless(program, values, play, whole.acting_seconds) if self.prune else []
            for dropped, digits in product((needless, needless[: len(needless) // 2], []), DIGITS):
                kept = values | dict.fromkeys(dropped, 0.0)
                vector = {name: round_value(value, digits) for name, value in kept.items()}
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


def _find_needless(program: Program, values: dict[str, float], play: Player, seconds: float) -> list[str]:
    """Return the names of parameters that can all be 0; none if trying them would take too long.

    Args:
        program: The program.
        values: Its parameters.
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
    return value - MAX_LOSS_SHARE * abs(value)
