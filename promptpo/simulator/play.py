"""Policies in a simulator: what they return there, held against what they return for real."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.program import Program
from promptpo.rollouts.jobs import SandboxWork
from promptpo.simulator.contract import Simulation, Vector
from promptpo_sandbox import Failure, Recorded
from promptpo_sandbox.simulators import LanePlay

if TYPE_CHECKING:
    from promptpo_sandbox import Sandbox
    from promptpo_sandbox.simulators import SimulatorGuest

Array = np.ndarray[Any, Any]

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
    """Episodes that B parameter vectors of a policy played in a simulator, L each.

    Attributes:
        returns: B rows of L; minus infinity where the policy failed.
        lengths: Steps of each.
        terminated: Whether the simulator ended it.
        why_alone: Why the policy was run copy by copy; empty where one text played all lanes.
        trajectories: Of the first lanes, as far as they were asked for.
        failure: What the policy did wrong first, if anything.
        broken: Lanes that ended since the simulator gave NaN or infinity.
        simulated_steps: Steps of these episodes.
        seconds: Wall time.
    """

    returns: tuple[tuple[float, ...], ...]
    lengths: tuple[tuple[int, ...], ...]
    terminated: tuple[tuple[bool, ...], ...]
    why_alone: str
    trajectories: tuple[Recorded, ...]
    failure: Failure | None
    broken: int
    simulated_steps: int
    seconds: float

    def mean(self, row: int = 0) -> float:
        """Mean return of a vector."""
        return float(np.mean(self.returns[row]))

    def stderr(self, row: int = 0) -> float:
        """Standard error of that mean."""
        returns = self.returns[row]
        return float(np.std(returns, ddof=1) / math.sqrt(len(returns))) if len(returns) > 1 else math.nan


@dataclass(frozen=True, slots=True)
class Play(SandboxWork):
    """A request to play a policy in a simulator.

    Attributes:
        simulation: The simulator.
        source: The policy's module.
        vectors: Values of its ``PARAMS``, one mapping for each candidate; empty for those in the module.
        lanes: Episodes of each.
        seed: Of initial states and random numbers.
        horizon: Longest episode; nought for the task's own.
        record: Trajectories to bring back.
        starts: Observations to start from, one row each; the simulator's own initial states otherwise.
    """

    simulation: Simulation
    source: str
    vectors: tuple[Vector, ...] = ()
    lanes: int = 32
    seed: int = 0
    horizon: int = 0
    record: int = 0
    starts: Array | None = None

    def run(self, sandbox: Sandbox) -> SimulatedEpisodes:
        """See `SandboxWork.run`.

        Raises:
            SimulatorFailedError: The simulator is refused or fails.
        """
        began = perf_counter()
        written = Program.parse(self.source).values
        vectors: list[Vector | None] = [*self.vectors] or [written]
        horizon = self.horizon or self.simulation.horizon
        with self.simulation.open(sandbox, self.seed) as guest:
            why = guest.why_alone(self.source, [vectors[i % len(vectors)] for i in range(TRIAL_LANES)])
            played = guest.play(
                LanePlay(
                    self.source,
                    vectors,
                    self.lanes,
                    horizon,
                    not why,
                    self.seed,
                    self.record,
                    starts=self.starts,
                )
            )
        returns = np.where(played.sound, played.returns, -np.inf)
        return SimulatedEpisodes(
            tuple(map(tuple, returns.tolist())),
            tuple(map(tuple, played.lengths.astype(int).tolist())),
            tuple(map(tuple, played.terminated.tolist())),
            why,
            played.episodes,
            played.failure,
            played.broken,
            int(played.lengths.sum()),
            perf_counter() - began,
        )


@dataclass(frozen=True, slots=True)
class WorldComparison:
    """Returns of one policy in the environment and in a simulator.

    Attributes:
        real: Mean of the real ones.
        simulated: Mean of the simulated ones.
        z: Difference (real less simulated) in standard errors; nought where both never vary and agree.
    """

    real: float
    simulated: float
    z: float

    @property
    def ratio(self) -> float:
        """Real over simulated."""
        return self.real / self.simulated if self.simulated else math.nan


def compare_worlds(real: Sequence[float], simulated: Sequence[float]) -> WorldComparison:
    """Return how far apart the mean returns of two samples are."""
    means = float(np.mean(real)), float(np.mean(simulated))
    variances = [
        float(np.var(sample, ddof=1)) / len(sample) if len(sample) > 1 else 0.0
        for sample in (real, simulated)
    ]
    if len(real) < 2 or variances[0] == 0.0:  # noqa: PLR2004 - few real episodes vary at least as simulated ones do
        variances[0] = variances[1] * len(simulated) / len(real)
    error, apart = math.sqrt(sum(variances)), means[0] - means[1]
    floor = 1e-9 * (1.0 + abs(means[1]))
    return WorldComparison(*means, 0.0 if abs(apart) <= floor else apart / max(error, floor))


def trial_vectors(
    values: Vector | None, ranges: Mapping[str, tuple[float, float, float]], seed: int
) -> list[Any]:
    """Return parameters of a few lanes: those written, and others around them within their bounds."""
    if values is None:
        return [None] * TRIAL_LANES
    rng = np.random.default_rng(seed)
    found: list[Any] = [dict(values)]
    for _ in range(TRIAL_LANES - 1):
        moved = {
            n: v + 0.1 * (ranges[n][2] - ranges[n][1]) * rng.standard_normal() for n, v in values.items()
        }
        found.append({n: float(np.clip(v, *ranges[n][1:])) for n, v in moved.items()})
    return found


def why_alone(guest: SimulatorGuest, source: str, seed: int = 0) -> str:
    """Return why a program must be run copy by copy; empty where one text can play many lanes."""
    program = Program.parse(source)
    return guest.why_alone(source, trial_vectors(program.values, program.params, seed))


def alive_bonus(guest: SimulatorGuest, simulation: Simulation) -> float:
    """Return what standing idle earns a step, where an episode of it can end early; nought elsewhere."""
    source, horizon = idle_policy(simulation.action_space), min(IDLE_STEPS, simulation.horizon)
    played = guest.play(LanePlay(source, [None], IDLE_LANES, horizon, together=False, record=1))
    if not played.terminated.any() or not played.episodes or not len(played.episodes[0]):
        return 0.0
    return max(0.0, float(np.median(played.episodes[0].rewards)))


def idle_policy(action_space: Any) -> str:
    """Return a policy that always gives zeros, or the least action where zero is none."""
    shape, low, high = getattr(action_space, "shape", ()) or (), 0, 0
    if hasattr(action_space, "n") and not shape:
        start = int(getattr(action_space, "start", 0))
        return f"class Policy:\n    def act(self, obs):\n        return {start}\n"
    low, high = getattr(action_space, "low", low), getattr(action_space, "high", high)
    zeros = np.clip(np.zeros(shape), low, high) if hasattr(action_space, "low") else np.zeros(shape)
    text = f"np.array({zeros.tolist()}, dtype='{action_space.dtype}')"
    return f"import numpy as np\n\n\nclass Policy:\n    def act(self, obs):\n        return {text}\n"
