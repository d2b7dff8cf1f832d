"""Tune a program's parameters in a simulator, where steps are free, by several CMA-ES searches side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.cma_es import evolution_strategy
from promptpo.program import Program
from promptpo.rollouts.jobs import SandboxWork
from promptpo.simulator.contract import Simulation
from promptpo.simulator.play import ALIVE_STEPS, alive_bonus, standard_error, why_alone
from promptpo_sandbox import Failure
from promptpo_sandbox.simulators import Array, LanePlay

if TYPE_CHECKING:
    from promptpo_sandbox import Sandbox
    from promptpo_sandbox.simulators import SimulatorGuest


CANDIDATES = 16
"""Candidates per generation."""

PHASES = ((0.5, 0.25, 2), (0.75, 0.5, 2), (1.0, 1.0, 4))
"""Phases of a new search: the share of its steps at which each ends, the share of the horizon, and the episodes per
candidate. Long episodes from the beginning would leave few generations."""

MIN_HORIZON = 100
"""Minimum horizon of shortened episodes."""

START_STEPS, STARTS = 1_000_000, 3
"""Steps of each start, and starts per program structure; more hardly change the ranking of structures."""

FINAL_LANES, FINAL_SEED = 32, 10**6
"""Episodes that select among finalists, and that then measure the best one afresh, since it is overestimated on the
episodes that selected it; seed of the latter, whose initial states are the same for all programs of a run."""

FIRST_WIDTH = 0.2
"""Initial step size of a parameter without its own width, relative to its range."""

TIE_TOLERANCE = 1e-9
"""Relative difference up to which returns count as equal."""


@dataclass(frozen=True, slots=True)
class SearchState:
    """The state from which a search can continue.

    Attributes:
        values: The mean of the search distribution.
        widths: Its standard deviations, in each parameter's units.
    """

    values: dict[str, float]
    widths: dict[str, float]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search.

    Attributes:
        source: The program with the best parameters.
        value: Its mean simulated return in fresh episodes; minus infinity if the program always fails.
        stderr: Standard error of that mean.
        state: State of the best start, or of the first if the declared values were better; None without parameters.
        why_alone: Why each lane ran its own copy of the program; empty if one instance played all lanes.
        failure: The program's first failure, if any.
        simulated_steps: Steps of all starts.
        returns: Returns in the fresh episodes, ordered by initial states, which all programs of a run share.
    """

    source: str
    value: float
    stderr: float
    state: SearchState | None
    why_alone: str
    failure: Failure | None
    simulated_steps: int
    returns: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Search(SandboxWork):
    """A request to tune a program's parameters in a simulator.

    Attributes:
        simulation: The simulator.
        source: The program.
        seed: Seed of all random numbers.
        steps: Simulated steps of each start.
        seconds: Approximate processor time of the program in each start.
        starts: Number of parallel searches; the first begins at the declared values, the others near them.
        widths: Initial step sizes of parameters in their own units; by default a share of the range.
        resume: States from which the starts continue, instead of the declared values.
        share: Factor for the number of episodes per candidate. In a slow simulator, with few steps, many generations of
            one episode find more than few of four.
    """

    simulation: Simulation
    source: str
    seed: int = 0
    steps: int = START_STEPS
    seconds: float = math.inf
    starts: int = 1
    widths: Mapping[str, float] = field(default_factory=dict)
    resume: tuple[SearchState, ...] = ()
    share: float = 1.0

    def run(self, sandbox: Sandbox) -> SearchResult:
        """See `SandboxWork.run`.

        Raises:
            SimulatorFailedError: The simulator is rejected or fails.
        """
        with self.simulation.open(sandbox, self.seed) as guest:
            return _Searching(self, guest).run()


class _Start:
    """One CMA-ES search over the parameters' ranges."""

    def __init__(self, names: Sequence[str], low: Array, high: Array, state: SearchState, seed: int) -> None:
        self._names, self._low, self._range = names, low, high - low
        begin = np.array([state.values[name] for name in names])
        widths = np.array([state.widths[name] for name in names]) / self._range
        rng = np.random.default_rng(seed)
        options = {"popsize": CANDIDATES, "CMA_stds": np.append(widths, [0.2] * (len(names) == 1)).tolist()}
        self.strategy = evolution_strategy((begin - low) / self._range, 1.0, rng, **options)
        self.steps = 0
        self._points: list[Any] = []
        self._best: tuple[float, Array] = (-math.inf, begin)

    def ask(self) -> Array:
        """Return the next generation, one candidate per row."""
        self._points = self.strategy.ask()
        return self._values(np.array(self._points))

    def tell(self, values: Array, returns: Array) -> None:
        """Update the search with the candidates' mean returns; failed ones rank below all others."""
        finite = returns[np.isfinite(returns)]
        floor = float(finite.min()) - 1.0 - float(np.ptp(finite)) if len(finite) else 0.0
        self.strategy.tell(self._points, (-np.where(np.isfinite(returns), returns, floor)).tolist())
        top = int(np.argmax(returns))
        if returns[top] > self._best[0]:
            self._best = float(returns[top]), values[top]

    def _values(self, points: Array) -> Array:
        return np.asarray(self._low + points[..., : len(self._low)] * self._range)

    @property
    def failed(self) -> bool:
        """Whether every candidate so far has failed."""
        return self._best[0] == -math.inf

    def finalists(self) -> list[Array]:
        """Return the mean of the search distribution and the best candidate so far."""
        return [self._values(np.clip(self.strategy.result.xfavorite, 0.0, 1.0)), self._best[1]]

    def forget_best(self) -> None:
        """Forget the best candidate's return, which later phases cannot be compared with."""
        self._best = (-math.inf, self._best[1])

    def state(self) -> SearchState:
        """Return the state from which it can continue."""
        middle = self.finalists()[0]
        spread = np.asarray(self.strategy.result.stds)[: len(middle)] * self._range
        pairs = (dict(zip(self._names, row.tolist(), strict=True)) for row in (middle, spread))
        return SearchState(*pairs)


