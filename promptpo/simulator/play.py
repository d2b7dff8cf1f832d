"""Policies in a simulator: what they return there, held against what they return for real."""

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
"""Lanes in which a policy in lanes is held against lone copies."""


ALIVE_SHARE = 0.1
"""Part of the bonus for being alive that counts at first: with all of it, standing still is learnt."""

ALIVE_STEPS = 1 / 3
"""Part of the steps in which it is reduced."""

IDLE_LANES, IDLE_STEPS = 4, 200
"""Episodes of standing idle that tell the bonus, and their length at most."""


@dataclass(frozen=True, slots=True)
class SimulatedEpisodes:
    """Episodes that a policy played in a simulator.

    Attributes:
        returns: One each; minus infinity where the policy failed.
        why_alone: Why the policy was run copy by copy; empty where one text played all lanes.
        trajectories: Of the first lanes, as far as they were asked for.
        failure: What the policy did wrong first, if anything.
        simulated_steps: Steps of these episodes.
        ended: Share of them that the simulator ended.
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
        lanes: Episodes.
        seed: Of initial states and random numbers.
        horizon: Longest episode; nought for the task's own.
        record: Trajectories to bring back.
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
            SimulatorFailedError: The simulator is refused or fails.
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
    """Standard error of a mean return; NaN where an episode failed."""
    with np.errstate(invalid="ignore"):
        return float(returns.std(ddof=1) / math.sqrt(len(returns)))


def difference_in_errors(real: Sequence[float], simulated: Sequence[float]) -> float:
    """Return the difference between two mean returns (real less simulated) in standard errors."""
    spread = float(np.var(simulated, ddof=1))
    # Few real episodes tell little of their spread: they vary at least as simulated ones do.
    spreads = spread, max(spread, float(np.var(real, ddof=len(real) > 1)))
    error = math.sqrt(spreads[0] / len(simulated) + spreads[1] / len(real))
    apart = float(np.mean(real) - np.mean(simulated))
    floor = 1e-9 * (1.0 + abs(float(np.mean(simulated))))
    return 0.0 if abs(apart) <= floor else apart / max(error, floor)


def why_alone(guest: SimulatorGuest, source: str, seed: int = 0) -> str:
    """Return why a program must be run copy by copy; empty where one text can play many lanes.

    Args:
        guest: Where.
        source: The program.
        seed: Decides the numbers of the lanes that are tried: those written, and others around them.
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
    """Return what is taken off a step's reward at first: most of what standing idle earns, where an episode of it can end early."""
    horizon = min(IDLE_STEPS, simulation.horizon)
    idle = LanePlay(
        zero_policy(simulation.action_space), [None], IDLE_LANES, horizon, together=False, record=1
    )
    played = guest.play(idle)
    bonus = max(0.0, float(np.median(played.episodes[0].rewards)))
    return (1.0 - ALIVE_SHARE) * bonus if played.terminated.any() else 0.0
