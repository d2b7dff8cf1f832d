"""Small networks trained in a simulator, if their packages are installed: a yardstick, and a product of the run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptpo.core.control import gather
from promptpo.prompts.feedback import number
from promptpo.simulator.network import NetworkResult, TrainNetwork
from promptpo_sandbox.simulators import SimulatorFailedError

if TYPE_CHECKING:
    from promptpo.features.simulator.simulators import Simulators
    from promptpo.simulator.contract import Simulation

SEEDS = 2
"""Number of networks to train."""

MAX_SECONDS = 150.0
"""Approximate limit on the simulator's processor time in one training."""

TRAINING_PART, REFIT_PART = 1.5, 0.5
"""Simulated steps of each training, and of one after a refit, in units of one start of a program's tuning."""


@dataclass(frozen=True, slots=True)
class TrainedNetwork:
    """A network trained in a simulator.

    Attributes:
        id: Its journal key.
        source: A policy module with its weights.
        value: Mean simulated return.
        stderr: Standard error of `value`.
        state: State from which training can continue.
    """

    id: str
    source: str
    value: float
    stderr: float
    state: str

    @property
    def line(self) -> str:
        """One line about the network, for the writer of programs."""
        return (
            f"A network of two layers, trained in the same simulator by PPO. Simulated return {number(self.value)} ± "
            f"{number(self.stderr)}: this much is possible."
        )


class NetworkTraining:
    """Trains networks in a simulator.

    Args:
        simulators: Runs the work.
        seed: Seed of the run.
        steps: Simulated steps of one start of a program's tuning.
    """

    def __init__(self, simulators: Simulators, seed: int, steps: int) -> None:
        self._simulators, self._seed, self._steps = simulators, seed, steps

    def pace(self, speed: float) -> None:
        """Reduce the steps for a simulator with this speed, in steps per second."""
        self._steps = int(min(self._steps, MAX_SECONDS * speed / TRAINING_PART))

    async def train(self, simulation: Simulation) -> list[TrainedNetwork]:
        """Return the networks that could be trained, best first; the best is trained twice as long."""
        steps = round(TRAINING_PART * self._steps)
        works = (TrainNetwork(simulation, self._seed + n, steps) for n in range(1, SEEDS + 1))
        trained = await gather(self._train(f"n{n}", work) for n, work in enumerate(works, 1))
        found = sorted((network for network in trained if network), key=lambda network: -network.value)
        for best in found[:1]:
            work = TrainNetwork(simulation, self._seed + SEEDS + 1, steps, best.state)
            longer = await self._train(f"{best.id}.on", work)
            found[0] = max(best, longer or best, key=lambda network: network.value)
        return found

    async def train_further(self, network: TrainedNetwork, simulation: Simulation, n: int) -> TrainedNetwork:
        """Return the network after more training in a refitted simulator."""
        work = TrainNetwork(simulation, self._seed + n, round(REFIT_PART * self._steps), network.state)
        return await self._train(f"{network.id}.refit{n}", work) or network

    async def _train(self, key: str, work: TrainNetwork) -> TrainedNetwork | None:
        doing = f"training network {key} in the simulator, on {work.steps:,} steps"
        try:
            found = await self._simulators.work(key, work, NetworkResult, doing)
        except SimulatorFailedError:
            return None
        if not math.isfinite(found.value):
            return None
        return TrainedNetwork(key.partition(".")[0], found.source, found.value, found.stderr, found.state)
