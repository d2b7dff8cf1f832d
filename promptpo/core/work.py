"""The one place where money and environment steps are spent: model calls and rollouts.

Everything that costs looks into the journal first, is counted by the ledger, and is written before
anyone uses it. A spent budget starts nothing new; what was asked is received.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from promptpo.core.budget import budget_row
from promptpo.core.candidate import (
    REFERENCE_TEST,
    Candidate,
    RecordedRollout,
    Remark,
    RolloutResult,
    StepPurpose,
)
from promptpo.core.config import OUTPUT_TOKENS
from promptpo.core.journal import writing
from promptpo.errors import BudgetSpentError
from promptpo.files import make_folder, write_atomically
from promptpo.llm.base import CallPurpose, Completion, Message, Request, Situation, Still
from promptpo.program import Program
from promptpo.program.tunables import text_digest
from promptpo.rollouts import Job, evaluation_of, join_rollouts, roll_out
from promptpo.rollouts.evaluation import Evaluation
from promptpo.rollouts.packed import UNTOLD, KeptRollouts, deflate, inflate
from promptpo_sandbox import Record, Rollout, Trial

if TYPE_CHECKING:
    from promptpo.core.budget import Ledger
    from promptpo.core.config import Config
    from promptpo.core.journal import Journal
    from promptpo.llm.base import LLM
    from promptpo.rollouts import Executor

PICTURES = "pictures"
"""Their folder in a run's directory."""

RECEIVING_SECONDS = 10.0
"""How long a search that was ended from outside waits for answers that are being written, and paid for."""

RollsOut: TypeAlias = Callable[[Sequence[Job]], Awaitable[list[Rollout]]]
Early: TypeAlias = tuple[int, Callable[[Evaluation], bool]]


