"""A model of returns: how good each program is, how hard each initial state is, and how certain both are.

Every episode of a run is an observation in a two-way random-effects model (Searle, Casella and McCulloch, "Variance
Components", 1992; solved by Henderson's mixed-model equations, its variances by EM),

    return[program, start] = effect of the program + effect of the start + noise.

A start is the initial state that a seed gives. Effects of programs come from a Student distribution around the run's mean, so
that hopeless programs do not widen the intervals of the others (Lange, Little and Taylor, 1989); its scale is at least the
program's own noise, so that a program that fails now and then is not taken for a middling one. Effects of starts come from a
normal distribution. The noise variance differs between programs; each is shrunk towards that of the run (Smyth, "Linear Models
and Empirical Bayes Methods", 2004). Pairs that were not played are missing data and need no imputation.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from promptpo.rollouts.evaluation import EpisodeRecord, Episodes, mean_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

PROGRAMS_DF = 4.0
"""Degrees of freedom of the distribution of program effects."""

PRIOR_DF = 2.0
"""Weight of the run's noise variance against a program's own, in episodes."""

NOISE_CAP = 4.0
"""Cap on a program's contribution to the run's noise variance, in medians."""

FLOOR = 1e-18
"""Minimum variance, as a share of the largest squared distance of a return from the median program."""

SUCCESS_SPREADS = 3.0
"""Value of a success, in ranges of all returns."""

ROUNDING = float(np.finfo(np.float32).eps)
"""Differences below this share of the largest return compared count as rounding errors: the resolution of single precision, in
which many environments compute."""

ITERATIONS = 60
"""Number of EM iterations."""

DRAWS = 2_000
"""Posterior draws used to estimate each program's probability of being best."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Posterior of a mean or a difference: a Student distribution, whose scale is infinite if the noise is unknown."""

    mean: float
    standard_error: float = math.inf
    df: float = PRIOR_DF

    @property
    def margin(self) -> float:
        """Half the width of the 95 % interval."""
        return quantile(self.df) * self.standard_error

    @property
    def verdict(self) -> int:
        """Sign of the mean if the 95 % interval excludes 0; otherwise 0."""
        return int(math.copysign(1, self.mean)) if abs(self.mean) > self.margin else 0

    @property
    def gain(self) -> float:
        """Expected positive part: the loss from treating the value as 0 or less (linear loss; Chick and Inoue, 2001)."""
        s = self.standard_error
        if not s or math.isinf(s):
            return max(self.mean, s)
        z = self.mean / s
        density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        return s * density + self.mean * (1 + math.erf(z / math.sqrt(2))) / 2


def mean_of(values: Sequence[float]) -> Estimate:
    """Estimate the mean of independent values; NaN if there are none."""
    if not values or not all(map(math.isfinite, values)):
        return Estimate(mean_value(values))
    n = len(values)
    error = statistics.stdev(values) / math.sqrt(n) if n > 1 else math.inf
    return Estimate(statistics.fmean(values), error, max(1, n - 1))


@cache
def quantile(df: float) -> float:
    """Return the 97.5 % quantile of Student's distribution (Cornish-Fisher expansion; within 1 % for df >= 2)."""
    z, n = 1.959964, max(df, 1.0)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    last = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160
    return z + sum(term / n**k for k, term in enumerate((*terms, last), 1))


class Returns:
    """The model, fitted to the returns of each program by start (seed): at least one for each program, all finite."""

    def __init__(self, returns: Mapping[str, Mapping[int, float]]) -> None:
        self.programs = tuple(returns)
        self._starts = sorted({start for played in returns.values() for start in played})
        self._at = {name: i for i, name in enumerate(self.programs)}
        column = {start: i for i, start in enumerate(self._starts)}
        shape = len(self.programs), len(self._starts)
        self._played, values = np.zeros(shape, bool), np.zeros(shape)
        for i, played in enumerate(returns.values()):
            for start, value in played.items():
                self._played[i, column[start]], values[i, column[start]] = True, value
        fitted = _fit(values.tobytes(), self._played.tobytes(), shape) if returns else (1.0, *(values,) * 4)
        self._unit, self._means, self._errors, self._residuals, self._df = fitted

    def of(self, program: str) -> Estimate:
        """Estimate a program's mean return over the distribution of starts."""
        i = self._at[program]
        return self._estimate(self._means[i], self._errors[i, i], i)

    def difference(self, program: str, other: str) -> Estimate:
        """Estimate how much more one program returns than another."""
        i, j = self._at[program], self._at[other]
        variance = 0.0 if i == j else self._errors[i, i] + self._errors[j, j] - 2 * self._errors[i, j]
        return self._estimate(self._means[i] - self._means[j], variance, i, j)

    def residual(self, program: str, start: int) -> float:
        """Return how far a return lies above the fitted value, in standard deviations of the program's noise."""
        i, j = self._at[program], self._starts.index(start)
        return self._residuals[i, j]  # type: ignore[no-any-return]

    def probability_best(self) -> dict[str, float]:
        """Return each program's probability of being the best, by posterior draws as in Thompson sampling.

        Differences to the leader are drawn from their Student distributions: no program is more likely to be the best than to beat the
        leader.
        """
        if not self.programs:
            return {}
        rng, n = np.random.default_rng(0), len(self.programs)
        try:
            root = np.linalg.cholesky(self._errors + 1e-12 * np.trace(self._errors) * np.eye(n))
        except np.linalg.LinAlgError:
            root = np.sqrt(np.diag(np.diag(self._errors)))
        away, leader = self._unit * rng.standard_normal((DRAWS, n)) @ root.T, int(self._means.argmax())
        df = np.minimum(self._df, self._df[leader])
        drawn = self._means + (away - away[:, [leader]]) * np.sqrt(df / rng.chisquare(df, (DRAWS, n)))
        best = np.bincount(drawn.argmax(axis=1), minlength=n) / DRAWS
        return dict(zip(self.programs, best.tolist(), strict=True))

    def _estimate(self, mean: float, variance: float, *programs: int) -> Estimate:
        known = self._played.sum() > 1
        error = self._unit * math.sqrt(max(0.0, variance)) if known else math.inf
        return Estimate(float(mean), error, round(min(float(self._df[i]) for i in programs), 1))


