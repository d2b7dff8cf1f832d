"""Check a simulator in simulated steps alone, for problems that must be repaired and for remarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.rollouts.jobs import SandboxWork
from promptpo.simulator.contract import Simulation
from promptpo.simulator.data import initial_observations
from promptpo_sandbox import Recorded

if TYPE_CHECKING:
    from promptpo_sandbox import Sandbox

LANES, STEPS = 256, 12
"""Lanes and steps of the batches that are compared."""

SLOW_STEPS_PER_SECOND = 1_000
"""Speed below which a batch must have a loop over its lanes; the slowest bodies in an engine take 3,800 steps a second,
and no correction made them faster."""

MAX_NAMED = 8

PROBLEMS = {
    "mixed": "lanes are not independent: in another order, each of them moves differently; compute every "
    "lane from its own row alone",
    "alone": "a lane moves differently alone than in a batch of 256; compute every lane from its own row alone",
    "dropped": "dropping some lanes changes the others; keep all state that changes in arrays with the lane first",
    "restarted": "restarting some lanes changes the others; keep all state that changes in arrays with the lane first",
}


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of checking a simulator.

    Attributes:
        problems: Problems that must be repaired, a sentence each.
        remarks: Remarks for the author, a sentence each.
        steps_per_second: Simulated lane steps per second of processor time, in a batch of 256.
        random: Whether its steps use random numbers; lanes are then not compared.
    """

    problems: tuple[str, ...]
    remarks: tuple[str, ...]
    steps_per_second: float
    random: bool


@dataclass(frozen=True, slots=True)
class Check(SandboxWork):
    """A request to check a simulator.

    Attributes:
        simulation: The simulator.
        episodes: Real episodes.
        seed: Seed of the sampled states and actions.
    """

    simulation: Simulation
    episodes: tuple[Recorded, ...]
    seed: int = 0

    def run(self, sandbox: Sandbox) -> CheckReport:
        """See `SandboxWork.run`.

        Raises:
            SimulatorFailedError: The simulator is rejected or fails.
        """
        rng = np.random.default_rng(self.seed)
        starts = np.concatenate([episode.observations[:-1] for episode in self.episodes])
        actions = np.concatenate([episode.actions for episode in self.episodes])
        starts = starts[rng.integers(0, len(starts), LANES)]
        tried = actions[rng.integers(0, len(actions), (STEPS, LANES))]
        with self.simulation.open(sandbox, self.seed) as guest:
            facts = guest.examine(starts, tried)
        return build_report(facts, initial_observations(self.episodes))


def build_report(facts: dict[str, Any], seen: np.ndarray[Any, Any]) -> CheckReport:
    """Build the report from the facts of `SimulatorGuest.examine`.

    Args:
        facts: The facts.
        seen: Real initial observations.
    """
    problems = [text for name, text in PROBLEMS.items() if facts.get(name)]
    remarks: list[str] = []
    shared = [str(name) for name in facts["shared"]][:MAX_NAMED]
    if shared:
        names = ", ".join(f"self.{name}" for name in shared)
        problems.append(
            f"{names} changes with each step but is one number for all lanes; keep one value per lane, in an array with "
            "the lane first"
        )
    speed = LANES / max(float(facts["seconds_per_batch"]), 1e-9)
    if speed < SLOW_STEPS_PER_SECOND:
        remarks.append(f"it simulates only {speed:,.0f} steps a second in 256 lanes; avoid loops over lanes")
    if facts["broken"]:
        remarks.append(
            f"{facts['broken']} of {LANES} lanes gave NaN or infinity within {STEPS} steps from its own initial states"
        )
    remarks += _initial_remarks(np.asarray(facts["initial"], float), seen.astype(float))
    return CheckReport(tuple(problems), tuple(remarks), speed, bool(facts["random"]))


def _initial_remarks(initial: np.ndarray[Any, Any], seen: np.ndarray[Any, Any]) -> list[str]:
    """Return a remark on coordinates of simulated initial states that clearly differ from real ones, if any."""
    initial, seen = initial.reshape(len(initial), -1), seen.reshape(len(seen), -1)
    few = 4.0 / len(seen)  # few episodes show only a part of a range
    low, high, span = seen.min(axis=0), seen.max(axis=0), np.ptp(seen, axis=0)
    room = (0.5 + few) * span + 1e-3 * (1.0 + np.abs(seen).max(axis=0))
    outside = ((initial < low - room) | (initial > high + room)).mean(axis=0) > min(few, 0.5)
    narrow = np.ptp(initial, axis=0) < 0.2 * span - 1e-6
    found = [
        f"obs[{i}] {initial[:, i].min():.4g} .. {initial[:, i].max():.4g}, in reality {low[i]:.4g} .. {high[i]:.4g}"
        for i in np.flatnonzero(outside | narrow)[:MAX_NAMED]
    ]
    return [f"initial states differ from real ones: {'; '.join(found)}"] if found else []
