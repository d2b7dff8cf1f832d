"""Programs for a simulator: written in several forms, tuned on free steps, grown, pruned, rounded."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.core.control import gather
from promptpo.features.simulator import prompts
from promptpo.features.simulator.settings import SimulatorSwitches
from promptpo.program import Program, answers
from promptpo.prompts import limits, prompting
from promptpo.prompts.feedback import number
from promptpo.prompts.shortening import sentences, tidy
from promptpo.run.preflight import duration
from promptpo.simulator.finish import Finish, FinishResult
from promptpo.simulator.play import Play, SimulatedEpisodes
from promptpo.simulator.search import STARTS, Search, SearchResult
from promptpo_sandbox.simulators import SimulatorFailedError

if TYPE_CHECKING:
    from promptpo.core.feature import SearchContext
    from promptpo.features.simulator.networks import TrainedNetwork
    from promptpo.features.simulator.simulators import Simulators
    from promptpo.simulator.contract import Simulation
    from promptpo.simulator.search import SearchState

STRUCTURES = 3
"""Number of forms in one request."""

TRIAL_LANES, TRIAL_STEPS = 9, 50
"""Number and length of the short episodes that show whether a program runs."""

MAX_SECONDS = 40.0
"""Approximate limit on the processor time in one start, for the simulator and for the program: a slow one would take hours."""

LONG_STEPS, GROWN_STEPS = 8, 4
"""Multiples of one start's steps for tuning the best further and for grown programs: with the first starts some twenty million steps."""

ONE_BY_ONE = "plays one episode after the other, not many side by side"
LEAVE = """Such a program may stay as it is, but its numbers are tuned on far fewer steps. If it would lose its idea by playing many episodes
side by side, answer with one line and no code:
KEEP: the reason

Otherwise:"""
"""Request for another form of a program that can only play one episode at a time."""

LEAST_WIDTH = 0.05
"""Minimum initial spread for a number that was tuned before, as a share of its range."""

AT_BOUND = 0.01
"""Distance from a bound, as a share of the range, below which a number counts as at the bound."""

SIDE_BY_SIDE = (
    (re.escape("scores.index(max(scores))"), "np.argmax(scores, axis=0)"),
    (re.escape("max(-1.0, min(1.0, value))"), "np.clip(value, -1.0, 1.0)"),
    (
        re.escape("min(n - 1, int(0.5 * (clip(value) + 1.0) * n))"),
        "np.minimum(n - 1, (0.5 * (clip(value) + 1.0) * n).astype(int))",
    ),
    (r"int\(((?:u\[\d+\]|score) > 0\.0)\)", r"np.where(\1, 1, 0)"),
    (r"np\.ravel\(obs\)", "np.asarray(obs).T"),
    (r"return (.+)\.tolist\(\)", r"return list((\1).T)"),
)
"""Expressions of the library's programs with their equivalents for many episodes side by side."""

MAX_GROWTHS = 2
"""Maximum number of requests to improve the best program."""


@dataclass(frozen=True, slots=True)
class TunedProgram:
    """A program with numbers tuned in a simulator.

    Attributes:
        id: Its journal key.
        source: The module.
        value: Mean simulated return.
        stderr: Standard error of `value`.
        state: State from which the search can continue; None after pruning or rounding.
        begun: The module before tuning.
        returns: Returns of its simulated episodes, whose initial states are the same for all programs.
    """

    id: str
    source: str
    value: float
    stderr: float
    state: SearchState | None = None
    begun: str = ""
    returns: tuple[float, ...] = ()

    @property
    def changes(self) -> dict[str, tuple[float, float]]:
        """Numbers changed by tuning, as (before, after)."""
        before, after = Program.from_source(self.begun).params, Program.from_source(self.source).params
        return {name: (before[name][0], after[name][0]) for name in after if name in before}

    @property
    def at_bounds(self) -> list[str]:
        """Names of numbers that tuning left at a bound of their range."""
        ranges = Program.from_source(self.source).params.items()
        return [name for name, (x, low, high) in ranges if min(x - low, high - x) < AT_BOUND * (high - low)]

    @property
    def line(self) -> str:
        """Its idea and return in one line, for people and for the writer of programs."""
        idea = sentences(tidy(Program.from_source(self.source).docstring), limits.IDEA)
        spread = f", from {number(min(self.returns))} to {number(max(self.returns))}" if self.returns else ""
        return f"{self.id}: {idea or 'A program without a docstring.'} Simulated return {number(self.value)} ± {number(self.stderr)}{spread}."


@dataclass(frozen=True, slots=True)
class ProgramTrial:
    """Trial of a program in a simulator.

    Attributes:
        what: What it did wrong, as a predicate.
        problem: A sentence about the error; empty without one.
        detail: The traceback.
    """

    what: str = ""
    problem: str = ""
    detail: str = ""


