"""Blood-glucose control with Bergman's minimal model.

The equations are the minimal model of Bergman, Ider, Bowden and Cobelli (Am. J. Physiol. 236, 1979),
with the insulin compartment that is usual for people without insulin production of their own, and an
exponentially absorbed meal in the manner of Fisher (IEEE Trans. Biomed. Eng. 38, 1991)::

    dG/dt = -p1 (G - Gb) - X G + D        G  plasma glucose, mg/dL
    dX/dt = -p2 X + p3 (I - Ib)           X  insulin action, 1/min
    dI/dt = -n I + u / V                  I  plasma insulin, mU/L;  u  infusion, mU/min
    dD/dt = -D / tau                      D  rate at which meals appear in the blood, mg/dL/min

The parameters are round numbers of published size, not those of a particular person. This is a model
for comparing controllers; it says nothing about treating anybody.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

STEP_MINUTES = 5
"""Between two decisions, as continuous glucose monitors report."""
MINUTES_PER_DAY = 1440


@dataclass(frozen=True, slots=True)
class Patient:
    """Parameters of the minimal model.

    Attributes:
        p1: Glucose effectiveness, 1/min.
        p2: Rate at which insulin action fades, 1/min.
        p3: Rate at which insulin acts, 1/min^2 per mU/L; p3/p2 is the insulin sensitivity.
        n: Insulin clearance, 1/min.
        volume: Insulin distribution volume, L.
        basal_glucose: mg/dL.
        basal_insulin: mU/L.
        tau: Time constant of a meal's absorption, min.
        mg_per_dl_per_gram: Rise of glucose that a gram of carbohydrate would cause by itself.
    """

    p1: float = 0.014
    p2: float = 0.025
    p3: float = 1.3e-5
    n: float = 5 / 54
    volume: float = 12.0
    basal_glucose: float = 110.0
    basal_insulin: float = 15.0
    tau: float = 40.0
    mg_per_dl_per_gram: float = 6.0

    @property
    def basal_infusion(self) -> float:
        """The infusion, in mU/min, that holds basal glucose without meals."""
        return self.n * self.volume * self.basal_insulin


State = tuple[float, float, float, float]
"""(G, X, I, D) of the module's equations."""


def basal_state(patient: Patient) -> State:
    """The equilibrium under the basal infusion."""
    return patient.basal_glucose, 0.0, patient.basal_insulin, 0.0


def derivative(state: State, infusion: float, patient: Patient) -> State:
    """Right-hand side of the equations; `infusion` in mU/min."""
    g, x, i, d = state
    return (
        -patient.p1 * (g - patient.basal_glucose) - x * g + d,
        -patient.p2 * x + patient.p3 * (i - patient.basal_insulin),
        -patient.n * i + infusion / patient.volume,
        -d / patient.tau,
    )


def advance(state: State, infusion: float, patient: Patient, minutes: int) -> State:
    """Integrate over whole minutes by the classical Runge-Kutta method, one step a minute."""
    for _ in range(minutes):
        k1 = derivative(state, infusion, patient)
        k2 = derivative(_advance(state, k1, 0.5), infusion, patient)
        k3 = derivative(_advance(state, k2, 0.5), infusion, patient)
        k4 = derivative(_advance(state, k3, 1.0), infusion, patient)
        g, x, i, d = (
            s + (a + 2 * b + 2 * c + e) / 6 for s, a, b, c, e in zip(state, k1, k2, k3, k4, strict=True)
        )
        state = (g, x, i, d)
    return state


def _advance(state: State, slope: State, by: float) -> State:
    g, x, i, d = (s + by * k for s, k in zip(state, slope, strict=True))
    return g, x, i, d


def risk(glucose: float) -> float:
    """Blood-glucose risk of Kovatchev et al. (Diabetes Care 20, 1997): 0 at about 112 mg/dL.

    Args:
        glucose: mg/dL, more than 1.
    """
    return float(10.0 * (1.509 * (math.log(glucose) ** 1.084 - 5.381)) ** 2)


