"""The one place where money and environment steps are spent: model calls and rollouts.

Each piece of costly work is first looked up in the journal, counted by the ledger, and recorded before it is used.
Once the budget is spent nothing new begins, but calls already made are still received.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from promptpo.core.budget import Ledger, budget_row
from promptpo.core.candidate import (
    REFERENCE_TEST,
    Candidate,
    RecordedRollout,
    Remark,
    RolloutResult,
    StepPurpose,
)
from promptpo.core.config import OUTPUT_TOKENS, Config
from promptpo.core.journal import Journal, writing
from promptpo.errors import BudgetSpentError
from promptpo.files import make_folder, write_atomically
from promptpo.llm.base import LLM, CallPurpose, Completion, Image, Message, Request, Situation
from promptpo.program import Program
from promptpo.program.tunables import text_digest
from promptpo.rollouts import Executor, Job, evaluation_of, join_rollouts, roll_out
from promptpo.rollouts.evaluation import Evaluation
from promptpo.rollouts.packed import AWAITING_FEEDBACK, KeptRollouts, deflate, inflate
from promptpo_sandbox import Record, Rollout, Trial

PICTURES = "pictures"
"""Subfolder of a run's directory."""

RECEIVING_SECONDS = 10.0
"""Limit on waiting for answers in flight, which are paid for, after a search is stopped from outside."""

RollsOut: TypeAlias = Callable[[Sequence[Job]], Awaitable[list[Rollout]]]
Early: TypeAlias = tuple[int, Callable[[Evaluation], bool]]