class RecordedWork:
    """Asks and rolls out, each piece of work once in the life of the run.

    Args:
        llm: Who answers.
        executor: Where rollouts run.
        config: Sampling settings and limits.
        journal: Where everything is written before anyone reads it.
        ledger: Whether it may be spent.
    """

    def __init__(
        self, llm: LLM, executor: Executor, config: Config, journal: Journal, ledger: Ledger
    ) -> None:
        self.llm, self.executor, self.journal, self.ledger = llm, executor, journal, ledger
        self._config = config
        self._pending = KeptRollouts(journal.directory / UNTOLD)
        self._calls: set[asyncio.Task[Completion]] = set()

    def supports(self, purpose: CallPurpose) -> bool:
        """Whether the provider answers this kind of request; program search only writes policies, whatever it says."""
        can = self.llm.capabilities
        return purpose in can.purposes and (can.language_model or purpose == "policy")

    async def ask(
        self,
        key: str,
        purpose: CallPurpose,
        messages: Sequence[Message],
        *,
        system: str,
        situation: Situation | None = None,
    ) -> Completion:
        """One call; ending the search does not end it, see `receive`.

        Args:
            key: Its name in the run.
            purpose: What the answer is for.
            messages: The conversation after the system prompt.
            system: The system prompt.
            situation: The same facts as values, for providers that compute.

        Raises:
            ProviderError: It cannot be answered.
            BudgetSpentError: It would pass a limit.
        """
        found: Completion | None = self.journal.find("completion", key, Completion)
        if found is not None:
            return found
        request = Request(
            key=key,
            purpose=purpose,
            system=system,
            messages=tuple(messages),
            max_output_tokens=self._config.max_output_tokens,
            temperature=self._config.temperature,
            effort=self._config.effort,
            situation=situation,
            keeps_limit=self._config.max_output_tokens != OUTPUT_TOKENS,
        )
        self.ledger.reserve_call()
        call = asyncio.ensure_future(self._receive(request))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        return await asyncio.shield(call)

    async def _receive(self, request: Request) -> Completion:
        calls = 1

        def may_ask_again() -> bool:
            nonlocal calls
            try:
                self.ledger.reserve_call()
            except BudgetSpentError:
                return False
            calls += 1
            return True

        try:
            request, prompt = self._store_pictures(request)
            heard = partial(self.ledger.arriving.__setitem__, request.key)
            completion = await self.llm.complete(replace(request, heard=heard, may_ask_again=may_ask_again))
            answer = {name: value for name, value in asdict(completion).items() if name != "logprobs"}
            data = {"purpose": request.purpose, "prompt": prompt, **answer}
            self.journal.add("completion", request.key, data)
        finally:
            self.ledger.release_call(calls)
            self.ledger.arriving.pop(request.key, None)
        return completion

    async def receive(self) -> None:
        """Wait for the answers that are under way, since they are paid for; give up those that take too long.

        A provider that can be asked again for the same answer (`Capabilities.repeats`) is not waited for.
        """
        calls = list(self._calls)
        if not calls:
            return
        if not self.llm.capabilities.repeats:
            await asyncio.wait(calls, timeout=RECEIVING_SECONDS)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    def _store_pictures(self, request: Request) -> tuple[Request, str]:
        """The request with its pictures on the disk, and the name of its prompt, none where nothing is said.

        Pictures and prompts are written once, however many samples are drawn from them.

        Raises:
            RunError: The disk does not take them.
        """
        folder, messages, turns = self.journal.directory / PICTURES, [], []
        for turn in request.messages:
            stills = tuple(write_picture(still, folder) for still in turn.stills)
            messages.append(replace(turn, stills=stills))
            shown = [{"caption": still.caption, "file": f"{PICTURES}/{still.digest}.png"} for still in stills]
            said = {"role": turn.role, "content": turn.content}
            turns.append(said | ({"pictures": shown} if shown else {}))
        if not turns:
            return request, ""
        name = text_digest(repr((request.system, turns)))
        self.journal.once("prompt", name, lambda: {"system": request.system, "messages": turns})
        return replace(request, messages=tuple(messages)), name

    async def roll_out(
        self,
        kind: str,
        key: str,
        program: Candidate,
        seeds: Sequence[int],
        *,
        horizon: int,
        early: Early | None = None,
        record: Record = False,
    ) -> RolloutResult:
        """Roll a program out on some seeds and write what came out.

        Args:
            kind: Kind of the journal event, which says what the steps count for.
            key: Its name in the journal.
            program: What is rolled out.
            seeds: One episode each.
            horizon: Longest episode, in steps.
            early: How many episodes are rolled out before the others, and whether the others are worth it after these.
            record: Bring trajectories back, now or after a kill (see `replay_trajectories`); as in `promptpo_sandbox.Record`.

        Raises:
            BudgetSpentError: No environment steps are left; what is on test seeds is outside the budget.
            EnvironmentFaultError: The environment failed.
        """
        row, counted = budget_row(kind, key)
        rollout: Rollout | None = None
        first, go_on = early or (0, None)
        first = first if 0 < first < len(seeds) else len(seeds)
        whole = Job(
            program.source,
            _trials(program, seeds, horizon),
            record=record,
            stop_on_failure=counted != "test",  # a failure in the test is one episode of many
            apart=counted in {"validation", "test"},
        )

        recorded: RecordedRollout | None = None
        if self.journal.find(kind, key) is None:
            started = time.monotonic()
            async with self._reserve(row, counted, [whole]) as rolled:
                (rollout,) = await rolled([replace(whole, trials=whole.trials[:first])])
                evaluation = evaluation_of(rollout, time.monotonic() - started)
                if go_on is not None and first < len(seeds) and go_on(evaluation):
                    (more,) = await rolled([replace(whole, trials=whole.trials[first:])])
                    rollout = join_rollouts(rollout, more)
                    evaluation = evaluation_of(rollout, time.monotonic() - started)
            if record:
                self._pending.keep(key, rollout)
            recorded = RecordedRollout(evaluation, {counted: evaluation.steps}, program.id, program.repairs)
        found = self.journal.once(kind, key, lambda: recorded, RecordedRollout)
        return RolloutResult(found.evaluation, rollout)

    async def play(
        self,
        kind: str,
        key: str,
        jobs: Sequence[Job],
        *,
        note: Callable[[Sequence[Rollout]], Mapping[str, Any]] = lambda _: {},
    ) -> list[Rollout]:
        """Roll out what is no candidate's evaluation, all jobs at once, and write what came out.

        Args:
            kind: Kind of the journal event, which says what the steps count for.
            key: Its name in the journal.
            jobs: What is rolled out.
            note: What the event says of the rollouts, beside them.

        Returns:
            One for each job, without output and timing: the same values as after a resume.

        Raises:
            BudgetSpentError: No environment steps are left.
            EnvironmentFaultError: The environment failed.
        """
        row, counted = budget_row(kind, key)

        async def play() -> dict[str, Any]:
            async with self._reserve(row, counted, jobs) as rolled:
                found = await rolled(jobs)
            spent = {counted: sum(rollout.steps for rollout in found)}
            return {"spent": spent, **note(found), "rollouts": deflate(found)}

        return inflate((await self.journal.once_async(kind, key, play))["rollouts"])

    @contextlib.asynccontextmanager
    async def _reserve(
        self, row: str | None, counted: StepPurpose, jobs: Sequence[Job]
    ) -> AsyncIterator[RollsOut]:
        """Reserve the steps that these jobs may take; if it is interrupted, those of the jobs that have ended are counted."""
        done: list[Rollout] = []
        async with self.ledger.reserve(row, _most_steps(jobs)) as granted:
            try:
                yield partial(self._roll_out_jobs, granted, done)
            except BaseException:  # a limit, Ctrl-C, a fault: a resumed run takes all of them again
                ending = "" if row else REFERENCE_TEST
                self.count_unfinished(counted, sum(rollout.steps for rollout in done), ending)
                raise

    async def _roll_out_jobs(self, granted: int, done: list[Rollout], jobs: Sequence[Job]) -> list[Rollout]:
        """Roll out all jobs at once, or in turn where steps may be few: most episodes end long before the longest may.

        Raises:
            BudgetSpentError: They were too few.
        """
        found = list[Rollout]()
        left = granted - sum(rollout.steps for rollout in done)
        if left >= _most_steps(jobs):
            return await roll_out(self.executor, jobs, done)
        for job in jobs:
            if left <= 0:
                raise self.ledger.no_steps
            (rollout,) = await roll_out(self.executor, [replace(job, step_limit=left)], done)
            if rollout.unfinished and not (rollout.failure and job.stop_on_failure):
                raise self.ledger.no_steps
            found.append(rollout)
            left -= rollout.steps
        return found

    def count_unfinished(self, purpose: StepPurpose, steps: int, ending: str = "") -> None:
        """Count steps that led to no result; an ending `REFERENCE_TEST` says that they are none of the budget's."""
        if steps:
            self.journal.add("unfinished", f"{len(self.journal.events)}{ending}", {"spent": {purpose: steps}})

    def remark(self, remark: Remark) -> None:
        """Write what became known of a candidate after its attempt, once."""
        key = f"{remark.candidate}.{'duplicate' if remark.duplicate_of else 'tuned'}"
        self.journal.once("remark", key, lambda: remark)

    async def replay_trajectories(
        self,
        key: str,
        program: Candidate,
        seeds: Sequence[int],
        *,
        horizon: int,
        kind: str = "evaluation",
        record: Record = True,
    ) -> Rollout:
        """Trajectories of episodes whose result the journal has but on which no feedback was written yet.

        They are where the process that rolled them out left them; where it could not, the same episodes
        are rolled out once more, and counted; where no steps are left, there are none.
        """
        rollout = self._pending.read(key) if seeds else Rollout((), None, 0, "", 0.0)
        if rollout is not None:
            return rollout
        row, counted = budget_row(kind, key)
        job = Job(program.source, _trials(program, seeds, horizon), record=record)
        try:
            async with self._reserve(row, counted, [job]) as rolled:
                (rollout,) = await rolled([job])
                self.count_unfinished(counted, rollout.steps)
        except BudgetSpentError:
            return Rollout((), None, 0, "", 0.0)
        return rollout

    def drop_trajectories(self, key: str) -> None:
        """Drop the trajectories of these rollouts, whose feedback is written."""
        self._pending.drop(key)


def _trials(program: Candidate, seeds: Sequence[int], horizon: int) -> tuple[Trial, ...]:
    """One episode for each seed."""
    values = Program.from_source(program.source).values
    return tuple(Trial(seed, values, horizon) for seed in seeds)


def _most_steps(jobs: Sequence[Job]) -> int:
    """How many steps some jobs take in the worst case."""
    return sum(trial.horizon or 1 for job in jobs for trial in job.trials)


def write_picture(still: Still, folder: Path) -> Still:
    """The picture with its file on the disk, whole: when this returns, the journal may name it.

    Raises:
        RunError: The disk does not take it (full, or gone).
    """
    path = folder / f"{still.digest}.png"
    with writing(folder.parent):
        if not path.exists():
            make_folder(folder)
            write_atomically(path, still.png, synced=True)
    return replace(still, path=str(path.absolute()))
