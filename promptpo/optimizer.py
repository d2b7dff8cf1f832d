"""Prompted policy optimization: the loop.

A large language model is shown what a policy sees, does and is rewarded for, never the dynamics. It writes N
policies; each is rolled out in the sandbox; the best of them and what happened go into the next prompt; and so
on (Prompted Policy Optimization, 2026). Three things differ from the published procedure in every recipe: the
result is the best candidate of the whole run, not the last; the number reported comes from test seeds that
nothing else ever saw; and numbers declared in ``PARAMS`` are tuned by CMA-ES between rounds. What is asked for
in each round is decided in `promptpo.search.planning`, one sample is made in `promptpo.search.sampler`, numbers
are tuned in `promptpo.search.tuner`, and who is best is decided in `promptpo.search.judge`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from promptpo.errors import BudgetSpentError, RewardFaultError
from promptpo.features import asked_for
from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.control import together
from promptpo.run.records import Attempt
from promptpo.run.state import RunState
from promptpo.search.final_test import fidelity, marks, tested
from promptpo.search.history import History
from promptpo.search.judge import Judge
from promptpo.search.opening import opened
from promptpo.search.planning import Plan, plan_round
from promptpo.search.sampler import Sampler
from promptpo.search.samples import Sample, thoughts_of, told_of, what_ends
from promptpo.search.stopping import ceiling_of, prospect
from promptpo.search.tuner import Tuner
from promptpo.telling import prompting

if TYPE_CHECKING:
    from promptpo.run.config import Config
    from promptpo.run.control import Control
    from promptpo.run.evidence import Evidence
    from promptpo.run.spender import Spender
    from promptpo.search.filming import Camera
    from promptpo.spec import TaskSpec


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a search ended.

    Attributes:
        history: All attempts and what is known of their returns.
        best: The best of the run; None when nothing ran.
        evidence: Its training and validation episodes, which chose it.
        test: Its score on held-out test seeds; None where the run was ended before it was tested.
        references: What policies that serve as marks earn on the same test seeds.
        fidelity: How much the best acts like the teacher; None without one.
        held_out: Its score on the variants of a family that are held out; None where there are none.
        stop: Why it ended, as a sentence without a full stop.
        judged: Whether the best does what the goal asks; None without one.
    """

    history: History
    best: Attempt | None
    evidence: Evidence | None
    test: Evaluation | None
    stop: str
    references: Mapping[str, Evaluation] = field(default_factory=dict)
    held_out: Evaluation | None = None
    fidelity: Mapping[str, Any] | None = None
    judged: Mapping[str, Any] | None = None


async def optimize(
    spec: TaskSpec,
    *,
    horizon: int,
    spender: Spender,
    config: Config,
    control: Control,
    observe: Callable[[History], None] = lambda _: None,
    camera: Camera | None = None,
    tested_so_far: Callable[[Outcome], object] = lambda _: None,
) -> Outcome:
    """Search for a policy.

    Args:
        spec: What the model is told, and the spaces.
        horizon: Longest episode, in steps.
        spender: Asks the model and rolls out; one whose journal has events in it resumes their run.
        config: What decides the run.
        control: Ends the search from outside.
        observe: Called after every attempt and round.
        camera: Makes film strips of episodes, for models that see.
        tested_so_far: Called with the outcome as soon as the best is tested, before references are.

    Raises:
        ProviderError: The model could not be reached at all and there is nothing to report.
        EnvironmentFaultError: The environment failed.
        RewardFaultError: The reward program failed, and there is nothing to report.
        RunError: The journal cannot be written.
    """
    loop = _Loop(spec, horizon, spender, config, observe, camera)
    fault: RewardFaultError | None = None
    try:
        stop = await control.until_stopped(loop.run(), config.budget.seconds) or control.reason
    except TimeoutError:
        stop = f"the limit of {config.budget.seconds:g} seconds is reached"
    except RewardFaultError as error:
        fault, stop = error, str(error).rstrip(".")
    await spender.receive()
    history = loop.history
    history.attempts += await control.finished(loop.tuner.rescue(history)) or []
    history.recall(RunState.of(config, spender.journal.events))
    best = history.best()
    if best is None:
        if fault is not None:
            raise fault
        return Outcome(history, None, None, None, stop)
    test, held_out = await tested(best, spender, config, horizon, control)
    outcome = Outcome(history, best, history.evidence(best), test, stop, held_out=held_out)
    if test is not None:
        tested_so_far(outcome)
        references = await marks(spec, test, spender, config, horizon, control)
        alike = await control.finished(fidelity(best, spender, spec, config))
        outcome = replace(outcome, references=references, fidelity=alike)
    return outcome


