"""One process's work on a run: set up, search, write the results."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.envs.recorded_space import recorded
from promptpo.envs.task import RewardProgram, Task
from promptpo.errors import RunError
from promptpo.llm import describe_choice, make_models
from promptpo.llm.ensemble import public_name
from promptpo.optimizer import Outcome
from promptpo.optimizer import optimize as search
from promptpo.output.exporting import BEST, exported
from promptpo.output.film.strip import camera
from promptpo.output.report import result, versions, write_atomically, write_result
from promptpo.output.report.page import write_report
from promptpo.output.report.result import scored
from promptpo.output.run_export import provenance
from promptpo.output.run_result import RunResult
from promptpo.output.verdict import facts_of, verdict
from promptpo.output.world import MODEL, model_module, usable_world
from promptpo.rollouts import Settings, make_executor
from promptpo.rollouts.rewarded import RewardedExecutor
from promptpo.run.checking import check_goal
from promptpo.run.config import CONFIG, Config, horizon_within, load_config, with_episodes
from promptpo.run.control import Control, Interrupts
from promptpo.run.journal import Journal
from promptpo.run.keeping import answered, paid_for, writing
from promptpo.run.ledger import Ledger
from promptpo.run.models import brought
from promptpo.run.observer import Observer
from promptpo.run.origin import key_path, made_here, save_own
from promptpo.run.preflight import Preflight, preflight
from promptpo.run.records import Attempt
from promptpo.run.spender import Spender, check_wishes
from promptpo.run.state import RunState
from promptpo.run.threads import run_async, run_beside
from promptpo.search.asked_for import Winner, asked_for
from promptpo.search.given import check_given
from promptpo.search.goal import GoalReward
from promptpo.search.preferring import succeeded_in_words
from promptpo.search.programs import SearchLLM
from promptpo.search.rewarding import FlatReward
from promptpo.spec import TaskSpec, describe, with_cut, with_hint
from promptpo.spec.reading import names_of
from sandbox.text import clean, clean_name

if TYPE_CHECKING:
    from promptpo.llm.base import LLM
    from promptpo.rollouts import Executor


REWARD = "reward.py"
"""What steps earn in a run, where a program says so."""


class Session:
    """One process's work on a run."""

    def __init__(self, config: Config, directory: Path, llm: LLM | None, observer: Observer) -> None:
        self.config, self.directory, self.observer = config, directory, observer
        self.control = Control()
        self._given_llm = llm

    def run(self) -> RunResult:
        """Do the work, in this thread's event loop or in one of its own."""
        return run_async(self._run, self.control.stop)

    async def run_beside(self) -> RunResult:
        """Do the work without keeping the caller's event loop waiting; a caller who is cancelled ends the search."""
        return await run_beside(self._run, self.control.stop)

    def estimate(self) -> Preflight:
        """What the run would do and cost at most; nothing is asked, rolled out or written."""
        found: Preflight = run_async(self._estimate)
        return found

    async def _estimate(self) -> Preflight:
        config, llm, _, spec = self._prepared(asked=False)
        try:
            return preflight(spec, config, llm, horizon_within(config, spec.horizon, spec.sample_length))
        finally:
            await llm.aclose()

    def _prepared(self, *, asked: bool = True) -> tuple[Config, LLM, str, TaskSpec]:
        """The settings with all that is decided before the start, who answers and why, and the task.

        Args:
            asked: Whether the model will be asked; to know what it may cost, no key is needed.
        """
        config = self.config
        llm = self._given_llm or make_models(
            config.model,
            config.models,
            repair_model=config.repair_model,
            choice=config.model_choice,
            seed=config.seed,
            base_url=config.base_url,
            answered=answered(self.directory),
            run=str(self.directory.resolve()),
            price=config.price,
            search=SearchLLM,
            asked=asked,
        )
        check_wishes(config, llm)
        choice = describe_choice(config.model, llm) if self._given_llm is None else f"Model: {llm.name}"
        config = replace(config, model=llm.name, models=getattr(llm, "written", ()))
        config = replace(config, repair_model=getattr(getattr(llm, "repairer", None), "name", None))
        check_goal(config, llm)
        spec = described(config)
        for warning in spec.warnings:
            self.observer.warn(warning)
        if config.frames and not config.shows_frames(llm):
            self.observer.warn(
                f"--frames: {clean_name(llm.name)} sees no pictures; it is told in words alone."
            )
        if config.hint and not llm.language_model:
            self.observer.warn("--hint is for a language model; program search does not read it.")
        return with_episodes(config, spec.horizon, spec.sample_length), llm, choice, spec

    def check(self) -> None:
        """Look at what the user gave before anything is made: a teacher, policies to begin with.

        Raises:
            UsageError: It does not fit the task.
        """
        if not (self.directory / CONFIG).exists():  # else the run has it already
            check_given(self.config)

    async def _run(self) -> RunResult:
        await asyncio.to_thread(self.check)
        config, llm, choice, spec = self._prepared()
        with Journal(self.directory) as journal:
            if not (self.directory / CONFIG).exists():
                self._keep(config, "the same command again")
            elif config != load_config(self.directory / CONFIG) or not made_here(self.directory):
                self._keep(config, f"promptpo resume {self.directory}")
            executor = make_executor(config.executor, settings_for(config), config.jobs)
            try:
                return await self._search(config, llm, spec, executor, journal, choice)
            finally:
                executor.close()
                await llm.aclose()

    def _keep(self, config: Config, then: str) -> None:
        """Write the configuration and sign it: from now on the run is the user's own."""
        with writing(self.directory, then):
            signed = save_own(config, self.directory)
            if config.task.reward is not None:
                write_atomically(self.directory / REWARD, config.task.reward.source)
        if not signed:
            self.observer.warn(
                f"this run cannot be signed as made here, since {key_path()} cannot be written; "
                "to resume it, --trust will be needed."
            )

    async def _search(
        self, config: Config, llm: LLM, spec: TaskSpec, executor: Executor, journal: Journal, choice: str
    ) -> RunResult:
        status = await executor.status()
        sandbox = {"level": status.level, "active": list(status.active), "missing": list(status.missing)}
        spec = _same_spec(journal, spec) if not config.goal else spec
        ledger = Ledger(config.budget, journal.events)
        journal.listen(ledger.add)
        journal.listen(self.observer.event)
        if config.task.reward is not None:
            journal.listen(FlatReward(self.observer.warn).event)
        sessions = sum(1 for _ in journal.of_kind("session"))
        journal.add(
            "session",
            str(sessions),
            {"command": shlex.join(sys.argv), "pid": os.getpid(), "versions": versions(), "sandbox": sandbox},
        )
        told = config.goal and config.task.reward is None
        if told:
            horizon = horizon_within(config, spec.horizon, spec.sample_length)
            self.observer.warn(f"{choice}; first it writes the reward for the goal: {config.goal}")
            self.observer.prepared(preflight(with_cut(spec, horizon), config, llm, horizon))
        if config.goal:
            config, spec, executor = await self._for_goal(config, llm, spec, executor, journal, ledger)
        self.observer.started(config, self.directory, choice, spec, ledger)
        if status.missing:
            self.observer.warn(f"sandbox: {status.level}; missing here: {', '.join(status.missing)}")
        horizon = horizon_within(config, spec.horizon, spec.sample_length)
        spec = with_cut(spec, horizon)
        if spec.horizon is None:
            self.observer.warn(
                f"{config.task.env_id} has no time limit: its episodes are cut after {horizon:,} steps, which the "
                "budget pays for; --max-episode-steps sets another limit."
            )
        ahead = preflight(spec, config, llm, horizon)
        if not told:
            self.observer.prepared(ahead)
        with Interrupts(self.control), paid_for(self.directory, asked=llm.language_model):
            outcome = await search(
                spec,
                horizon=horizon,
                spender=Spender(llm, executor, config, journal, ledger),
                config=config,
                control=self.control,
                observe=self.observer.progress,
                camera=camera(config.task),
                tested_so_far=lambda found: self._write(
                    config, llm, spec, journal, ledger, found, sandbox, ahead
                ),
            )
            if config.goal and outcome.best is not None:
                spender = Spender(llm, executor, config, journal, ledger)
                winner = Winner(outcome.best.candidate, outcome.test, outcome.held_out, outcome.references)
                filmed = camera(config.task) if config.shows_frames(llm) else None
                asked = asked_for(config.goal, spec, spender, winner, horizon, filmed)
                outcome = replace(outcome, judged=await self.control.finished(asked))
                await spender.receive()
        if self.control.reason and not outcome.stop.startswith(self.control.reason):
            outcome = replace(
                outcome, stop=f"{self.control.reason} after the search was over ({outcome.stop})"
            )
        if outcome.best is None and (self.directory / BEST).exists():  # nothing is overwritten by less
            raise RunError(
                f"{outcome.stop}, and no policy ran since; the result that {self.directory} has is kept."
            )
        run = self._write(config, llm, spec, journal, ledger, outcome, sandbox, ahead)
        journal.add("stop", str(sessions), {"reason": outcome.stop})
        self._write_report()
        self.observer.finished(run)
        return run

    async def _for_goal(
        self,
        config: Config,
        llm: LLM,
        spec: TaskSpec,
        executor: Executor,
        journal: Journal,
        ledger: Ledger,
    ) -> tuple[Config, TaskSpec, Executor]:
        """The run with the reward that the model writes for its goal, once in its life."""
        if config.task.reward is not None:
            return config, _same_spec(journal, spec), executor
        horizon = horizon_within(config, spec.horizon, spec.sample_length)
        spec = with_cut(spec, horizon)
        taken = spec.sample_steps

        def with_reward(reward: RewardProgram) -> TaskSpec:
            nonlocal taken
            found = described(replace(config, task=replace(config.task, reward=reward)))
            taken += found.sample_steps
            return replace(found, sample_steps=taken)

        spender = Spender(llm, executor, config, journal, ledger)
        with contextlib.ExitStack() as stack:
            stack.enter_context(paid_for(self.directory, asked=llm.language_model))
            person = None
            if config.judge == "me":
                from promptpo.output.judging import PersonJudge

                judge = PersonJudge(config.task, config.goal, names_of(spec.text), self.observer.warn)
                person = stack.enter_context(judge).ask
            filmed = camera(config.task)
            asking = GoalReward(
                config.goal, spec, spender, config, horizon, with_reward, person=person, camera=filmed
            )
            chosen = await asking.choose()
            if chosen.always_succeeds:
                self.observer.warn(
                    "the reward that was written says success in every episode, whatever is done "
                    f"({succeeded_in_words(chosen.succeeded)}): shares of success say nothing in this run."
                )
        config = replace(
            config,
            task=replace(config.task, reward=chosen.reward),
            start=(*config.start, *chosen.policies),
            written=len(chosen.policies),
        )
        spec = _same_spec(journal, with_reward(chosen.reward))
        self._keep(config, f"promptpo resume {self.directory}")
        return config, spec, RewardedExecutor(executor, chosen.reward.source)

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
        ahead: Preflight,
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
            models=[one.as_json() for one in brought(RunState.of(config, journal.events))],
            sandbox=sandbox,
            command=shlex.join(sys.argv),
        )
        source = best.candidate.source if best else ""
        state = RunState.of(config, journal.events)
        facts = facts_of(
            state,
            state.candidate(best.id) if best else None,
            outcome.test,
            references=outcome.references,
            threshold=config.stop_at if config.stop_at is not None else spec.reward_threshold,
            language_model=llm.language_model,
            stop=outcome.stop,
            ended=self.control.reason,
        )
        content["references"] = {name: scored(one) for name, one in outcome.references.items()}
        content["verdict"] = verdict(facts)
        if config.teacher is not None:
            fidelity = dict(outcome.fidelity) if outcome.fidelity else None
            content["teacher"] = {"agent": state.teacher, "fidelity": fidelity}
        content["preflight"] = ahead.as_json()
        if config.goal:
            first = (journal.find("decision", "goal") or {}).get("succeeded", {})
            content["goal"] = {"text": config.goal, **(outcome.judged or {}), "succeeded_at_start": first}
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
            world = usable_world(list(journal.of_kind("world")))
            if world is not None:
                write_atomically(self.directory / MODEL, model_module(world, config.task.name))
        return RunResult(self.directory, content, source)


