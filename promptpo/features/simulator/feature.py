"""Search in a simulator before the first round: it is written, fitted and searched in, and real episodes decide on the results."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.core.candidate import Attempt, Candidate, Lead
from promptpo.core.control import gather
from promptpo.core.feature import Feature
from promptpo.core.history import History
from promptpo.envs.pictures import pictures_in
from promptpo.errors import BudgetSpentError
from promptpo.features.simulator.networks import NetworkTraining, TrainedNetwork
from promptpo.features.simulator.programs import ProgramSearch, TunedProgram, shortest_first
from promptpo.features.simulator.records import RecordedNetwork, Version
from promptpo.features.simulator.settings import SimulatorSettings, SimulatorSwitches
from promptpo.features.simulator.simulators import NOTHING, Simulators
from promptpo.features.simulator.steps import RealSteps
from promptpo.features.simulator.verifying import (
    FoundPolicy,
    VerifiedPolicy,
    count_real_episodes,
    kind_of,
    near_best,
)
from promptpo.program import Program
from promptpo.prompts import feedback, prompting
from promptpo.prompts.feedback import number, with_noise
from promptpo.prompts.limits import FIRST_LASTING
from promptpo.prompts.shortening import count_of
from promptpo.simulator.contract import supports
from promptpo.simulator.network import trainable
from promptpo.simulator.search import SearchResult

if TYPE_CHECKING:
    from promptpo.core.feature import SearchContext
    from promptpo.core.sample import Sampler
    from promptpo.simulator.contract import Simulation

PROGRAM, NETWORK = "s1", "s2"
"""Ids of the candidates found in a simulator."""

ORIGIN = "simulator"
"""`Candidate.origin` of the program."""

DECIDING_EPISODES = 2
"""Minimum number of real episodes of each finalist."""

MAX_PROGRAMS = 3
"""Maximum number of finalists among programs."""

PROGRAM_SHARE = 0.9
"""Share of a network's return above reference policies from which a readable program is preferred to it."""

MAX_REFITS = 2
"""Maximum number of times that a simulator is refitted after policies found in it disappoint."""


