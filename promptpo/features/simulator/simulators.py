"""Writing, checking, fitting and correcting a simulator."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from promptpo.errors import BudgetSpentError, ProviderError
from promptpo.features.simulator import prompts
from promptpo.features.simulator.records import Version
from promptpo.llm.base import Message
from promptpo.program import Program, answers
from promptpo.program.reference_policies import programs
from promptpo.prompts import prompting
from promptpo.prompts.replies import reason_to_decline
from promptpo.simulator.behaviour import describe_behaviour
from promptpo.simulator.check import Check, CheckReport
from promptpo.simulator.contract import Simulation
from promptpo.simulator.fit import Fit, FitResult
from promptpo.simulator.formulas.writer import write_formulas
from promptpo.simulator.play import Play, SimulatedEpisodes, difference_in_errors
from promptpo_sandbox.simulators import SimulatorFailedError

if TYPE_CHECKING:
    from promptpo.core.feature import SearchContext
    from promptpo.core.history import History
    from promptpo.features.simulator.steps import RealSteps
    from promptpo.rollouts.evaluation import EpisodeRecord
    from promptpo.rollouts.jobs import SandboxWork

T = TypeVar("T")

MAX_REPAIRS = 3
"""Maximum number of corrections requested from a model."""

SHOWN_LANES = 4
"""Number of simulated episodes shown to a writer of programs."""

COMPARED_LANES = 32
"""Number of simulated episodes compared with real ones."""

MAX_LINES = 250
"""Maximum number of lines requested after an answer that was cut off."""

CHANCE_ERRORS = 3.0
"""Standard errors by which returns of the same policy in both worlds may differ by chance."""

NOTHING = "nothing"
"""Journal key of the return of reference policies."""

KEEP = "KEEP:"
"""Beginning of an answer that sees nothing worth changing."""


class Simulators:
    """Has simulators written, and works in them; each piece of work is done once per run.

    Args:
        context: Context of the run.
        real: Real steps.

    Attributes:
        found: Policies found in a simulator with their real episodes, by name.
    """

    def __init__(self, context: SearchContext, real: RealSteps) -> None:
        self._context, self._work, self._journal = context, context.work, context.journal
        self._real, self._seed = real, context.config.seed
        self._spaces = (context.spec.observation_space, context.spec.action_space)
        self._system = prompts.simulator_system(context)
        self.declined = ""
        self.found: dict[str, tuple[str, tuple[EpisodeRecord, ...]]] = {}
        self._asked, self._recorded = 0, ""

    @property
    def repairs_left(self) -> int:
        """Number of corrections that may still be requested."""
        return 1 + MAX_REPAIRS - self._asked

    def say(self, key: str, text: str) -> None:
        """Record a note on the result of a step in the journal."""
        self._journal.once("note", f"s.{key}", lambda: text)

    async def work(self, key: str, work: SandboxWork, of: type[T], doing: str = "") -> T:
        """Return the result of work in a simulator, from the journal if it is recorded.

        Args:
            key: Its journal key.
            work: The work.
            of: Class of the result.
            doing: Description of the work, noted whenever it begins.

        Raises:
            SimulatorFailedError: The simulator failed.
        """

        async def done() -> T:
            if doing:
                self._journal.add("note", f"begun.{key}.{len(self._journal.events)}", doing)
            found: T = await self._work.executor.run(work)
            return found

        return await self.once(key, done, of)

    async def once(self, key: str, compute: Callable[[], Awaitable[T]], of: type[T]) -> T:
        """Return the result of some work, from the journal if it is recorded."""
        found: T = await self._journal.once_async("simulated", key, compute, of)
        return found

    def simulation(self, version: Version) -> Simulation:
        """Return a version as a simulation to work in."""
        plain = Simulation.of(version.source, *self._spaces, self._context.horizon)
        return replace(plain, vectors=version.vectors)

    async def write(self, history: History, known: str) -> Version | None:
        """Return the best simulator that the model writes; None if it declines, or none is usable."""
        if not self._context.learns:
            return await self._learnt(history)
        self._recorded = prompts.describe_recorded(self._context, self._real.held, known)
        question = prompting.render("simulator", recorded=self._recorded, repairs=MAX_REPAIRS)
        again = prompting.render("continue", what="had no class Simulator in it", shorter=MAX_LINES)
        for request in (question, f"{question}\n{again}"):
            text = await self._ask(request)
            answer = answers.extract_program(text or "", class_name="Simulator")
            if text is None or not answer.problem or reason_to_decline(text) is not None:
                break
        if text is None or answer.problem:
            self.declined = (
                "the model did not answer"
                if text is None
                else reason_to_decline(text) or "the answer had no class Simulator in it"
            )
            return None
        return await self.correct(await self._check_and_fit(answer.source, history), history)

    async def _learnt(self, history: History) -> Version | None:
        """Return a simulator of formulas learned from real steps; None if none is usable."""
        held = self._real.held
        if not any(episode.terminated or np.ptp(episode.rewards) for episode in held):
            self.declined = "all recorded steps gave the same reward and no episode ended, so formulas learned from them would not help"
            return None
        source = write_formulas(held, *self._spaces)
        if not source:
            self.declined = "program search cannot learn formulas for such observations or actions"
            return None
        self._asked = 1
        version = await self._check_and_fit(source, history)
        return None if version.problems else version

    async def correct(
        self, version: Version, history: History, *, at_most: int = MAX_REPAIRS
    ) -> Version | None:
        """Return the best of a version and its corrections; None if none is usable.

        Args:
            version: The first version.
            history: History with returns of policies in reality.
            at_most: Maximum number of corrections.
        """
        best = version
        for _ in range(self._context.learns * min(at_most, self.repairs_left)):
            latest = version
            if latest.exact:
                break
            earlier = (
                ""
                if latest is best or best.problems
                else f"it explains {best.quality:.4f} of 1, this one {latest.quality:.4f}"
            )
            fallen = min((each for each in self._real.deciding if each.terminated), key=len, default=None)
            question = prompts.repair_request(
                self._context,
                latest,
                recorded=self._recorded,
                earlier=earlier,
                left=self.repairs_left,
                fallen=fallen,
            )
            text = await self._ask(question)
            if text is None or (KEEP in text and not latest.problems):
                break
            answer = answers.extract_program(text, class_name="Simulator")
            if (
                answer.problem
                or Program.from_source(answer.source).digest == Program.from_source(latest.source).digest
            ):
                break
            version = await self._check_and_fit(answer.source, history)
            best = max(best, version, key=lambda candidate: (candidate.quality, candidate.speed))
        return None if best.problems else best

    async def _ask(self, question: str) -> str | None:
        self._asked += 1
        return await self.ask(f"s.write{self._asked}", question, self._system)

    async def ask(self, key: str, question: str, system: str) -> str | None:
        """Return the answer; None if there is none, which is noted, or if the rounds were planned without it."""
        late = self._journal.find("round", "r1") and self._journal.find("completion", key) is None
        if late or not self._context.learns:
            return None
        try:
            completion = await self._work.ask(key, "simulator", [Message("user", question)], system=system)
        except (ProviderError, BudgetSpentError) as error:
            self.say(f"{key}.unanswered", f"no answer to {key}: {error}")
            return None
        return completion.text

    async def _check_and_fit(self, source: str, history: History) -> Version:
        """Check and fit a simulator; the result is recorded before it is used."""
        return await self._measure(Version(source, f"s{self._asked}", f"s.write{self._asked}"), history)

    async def _measure(self, version: Version, history: History) -> Version:
        async def test() -> Version:
            try:
                return await self.compare_with_real(await self._fit(version), history)
            except SimulatorFailedError as error:
                return replace(version, problems=(str(error),), detail=error.failure.detail)

        found: Version = await self._journal.once_async("simulator", version.key, test, Version)
        return found

    async def return_of_nothing(self, simulation: Simulation) -> float:
        """Return the better simulated return of the reference policies, which serves as zero for other returns."""

        async def play() -> float:
            sources = programs(self._spaces[1]).values()
            works = [Play(simulation, source, lanes=COMPARED_LANES, seed=self._seed) for source in sources]
            try:
                played = [await self._work.executor.run(work) for work in works]
            except SimulatorFailedError:
                return 0.0
            return max(float(np.mean(found.returns)) for found in played)

        return await self.once(NOTHING, play, float)

    async def behaviour(self, key: str, simulation: Simulation, source: str) -> str:
        """Describe the behaviour of a policy in a simulator with numbers."""

        async def describe() -> str:
            work = Play(simulation, source, lanes=SHOWN_LANES, seed=self._seed, record=SHOWN_LANES)
            try:
                played: SimulatedEpisodes = await self._work.executor.run(work)
            except SimulatorFailedError:
                return ""
            labels = prompts.observation_labels(self._context)
            return describe_behaviour(played.trajectories, self._spaces[1], labels)

        return await self.once(key, describe, str)

    async def refit(self, version: Version, n: int, history: History) -> Version:
        """Return a version refitted to real steps that include those of policies found in it."""
        return await self._measure(replace(version, key=f"refit{n}"), history)

    async def _fit(self, version: Version) -> Version:
        execute = self._work.executor.run
        plain = Simulation.of(version.source, *self._spaces, self._context.horizon)
        episodes = self._real.held + self._real.deciding
        check: CheckReport = await execute(Check(plain, episodes, self._seed))
        if check.problems:
            return replace(version, problems=check.problems, remarks=check.remarks)
        fit: FitResult = await execute(Fit(plain, episodes, self._seed, check.random))
        return replace(
            version,
            problems=(),
            remarks=check.remarks,
            vectors=fit.vectors,
            numbers=fit.numbers,
            errors=fit.after,
            steps=fit.simulated_steps,
            speed=check.steps_per_second,
        )

    async def compare_with_real(self, version: Version, history: History) -> Version:
        """Return a version with the returns in it of policies that were played in reality."""
        if version.problems:
            return version
        simulation, horizon = self.simulation(version), self._context.horizon
        lines, steps, agrees = list[str](), 0, True
        real = [("random actions, held", self._real.held_source, self._real.random, self._real.episode_steps)]
        real += [
            (f"{name} actions", source, history.references[name].episodes, horizon)
            for name, source in programs(self._spaces[1]).items()
            if name in history.references
        ]
        real += [
            (f"{name}, a policy found in a simulator", *played, horizon)
            for name, played in self.found.items()
        ]
        for name, source, episodes, longest in real:
            if not episodes:
                continue
            work = Play(simulation, source, lanes=COMPARED_LANES, seed=self._seed, horizon=longest)
            played: SimulatedEpisodes = await self._work.executor.run(work)
            steps += played.simulated_steps
            returns = [episode.return_ for episode in episodes]
            difference = difference_in_errors(returns, played.returns)
            agrees &= abs(difference) < CHANCE_ERRORS
            ended = np.mean([episode.terminated for episode in episodes])
            lines.append(
                f"{name}: real {np.mean(returns):.5g} in {len(returns)} episodes, {ended:.0%} of them ending early, simulated "
                f"{np.mean(played.returns):.5g}, {played.ended:.0%} ending early (difference {difference:+.1f} standard errors)"
            )
        return replace(version, worlds=tuple(lines), agrees=agrees, steps=version.steps + steps)
