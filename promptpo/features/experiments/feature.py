"""Experiments: programs with which the model explores the environment, before and between the rounds.

An experiment is untrusted code like a policy: it acts in the sandbox on training seeds, and its report on its recorded
episodes is text shown in all later requests. A broken experiment is repaired once, or dropped; its steps are not
repeated if only the report must be repaired.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from promptpo.core.candidate import Candidate
from promptpo.core.control import gather
from promptpo.core.feature import Feature
from promptpo.errors import BudgetSpentError, EnvironmentFaultError, ProviderError
from promptpo.features.experiments import prompts as experiment_prompts
from promptpo.features.experiments import report
from promptpo.features.experiments.records import Experiment, in_order
from promptpo.features.experiments.settings import FIRST_EXPERIMENTS, ExperimentSwitches, allowance
from promptpo.llm.base import Completion, Message
from promptpo.program import Program
from promptpo.prompts import feedback, prompting
from promptpo.prompts.shortening import cut_between_words, tidy
from promptpo.rollouts import Call
from promptpo.rollouts.evaluation import extremes

if TYPE_CHECKING:
    from promptpo.core.feature import Plan, RunStatus, SearchContext
    from promptpo.core.history import History
    from promptpo.core.sample import Sampler
    from promptpo_sandbox import Episode

ASKED = "probe"
"""Journal key of the answer to the first request."""

MOST_PROBLEM = 300
"""Maximum length of the description of an experiment's problem, in characters."""


@dataclass(frozen=True, slots=True)
class _Fault:
    """A fault of an experiment.

    Attributes:
        what: What it did, as a predicate: "crashed", "failed in `report`".
        error: A sentence about the error.
        detail: The traceback.
    """

    what: str
    error: str
    detail: str = ""

    @property
    def clause(self) -> str:
        """The fault as a clause without the traceback, for people and prompts."""
        return cut_between_words(tidy(f"it {self.what}: {self.error.rstrip('.')}"), MOST_PROBLEM)


@dataclass(slots=True)
class _Trial:
    """An experiment in progress.

    Attributes:
        id: Id of the experiment.
        source: The module.
        repairs: Number of repairs so far.
        steps: Environment steps so far.
        episodes: Finished recorded episodes of the newest version that was played.
        reports: Its reports on them.
        keys: Journal keys of all rollouts.
        played: Whether its episodes are complete, so that only the report can fail.
    """

    id: str
    source: str
    repairs: int = 0
    steps: int = 0
    episodes: tuple[Episode, ...] = ()
    reports: Sequence[str] = ()
    keys: list[str] = field(default_factory=list)
    played: bool = False


