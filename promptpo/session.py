"""One process's work on a run: set up, search, write the results."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo import __version__
from promptpo.envs.task import Task
from promptpo.errors import RunError
from promptpo.llm import describe_choice, make_llm
from promptpo.optimizer import Outcome
from promptpo.optimizer import optimize as search
from promptpo.output.exporting import Provenance, exported
from promptpo.output.report import RESULT, result, versions, write_atomically, write_result
from promptpo.output.report.page import write_report
from promptpo.output.run_result import BEST, RunResult
from promptpo.rollouts import Settings, make_executor
from promptpo.run.config import CONFIG, Config, horizon_within, load_config, save_config, with_episodes
from promptpo.run.control import Control, Interrupts
from promptpo.run.journal import JOURNAL, Journal, read_run
from promptpo.run.ledger import Ledger
from promptpo.run.observer import Observer
from promptpo.run.records import Attempt, Seeds
from promptpo.run.spender import Spender, check_wishes, completion_of
from promptpo.search.programs import SearchLLM
from promptpo.spec import TaskSpec, describe

if TYPE_CHECKING:
    from promptpo.llm.base import LLM, Completion
    from promptpo.rollouts import Executor


class Session:
    """One process's work on a run."""

    def __init__(self, config: Config, directory: Path, llm: LLM | None, observer: Observer) -> None:
        self.config, self.directory, self.observer = config, directory, observer
        self._given_llm = llm

    def run(self) -> RunResult:
        """Do the work, in this thread's event loop or in one of its own."""
        run: RunResult = run_async(self._run)
        return run

    async def _run(self) -> RunResult:
        config = self.config
        llm = self._given_llm or make_llm(
            config.model,
            base_url=config.base_url,
            answered=answered(self.directory),
            run=str(self.directory.resolve()),
            price=config.price,
            search=SearchLLM,
        )
        check_wishes(config, llm)
        choice = describe_choice(config.model, llm) if self._given_llm is None else f"Model: {llm.name}"
        config = replace(config, model=llm.name)
        spec = describe(
            config.task,
            reveal=config.reveal,
            detail=config.spec_detail,
            spec_file=config.spec_file,
            clip_actions=config.clip_actions,
        )
        for warning in spec.warnings:
            self.observer.warn(warning)
        config = with_episodes(config, spec.horizon, spec.sample_length)
        with Journal(self.directory) as journal:
            if not (self.directory / CONFIG).exists():
                with writing(self.directory, "the same command again"):
                    save_config(config, self.directory / CONFIG)
            elif config != load_config(self.directory / CONFIG):
                with writing(self.directory, f"promptpo resume {self.directory}"):
                    save_config(config, self.directory / CONFIG)
            executor = make_executor(config.executor, settings_for(config), config.jobs)
            try:
                return await self._search(config, llm, spec, executor, journal, choice)
            finally:
                executor.close()
                await llm.aclose()

    async def _search(
        self, config: Config, llm: LLM, spec: TaskSpec, executor: Executor, journal: Journal, choice: str
    ) -> RunResult:
        status = await executor.status()
        sandbox = {"level": status.level, "active": list(status.active), "missing": list(status.missing)}
        spec = _same_spec(journal, spec)
        ledger = Ledger(config.budget, journal.events)
        journal.listen(ledger.add)
        journal.listen(self.observer.event)
        sessions = sum(1 for _ in journal.of_kind("session"))
        command = " ".join(sys.argv)
        journal.add(
            "session",
            str(sessions),
            {"command": command, "pid": os.getpid(), "versions": versions(), "sandbox": sandbox},
        )
        self.observer.started(config, self.directory, choice, spec, ledger)
        if status.missing:
            self.observer.warn(f"sandbox: {status.level}; missing here: {', '.join(status.missing)}")
        horizon = horizon_within(config, spec.horizon, spec.sample_length)
        if spec.horizon is None:
            self.observer.warn(
                f"{config.task.env_id} has no time limit: its episodes are cut after {horizon:,} steps, which the "
                "budget pays for; --max-episode-steps sets another limit."
            )
        control = Control()
        with Interrupts(control):
            outcome = await search(
                spec,
                horizon=horizon,
                spender=Spender(llm, executor, config, journal, ledger),
                config=config,
                control=control,
                observe=self.observer.progress,
            )
        if outcome.best is None and (self.directory / RESULT).exists():
            raise RunError(
                f"{outcome.stop}, and no policy ran since; the result that {self.directory} has is kept."
            )
        run = self._write(config, llm, spec, journal, ledger, outcome, sandbox, command)
        journal.add("stop", str(sessions), {"reason": outcome.stop})
        self._write_report()
        self.observer.finished(run)
        return run

    def _write_report(self) -> None:
        """Write the page about the run; a run that has its result does not fail for want of a page."""
        try:
            write_report(self.directory, episode=False)
        except Exception as error:  # noqa: BLE001 - see above
            self.observer.warn(f"report.html was not written: {type(error).__name__}: {error}")

    def _write(
        self,
        config: Config,
        llm: LLM,
        spec: TaskSpec,
        journal: Journal,
        ledger: Ledger,
        outcome: Outcome,
        sandbox: Mapping[str, Any],
        command: str,
    ) -> RunResult:
        history, best = outcome.history, outcome.best
        content = result(
            task=config.task,
            model=_model_name(llm, journal),
            language_model=llm.language_model,
            seed=config.seed,
            recipe=config.recipe,
            best=best,
            evidence=outcome.evidence,
            test=outcome.test,
            held_out=outcome.held_out,
            rounds=history.rounds,
            attempts=len(history.attempts),
            stop=outcome.stop,
            ledger=ledger,
            sandbox=sandbox,
            command=command,
        )
        source = best.candidate.source if best else ""
        with writing(self.directory, f"promptpo resume {self.directory}"):
            write_policies(self.directory, history.attempts)
            if best:
                text = exported(
                    source,
                    provenance(self.directory, content, config),
                    action_space=spec.action_space,
                    filename=BEST,
                )
                write_atomically(self.directory / BEST, text)
            write_result(self.directory, content)
        return RunResult(self.directory, content, source)