@lru_cache(maxsize=128)
def _fit(returns: bytes, pairs: bytes, shape: tuple[int, int]) -> tuple[float, Array, Array, Array, Array]:
    """Fit the variances; return a unit, means, their covariance in that unit, standardised residuals and degrees of freedom.

    Without the unit, variances of large returns would overflow. Results are cached, since a run's search, display and report each
    replay the same events.
    """
    values, played = np.frombuffer(returns).reshape(shape), np.frombuffer(pairs, bool).reshape(shape)
    programs = len(values)
    n = played.sum(axis=1)
    means = values.sum(axis=1) / n
    centre = float(np.median(means))
    values = np.where(played, values - centre, 0.0)
    unit = float(np.abs(values).max()) or 1.0
    values = values / unit
    own = np.where(played, values - (means - centre)[:, None] / unit, 0.0)
    scatter = (own**2).sum(axis=1) / np.maximum(n - 1, 1)
    loud = scatter[scatter > FLOOR]
    scale = float(np.median(loud)) if loud.size else FLOOR
    spread = (1.4826 * float(np.median(np.abs(means - centre))) / unit) ** 2
    # Column 0: each program's distance from the mean of the run.
    values = np.column_stack([np.zeros(programs), values])
    noise, starts = np.full(programs, scale / 2), scale / 2
    common, weights = max(spread, scale), np.ones(programs)
    for _ in range(ITERATIONS):
        found = _solve(values, played, noise, starts, common / weights + noise)
        squares = found.residuals**2 + found.variances
        apart, own_squares = squares[:, 0], np.where(played, squares[:, 1:], 0.0).sum(axis=1)
        raw = own_squares / n
        run = (np.minimum(raw, NOISE_CAP * max(statistics.median(raw), FLOOR)) * n).sum() / n.sum()
        noise = np.maximum((PRIOR_DF * run + own_squares) / (PRIOR_DF + n), FLOOR)
        starts = max(found.starts_squared / shape[1], FLOOR)
        weights = (PROGRAMS_DF + 1) / (PROGRAMS_DF + apart / common)
        common = max(float((weights * apart).mean()), FLOOR)
    found = _solve(values, played, noise, starts, common / weights + noise)
    leverage = np.where(played, found.variances[:, 1:] / noise[:, None], 0.0).sum(axis=1)
    residuals = np.where(played, found.residuals[:, 1:], 0.0) / np.sqrt(noise)[:, None]
    df = PRIOR_DF + np.maximum(n - leverage, 0.0)
    return unit, unit * found.programs + centre, found.errors, residuals, df


class _Solution(NamedTuple):
    """Effects under given variances, and the moments that EM needs."""

    programs: Array  # effect of each program, including the mean of the run
    errors: Array  # their covariance
    residuals: (
        Array  # shape (programs, 1 + starts): the program's from the mean of the run, then its episodes'
    )
    variances: Array  # of the values to which the residuals were fitted
    starts_squared: float  # expected sum of squared start effects