class GlucoseEnv(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """An insulin pump for a day with three meals.

    ## Description
    A person without insulin production wears a pump and a glucose sensor that reports every 5 minutes.
    The pump has to keep blood glucose near 110 mg/dL through breakfast, lunch and dinner. Insulin acts
    with a delay and cannot be taken back. How sensitive the person is to insulin differs from day to
    day by up to 25 %.

    ## Observation Space
    | Num | Observation | Min | Max | Unit |
    |-----|-------------|-----|-----|------|
    | 0   | sensor glucose | 0 | 600 | mg/dL |
    | 1   | previous sensor glucose (5 minutes ago) | 0 | 600 | mg/dL |
    | 2   | carbohydrates (eaten at this moment; 0 at most times) | 0 | 150 | g |
    | 3   | last insulin (given in the last 5 minutes) | 0 | 5 | U |
    | 4   | insulin on board (given so far, if it fades with a time constant of 60 minutes) | 0 | 70 | U |
    | 5   | hour (of the day) | 0 | 24 | h |

    ## Action Space
    Insulin infusion for the next 5 minutes in units (U) per minute.

    | Num | Action | Min | Max | Unit |
    |-----|--------|-----|-----|------|
    | 0   | insulin infusion | 0 | 1 | U/min |

    ## Rewards
    At each step `1 - risk / 36`, where risk is the blood-glucose risk function of Kovatchev: 0 at
    112.5 mg/dL, 36 at about 40 and at about 310 mg/dL.

    ## Starting State
    Midnight, with glucose between 90 and 160 mg/dL.

    ## Episode End
    When glucose falls below 40 mg/dL (the person faints) or rises above 600 mg/dL; else after 24 hours.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium declares it so

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        high = np.array([600, 600, 150, 5, 70, 24], dtype=np.float32)
        self.observation_space = spaces.Box(np.zeros(6, np.float32), high, dtype=np.float32)
        self.action_space = spaces.Box(0.0, 1.0, (1,), dtype=np.float32)
        self._patient = Patient()
        self._state = basal_state(self._patient)
        self._meals: dict[int, float] = {}
        self._minute = 0
        self._sensor = self._last_sensor = self._dose = self._on_board = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Draw the day's insulin sensitivity, meals and starting glucose."""
        super().reset(seed=seed, options=options)
        normal, rng = Patient(), self.np_random
        self._patient = replace(normal, p3=normal.p3 * rng.uniform(0.75, 1.25))
        self._state = (rng.uniform(90, 160), *basal_state(self._patient)[1:])
        usual = ((7 * 60, 45), (12.5 * 60, 70), (19 * 60, 60))
        self._meals = {
            round(rng.normal(minute, 30) / STEP_MINUTES) * STEP_MINUTES: float(rng.uniform(0.6, 1.4) * grams)
            for minute, grams in usual
        }
        self._minute, self._dose = 0, 0.0
        self._on_board = self._patient.basal_infusion / 1000 * 60
        self._sensor = self._last_sensor = self._measure()
        return self._observation(), {}

    def step(
        self, action: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Run the pump for five minutes."""
        infusion = float(np.clip(action[0], 0.0, 1.0))
        g, x, i, d = self._state
        grams = self._meals.get(self._minute, 0.0)
        d += grams * self._patient.mg_per_dl_per_gram / self._patient.tau
        self._state = advance((g, x, i, d), infusion * 1000, self._patient, STEP_MINUTES)
        self._minute += STEP_MINUTES
        self._dose = infusion * STEP_MINUTES
        self._on_board = self._on_board * math.exp(-STEP_MINUTES / 60) + self._dose
        glucose = self._state[0]
        self._last_sensor, self._sensor = self._sensor, self._measure()
        reward = 1.0 - risk(max(glucose, 2.0)) / 36.0
        terminated = not 40.0 <= glucose <= 600.0
        return self._observation(), reward, terminated, False, {"glucose": glucose}

    def _measure(self) -> float:
        """Sensor reading: the true value with 3 % noise."""
        return float(np.clip(self._state[0] * self.np_random.normal(1.0, 0.03), 0.0, 600.0))

    def _observation(self) -> NDArray[np.float32]:
        eaten = self._meals.get(self._minute, 0.0)
        hour = (self._minute % MINUTES_PER_DAY) / 60
        values = (self._sensor, self._last_sensor, eaten, self._dose, self._on_board, hour)
        return np.array(values, dtype=np.float32)