class RecordedWork:
    """Calls the model and rolls out programs, doing each piece of work once in the life of the run."""

    def __init__(
        self, llm: LLM, executor: Executor, config: Config, journal: Journal, ledger: Ledger
    ) -> None:
        self.llm, self.executor, self.journal, self.ledger = llm, executor, journal, ledger
        self._config = config
        self._pending = KeptRollouts(journal.directory / AWAITING_FEEDBACK)
        self._calls: set[asyncio.Task[Completion]] = set()

    def supports(self, purpose: CallPurpose) -> bool:
        """Whether the provider answers this kind of request; program search answers only requests for policies."""
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
        """Call the model once; stopping the search does not cancel the call, see `receive_answers`.

        The answer is recorded under the key. The situation has the facts of the messages, which follow the system prompt, as values
        for providers that do not read them.

        Raises:
            ProviderError: The provider cannot answer.
            BudgetSpentError: The call would exceed a limit.
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
        call.add_done_callback(lambda call: call.cancelled() or call.exception())  # so that none is printed
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
            note = partial(self.ledger.streamed_chars.__setitem__, request.key)
            completion = await self.llm.complete(replace(request, on_chunk=note, may_ask_again=may_ask_again))
            answer = {name: value for name, value in asdict(completion).items() if name != "logprobs"}
            data = {"purpose": request.purpose, "prompt": prompt, **answer}
            self.journal.add("completion", request.key, data)
        finally:
            self.ledger.release_call(calls)
            self.ledger.streamed_chars.pop(request.key, None)
        return completion

    async def receive_answers(self) -> None:
        """Wait for answers in flight, since they are paid for; give up those that take too long.

        Providers that can return the same answer again (`Capabilities.repeats`) are not waited for.
        """
        if self._calls and not self.llm.capabilities.repeats:
            await asyncio.wait(self._calls, timeout=RECEIVING_SECONDS)
        await self.cancel_calls()

    async def cancel_calls(self) -> None:
        """Cancel the calls in flight, and wait until they have ended."""
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

    def _store_pictures(self, request: Request) -> tuple[Request, str]:
        """Return the request with its pictures on disk, and its prompt's name, empty for a request without messages.

        Pictures and prompts are written once, however many samples share them.
        """
        folder, messages, turns = self.journal.directory / PICTURES, [], []
        for turn in request.messages:
            images = tuple(write_picture(image, folder) for image in turn.images)
            messages.append(replace(turn, images=images))
            shown = [{"caption": image.caption, "file": f"{PICTURES}/{image.digest}.png"} for image in images]
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
        """Roll out a program on some seeds, record the evaluation and return it.

        The kind of event decides which steps are counted. `early` is a number of episodes to roll out first, and a function of their
        evaluation that decides whether to go on. With `record`, trajectories are kept, even after a kill (see `replay_trajectories`).

        Raises:
            BudgetSpentError: No environment steps are left; test seeds are outside the budget.
            EnvironmentFaultError: The environment failed.
        """
        row, counted = budget_row(kind, key)
        rollout: Rollout | None = None
        first, go_on = early or (len(seeds), None)
        whole = Job(
            program.source,
            _trials(program, seeds, horizon),
            record=record,
            stop_on_failure=counted != "test",  # in a test, a failure is one episode of many
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
        """Roll out jobs that are no candidate's evaluation, all at once, and record them with the fields that `note` returns.

        Each gives one rollout, without output and timing, so that a resumed run gets the same values. Raises as `roll_out` does.
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
        """Reserve steps for these jobs in the worst case; on interruption, count those of the jobs that ended."""
        done: list[Rollout] = []
        async with self.ledger.reserve(row, _most_steps(jobs)) as granted:
            try:
                yield partial(self._roll_out_jobs, granted, done)
            except BaseException:  # a limit, Ctrl-C, a fault: a resumed run repeats all jobs
                ending = "" if row else REFERENCE_TEST
                self._count_unfinished(counted, sum(rollout.steps for rollout in done), ending)
                raise

    async def _roll_out_jobs(self, granted: int, done: list[Rollout], jobs: Sequence[Job]) -> list[Rollout]:
        """Roll out all jobs at once, or in sequence if steps may be short: most episodes end long before the horizon."""
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

    def _count_unfinished(self, purpose: StepPurpose, steps: int, ending: str = "") -> None:
        """Count steps that led to no result; the ending `REFERENCE_TEST` keeps them outside the budget."""
        if steps:
            self.journal.add("unfinished", f"{len(self.journal.events)}{ending}", {"spent": {purpose: steps}})

    def remark(self, remark: Remark) -> None:
        """Record, once, a fact about a candidate that arrived after its attempt."""
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
        """Return trajectories of recorded episodes that have no feedback yet.

        They are read from where the process that rolled them out left them. If it left none, the episodes are rolled out again and
        counted; if no steps are left, the result is empty.
        """
        rollout = self._pending.read(key) if seeds else Rollout((), None, 0, "", 0.0)
        if rollout is not None:
            return rollout
        row, counted = budget_row(kind, key)
        job = Job(program.source, _trials(program, seeds, horizon), record=record)
        try:
            async with self._reserve(row, counted, [job]) as rolled:
                (rollout,) = await rolled([job])
                self._count_unfinished(counted, rollout.steps)
        except BudgetSpentError:
            return Rollout((), None, 0, "", 0.0)
        return rollout

    def drop_trajectories(self, key: str) -> None:
        """Delete the trajectories of rollouts whose feedback is recorded."""
        self._pending.drop(key)


def _trials(program: Candidate, seeds: Sequence[int], horizon: int) -> tuple[Trial, ...]:
    values = Program.from_source(program.source).values
    return tuple(Trial(seed, values, horizon) for seed in seeds)


def _most_steps(jobs: Sequence[Job]) -> int:
    """Return the number of steps of some jobs in the worst case."""
    return sum(trial.horizon or 1 for job in jobs for trial in job.trials)


def write_picture(image: Image, folder: Path) -> Image:
    """Write a picture to disk, atomically, and return it with its path: then the journal may name it."""
    path = folder / f"{image.digest}.png"
    with writing(folder.parent):
        if not path.exists():
            make_folder(folder)
            write_atomically(path, image.png, synced=True)
    return replace(image, path=str(path.absolute()))
