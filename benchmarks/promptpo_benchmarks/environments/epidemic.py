"""Epidemic mitigation: choosing how strict the rules are, in an SEIR epidemic.

The equations are the SEIR model, Kermack and McKendrick's (Proc. R. Soc. A 115, 1927) with a latent
stage, as shares of the population::

    dS/dt = -b S I      dE/dt = b S I - s E      dI/dt = s E - g I      dR/dt = g I

with b = R0 g (1 - reduction by the rules). Incubation (5 days), infectious time (6 days) and R0 are of
the size that was estimated for COVID-19 early in 2020.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

SIGMA = 1 / 5.0
"""Rate at which exposed people become infectious, 1/day."""
GAMMA = 1 / 6.0
"""Rate at which infectious people recover, 1/day."""
REDUCTION = (0.0, 0.2, 0.4, 0.6, 0.8)
"""Share of contacts that each stage of rules removes."""
STAGE_COST = (0.0, 0.05, 0.15, 0.4, 1.0)
"""Cost of one day in each stage."""
HOSPITAL_SHARE = 0.05
"""Share of infectious people who need a bed."""
BEDS = 0.002
"""Beds as a share of the population."""
SUBSTEPS = 20
"""Integration steps in a day."""

Shares = tuple[float, float, float, float]
"""Susceptible, exposed, infectious and recovered shares of the population; they sum to one."""


def next_day(shares: Shares, transmission: float) -> Shares:
    """The shares a day later, by Heun's method.

    Args:
        shares: Today's.
        transmission: b of the module's equations, 1/day.
    """
    h = 1 / SUBSTEPS
    for _ in range(SUBSTEPS):
        k1 = _flows(shares, transmission)
        moved = _advance(shares, k1, h)
        k2 = _flows(moved, transmission)
        shares = _advance(shares, tuple((a + b) / 2 for a, b in zip(k1, k2, strict=True)), h)
    return shares


def _flows(shares: Shares, transmission: float) -> tuple[float, ...]:
    """Infection, onset and recovery, in shares of the population per day."""
    s, e, i, _ = shares
    return transmission * s * i, SIGMA * e, GAMMA * i


def _advance(shares: Shares, flows: tuple[float, ...], days: float) -> Shares:
    s, e, i, r = shares
    infection, onset, recovery = (flow * days for flow in flows)
    return s - infection, e + infection - onset, i + onset - recovery, r + recovery


class EpidemicEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """Set the stage of public-health rules, day by day, for half a year.

    ## Description
    An epidemic spreads. Stricter rules slow it down and cost something every day. Hospitals have a
    fixed number of beds, and a day on which more are needed is very expensive. How contagious the
    disease is differs between episodes, and the rules can move by one stage a day at most.

    ## Observation Space
    | Num | Observation | Min | Max |
    |-----|-------------|-----|-----|
    | 0   | reported cases (yesterday, per 100,000 people; about half of all, and noisy) | 0 | 100000 |
    | 1   | weekly cases (mean of the reports of the last 7 days) | 0 | 100000 |
    | 2   | beds in use (as a multiple of the beds there are) | 0 | 25 |
    | 3   | stage (of the rules in force, 0 none to 4 lockdown) | 0 | 4 |
    | 4   | day | 0 | 180 |

    ## Action Space
    - 0: relax by one stage
    - 1: keep the stage
    - 2: tighten by one stage

    ## Rewards
    Each day minus the cost of the stage in force (0, 0.05, 0.15, 0.4, 1 for stages 0 to 4) and minus
    5 times the number of missing beds as a multiple of the beds there are.

    ## Starting State
    No rules, between 1 and 20 infectious people per 100,000, basic reproduction number between 2 and 3.5.

    ## Episode End
    After 180 days.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium declares it so

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        high = np.array([1e5, 1e5, 25, 4, 180], dtype=np.float32)
        self.observation_space = spaces.Box(np.zeros(5, np.float32), high, dtype=np.float32)
        self.action_space = spaces.Discrete(3)
        self._shares: Shares = (1.0, 0.0, 0.0, 0.0)
        self._r0, self._stage, self._day = 2.5, 0, 0
        self._reported: list[float] = [0.0]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Draw the disease and how many have it."""
        super().reset(seed=seed, options=options)
        infectious = float(self.np_random.uniform(1e-5, 2e-4))
        self._shares = (1 - 2 * infectious, infectious, infectious, 0.0)
        self._r0 = float(self.np_random.uniform(2.0, 3.5))
        self._stage, self._day, self._reported = 0, 0, [0.0]
        return self._observation(), {}

    def step(self, action: np.int64) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Let a day pass under the new rules."""
        self._stage = min(max(self._stage + int(action) - 1, 0), len(REDUCTION) - 1)
        before = self._shares
        self._shares = next_day(before, self._r0 * GAMMA * (1 - REDUCTION[self._stage]))
        self._day += 1
        new_cases = (before[0] - self._shares[0]) * 1e5
        self._reported.append(float(new_cases * self.np_random.uniform(0.35, 0.65)))
        missing = max(0.0, self._beds_needed() - 1.0)
        reward = -STAGE_COST[self._stage] - 5.0 * missing
        return self._observation(), reward, False, False, {"shares": self._shares}

    def _beds_needed(self) -> float:
        """As a multiple of the beds there are."""
        return self._shares[2] * HOSPITAL_SHARE / BEDS

    def _observation(self) -> NDArray[np.float32]:
        week = self._reported[-7:]
        values = (self._reported[-1], sum(week) / len(week), self._beds_needed(), self._stage, self._day)
        return np.array(values, dtype=np.float32)
