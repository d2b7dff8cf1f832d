"""The sequence of one process's work on a run."""

from __future__ import annotations

import copy
import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from promptpo.core.config import Config
from promptpo.core.control import GRACE_SECONDS, INTERRUPTED, Control, obey_interrupts, run_async
from promptpo.core.feature import SearchContext, settings_of_features, writes_reward
from promptpo.core.journal import Journal, resume_command, to_json
from promptpo.core.loop import optimize as search
from promptpo.core.work import RECEIVING_SECONDS, RecordedWork
from promptpo.crash_report import note
from promptpo.errors import PromptPOError, RunError, UsageError
from promptpo.features import install_features
from promptpo.llm.base import CheckedLLM, Ensemble, Message, members_of
from promptpo.llm.choose import describe_choice, make_models
from promptpo.llm.credentials import hide_credentials
from promptpo.output.exporting import BEST
from promptpo.output.observer import Observer
from promptpo.output.report import versions
from promptpo.output.run_result import RunResult
from promptpo.prompts import attach_prompts
from promptpo.prompts.shortening import count_of
from promptpo.recipes import planner
from promptpo.rollouts import make_executor
from promptpo.rollouts.jobs import Status
from promptpo.run.checking import check_model
from promptpo.run.config_file import CONFIG
from promptpo.run.episodes import with_episodes
from promptpo.run.origin import digests
from promptpo.run.preflight import Preflight
from promptpo.run.state import RunState
from promptpo.session.results import write_page, write_results
from promptpo.session.setup import (
    context_of,
    drop_if_refused,
    explain_paid_answers,
    keep,
    load_spec,
    pin_spec_text,
    read_answers,
    settings_for,
)
from promptpo.spec import with_cut
from promptpo_sandbox.text import clean_name

if TYPE_CHECKING:
    from promptpo.llm.base import LLM
    from promptpo.llm.function import LLMLike

READY = "Answer with one word: ready."
"""Short request that checks a model whose server lists none."""


