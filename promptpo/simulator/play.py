"""Play policies in a simulator, and compare simulated with real returns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.program import Program
from promptpo.program.reference_policies import zero_policy
from promptpo.rollouts.jobs import SandboxWork
from promptpo.simulator.contract import Simulation
from promptpo_sandbox import Failure, Recorded
from promptpo_sandbox.simulators import Array, LanePlay

if TYPE_CHECKING:
    from promptpo_sandbox import Sandbox
    from promptpo_sandbox.simulators import SimulatorGuest


TRIAL_LANES = 9
"""Lanes in which one instance of a policy is compared with separate copies."""

ALIVE_SHARE = 0.1
"""Share of the alive bonus that counts at first; with all of it, agents learn to stand still."""

ALIVE_STEPS = 1 / 3
"""Share of the steps in which the bonus is reduced."""

IDLE_LANES, IDLE_STEPS = 4, 200
"""Episodes with zero actions from which the bonus is estimated, and their longest length in steps."""


@dataclass(frozen=True, slots=True)
class SimulatedEpisodes:
    """Episodes of a policy in a simulator.

    Attributes:
        returns: The return of each; minus infinity if the policy failed.
        why_alone: Why each lane ran its own copy of the policy; empty if one instance played all lanes.
        trajectories: Trajectories of the first lanes, as requested.
        failure: The policy's first failure, if any.
        simulated_steps: Total number of steps.
        ended: Share of the episodes that the simulator terminated.
    """

    returns: tuple[float, ...]
    why_alone: str
    trajectories: tuple[Recorded, ...]
    failure: Failure | None
    simulated_steps: int
    ended: float


@dataclass(frozen=True, slots=True)
class Play(SandboxWork):
    """A request to play a policy in a simulator.

    Attributes:
        simulation: The simulator.
        source: The policy's module.
        lanes: Number of episodes.
        seed: Seed of initial states and random numbers.
        horizon: Longest episode in steps; 0 for the task's own.
        record: Number of trajectories to return.
    """

    simulation: Simulation
    source: str
    lanes: int = 32
    seed: int = 0
    horizon: int = 0
    record: int = 0

    def run(self, sandbox: Sandbox) -> SimulatedEpisodes:
        """See `SandboxWork.run`.

        Raises:
            SimulatorFailedError: The simulator is rejected or fails.
        """
        values, horizon = Program.from_source(self.source).values, self.horizon or self.simulation.horizon
        with self.simulation.open(sandbox, self.seed) as guest:
            why = why_alone(guest, self.source, self.seed)
            played = guest.play(
                LanePlay(self.source, [values], self.lanes, horizon, not why, self.seed, self.record)
            )
        (returns,) = played.returns.tolist()
        steps = int(played.lengths.sum())
        ended = float(played.terminated.mean())
        return SimulatedEpisodes(tuple(returns), why, played.episodes, played.failure, steps, ended)


def standard_error(returns: Array) -> float:
    """Return the standard error of a mean return; NaN if an episode failed."""
    with np.errstate(invalid="ignore"):
        return float(returns.std(ddof=1) / math.sqrt(len(returns)))


def difference_in_errors(real: Sequence[float], simulated: Sequence[float]) -> float:
    """Return the difference of mean returns, real minus simulated, in standard errors."""
    spread = float(np.var(simulated, ddof=1))
    # Few real episodes underestimate their variance; assume at least that of simulated ones.
    spreads = spread, max(spread, float(np.var(real, ddof=len(real) > 1)))
    error = math.sqrt(spreads[0] / len(simulated) + spreads[1] / len(real))
    apart = float(np.mean(real) - np.mean(simulated))
    floor = 1e-9 * (1.0 + abs(float(np.mean(simulated))))
    return 0.0 if abs(apart) <= floor else apart / max(error, floor)


def why_alone(guest: SimulatorGuest, source: str, seed: int = 0) -> str:
    """Return why each lane must run its own copy of a program; empty if one instance can play many lanes.

    Args:
        guest: The process of the simulator.
        source: The program.
        seed: Seed of the parameters in the tested lanes: the declared values, and others near them.
    """
    program, rng = Program.from_source(source), np.random.default_rng(seed)
    trials: list[Any] = [program.values] * TRIAL_LANES
    if program.values is not None:
        trials[1:] = [
            {
                name: float(np.clip(value + 0.1 * (high - low) * rng.standard_normal(), low, high))
                for name, (value, low, high) in program.params.items()
            }
            for _ in trials[1:]
        ]
    return guest.why_alone(source, trials)


def alive_bonus(guest: SimulatorGuest, simulation: Simulation) -> float:
    """Return the reward to subtract per step at first: most of the idle reward if idle episodes can end early, else 0."""
    horizon = min(IDLE_STEPS, simulation.horizon)
    idle = LanePlay(
        zero_policy(simulation.action_space), [None], IDLE_LANES, horizon, together=False, record=1
    )
    played = guest.play(idle)
    bonus = max(0.0, float(np.median(played.episodes[0].rewards)))
    return (1.0 - ALIVE_SHARE) * bonus if played.terminated.any() else 0.0