class ProgramSearch:
    """Searches for readable programs in a simulator.

    Args:
        context: Context of the run.
        simulators: Runs the work.

    Attributes:
        tuned: All programs so far, before pruning and rounding.
    """

    def __init__(self, context: SearchContext, simulators: Simulators) -> None:
        self._context, self._work, self._simulators = context, context.work, simulators
        self._system, self._seed = prompts.policies_system(context), context.config.seed
        self._steps, self._share = context.config.of(SimulatorSwitches).simulated_steps, 1.0
        self._speed, self.tuned = 1.0, list[TunedProgram]()
        self._longer, self._longer_steps = tuple[TunedProgram, ...](), 0

    def pace(self, speed: float) -> None:
        """Reduce the steps for a simulator with this speed, in steps per second, and the episodes of a candidate in proportion."""
        steps = int(min(self._steps, MAX_SECONDS * speed))
        self._steps, self._share, self._speed = steps, steps / self._steps, speed

    async def begin(self, simulation: Simulation, evidence: str) -> list[TunedProgram]:
        """Return programs of several forms, each tuned from several starts, best first; empty if the model writes none."""
        if self._context.learns:
            known = {"evidence": evidence, "steps": self._steps, "horizon": simulation.horizon}
            question = prompting.render("simulated_structures", **known)
            text = await self._ask("s.structures", question)
            sources = answers.every(text, class_name="Policy")[:STRUCTURES]
        else:
            sources = self._library()
        found = await gather(self._tune(f"p{n}", source, simulation) for n, source in enumerate(sources, 1))
        return sorted(filter(None, found), key=lambda program: -program.value)

    def _library(self) -> tuple[str, ...]:
        """Return programs of the library, for runs without a language model."""
        spec = self._context.spec
        spaces = spec.observation_space, spec.action_space

        from promptpo.features.program_search.library import structures_for, write_program

        genomes = [genome for genome in structures_for(*spaces) if genome.structure != "table"]
        written = (write_program(genome, *spaces, seen=spec.firsts) for genome in genomes[:STRUCTURES])
        return tuple(side_by_side(source) for source in written)

    async def _tune(
        self, key: str, source: str, simulation: Simulation, begun: SearchState | None = None
    ) -> TunedProgram | None:
        """Return a program with tuned numbers; one that fails, or cannot play side by side, is repaired once.

        Args:
            key: Name of the program.
            source: The module.
            simulation: The simulation.
            begun: State of the search for the program from which it was grown; None if it was not grown.
        """
        trial = await self._try_out(f"{key}.trial", source, simulation)
        if trial.problem:
            self._simulators.say(f"{key}.repair", f"{key} {trial.what}; the model is asked to rewrite it")
            question = prompting.render(
                "repair",
                subject="program",
                what=trial.what,
                source=source.strip(),
                error=trial.problem,
                detail=trial.detail,
            )
            answer = answers.extract_program(
                await self._ask(f"s.{key}.repair", question), class_name="Policy"
            )
            source = source if answer.problem else answer.source
        times, starts = (1, STARTS) if begun is None else (GROWN_STEPS, 1)
        widths = _widths(source, begun)
        found = await self._search(key, simulation, source, times, starts=starts, widths=widths)
        if found is None:
            self._simulators.say(key, f"{key} is dropped, since it fails in the simulator")
            return None
        self.tuned.append(tuned := TunedProgram(key, state=found.state, begun=source, **_copy_outcome(found)))
        self._simulators.say(key, tuned.line)
        return tuned

    async def tune_alone(self, key: str, source: str, simulation: Simulation) -> str:
        """Return a later round's program with its numbers tuned further; unchanged if it cannot play side by side."""
        if (await self._try_out(f"{key}.trial", source, simulation)).problem:
            return source
        found = await self._search(key, simulation, source)
        return source if found is None else found.source

    async def _try_out(self, key: str, source: str, simulation: Simulation) -> ProgramTrial:
        """Play a few short episodes with the numbers as written."""

        async def play() -> ProgramTrial:
            work = Play(simulation, source, lanes=TRIAL_LANES, seed=self._seed, horizon=TRIAL_STEPS)
            try:
                found: SimulatedEpisodes = await self._work.executor.run(work)
            except SimulatorFailedError as error:
                # The simulator has passed a check of more steps than these.
                return ProgramTrial(
                    "took too long in the simulator", str(error) if error.failure.kind == "timeout" else ""
                )
            if found.failure is not None:
                return ProgramTrial(
                    "failed in the simulator", found.failure.message, found.failure.detail[:2000].strip()
                )
            why = found.why_alone
            return ProgramTrial(why and ONE_BY_ONE, why and f"{why}\n\n{LEAVE}")

        return await self._simulators.once(key, play, ProgramTrial)

    async def _search(
        self, key: str, simulation: Simulation, source: str, times: int = 1, **more: Any
    ) -> SearchResult | None:
        """Search for that many times the steps and seconds of one start; None if the program or the simulator fails."""
        work = Search(
            simulation,
            source,
            steps=times * self._steps,
            seconds=times * MAX_SECONDS,
            share=self._share,
            **{"seed": self._seed} | more,
        )
        # Choosing among the finalists takes up to half as many steps again.
        most = duration(1.5 * work.starts * (work.steps / self._speed + work.seconds))
        doing = f"tuning {key} in the simulator, for up to {most} of processor time"
        try:
            found = await self._simulators.work(key, work, SearchResult, doing)
        except SimulatorFailedError:
            return None
        return found if math.isfinite(found.value) else None

    async def tune_further(
        self, program: TunedProgram, simulation: Simulation, name: str = "on"
    ) -> TunedProgram:
        """Tune a program's numbers further, whether or not that gains anything; return it unchanged if the search fails.

        Args:
            program: The program.
            simulation: The simulation.
            name: Suffix of the journal key.
        """
        if program.state is None:
            return program
        key = f"{program.id}.{name}"
        found = await self._search(
            key, simulation, program.source, LONG_STEPS, seed=self._seed + 1, resume=(program.state,)
        )
        if found is None:
            return program
        self.tuned.append(longer := replace(program, state=found.state, **_copy_outcome(found)))
        self._longer, self._longer_steps = (program, longer), found.simulated_steps
        self._simulators.say(key, f"After more steps, {longer.line}")
        return longer

    async def grow(
        self,
        ranked: Sequence[TunedProgram],
        simulation: Simulation,
        network: TrainedNetwork | None,
    ) -> list[TunedProgram]:
        """Return the programs and those that the model grows from the best, best first."""
        programs = list(ranked)
        for n in range(1, MAX_GROWTHS + 1):
            best = programs[0]
            question = prompting.render(
                "simulated_growth",
                best=best.id,
                results=[program.line for program in programs],
                longer=self._longer,
                longer_steps=self._longer_steps,
                code=best.source.strip(),
                behaviour=await self._simulators.behaviour(
                    f"{best.id}.behaviour{n}", simulation, best.source
                ),
                at_bounds=", ".join(best.at_bounds),
                left=MAX_GROWTHS - n,
                steps=GROWN_STEPS * self._steps,
                network=network.line if network is not None and network.value > best.value else "",
            )
            text = await self._ask(f"s.grow{n}", question)
            answer = answers.extract_program(text, class_name="Policy")
            if answer.problem:
                break
            grown = await self._tune(f"g{n}", answer.source, simulation, best.state)
            if grown is not None:
                programs = shortest_first([*programs, grown])
        return programs

    async def finish(
        self, program: TunedProgram, simulation: Simulation, *, prune: bool, name: str = ""
    ) -> TunedProgram:
        """Prune a program and round its numbers; return it unchanged if that fails.

        Args:
            program: The program.
            simulation: The simulation.
            prune: Whether to drop unneeded numbers.
            name: Suffix of the journal key.
        """
        work, key = Finish(simulation, program.source, self._seed, prune), f"{program.id}.finished{name}"
        try:
            found = await self._simulators.work(
                key, work, FinishResult, f"rounding the numbers of {program.id}"
            )
        except SimulatorFailedError:
            return program
        return replace(program, **_copy_outcome(found))

    async def _ask(self, key: str, question: str) -> str:
        """Return the answer; empty if there is none."""
        return await self._simulators.ask(key, question, self._system) or ""