class Session:
    """One process's work on a run."""

    def __init__(self, config: Config, directory: Path, llm: LLMLike | None, observer: Observer) -> None:
        self.config, self.directory, self.observer = config, directory, observer
        self.control = Control(resume_command(directory))
        self._given_llm: LLM | None = None
        if llm is not None:
            from promptpo.llm.function import as_llm

            self._given_llm = as_llm(llm)

    def run(self) -> RunResult:
        """Run the session: preparations in this thread, since environments may run event loops, then the rest in one."""
        self.check()
        obey_interrupts()
        ahead = self.estimate(asked=True)
        return run_async(lambda: self._run(ahead), self.control)

    def estimate(self, *, asked: bool = False) -> Preflight:
        """Estimate the run's work and cost, deciding all that precedes its start; nothing is run or written.

        Args:
            asked: Whether the model will be called; an estimate needs no API key.
        """
        config = self.config
        llm = self._given_llm or make_models(
            config.model,
            config.models,
            repair_model=config.repair_model,
            base_url=config.base_url,
            answered=read_answers(self.directory),
            run=str(self.directory.resolve()),
            price=config.price,
            search=_program_search,
            asked=asked,
        )
        several = llm if isinstance(llm, Ensemble) else None
        config = replace(
            config,
            model=llm.name,
            models=tuple(writer.name for writer in several.writers) if several else (),
            repair_model=several.repairer.name if several and several.repairer else None,
        )
        check_model(config, llm)
        spec = load_spec(config, read=llm.capabilities.language_model)
        for warning in spec.warnings:
            self.observer.warn(warning)
        if config.frames and not config.shows_frames(llm):
            self.observer.warn(
                f"--frames: {clean_name(llm.name)} does not accept images and receives only text."
            )
        if llm.name == "search":
            from promptpo.features.program_search.library import structures_for

            structures_for(spec.observation_space, spec.action_space)
        if config.hint and not llm.capabilities.language_model:
            self.observer.warn("--hint is for language models; program search ignores it.")
        config = with_episodes(
            config,
            spec.horizon,
            spec.sample_length,
            one_episode=spec.one_episode,
            learns=llm.capabilities.language_model,
        )
        return Preflight(spec, config, llm)

    def check(self) -> None:
        """Check the user's inputs before anything is created: initial policies and files of features.

        Raises:
            UsageError: An input does not fit the task.
        """
        if (self.directory / CONFIG).exists():  # the run already has them
            return
        for settings in settings_of_features(self.config):
            settings.check_new(self.config)
        if self.config.start:
            from promptpo.session.user_inputs import check_user_inputs

            check_user_inputs(self.config)

    async def _run(self, ahead: Preflight) -> RunResult:
        config, llm = ahead.config, ahead.llm
        if llm.capabilities.language_model and ahead.too_few and not (self.directory / CONFIG).exists():
            raise UsageError(ahead.too_few)
        directory, then = self.directory, self.control.then
        with Journal(directory) as journal:
            begun = (directory / CONFIG).exists()
            if not begun:
                config = replace(config, files=digests(config.task))
            keep(config, directory, self.observer, then if begun else "the same command again")
            note(then)
            with drop_if_refused(journal, begun=begun), self.control.handle_interrupts():
                executor = make_executor(config.executor, settings_for(config), config.jobs)
                try:
                    state = RunState.of(config, journal.events)
                    work = RecordedWork(llm, executor, config, journal, state.ledger)
                    try:
                        return await self._work_on(work, state, ahead)
                    except PromptPOError:
                        await work.receive_answers()  # calls in flight are paid for
                        raise
                    finally:  # while the journal is open; the event loop would also cancel what calls clean up with
                        await work.cancel_calls()
                finally:
                    executor.close()
                    await llm.aclose()

    async def _work_on(self, work: RecordedWork, state: RunState, ahead: Preflight) -> RunResult:
        """Describe the task, search and report, with an open journal and workers."""
        spec, config, llm = ahead.spec, state.config, work.llm
        await self._start_listeners(work, state)
        if llm.capabilities.language_model:
            from promptpo.session.formalising import can_formalise, formalise_spec

            if can_formalise(ahead, work.journal):
                spec = await self.control.before_search(formalise_spec(spec, work), config.budget.seconds)
        spec = pin_spec_text(work.journal, spec) if not writes_reward(config) else spec
        return await self._search(context_of(spec, config, work), state)

    async def _try_models(self, work: RecordedWork) -> int:
        """Check keys, servers and model names before environment steps are spent: by lists, else by one short call.

        Returns:
            Number of models checked.
        """
        models = [member for member in members_of(work.llm) if isinstance(member, CheckedLLM)]
        for n, model in enumerate(models, start=1):
            warning = await model.check()
            if warning:
                self.observer.warn(warning)
            elif warning is None:
                from promptpo.llm.ensemble import EnsembleLLM

                asking = copy.copy(work)
                asking.llm = EnsembleLLM((model,)) if isinstance(work.llm, Ensemble) else model
                await asking.ask(f"check.{n}", "check", [Message("user", READY)], system="")
        return len(models)

    async def _start_listeners(self, work: RecordedWork, state: RunState) -> None:
        """Register listeners, record the session, and check that the models answer, before anything is paid for."""
        journal, config = work.journal, state.config
        journal.listen(state.add)
        journal.listen(self.observer.on_event)
        if config.task.reward is not None:
            from promptpo.features.goals.flat_reward import warn_of_flat_reward

            journal.listen(lambda event: warn_of_flat_reward(event, state.history, self.observer.warn))
        about = {
            "command": hide_credentials(shlex.join(sys.argv)),
            "pid": os.getpid(),
            "versions": versions(),
        }
        sandbox = to_json(await work.executor.run(Status()))
        journal.add("session", str(len(state.sessions)), {**about, "sandbox": sandbox})
        if config.check and not state.payloads["completion"]:
            await self.control.before_search(self._try_models(work))
        self.control.on_stop = lambda: self._tell_the_end(work)

    def _announce(self, context: SearchContext, state: RunState) -> None:
        """Announce the start: the model, the sandbox and the expected cost."""
        llm = context.work.llm
        choice = describe_choice(self.config.model, llm) if self._given_llm is None else f"Model: {llm.name}"
        self.observer.on_start(state, self.directory, choice, context.spec)
        sandbox = state.sessions[-1]["sandbox"]
        if sandbox["missing"]:
            self.observer.warn(f"sandbox: {sandbox['level']}; missing here: {', '.join(sandbox['missing'])}")
        ahead = Preflight(context.spec, context.config, llm)
        state.ledger.limits = {kind: steps for kind, (steps, *_) in ahead.demands.items() if steps}
        self.observer.on_preflight(ahead)

    async def _search(self, context: SearchContext, state: RunState) -> RunResult:
        journal, control, rewards = context.journal, self.control, writes_reward(context.config)
        self._announce(context, state)
        with explain_paid_answers(journal.directory, asked=context.learns):
            if rewards:
                from promptpo.session.goals import judge_outcome, with_goals_reward

                written = with_goals_reward(context, state, self.observer)
                context = await control.before_search(written, context.config.budget.seconds)
            context = replace(context, spec=with_cut(context.spec, context.horizon))
            outcome = await search(
                attach_prompts(context),
                control,
                plan_round=planner(context.config.recipe),
                install_features=install_features,
                tested_so_far=lambda found: write_results(
                    context, state, found, str(control.reason_or_fault)
                ),
            )
            if rewards:
                outcome = await judge_outcome(context, outcome, control)
        ended = control.reason_or_fault
        if ended and outcome.stop != ended:
            late = f"{ended} after the search was over ({outcome.stop})"
            outcome = replace(outcome, stop=replace(ended, sentence=late))
        if outcome.best is None and (journal.directory / BEST).exists():  # keep the better result
            raise RunError(
                f"{outcome.stop}, and no policy has run since; the result in {journal.directory} is kept."
            )
        result = write_results(context, state, outcome, str(ended))
        journal.add(
            "stop", str(len(state.sessions) - 1), {"reason": str(outcome.stop), "kind": outcome.stop.kind}
        )
        write_page(journal.directory, self.observer)
        self.observer.on_finish(result)
        return result

    def _tell_the_end(self, work: RecordedWork) -> None:
        """Say at once what a run that was asked to stop still waits for."""
        awaited = 0 if work.llm.capabilities.repeats else work.ledger.calls_in_flight
        what = (
            f"waiting up to {RECEIVING_SECONDS:.0f} s for {count_of(awaited, 'answer')}, then "
            if awaited
            else ""
        )
        again = (
            f"; press Ctrl-C again to leave now; continue with: {self.control.then}"
            if self.control.reason == INTERRUPTED
            else ""
        )
        self.observer.warn(
            f"stopping: {what}measuring and testing the best policy so far, if there is one, for up to {2 * GRACE_SECONDS:.0f} s{again}"
        )


def _program_search() -> LLM:
    from promptpo.features.program_search import SearchLLM

    return SearchLLM()