def _solve(
    values: Array, played: NDArray[np.bool_], noise: Array, starts: float, between: Array
) -> _Solution:
    """Solve Henderson's equations with the run's mean as an extra start: programs are eliminated, start effects negated."""
    weight = np.column_stack([1 / between, played / noise[:, None]])
    information, weighted = weight.sum(axis=1), weight * values
    prior = (np.arange(weight.shape[1]) > 0) / starts
    links, own = weight / information[:, None], weighted.sum(axis=1) / information
    covariance = np.linalg.inv(np.diag(weight.sum(axis=0) + prior) - weight.T @ links)
    common = covariance @ (weight.T @ own - weighted.sum(axis=0))
    programs, linked, variances = own + links @ common, links @ covariance, covariance.diagonal()
    errors = np.diag(1 / information) + linked @ links.T
    return _Solution(
        programs,
        errors,
        values - programs[:, None] + common,
        errors.diagonal()[:, None] + variances - 2 * linked,
        float((common**2 + variances)[1:].sum()),
    )


def selection_values(programs: Mapping[str, Sequence[EpisodeRecord]]) -> dict[str, dict[int, float]]:
    """Map program to start to the value of the episode when programs are compared.

    Success comes first: no return makes up for failing a third more of the episodes, but one failure in ten does not outweigh a
    tenfold return. If all returns are equal, success alone counts.
    """
    returns = [e.return_ for episodes in programs.values() for e in episodes]
    bonus = SUCCESS_SPREADS * (max(returns, default=0.0) - min(returns, default=0.0)) or 1.0
    return {
        name: {e.seed: e.return_ + bonus * bool(e.success) for e in episodes}
        for name, episodes in programs.items()
    }


SOLVED_EPISODES = 15
"""Minimum number of episodes for a mean to count as clearly above a threshold: a policy that fails on one start in ten fails on at
least one of them four times in five."""


@dataclass(frozen=True)
class Evidence(Episodes):
    """A candidate's training and validation episodes, never test episodes, on which it is judged: one per seed, sorted by seed.

    The estimate of the mean return by the run's model of returns is None for a candidate on its own.
    """

    episodes: tuple[EpisodeRecord, ...] = ()
    estimate: Estimate | None = None

    @classmethod
    def of(cls, *parts: Iterable[EpisodeRecord]) -> Evidence:
        """Combine the episodes of several evaluations, each seed once, since a seed determines its episode."""
        by_seed = {episode.seed: episode for part in parts for episode in part}
        return cls(tuple(by_seed[seed] for seed in sorted(by_seed)))

    @property
    def mean_return(self) -> float:
        """Estimated mean return; NaN without episodes."""
        return self._known.mean

    @property
    def standard_error(self) -> float:
        """Standard error of `mean_return`; NaN for fewer than two episodes."""
        error = self._known.standard_error
        return error if math.isfinite(error) and len(self.episodes) > 1 else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of `mean_return`; infinite or NaN if unknown."""
        known = self._known
        return known.mean - known.margin, known.mean + known.margin

    def exceeds(self, threshold: float) -> bool:
        """Whether the mean is clearly above a threshold over at least `SOLVED_EPISODES` episodes."""
        return len(self.episodes) >= SOLVED_EPISODES and self.interval[0] >= threshold

    def paired_difference(self, other: Evidence, size: float = 0.0) -> PairedDifference:
        """Return the paired difference over the shared seeds; beside returns as large as `size`, rounding errors count as 0."""
        theirs = {episode.seed: episode for episode in other.episodes}
        shared = [(mine, theirs[mine.seed]) for mine in self.episodes if mine.seed in theirs]
        differences = (mine.return_ - their.return_ for mine, their in shared)
        returns = tuple(0.0 if abs(found) < ROUNDING * size else found for found in differences)
        successes = tuple(
            float(mine.success) - float(their.success)
            for mine, their in shared
            if mine.success is not None and their.success is not None
        )
        return PairedDifference(returns, successes)

    @property
    def _known(self) -> Estimate:
        return self.estimate or mean_of(self.returns)


@dataclass(frozen=True)
class PairedDifference:
    """Differences in return and, where it is reported, in success (1 or 0) for each shared episode.

    The same seed gives the same initial state, so most of the noise cancels.
    """

    returns: tuple[float, ...]
    successes: tuple[float, ...] = ()

    @property
    def mean(self) -> float:
        """Mean difference of the returns; NaN without shared episodes."""
        return mean_value(self.returns)

    @property
    def standard_error(self) -> float:
        """Standard error of `mean`; NaN for fewer than two episodes."""
        error = mean_of(self.returns).standard_error
        return error if math.isfinite(error) else math.nan

    @property
    def tie(self) -> bool:
        """Whether returns and successes are the same in every shared episode."""
        return bool(self.returns) and not any(self.returns) and not any(self.successes)

    @property
    def verdict(self) -> int:
        """1 for better, -1 for worse, 0 if noise could explain the difference.

        Success comes first if it differs clearly; otherwise the return decides. One failed episode in ten must not outweigh a
        tenfold return.
        """
        return mean_of(self.successes).verdict or mean_of(self.returns).verdict