class Experimenter(Feature):
    """Requests experiments, runs them, and shows their results in later requests.

    Args:
        context: Context of the run.
        allowed: Limits of the experiments.
    """

    def __init__(self, context: SearchContext, allowed: ExperimentSwitches) -> None:
        self._context, self._work, self._horizon = context, context.work, context.horizon
        self._journal, self._allowed = context.journal, allowed
        self._system = experiment_prompts.system_prompt(context.spec, allowed, context.horizon)
        self._offered = set[int]()
        self._done: dict[str, Experiment] = {}

    def persistent_sections(self, number: int) -> Mapping[str, Callable[[int], str]]:  # noqa: ARG002
        """Return a section with the results of all experiments."""
        return {"experiments": lambda room: report.section(in_order(self._done.values()), room)}

    def section(self, plan: Plan, status: RunStatus) -> str:
        """Describe the limits of an experiment, if the round's requests offer one.

        The first round offers none, since it has a request of its own; nor does the last.
        """
        if self._context.config.follows_paper or not 1 < plan.round < status.rounds:
            return ""
        if status.steps_left is not None and status.steps_left < 2 * self._allowed.probe_steps:
            return ""
        self._offered.add(plan.round)
        return experiment_prompts.offer(self._context.spec, self._allowed, self._horizon)

    async def before_round(self, number: int, history: History) -> None:  # noqa: ARG002 - a hook
        """Request and run experiments before the first round; later, run the one contained in the last answers."""
        if not number:
            await self._prepare()
        elif number - 1 in self._offered:
            await self._run_brought(number - 1)

    async def _prepare(self) -> None:
        late = self._journal.find("decision", "r1.where") and self._journal.find("completion", ASKED) is None
        if late:
            return
        question = experiment_prompts.request(self._context.config.budget.rounds)
        try:
            completion = await self._work.ask(
                ASKED, "probe", [Message("user", question)], system=self._system
            )
        except (ProviderError, BudgetSpentError):
            return
        sources = report.modules_in(completion.text)[:FIRST_EXPERIMENTS]
        if not sources:
            none = Experiment("p0.0", "", problem=report.refusal(completion), call=ASKED)
            self._record(none)
        named = [(f"p0.{n}", source) for n, source in enumerate(sources, 1)]
        await gather(self._experiment(id_, source, ASKED) for id_, source in named)

    async def _run_brought(self, round_: int) -> None:
        """Run the experiment contained in a round's answers; of several, the first sample's."""
        for slot in range(1, self._context.config.candidates + 1):
            for call in (f"r{round_}.c{slot}.again", f"r{round_}.c{slot}"):
                answer: Completion | None = self._journal.find("completion", call, Completion)
                found = report.modules_in(answer.text) if answer else ()
                if found:
                    await self._experiment(f"p{round_}.1", found[-1], call)
                    return

    def _record(self, experiment: Experiment) -> None:
        self._journal.once("experiment", experiment.id, lambda: experiment)
        self._done[experiment.id] = experiment

    async def _experiment(self, id_: str, source: str, call: str) -> None:
        """Run one experiment, once per run, if there are steps for it."""
        found: Experiment | None = self._journal.find("experiment", id_, Experiment)
        if found is not None:
            for event in self._journal.of_kind("probe"):
                if event.key.startswith(f"{id_}."):
                    self._work.drop_trajectories(event.key)  # in case a killed process did not
            self._record(found)
            return
        trial = _Trial(id_, source)
        try:
            fault = await self._try_out(trial)
            while fault is not None and self._may_repair(trial) and await self._repair(trial, fault):
                fault = await self._try_out(trial)
        except BudgetSpentError:
            return
        except EnvironmentFaultError as error:
            fault = _Fault("made the environment fail", str(error))
        done = Experiment(
            id_,
            trial.source,
            report=report.report_of(trial.reports),
            problem=fault.clause if fault is not None else "",
            episodes=len(trial.episodes),
            steps=trial.steps,
            repairs=trial.repairs,
            call=call,
            earned=extremes(episode.extremes for episode in trial.episodes),
            ends=tuple(episode.steps for episode in trial.episodes if episode.terminated),
        )
        self._record(done)
        for key in trial.keys:
            self._work.drop_trajectories(key)

    async def _try_out(self, trial: _Trial) -> _Fault | None:
        """Play an experiment's episodes, unless they are complete, and have it report; return its fault, if any."""
        lacking = report.problem_of(trial.source)
        if lacking:
            return _Fault("was rejected before it ran", lacking)
        if not trial.played:
            fault = await self._play(trial)
            if fault is not None:
                return fault
            trial.played = True
        return await self._report(trial)

    async def _play(self, trial: _Trial) -> _Fault | None:
        """Play the episodes in sequence: full ones, or as many as it declares, each with an equal part of the steps left."""
        trial.episodes = ()
        most = experiment_prompts.MAX_EPISODES
        count = report.episodes_in(trial.source, most)
        for n, seed in enumerate(self._context.seeds.train(count or most)):
            left = self._allowed.probe_steps - trial.steps
            if left <= 0:
                break
            longest = min(self._horizon, max(1, left // (count - n)) if count else left)
            source = report.as_policy(trial.source, n + 1)
            program = Candidate("", source, 0, repairs=trial.repairs)
            key = f"{trial.id}.{trial.repairs}.{n + 1}"
            played = await self._work.roll_out("probe", key, program, [seed], horizon=longest, record=True)
            evaluation = played.evaluation
            trial.keys.append(key)
            trial.steps += evaluation.steps
            if evaluation.outcome != "ok":
                what = feedback.what_it_did(evaluation.outcome)
                return _Fault(what, evaluation.error, evaluation.detail)
            rollout = played.rollout or await self._work.replay_trajectories(
                key, program, [seed], horizon=longest, kind="probe"
            )
            trial.episodes += rollout.episodes
        return None

    async def _report(self, trial: _Trial) -> _Fault | None:
        """Have it report on its episodes; earlier reports stay if a later one fails."""
        texts: list[str] = []
        fault: _Fault | None = None
        for n, episode in enumerate(trial.episodes, 1):
            data = feedback.for_feedback_class(episode, sees_all=True)
            source = report.as_policy(trial.source, n)
            result = await self._work.executor.run(Call(source, "Policy.report", data))
            if result.failure is not None:
                fault = _Fault("failed in `report`", result.failure.message, result.failure.detail)
                break
            texts.append(result.value or "")
        trial.reports = texts if any(map(tidy, texts)) else trial.reports
        if fault is None and not any(map(tidy, texts)):
            return _Fault("failed in `report`", "it returned no text")
        return fault

    def _may_repair(self, trial: _Trial) -> bool:
        enough = trial.played or trial.steps < self._allowed.probe_steps
        return (
            trial.repairs < min(1, self._context.config.repairs) and self._work.supports("repair") and enough
        )

    async def _repair(self, trial: _Trial, fault: _Fault) -> bool:
        """Request a repair; return whether there is one."""
        question = prompting.render(
            "repair",
            subject="probe",
            what=fault.what,
            source=trial.source.strip(),
            error=fault.error,
            detail=fault.detail[:2000].strip(),
        )
        key = f"{trial.id}.repair{trial.repairs + 1}"
        try:
            completion = await self._work.ask(key, "repair", [Message("user", question)], system=self._system)
        except (ProviderError, BudgetSpentError):
            return False
        trial.repairs += 1
        better = report.modules_in(completion.text)
        if not better or Program.from_source(better[-1]).digest == Program.from_source(trial.source).digest:
            return False
        trial.source = better[-1]
        return True


def install(context: SearchContext, _: Sampler) -> Feature:
    """Create the feature for a run with experiments."""
    allowed = allowance(context.config, context.work.llm) or context.config.of(ExperimentSwitches)
    return Experimenter(context, allowed)
