"""Searching the numbers of a readable program in a simulator, where steps are free: CMA-ES, several starts side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.cma_es import evolution_strategy
from promptpo.program import Program
from promptpo.rollouts.jobs import SandboxWork
from promptpo.simulator.contract import Simulation
from promptpo.simulator.play import ALIVE_SHARE, ALIVE_STEPS, alive_bonus, why_alone
from promptpo_sandbox import Failure
from promptpo_sandbox.simulators import LanePlay

if TYPE_CHECKING:
    from promptpo_sandbox import Sandbox
    from promptpo_sandbox.simulators import SimulatorGuest

Array = np.ndarray[Any, Any]

CANDIDATES = 16
"""Of a generation."""

PHASES = ((0.5, 0.25, 2), (0.75, 0.5, 2), (1.0, 1.0, 4))
"""Of a search that begins anew: up to which part of its steps, in which part of the longest episode, and in how many
episodes a candidate is judged. Long episodes would leave a few generations."""

MIN_HORIZON = 100
"""Steps of a shortened episode, at least."""

STEPS, STARTS = 1_000_000, 3
"""Steps of each start, and starts of a structure."""

FINAL_LANES = 32
"""Episodes that decide between what the starts have found."""

ALONE_SHARE = 0.3
"""Part of the steps that a program gets which must be run copy by copy."""

WIDTH = 0.2
"""First step of a number without a width of its own, in parts of its range."""

FAR_WIDTHS = 2.0
"""A number has gone far when it moved by so many widths."""

FLAT = 1e-9
"""Relative difference between returns up to which they are the same."""

MAX_POINTS = 60
"""Points of a curve."""


@dataclass(frozen=True, slots=True)
class SearchState:
    """Where a search can go on.

    Attributes:
        values: The middle of the search.
        widths: Its spread, in each number's own units.
    """

    values: dict[str, float]
    widths: dict[str, float]


@dataclass(frozen=True, slots=True)
class StartResult:
    """Outcome of one start.

    Attributes:
        value: Mean simulated return of its best numbers.
        curve: Steps taken and mean return of the best candidate so far, in shorter episodes at first.
        state: Where it can go on.
    """

    value: float
    curve: tuple[tuple[int, float], ...]
    state: SearchState


@dataclass(frozen=True, slots=True)
class MovedNumber:
    """Effect of tuning on one number.

    Attributes:
        name: In ``PARAMS``.
        begin: As it was written.
        value: As it was tuned.
        note: "near nought", "far from its start", "at a bound", or empty.
    """

    name: str
    begin: float
    value: float
    note: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Outcome of a search.

    Attributes:
        source: The program with the best numbers.
        value: Its mean simulated return in fresh episodes; minus infinity if the program always fails.
        stderr: Standard error of that mean.
        starts: By start, in the order of the seeds.
        best: Which of them it was.
        moved: What became of each number.
        why_alone: Why the program was run copy by copy; empty where one text played all lanes.
        failure: What the program did wrong, if anything.
        simulated_steps: Of all starts.
        seconds: Wall time.
    """

    source: str
    value: float
    stderr: float
    starts: tuple[StartResult, ...]
    best: int
    moved: tuple[MovedNumber, ...]
    why_alone: str
    failure: Failure | None
    simulated_steps: int
    seconds: float

    @property
    def state(self) -> SearchState | None:
        """Where the best start can go on."""
        return self.starts[self.best].state if self.starts else None


@dataclass(frozen=True, slots=True)
class Search(SandboxWork):
    """A request to tune a program's numbers in a simulator.

    Attributes:
        simulation: The simulator.
        source: The program.
        seed: Decides all random numbers.
        steps: Simulated steps of each start.
        starts: Searches side by side; the first begins at the written numbers, the others around them.
        widths: First steps of numbers, in their own units; a part of the range for all others.
        alive_share: Part of the bonus for being alive that counts at first; 1 for all of it. A bonus is what standing
            still earns a step where episodes can end early.
        resume: Where each start goes on; instead of the written numbers.
    """

    simulation: Simulation
    source: str
    seed: int = 0
    steps: int = STEPS
    starts: int = STARTS
    widths: Mapping[str, float] = field(default_factory=dict)
    alive_share: float = ALIVE_SHARE
    resume: tuple[SearchState, ...] = ()

    def run(self, sandbox: Sandbox) -> SearchResult:
        """See `SandboxWork.run`.

        Raises:
            SimulatorFailedError: The simulator is refused or fails.
        """
        with self.simulation.open(sandbox, self.seed) as guest:
            return _Searching(self, guest).run()