class SimulatorSearch(Feature):
    """Has a simulator written, and searches in it.

    Args:
        context: Context of the run.
        sampler: Evaluates the candidates found.
    """

    def __init__(self, context: SearchContext, sampler: Sampler) -> None:
        self._context, self._measurer, self._journal = context, sampler.measurer, context.journal
        self._features = sampler.features
        self._policy = context.config.of(SimulatorSettings).policy
        self._real = RealSteps(context)
        self._simulators = Simulators(context, self._real)
        self._programs = ProgramSearch(context, self._simulators)
        self._networks = NetworkTraining(
            self._simulators, context.config.seed, context.config.of(SimulatorSwitches).simulated_steps
        )
        self._searched: Simulation | None = None
        self._history = History()

    async def before_round(self, round_: int, history: History) -> None:
        """Run the whole search before the first round."""
        self._history = history
        if round_ != 1:
            return
        begun = self._journal.find("real", "held1") is not None
        if not begun and self._journal.find("decision", "r1.where") is not None:
            return  # the run began without a simulator
        reason = self._impossible()
        if reason:
            self._simulators.say("supports", reason)
            return
        with contextlib.suppress(BudgetSpentError):  # the other steps are for other programs
            await self._search(history)

    def persistent_sections(self, round_: int) -> Mapping[str, Callable[[int], str]]:
        """Explain where the numbers of later programs are tuned, and how far returns there were real."""
        if self._searched is None:
            return {}
        find, earlier = self._journal.find, [a for a in self._history.attempts if a.candidate.round < round_]
        text = prompting.render(
            "simulated_later",
            verified=[find("note", event.key) for event in self._journal.of_kind("verified")],
            tuned={attempt.id: find("simulated", attempt.id, SearchResult) for attempt in earlier},
        )
        return {"simulator": lambda _: text}

    async def prepare(self, candidate: Candidate) -> Candidate:
        """Tune the numbers of a later program on free steps before it takes real ones."""
        if self._searched is None or not Program.from_source(candidate.source).params:
            return candidate
        source = await self._programs.tune_alone(candidate.id, candidate.source, self._searched)
        return replace(candidate, source=source)

    def _impossible(self) -> str:
        """Return why no simulator is requested; empty if one is."""
        spec = self._context.spec
        if self._context.config.task.is_family:
            return "no simulator: the task has several variants"
        if pictures_in(spec.observation_space):
            return "no simulator: observations are images"
        return supports(spec.observation_space, spec.action_space)

    async def _search(self, history: History) -> None:
        await self._real.take_random()
        if not self._real.held:
            self._simulators.say("written", "no simulator: no episode of random actions could be recorded")
            return
        known = self._tell_known()
        version = await self._simulators.write(history, known)
        if version is None:
            self._simulators.say(
                "written",
                f"no simulator: {self._simulators.declined or 'none that was written could be used'}",
            )
            return
        self._simulators.say("written", self._quality(version))
        self._journal.once("decision", "s.version0", lambda: version.key)
        self._searched = simulation = self._simulators.simulation(version)
        self._programs.pace(version.speed)
        self._networks.pace(version.speed)
        nothing = await self._simulators.return_of_nothing(simulation)
        programs, networks = await self._search_both(simulation, self._evidence(version, known))
        finalists = await self._verify_and_refit(version, programs, networks, nothing, history)
        await self._record(finalists, programs, history)

    @staticmethod
    def _quality(version: Version) -> str:
        shares = ", ".join(f"{steps}: {share:.4f}" for steps, share in version.shares.items())
        return f"shares of real changes that the simulator predicts, by steps ahead: {shares or 'unknown'}"

    # In the simulator

    async def _search_both(
        self, simulation: Simulation, evidence: str
    ) -> tuple[list[TunedProgram], list[TrainedNetwork]]:
        untrained = trainable(simulation.observation_space, simulation.action_space)
        if self._policy == "program":
            untrained = "--policy program needs none"

        async def search_programs() -> list[TunedProgram]:
            programs = await self._programs.begin(simulation, evidence)
            if programs:  # both are evaluated in the same new episodes
                longer = await self._programs.tune_further(programs[0], simulation)
                programs[0] = max(programs[0], longer, key=lambda program: program.value)
            return programs

        async def train_networks() -> list[TrainedNetwork]:
            if untrained:
                self._simulators.say("networks", f"no network is trained in the simulator: {untrained}")
                return []
            found = await self._networks.train(simulation)
            returns = (
                ", ".join(number(network.value) for network in found) or "none, since none could be played"
            )
            self._simulators.say(
                "networks", f"simulated returns of networks trained in the simulator: {returns}"
            )
            return found

        found: list[Any] = await gather([search_programs(), train_networks()])
        programs, networks = found
        if programs:
            if not self._solves(programs[0]):
                programs = await self._programs.grow(programs, simulation, next(iter(networks), None))
            programs = await self._finish(programs, simulation)
        return programs, networks

    def _solves(self, program: TunedProgram) -> bool:
        """Whether a program solves the task in the simulator: in all eight recorded runs, growing it further gained at most 2 %."""
        threshold = self._context.threshold if self._context.config.switches.early_stop else None
        return threshold is not None and program.value >= threshold

    async def _finish(self, programs: Sequence[TunedProgram], simulation: Simulation) -> list[TunedProgram]:
        """Return the finalists, all rounded: the best without unneeded terms, and the next ones."""
        found = await gather(
            self._programs.finish(program, simulation, prune=not n)
            for n, program in enumerate(programs[:MAX_PROGRAMS])
        )
        programs = shortest_first(found)
        self._simulators.say(
            "finished",
            f"simulated returns without needless numbers, the others rounded: {', '.join(f'{each.id} {number(each.value)}' for each in programs)}",
        )
        return programs

    def _tell_known(self) -> str:
        """Return the results of other features, such as experiments."""
        sections = [tell for each in self._features for tell in each.persistent_sections(0).values()]
        return "\n\n".join(filter(None, (tell(FIRST_LASTING).strip() for tell in sections)))

    def _evidence(self, version: Version, known: str) -> str:
        """Describe what is known besides the task, for the writer of programs."""
        lines = [self._quality(version), *version.worlds]
        return "\n".join(f"- {line}" for line in lines) + f"\n\n{known}".rstrip()

    # In reality

    async def _verify_and_refit(
        self,
        version: Version,
        programs: list[TunedProgram],
        networks: list[TrainedNetwork],
        nothing: float,
        history: History,
    ) -> list[VerifiedPolicy]:
        """Play real episodes of the finalists; if they disappoint, refit the simulator and search again. Return them best first."""
        decided: list[VerifiedPolicy] = []
        for n in range(MAX_REFITS + 1):
            latest = await self._verify_kinds(programs, networks, nothing, n)
            decided += latest
            decided.sort(key=lambda policy: -policy.mean)
            if not latest or decided[0] not in latest or not decided[0].disappoints(nothing):
                break  # the best of all meets its predicted return
            if n == MAX_REFITS or self._real.left < self._context.horizon:
                break
            version = await self._refit(version, n + 1, history)
            self._searched = self._simulators.simulation(version)
            programs, networks = await self._continue_search(version, programs, networks, n + 1)
        return decided

    async def _verify_kinds(
        self,
        programs: Sequence[TunedProgram],
        networks: Sequence[TrainedNetwork],
        nothing: float,
        n: int,
    ) -> list[VerifiedPolicy]:
        """Play real episodes of the best of each kind, and of the next that may be as good if it disappoints."""
        verified: list[VerifiedPolicy] = []
        kinds: list[Sequence[FoundPolicy]] = [near_best(programs, nothing), near_best(networks, nothing)]
        candidates = [policies for policies in kinds if policies]
        while candidates:
            latest = await self._verify(
                [first for first, *_ in candidates], nothing, n, f"{n}.{len(verified)}"
            )
            verified += latest
            disappointing = {policy.kind for policy in latest if policy.disappoints(nothing)}
            candidates = [rest for first, *rest in candidates if rest and kind_of(first) in disappointing]
        return verified

    async def _verify(
        self, found: Sequence[FoundPolicy], nothing: float, n: int, key: str
    ) -> list[VerifiedPolicy]:
        """Play real episodes of as many finalists as the steps pay for."""
        wanted = max(count_real_episodes(policy, nothing) for policy in found)
        plan = self._journal.once(
            "decision", f"s.finalists{key}", lambda: self._plan_episodes(len(found), wanted)
        )
        policies, episodes = found[: plan["policies"]], plan["episodes"]
        if not episodes:
            return []
        try:
            real = await self._real.decide(
                f"finalists{key}", [policy.source for policy in policies], episodes, n
            )
        except BudgetSpentError:
            return []
        finalists = list(map(VerifiedPolicy, policies, real))
        for policy in finalists:
            name, promised, earned = policy.found.id, policy.found.value, policy.mean
            episodes = len(policy.real.episodes)
            record = {"kind": policy.kind, "promised": promised, "earned": earned, "episodes": episodes}
            self._simulators.found[name] = policy.found.source, policy.real.episodes
            self._journal.once("verified", f"s.{n}.{name}", lambda: record)  # noqa: B023 - called at once
            self._simulators.say(
                f"{n}.{name}",
                f"{policy.kind} {name}: simulated return {number(promised)}, real {with_noise(earned, policy.noise)} over {count_of(episodes, 'episode')}",
            )
        return finalists

    def _plan_episodes(self, policies: int, wanted: float) -> dict[str, int]:
        """Return how many of the policies play how many episodes each.

        Each plays two, or as many as wanted if that takes no more than half of the steps. If the steps do not pay for two episodes of
        each, only the first plays.
        """
        affordable = self._real.left // self._context.horizon
        if affordable < DECIDING_EPISODES * policies:
            policies = 1
        affordable //= policies
        wanted = max(DECIDING_EPISODES, min(math.ceil(wanted), affordable // 2))
        return {"policies": policies, "episodes": min(wanted, affordable)}

    async def _refit(self, version: Version, n: int, history: History) -> Version:
        """Refit the simulator after overly optimistic predictions; its writer may correct it once, too."""
        again = await self._simulators.refit(version, n, history)
        better = await self._simulators.correct(again, history, at_most=1)
        chosen = better or again
        self._journal.once("decision", f"s.version{n}", lambda: chosen.key)
        self._simulators.say(
            f"refit{n}",
            f"real returns were far below the predicted ones, so the simulator was fitted again: {self._quality(chosen)}",
        )
        return chosen

    async def _continue_search(
        self,
        version: Version,
        programs: Sequence[TunedProgram],
        networks: Sequence[TrainedNetwork],
        n: int,
    ) -> tuple[list[TunedProgram], list[TrainedNetwork]]:
        simulation = self._simulators.simulation(version)
        tuned = [
            await self._programs.tune_further(program, simulation, f"refit{n}") for program in programs[:1]
        ]
        return (
            [
                await self._programs.finish(program, simulation, prune=False, name=f".refit{n}")
                for program in tuned
            ],
            [await self._networks.train_further(network, simulation, n) for network in networks[:1]],
        )

    async def _record(
        self, finalists: Sequence[VerifiedPolicy], programs: Sequence[TunedProgram], history: History
    ) -> None:
        """Record the best program as an ordinary candidate, and the best network for the end of the search."""
        readable = [policy.found for policy in finalists if isinstance(policy.found, TunedProgram)]
        chosen = next(iter([*readable, *programs]), None)
        if chosen:
            await self._record_program(PROGRAM, chosen, history)
        trained = [policy for policy in finalists if isinstance(policy.found, TrainedNetwork)]
        best = next((policy for policy in trained if math.isfinite(policy.mean)), None)
        if best:
            network = RecordedNetwork(best.found.source, best.found.value, best.real)
            self._journal.once("decision", "s.network", lambda: network)

    async def _record_program(self, name: str, program: TunedProgram, history: History) -> None:
        candidate = Candidate(name, program.source, 0, origin=ORIGIN, tuned=program.changes)
        prose = f"Found in a simulator, which promised {number(program.value)}."
        self._measurer.record(await self._measurer.measure(candidate, history, prose=prose))

    # When the search is over

    async def conclude(self, history: History, *, stopped: bool) -> None:  # noqa: ARG002
        """Record the best program so far if the search in the simulator was stopped early; a resumed run continues with it."""
        tuned = self._programs.tuned
        if tuned and history.find(PROGRAM) is None:
            best = max(tuned, key=lambda program: program.value)
            with contextlib.suppress(BudgetSpentError):
                await self._record_program(f"{PROGRAM}.{len(tuned)}", best, history)

    def record_products(self, history: History) -> Mapping[str, Attempt]:
        """Record the network besides the best program, as leader if the user prefers it, and return both."""
        found = self._journal.find("decision", "s.network", RecordedNetwork)
        if found is None:
            return {}
        digest = Program.from_source(found.source).digest
        candidate = Candidate(NETWORK, found.source, 0, digest=digest, origin="network")
        prose = f"A network that was trained in a simulator, which promised {number(found.simulated)}."
        network = Attempt(candidate, found.evaluation, feedback.aggregate(found.evaluation), prose)
        if history.find(NETWORK) is None:
            self._measurer.record(network)
        program = next((attempt for attempt in history.ranking() if attempt.id != NETWORK), None)
        chosen = network if program is None or self._prefers_network(history, program, network) else program
        best = history.best()
        if best is None or best.id != chosen.id:
            name = f"product.{chosen.id}.{program.id if program else ''}.{self._policy}"
            self._journal.once("lead", name, lambda: Lead(chosen.id))
        return {"network": network} | ({"program": program} if program else {})

    def _prefers_network(self, history: History, program: Attempt, network: Attempt) -> bool:
        """Whether the network becomes the best of the run, by the user's choice or by both returns."""
        if self._policy in {"program", "network"}:
            return self._policy == "network"
        nothing = float(self._journal.find("simulated", NOTHING) or 0.0)
        share = 1.0 if self._policy == "any" else PROGRAM_SHARE
        theirs = network.evaluation.mean_return - nothing
        return history.evidence(program).mean_return - nothing < share * theirs


def install(context: SearchContext, sampler: Sampler) -> Feature:
    """Create the feature for a run."""
    return SimulatorSearch(context, sampler)
