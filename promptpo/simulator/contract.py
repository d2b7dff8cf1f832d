"""A simulator with everything it takes to run it."""

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
    """Return why no simulator of a task is possible; empty where one is."""
    for name, space in (("observation", observation_space), ("action", action_space)):
        reason = why_unsupported(space)
        if reason:
            return f"no simulator: the {name}s cannot be held in lanes, since {reason}"
    return ""


@dataclass(frozen=True, slots=True)
class Simulation:
    """A simulator's module with its fitted numbers, the spaces and the time limit of the task.

    Attributes:
        source: The module: ``PARAMS`` and ``class Simulator``.
        vectors: Values of its ``PARAMS``; several are an ensemble, over which lanes are dealt. Empty without ``PARAMS``.
        observation_space: Of the task.
        action_space: Of the task.
        horizon: Longest episode, in steps.
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
        """The module, with the first vector written into it."""
        program = Program.from_source(self.source)
        return program.with_values(self.vectors[0]) if self.vectors else program

    def open(self, sandbox: Sandbox, seed: int = 0) -> AbstractContextManager[SimulatorGuest]:
        """Return a confined process that holds the simulator.

        Args:
            sandbox: Whose layers hold there.
            seed: Decides all random numbers.

        Raises:
            SimulatorFailedError: The source is refused.
        """
        simulated = Simulated(self.source, self.vectors, self.observation_space, self.action_space)
        return SimulatorGuest(sandbox, simulated, seed)
