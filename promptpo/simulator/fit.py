"""Fit a simulator's parameters to real steps: bounded nonlinear least squares over windows of 1, 5 and 25 steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from promptpo.rollouts.jobs import SandboxWork
from promptpo.simulator.contract import Simulation
from promptpo.simulator.data import STEPS_AHEAD, Windows, clip_edges, cut_windows, split_episodes
from promptpo.simulator.errors import ErrorTable, tabulate
from promptpo_sandbox import Recorded
from promptpo_sandbox.simulators import Array

if TYPE_CHECKING:
    from promptpo_sandbox import Sandbox
    from promptpo_sandbox.simulators import SimulatorGuest


WINDOWS = 200
"""Number of windows to fit."""

NEAR, FAR = STEPS_AHEAD[:2], STEPS_AHEAD
"""Steps ahead in the first iterations, and in the last ones, which begin near the solution."""

NEAR_ITERATIONS, FAR_ITERATIONS, TOUCHED_ITERATIONS = 14, 5, 3
"""Iterations of each kind, and of a last fit of identifiable parameters alone."""

DAMPINGS = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""Factors of the damping that are tried in parallel."""

STEP = 1e-3
"""Finite difference, relative to a parameter's range."""

RANDOM_STEP, RANDOM_REPEAT = 0.02, 16
"""The same for simulators with random steps, and the number of lanes over which their predictions are averaged."""

PRIOR_WEIGHT = 1e-5
"""Weight of a parameter's squared distance from its prior, relative to its range, per residual."""

MAX_STDERR_SHARE = 0.3
"""Standard error, relative to the range, above which a parameter is not identifiable and keeps its prior."""

DOUBTFUL_STDERR = 3.0
"""Distance from the prior, in standard errors, beyond which a parameter makes its formula doubtful."""

MIN_RELATIVE_GAIN = 1e-4
"""Relative gain that ends the iterations."""


@dataclass(frozen=True, slots=True)
class FittedNumber:
    """A fitted parameter of a simulator.

    Attributes:
        name: Its name in ``PARAMS``.
        prior: The value that the module declares.
        value: The fitted value.
        error: Standard error; infinite if the data do not determine the parameter, which then keeps its prior.
        low: Lower bound.
        high: Upper bound.
    """

    name: str
    prior: float
    value: float
    error: float
    low: float
    high: float

    @property
    def touched(self) -> bool:
        """Whether the data determine it."""
        return math.isfinite(self.error)

    @property
    def at_bound(self) -> bool:
        """Whether the fit ended at a bound."""
        room = 1e-3 * (self.high - self.low)
        return self.touched and (self.value - self.low < room or self.high - self.value < room)

    @property
    def doubtful(self) -> bool:
        """Whether it is so far from its prior that its formula may be wrong."""
        apart = abs(self.value - self.prior)
        return self.touched and apart > DOUBTFUL_STDERR * self.error and apart > 0.1 * (self.high - self.low)


@dataclass(frozen=True, slots=True)
class FitResult:
    """The result of a fit.

    Attributes:
        numbers: The parameters in the order of ``PARAMS``.
        vectors: The fitted values; empty without ``PARAMS``.
        after: Prediction errors on held-out windows.
        simulated_steps: Number of simulated lane steps.
    """

    numbers: tuple[FittedNumber, ...]
    vectors: tuple[dict[str, float], ...]
    after: ErrorTable
    simulated_steps: int


@dataclass(frozen=True, slots=True)
class Fit(SandboxWork):
    """A request to fit a simulator's parameters.

    Attributes:
        simulation: The simulator; the fit begins at the values that its module declares.
        episodes: Real episodes, some of which are held out.
        seed: Seed for sampling windows.
        random: Whether the simulator's steps use random numbers.
    """

    simulation: Simulation
    episodes: tuple[Recorded, ...]
    seed: int = 0
    random: bool = False

    def run(self, sandbox: Sandbox) -> FitResult:
        """See `SandboxWork.run`.

        Raises:
            SimulatorFailedError: The simulator is rejected or fails.
        """
        with self.simulation.open(sandbox, self.seed) as guest:
            return _Fitting(self, guest).run()


