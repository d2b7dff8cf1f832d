"""A simulator with all that is needed to run it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gymnasium

from promptpo.program import Program
from promptpo_sandbox.simulators import Simulated, SimulatorGuest, Vector, why_unsupported

if TYPE_CHECKING:
    from promptpo_sandbox import Sandbox

Space = gymnasium.Space[Any]


def supports(observation_space: Space, action_space: Space) -> str:
    """Return why a task cannot have a simulator; empty if it can."""
    for name, space in (("observation", observation_space), ("action", action_space)):
        reason = why_unsupported(space)
        if reason:
            return f"no simulator: the {name}s cannot be held in lanes, since {reason}"
    return ""


@dataclass(frozen=True, slots=True)
class Simulation:
    """A simulator's module, its fitted parameters, and the task's spaces and horizon.

    Attributes:
        source: The module, with ``PARAMS`` and ``class Simulator``.
        vectors: Values of its ``PARAMS``; several form an ensemble, over which lanes are distributed. Empty without
            ``PARAMS``.
        observation_space: The task's observation space.
        action_space: The task's action space.
        horizon: Longest episode in steps.
    """

    source: str
    vectors: tuple[Vector, ...]
    observation_space: Space
    action_space: Space
    horizon: int

    @classmethod
    def of(cls, source: str, observation_space: Space, action_space: Space, horizon: int) -> Simulation:
        """Return the simulation with the values that its module declares."""
        values = Program.from_source(source).values
        return cls(source, (values,) if values else (), observation_space, action_space, horizon)

    @property
    def program(self) -> Program:
        """The module with the first vector as its declared values."""
        program = Program.from_source(self.source)
        return program.with_values(self.vectors[0]) if self.vectors else program

    def open(self, sandbox: Sandbox, seed: int = 0) -> AbstractContextManager[SimulatorGuest]:
        """Return a confined process that runs the simulator.

        Args:
            sandbox: The sandbox that confines it.
            seed: Seed of all random numbers.

        Raises:
            SimulatorFailedError: The source is rejected.
        """
        simulated = Simulated(self.source, self.vectors, self.observation_space, self.action_space)
        return SimulatorGuest(sandbox, simulated, seed)