class _Start:
    """One CMA-ES over the numbers' ranges."""

    def __init__(self, names: Sequence[str], low: Array, high: Array, state: SearchState, seed: int) -> None:
        self._names, self._low, self._range = names, low, high - low
        begin = np.array([state.values[name] for name in names])
        widths = np.array([state.widths[name] for name in names]) / self._range
        rng = np.random.default_rng(seed)
        options = {"popsize": CANDIDATES, "CMA_stds": np.append(widths, [0.2] * (len(names) == 1)).tolist()}
        self.strategy = evolution_strategy((begin - low) / self._range, 1.0, rng, **options)
        self.curve: list[tuple[int, float]] = []
        self.steps = 0
        self._points: list[Any] = []
        self._best: tuple[float, Array] = (-math.inf, begin)

    def ask(self) -> Array:
        """Candidates, a row each."""
        self._points = self.strategy.ask()
        return self._values(np.array(self._points))

    def tell(self, values: Array, returns: Array, steps: int) -> None:
        """Take mean returns of the candidates."""
        finite = returns[np.isfinite(returns)]
        floor = float(finite.min()) - 1.0 - float(np.ptp(finite)) if len(finite) else 0.0
        self.strategy.tell(self._points, (-np.where(np.isfinite(returns), returns, floor)).tolist())
        self.steps += steps
        top = int(np.argmax(returns))
        self.curve.append((self.steps, float(returns[top])))
        if returns[top] > self._best[0]:
            self._best = float(returns[top]), values[top]

    def _values(self, points: Array) -> Array:
        return np.asarray(self._low + points[..., : len(self._low)] * self._range)

    def finalists(self) -> list[Array]:
        """The middle of the search, and the best candidate that it met."""
        return [self._values(np.clip(self.strategy.result.xfavorite, 0.0, 1.0)), self._best[1]]

    def forget_best(self) -> None:
        """Forget the best candidate, since what counts has changed."""
        self._best = (-math.inf, self._best[1])

    def state(self) -> SearchState:
        """Where it can go on."""
        middle = self.finalists()[0]
        spread = np.asarray(self.strategy.result.stds)[: len(middle)] * self._range
        pairs = (dict(zip(self._names, row.tolist(), strict=True)) for row in (middle, spread))
        return SearchState(*pairs)