class _Searching:
    """One request: play the generations of all starts in common batches, then measure the best in fresh episodes."""

    def __init__(self, search: Search, guest: SimulatorGuest) -> None:
        self._search, self._guest = search, guest
        self._program = program = Program.from_source(search.source)
        ranges = {name: item for name, item in program.params.items() if item[2] > item[1]}
        self._names = list(ranges)
        self._fixed = {name: item[0] for name, item in program.params.items() if name not in ranges}
        self._low, self._high = (np.array([ranges[name][i] for name in ranges]) for i in (1, 2))
        self._begin = {name: item[0] for name, item in ranges.items()}
        self._widths = {
            name: search.widths.get(name, FIRST_WIDTH * (item[2] - item[1])) for name, item in ranges.items()
        }
        self._seed, self._simulated, self._seconds = search.seed, 0, 0.0
        self._failure: Failure | None = None
        self._why, self._differed = "", bool(search.resume)

    def run(self) -> SearchResult:
        search = self._search
        self._why = why_alone(self._guest, search.source, search.seed)
        starts = self._open_starts() if self._names else []
        self._tune(starts)
        finalists = [values for start in starts for values in start.finalists()]
        finalists.append(np.array([*self._begin.values()]))
        horizon = search.simulation.horizon
        affordable = self._simulated // (
            2 * len(finalists) * horizon
        )  # half as many steps as the search took
        returns, _ = self._play(np.array(finalists), min(FINAL_LANES, max(1, affordable)), horizon)
        best = int(np.argmax(returns.mean(axis=1)))
        self._seed = FINAL_SEED - search.seed  # the guest adds the search's seed, and `_play` adds 1
        (returns,), _ = self._play(np.array([finalists[best]]), FINAL_LANES, horizon)
        return SearchResult(
            self._program.with_values(dict(zip(self._names, finalists[best].tolist(), strict=True))).source,
            float(returns.mean()),
            standard_error(returns),
            starts[best // 2 % len(starts)].state() if starts else None,
            self._why,
            self._failure,
            self._simulated,
            tuple(returns.tolist()),
        )

    def _tune(self, starts: Sequence[_Start]) -> None:
        """Run generations of all starts until their steps or time are spent, with growing horizons."""
        search = self._search
        bonus = 0.0 if search.resume else alive_bonus(self._guest, search.simulation)
        last, full = None, bool(search.resume)
        while running := [
            start for start in starts if start.steps < search.steps and not start.strategy.stop()
        ]:
            done = max(running[0].steps / search.steps, self._seconds / (search.seconds * len(starts)))
            if done >= 1:
                break
            phase = *self._phase(1.0 if full else done), bonus * (done < ALIVE_STEPS)
            if last not in {None, phase}:
                for start in starts:
                    start.forget_best()
            last = phase
            full |= self._generation(running, *phase)
            if self._failure is not None and all(start.failed for start in running):
                break

    def _open_starts(self) -> list[_Start]:
        states = list(self._search.resume)
        rng = np.random.default_rng(self._search.seed)
        while len(states) < max(1, self._search.starts):
            values = dict(self._begin)
            if states:
                for name, width in self._widths.items():
                    values[name] += 0.5 * width * rng.standard_normal()
            states.append(SearchState(values, self._widths))
        return [
            _Start(self._names, self._low, self._high, state, 1000 * self._search.seed + i)
            for i, state in enumerate(states)
        ]

    def _phase(self, done: float) -> tuple[int, int]:
        """Return the horizon and the episodes per candidate after a share `done` of the search."""
        horizon = self._search.simulation.horizon
        share, lanes = next(((share, lanes) for end, share, lanes in PHASES if done < end), PHASES[-1][1:])
        return min(horizon, max(MIN_HORIZON, int(share * horizon))), max(1, round(self._search.share * lanes))

    def _generation(self, running: Sequence[_Start], horizon: int, lanes: int, bonus: float) -> bool:
        """Play a generation of all starts; return whether all candidates score the same, so that episodes are too short.

        Until candidates first differ, the searches are not updated, so that their step sizes stay as they are.
        """
        asked = [start.ask() for start in running]
        returns, lengths = self._play(np.concatenate(asked), lanes, horizon, bonus)
        means = returns.mean(axis=1)
        flat = bool(np.isfinite(means).all() and np.ptp(means) <= TIE_TOLERANCE * (1.0 + np.abs(means).max()))
        self._differed |= not flat
        for i, (start, values) in enumerate(zip(running, asked, strict=True)):
            rows = slice(i * len(values), (i + 1) * len(values))
            start.steps += int(lengths[rows].sum())
            if self._differed:
                start.tell(values, means[rows])
        return flat

    def _play(self, table: Array, lanes: int, horizon: int, bonus: float = 0.0) -> tuple[Array, Array]:
        """Play candidates in the same initial states; return their returns and lengths, one row each."""
        self._seed += 1
        vectors = [dict(zip(self._names, row, strict=True)) | self._fixed for row in table.tolist()]
        given: list[Any] = vectors if self._names or self._fixed else [None] * len(table)
        played = self._guest.play(
            LanePlay(self._search.source, given, lanes, horizon, not self._why, self._seed, bonus=bonus)
        )
        self._simulated += int(played.lengths.sum())
        self._seconds += played.acting_seconds
        self._failure = self._failure or played.failure
        return played.returns, played.lengths