def described(config: Config) -> TaskSpec:
    """What the model is told about a run's task."""
    spec = describe(
        config.task,
        reveal=config.reveal,
        detail=config.spec_detail,
        spec_file=config.spec_file,
        clip_actions=config.clip_actions,
    )
    return with_hint(spec, config.hint)


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
        spec = replace(spec, text=clean(spec.text))
        space = recorded(spec.action_space)
        journal.add(
            "spec",
            "spec",
            {
                "text": spec.text,
                "action_space": space,
                "sample_length": spec.sample_length,
                "spent": {"spec": spec.sample_steps},
            },
        )
        return spec
    return replace(spec, text=found["text"], sample_length=found.get("sample_length", spec.sample_length))


def _model_name(llm: LLM, journal: Journal) -> str:
    """What the provider said answered, where it says more than the name that was asked for."""
    if not llm.language_model:
        return llm.name
    if hasattr(llm, "members"):
        return public_name(llm)
    models = {event.data["model"] for event in journal.of_kind("completion") if event.data["model"]}
    kind, _, asked = llm.name.partition(":")
    # a policy is passed on: it need not show where its author keeps recordings
    name = f"{kind}:{Path(asked).name}" if kind in {"replay", "inbox"} else llm.name
    return name if models <= {asked, kind} else f"{name} ({', '.join(sorted(models))})"


def write_policies(directory: Path, attempts: list[Attempt]) -> None:
    """Write every candidate's module to ``policies/``."""
    folder = directory / "policies"
    folder.mkdir(exist_ok=True)
    for attempt in attempts:
        if attempt.candidate.source:
            write_atomically(folder / f"{attempt.id}.py", attempt.candidate.source)