def choose_windows(windows: Windows, sound: Array, count: int, seed: int) -> Windows:
    """Sample windows uniformly.

    Args:
        windows: All windows.
        sound: Mask of the windows to sample from, ignored if it has too few.
        count: Maximum number of windows.
        seed: Seed of the sample.
    """
    enough = sound.sum() > min(count, len(windows)) // 4
    rows = np.flatnonzero(sound) if enough else np.arange(len(windows))
    return windows.take(np.sort(np.random.default_rng(seed).permutation(rows)[:count]))


def _is_clipped(edges: Array, seen: Array) -> Array:
    """Return a mask of observations with a clipped coordinate, which hides the state."""
    columns = seen.reshape(len(seen), -1).astype(float)
    return np.asarray((columns == edges[:, None]).any(axis=(0, 2)))


class _Fitting:
    """One fit by damped Gauss-Newton steps within bounds, with Jacobians by finite differences."""

    def __init__(self, fit: Fit, guest: SimulatorGuest) -> None:
        self._fit, self._guest, self._steps = fit, guest, 0
        edges = clip_edges(cut_windows(fit.episodes).starts)
        fitted, held = (cut_windows(part) for part in split_episodes(fit.episodes))
        sound = ~(fitted.first | _is_clipped(edges, fitted.starts))
        self._windows = choose_windows(fitted, sound, WINDOWS, fit.seed)
        self._held = choose_windows(held, ~_is_clipped(edges, held.starts), 2 * WINDOWS, fit.seed)
        params = fit.simulation.program.params if fit.simulation.vectors else {}
        self._names = list(params)
        self._prior, self._low, self._high = np.array(list(params.values()), float).reshape(-1, 3).T
        self._repeat = RANDOM_REPEAT if fit.random else 1
        self._ahead: list[int] = []
        self._targets: list[tuple[Array, Array, Array]] = []

    def run(self) -> FitResult:
        width = self._high - self._low
        free, value, errors = width > 0, self._prior, np.full(len(width), np.inf)
        if free.any():
            for ahead, iterations in ((NEAR, NEAR_ITERATIONS), (FAR, FAR_ITERATIONS)):
                self._set_targets(ahead)
                value, errors = self._iterate(value, iterations, free)
            untouched = free & ~(errors < MAX_STDERR_SHARE * width)
            if untouched.any():
                value = np.where(untouched, self._prior, value)
                value, errors = self._iterate(value, TOUCHED_ITERATIONS, free & ~untouched)
        before, after = (self._table(vector) for vector in (self._prior, value))
        if all(after.explained_share(steps) < before.explained_share(steps) for steps in NEAR):
            value, after = self._prior, before  # the fit does not generalise to held-out windows
        columns = zip(self._names, self._prior, value, errors, self._low, self._high, strict=True)
        numbers = tuple(FittedNumber(name, *map(float, row)) for name, *row in columns)
        vector = self._vector(value)
        return FitResult(numbers, (vector,) if vector else (), after, self._steps)

    def _table(self, value: Array) -> ErrorTable:
        """Return the errors of a vector on held-out windows."""
        windows = self._held
        ahead = [steps for steps in STEPS_AHEAD if windows.valid[steps - 1].any()]
        obs, rewards, ended = self._predict([value], windows, ahead)
        return tabulate(windows, ahead, obs[0], rewards[0], ended[0])

    def _predict(
        self, values: Sequence[Array], windows: Windows, ahead: Sequence[int]
    ) -> tuple[Array, Array, Array]:
        """Return predictions of windows with each vector of values, as `SimulatorGuest.predict`, and count their steps."""
        self._steps += len(values) * len(windows) * max(ahead) * self._repeat
        vectors = [self._vector(value) for value in values]
        return self._guest.predict(vectors, windows.starts, windows.actions, ahead, self._repeat)

    def _vector(self, value: Array) -> dict[str, float] | None:
        return dict(zip(self._names, value.tolist(), strict=True)) or None

    # Residuals

    def _set_targets(self, ahead: tuple[int, ...]) -> None:
        """Prepare targets for predictions `ahead` steps ahead, each scaled by its typical change."""
        windows, count = self._windows, len(self._windows)
        starts = windows.starts.reshape(count, -1).astype(float)
        self._ahead = [steps for steps in ahead if windows.valid[steps - 1].any()]
        self._targets = []
        for steps in self._ahead:
            valid, seen = windows.valid[steps - 1], windows.seen[steps - 1].reshape(count, -1)
            size = np.sqrt(((seen - starts)[valid] ** 2).mean(axis=0))
            floor = np.maximum(1e-3 * (1e-6 + np.abs(starts).mean(axis=0)), 1e-2 * size.max(initial=1e-9))
            returns = windows.rewards[:steps].sum(axis=0)[:, None]
            worth = max(1e-6, float(returns.std()), 1e-2 * float(np.abs(returns).mean()))
            scale = np.append(np.maximum(size, floor), worth)
            self._targets.append((valid[:, None], np.hstack([seen, returns]), scale))

    def _residuals(self, values: list[Array]) -> list[Array]:
        """Return the flat residuals of each vector, 0 after the end of an episode."""
        obs, rewards, _ = self._predict(values, self._windows, self._ahead)
        found, count = [], len(self._windows)
        for seen, returns in zip(obs, rewards, strict=True):
            parts = [
                valid * (np.hstack([seen[k].reshape(count, -1), returns[k][:, None]]) - wanted) / scale
                for k, (valid, wanted, scale) in enumerate(self._targets)
            ]
            joined = np.hstack(parts).ravel()
            found.append(np.clip(np.nan_to_num(joined, nan=1e3, posinf=1e3, neginf=-1e3), -1e3, 1e3))
        return found

    def _cost(self, residual: Array, value: Array) -> float:
        """Return the soft L1 (Charbonnier) loss with a weak quadratic penalty for distance from the priors."""
        pull = ((value - self._prior) / (self._high - self._low + 1e-12)) ** 2
        return float((2 * (np.sqrt(1 + residual**2) - 1)).mean() + PRIOR_WEIGHT * pull.sum())

    def _iterate(self, value: Array, iterations: int, free: Array) -> tuple[Array, Array]:
        """Run projected Levenberg-Marquardt with several dampings at once; return the value and standard errors."""
        width = (self._high - self._low)[free]
        (residual,) = self._residuals([value])
        cost, damping, errors = self._cost(residual, value), 1e-3, np.full(len(value), np.inf)
        for _ in range(iterations if free.any() else 0):
            jacobian = self._jacobian(value, residual, free)
            weight = 1 / np.sqrt(1 + residual**2)  # soft L1 by iteratively reweighted least squares
            weighted = (jacobian * weight[:, None]).T / len(residual)
            normal = weighted @ jacobian
            errors[free] = _standard_errors(normal, residual, weight, width)
            gradient = weighted @ residual + PRIOR_WEIGHT * (value - self._prior)[free] / width
            normal = normal + PRIOR_WEIGHT * np.eye(len(width))
            tried = []
            for factor in DAMPINGS:
                damped = normal + damping * factor * np.diag(np.diag(normal) + 1e-12)
                new = value.copy()
                new[free] -= np.linalg.solve(damped, gradient) * width
                tried.append(np.clip(new, self._low, self._high))
            residuals = self._residuals(tried)
            costs = [self._cost(*pair) for pair in zip(residuals, tried, strict=True)]
            best = int(np.argmin(costs))
            gained = cost - costs[best]
            if gained > 0:
                value, residual, cost = tried[best], residuals[best], costs[best]
                damping *= DAMPINGS[best]
            if gained < MIN_RELATIVE_GAIN * max(cost, 1e-12):
                break
        return value, errors

    def _jacobian(self, value: Array, residual: Array, free: Array) -> Array:
        """Return the Jacobian of the residuals by finite differences, relative to each parameter's range."""
        size, width = RANDOM_STEP if self._fit.random else STEP, self._high - self._low
        steps = np.where(value + size * width <= self._high, size, -size)
        places = np.flatnonzero(free)
        columns = self._residuals([value + steps[i] * width * (np.arange(len(value)) == i) for i in places])
        return np.stack(
            [(column - residual) / steps[i] for i, column in zip(places, columns, strict=True)], axis=1
        )


def _standard_errors(normal: Array, residual: Array, weight: Array, width: Array) -> Array:
    """Return the standard errors of the free parameters, from the curvature without the priors."""
    variance = float((weight * residual**2).mean()) / len(residual)
    inverse = np.linalg.pinv(normal + 1e-12 * np.eye(len(normal)), hermitian=True)
    flat = np.diag(normal) < 1e-10  # noqa: PLR2004 - the parameter has no visible effect over its range
    errors = np.sqrt(np.maximum(np.diag(inverse), 0.0) * variance) * width
    return np.where(flat, np.inf, errors)