class _Loop:
    """One search: its parts, and what is known so far."""

    def __init__(
        self,
        spec: TaskSpec,
        horizon: int,
        spender: Spender,
        config: Config,
        observe: Callable[[History], None],
        camera: Camera | None,
    ) -> None:
        self.spec, self.horizon, self.config = spec, horizon, config
        self.spender, self.observe = spender, observe
        self.history = History()
        system = prompting.system_prompt_for(spec, config)
        self.sampler = Sampler(spec, system, spender, config, horizon)
        self.threshold = config.stop_at if config.stop_at is not None else spec.reward_threshold
        self.judge = Judge(spender, config, horizon, self.threshold)
        self.tuner = Tuner(self.sampler, spender, config, horizon)
        asked_for(self.sampler, spec, spender, config, self.threshold, camera)

    async def run(self) -> str:
        """Round after round until there is a reason to stop, which is returned."""
        rounds = self.config.budget.rounds
        try:
            await opened(self.history, self.sampler, self.spender, self.spec, self.config, self.horizon)
            stop = ""
            while not stop and self.history.rounds < rounds:
                stop = await self._round()
            if not self.history.reaches(self.threshold):
                await self.judge.confirm(self.history)
        except BudgetSpentError as spent:
            return str(spent)
        return stop or ("the one round is done" if rounds == 1 else f"all {rounds} rounds are done")

    async def _round(self) -> str:
        """One round; returns why the search ends with it, or nothing."""
        history, config = self.history, self.config
        number, features = history.rounds + 1, self.sampler.features
        await features.before_round(number, history)
        before = history.best()
        self.sampler.begin(history, self.threshold)
        plans = plan_round(
            history,
            config.switches,
            candidates=self.sampler.affordable,
            seed=config.seed,
            one_start=self.spec.one_start,
        )
        if number == 1 and history.may_reach(self.threshold, history.of_round(0)):
            plans = []  # what is there is judged before anybody is asked for more
        samples = await together(self._sample(plan) for plan in plans)
        new = history.absorb(duplicates=config.switches.duplicates, keep=self.spender.remark)
        if number == 1:
            new = [*history.of_round(0), *new]  # the user's own are tuned and judged with the first
        stop = what_ends(samples, tried=bool(history.attempts))
        if stop:  # what was answered, and paid for, has been tried out; the round stays open for a resume
            with contextlib.suppress(BudgetSpentError):
                await self.judge.judge(history, new, number, part=f".only{len(new)}")
            return stop
        if not history.may_reach(self.threshold, new):
            more = await features.after_candidates(history, new)
            history.attempts.extend(more)
            new = [*new, *more]
        hopeful = history.may_reach(self.threshold, new)
        if not hopeful:
            await self._tune(new)
        tried = [*(history.of_round(0) if number == 1 else ()), *history.of_round(number)]
        await self.judge.judge(history, tried, number)
        if hopeful and history.reaches(self.threshold):
            self.tuner.spare(history, new)
        elif hopeful:  # it was luck on a few starts, and the steps for tuning are still there
            await self.judge.judge(history, await self._tune(new), number, part=".tuned")
        await self._end(samples, before)
        return self._done() if config.switches.early_stop else ""

    def _done(self) -> str:
        """Why another round is not worth its calls and steps, or nothing."""
        history = self.history
        if history.reaches(self.threshold):
            return f"solved: the mean return over all its episodes reached {self.threshold:g}"
        if history.ceiling:
            return f"the model sees no way to do noticeably better: {history.ceiling}"
        ahead = prospect(history, self.threshold)
        if ahead.worth or not self.spender.llm.language_model:
            return ""
        return f"another round is not worth it ({ahead}; --option early_stop=false plays all)"

    async def _tune(self, attempts: Sequence[Attempt]) -> list[Attempt]:
        """Tune a round's candidates; what came of it is in the history."""
        history = self.history
        left, target = self.config.budget.rounds - history.rounds, self.threshold
        tuned = await self.tuner.tune(history, attempts, rounds_left=left, target=target)
        history.attempts.extend(tuned)
        return tuned

    async def _sample(self, plan: Plan) -> Sample:
        sample = await self.sampler.sample(plan, self.history)
        if isinstance(sample, Attempt):
            self.history.arrived[plan.slot] = sample
            self.observe(self.history)
        return sample

    async def _end(self, samples: Sequence[Sample], before: Attempt | None) -> None:
        """Close the round: reflect, and write what it came to."""
        history, number = self.history, self.history.rounds + 1
        winner = max(filter(history.runs, history.of_round(number)), key=Attempt.rank, default=None)
        if winner is not None and (number < self.config.budget.rounds):
            text = await self.sampler.reflect(history, winner, number)
            history.reflections += [text] if text else []
        history.close_round(before)
        history.ceiling = ceiling_of(history, samples)
        history.thoughts = thoughts_of(samples)
        if self.spender.journal.find("round", f"r{number}") is None:
            told = told_of(samples, self.tuner.untuned(history, number))
            if number < self.config.budget.rounds and self.spender.llm.language_model:
                told["prospect"] = str(prospect(history, self.threshold))
            self.spender.journal.add("round", f"r{number}", {**history.standing(), **told})
        self.observe(history)