class _Searching:
    """One search: generations of all starts in one batch, then fresh episodes of the best."""

    def __init__(self, search: Search, guest: SimulatorGuest) -> None:
        self._search, self._guest = search, guest
        self._program = program = Program.parse(search.source)
        ranges = {name: item for name, item in program.params.items() if item[2] > item[1]}
        self._names = list(ranges)
        self._fixed = {name: item[0] for name, item in program.params.items() if name not in ranges}
        self._low, self._high = (np.array([ranges[name][i] for name in ranges]) for i in (1, 2))
        self._begin = {name: item[0] for name, item in ranges.items()}
        self._widths = {
            name: search.widths.get(name, WIDTH * (item[2] - item[1])) for name, item in ranges.items()
        }
        self._seed, self._simulated = search.seed, 0
        self._failure: Failure | None = None
        self._why = ""

    def run(self) -> SearchResult:
        search, began = self._search, perf_counter()
        self._why = why_alone(self._guest, search.source, search.seed)
        starts = self._open_starts() if self._names else []
        limit = search.steps * (ALONE_SHARE if self._why else 1.0)
        bonus = 0.0
        if search.alive_share < 1.0 and not search.resume:
            bonus = (1.0 - search.alive_share) * alive_bonus(self._guest, search.simulation)
        phase, whole = None, bool(search.resume)
        while running := [start for start in starts if start.steps < limit and not start.strategy.stop()]:
            now = (
                *self._phase(running[0].steps / limit, whole=whole),
                running[0].steps < ALIVE_STEPS * limit,
            )
            if phase not in {None, now}:
                for start in starts:
                    start.forget_best()
            phase = now
            horizon, lanes, early = now
            whole |= self._generation(running, horizon, lanes, bonus if early else 0.0)
            if self._failure is not None and not any(
                math.isfinite(r) for start in running for _, r in start.curve
            ):
                break
        finalists = [values for start in starts for values in start.finalists()] or [np.zeros(0)]
        means, errors = self._means(np.array(finalists), FINAL_LANES)
        best = int(np.argmax(means))
        values = dict(zip(self._names, finalists[best].tolist(), strict=True))
        results = [
            StartResult(float(means[2 * i : 2 * i + 2].max()), _thin(start.curve), start.state())
            for i, start in enumerate(starts)
        ]
        return SearchResult(
            self._program.with_values(values).source,
            float(means[best]),
            float(errors[best]),
            tuple(results),
            best // 2,
            self._moved_numbers(values),
            self._why,
            self._failure,
            self._simulated,
            perf_counter() - began,
        )

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

    def _phase(self, done: float, *, whole: bool) -> tuple[int, int]:
        """Longest episode, and episodes of a candidate, when a part of the steps is done."""
        horizon = self._search.simulation.horizon
        share, lanes = next(((share, lanes) for end, share, lanes in PHASES if done < end), PHASES[-1][1:])
        if whole:
            share, lanes = PHASES[-1][1:]
        return min(horizon, max(MIN_HORIZON, int(share * horizon))), lanes

    def _generation(self, running: Sequence[_Start], horizon: int, lanes: int, bonus: float) -> bool:
        """Judge a generation of all starts; whether no candidate differs from another, so that episodes are too short."""
        asked = [start.ask() for start in running]
        returns, lengths = self._play(np.concatenate(asked), lanes, horizon, bonus)
        at = 0
        for start, values in zip(running, asked, strict=True):
            rows = slice(at, at + len(values))
            start.tell(values, returns[rows].mean(axis=1), int(lengths[rows].sum()))
            at += len(values)
        means = returns.mean(axis=1)
        return bool(np.isfinite(means).all()) and float(np.ptp(means)) <= FLAT * (
            1.0 + float(np.abs(means).max())
        )

    def _play(self, table: Array, lanes: int, horizon: int, bonus: float = 0.0) -> tuple[Array, Array]:
        """Returns and lengths of candidates, which all meet the same initial states."""
        self._seed += 1
        vectors = [dict(zip(self._names, row, strict=True)) | self._fixed for row in table.tolist()]
        given: list[Any] = vectors if self._names or self._fixed else [None] * len(table)
        played = self._guest.play(
            LanePlay(self._search.source, given, lanes, horizon, not self._why, self._seed, bonus=bonus)
        )
        self._simulated += int(played.lengths.sum())
        self._failure = self._failure or played.failure
        return np.where(played.sound, played.returns, -np.inf), played.lengths

    def _means(self, table: Array, lanes: int) -> tuple[Array, Array]:
        returns, _ = self._play(table, lanes, self._search.simulation.horizon)
        with np.errstate(invalid="ignore"):
            return returns.mean(axis=1), returns.std(axis=1, ddof=1) / math.sqrt(lanes)

    def _moved_numbers(self, values: Mapping[str, float]) -> tuple[MovedNumber, ...]:
        found = []
        for name, low, high in zip(self._names, self._low, self._high, strict=True):
            begin, value, width = self._begin[name], values[name], self._widths[name]
            note = ""
            if min(value - low, high - value) < 0.01 * (high - low):
                note = "at a bound"
            elif low < 0 < high and abs(value) < 0.1 * width:
                note = "near nought"
            elif abs(value - begin) > FAR_WIDTHS * width:
                note = "far from its start"
            found.append(MovedNumber(name, begin, value, note))
        return tuple(found)


def _thin(curve: Sequence[tuple[int, float]]) -> tuple[tuple[int, float], ...]:
    """A running best in a few points."""
    if not curve:
        return ()
    best = np.maximum.accumulate([value for _, value in curve]).tolist()
    rows = np.unique(np.linspace(0, len(curve) - 1, min(len(curve), MAX_POINTS)).astype(int)).tolist()
    return tuple((curve[row][0], best[row]) for row in rows)