def answered(directory: Path) -> tuple[Completion, ...]:
    """Answers that earlier processes of this run have had."""
    if not (directory / JOURNAL).exists():
        return ()
    return tuple(completion_of(event.data) for event in read_run(directory).get("completion", []))


def default_name(task: Task) -> str:
    """The environment's id as a part of a file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", task.env_id).strip("-")


def settings_for(config: Config) -> Settings:
    """What the rollout workers of a run need to know."""
    from sandbox import Limits

    return Settings(config.task, Limits(), config.allow_weaker_sandbox, config.clip_actions)


def _same_spec(journal: Journal, spec: TaskSpec) -> TaskSpec:
    """The spec with the text that the run began with, so that a resumed run's prompts do not change."""
    found = journal.find("spec", "spec")
    if found is None:
        journal.add("spec", "spec", {"text": spec.text, "spent": {"spec": spec.sample_steps}})
        return spec
    return replace(spec, text=found["text"])


def _model_name(llm: LLM, journal: Journal) -> str:
    """What the provider said answered, where it says more than the name that was asked for."""
    if not llm.language_model:
        return llm.name
    models = {event.data["model"] for event in journal.of_kind("completion") if event.data["model"]}
    kind, _, asked = llm.name.partition(":")
    # a policy is passed on: it need not show where its author keeps recordings
    name = f"{kind}:{Path(asked).name}" if kind in {"replay", "inbox"} else llm.name
    return name if models <= {asked, kind} else f"{name} ({', '.join(sorted(models))})"


@contextlib.contextmanager
def writing(directory: Path, then: str) -> Iterator[None]:
    """Tell what to do where the disk does not take what is written.

    Args:
        directory: The run.
        then: The command that goes on when there is room.

    Raises:
        RunError: It is full, or gone, or not ours.
    """
    try:
        yield
    except OSError as error:
        raise RunError(f"cannot write to {directory}: {error.strerror}. Make room, then: {then}") from error


def write_policies(directory: Path, attempts: list[Attempt]) -> None:
    """Write every candidate's module to ``policies/``."""
    folder = directory / "policies"
    folder.mkdir(exist_ok=True)
    for attempt in attempts:
        if attempt.candidate.source:
            write_atomically(folder / f"{attempt.id}.py", attempt.candidate.source)


def provenance(directory: Path, content: Mapping[str, Any], config: Config) -> Provenance:
    """The header facts of a run's best policy."""
    test = content["test"]
    seeds = Seeds().test(config.test_episodes)
    model = content["model"] if content["language_model"] else "program search (no language model)"
    return Provenance(
        task=config.task,
        model=model,
        version=__version__,
        run_id=directory.resolve().name,
        candidate=content["best"]["candidate"],
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        test=test,
        success_rate=test["success_rate"] if test else None,
        test_seeds=(seeds[0], seeds[-1]),
    )


def run_async(work: Callable[[], Any]) -> Any:
    """Run a coroutine function to its end, also where an event loop is running already (notebooks)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    answer: list[Any] = []

    def in_thread() -> None:
        try:
            answer.append(asyncio.run(work()))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            answer.append(error)

    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    if isinstance(answer[0], BaseException):
        raise answer[0]
    return answer[0]