def shortest_first(programs: Sequence[TunedProgram]) -> list[TunedProgram]:
    """Return programs best first, led by the shortest within a standard error of the best (after Breiman et al., 1984).

    The error is that of differences on shared initial states, since the spread of returns over these says nothing about programs.
    """
    ranked = sorted(programs, key=lambda program: -program.value)
    best = ranked[0]
    alike = [each for each in ranked if best.value - each.value <= _difference_error(best, each)]
    leader = min(alike, key=lambda program: len(program.source), default=best)
    return [leader, *(program for program in ranked if program is not leader)]


def _copy_outcome(found: SearchResult | FinishResult) -> dict[str, Any]:
    """Return the fields of a program that a search determines."""
    return {name: getattr(found, name) for name in ("source", "value", "stderr", "returns")}


def _difference_error(program: TunedProgram, other: TunedProgram) -> float:
    """Return the standard error of the difference of two programs' mean returns."""
    with np.errstate(invalid="ignore"):  # returns of programs that always fail
        apart = np.subtract(program.returns, other.returns)
        return float(np.std(apart, ddof=1) / math.sqrt(len(apart)))


def side_by_side(source: str) -> str:
    """Return a program of the library in a form that plays many episodes side by side, if its structure can."""
    for alone, many in SIDE_BY_SIDE:
        source = re.sub(alone, many, source)
    return source


def _widths(source: str, begun: SearchState | None) -> dict[str, float]:
    """Return initial spreads of numbers tuned before, as the search left them."""
    ranges = Program.from_source(source).params
    known = begun.widths if begun is not None else {}
    return {
        name: max(known[name], LEAST_WIDTH * (high - low))
        for name, (_, low, high) in ranges.items()
        if name in known
    }
