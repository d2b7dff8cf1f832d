"""Setup of a run: its settings on disk, the spec of its task, and the context of its search."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from promptpo.core.config import Config
from promptpo.core.feature import SearchContext
from promptpo.core.journal import JOURNAL, Journal, read_events, writing
from promptpo.envs.contract import patience
from promptpo.envs.spaces import space_as_json
from promptpo.errors import PromptPOError, RewardFaultError, RunError
from promptpo.files import write_atomically
from promptpo.llm.base import Completion
from promptpo.output.observer import Observer
from promptpo.program import Program
from promptpo.rollouts import Settings
from promptpo.run.config_file import CONFIG
from promptpo.run.episodes import spec_steps
from promptpo.run.origin import ORIGIN, key_path, save_own
from promptpo.run.preflight import Preflight
from promptpo.spec import TaskSpec, with_hint
from promptpo.spec.outline import outline
from promptpo_sandbox.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptpo.core.work import RecordedWork


REWARD = "reward.py"
"""File of the reward program in a run's directory."""


def context_of(spec: TaskSpec, config: Config, work: RecordedWork) -> SearchContext:
    """Build the context of a search.

    Args:
        spec: The task as described to the model.
        config: Configuration of the run.
        work: Calls the model, runs rollouts and records both.
    """
    if spec.horizon is None:  # then limits decide it: others in a resumed run do not
        ahead = Preflight(spec, config, work.llm)
        spec = replace(spec, cut=work.journal.once("spec", "horizon", lambda: ahead.horizon))
    return SearchContext(spec, config, work, Preflight(spec, config, work.llm).horizon)


def keep(config: Config, directory: Path, observer: Observer, then: str) -> None:
    """Write the configuration and sign it: from now on the run is the user's own.

    Args:
        config: Configuration of the run.
        directory: The run directory.
        observer: Warned if the configuration cannot be signed.
        then: The command to run once there is disk space.

    Raises:
        RunError: The configuration cannot be written.
    """
    with writing(directory, then):
        signed = save_own(config, directory)
        if config.task.reward is not None:
            write_atomically(
                directory / REWARD, Program.from_source(config.task.reward.source).postponed.source
            )
    if not signed:
        observer.warn(
            f"this run cannot be signed as made here, since {key_path()} cannot be written; "
            "resuming it will require --trust."
        )


@contextlib.contextmanager
def drop_if_refused(journal: Journal, *, begun: bool) -> Iterator[None]:
    """Remove a new run if an error ends it before any answer or rollout, so that its directory can be used again.

    Args:
        journal: Journal of the run.
        begun: Whether an earlier process began the run, which is then kept.
    """
    try:
        yield
    except PromptPOError as error:
        paid = {event.kind for event in journal.events} - {"session", "prompt", "spec"}
        # Keep interrupted runs and those on a full disk, whose error says how to go on.
        if not (begun or paid or isinstance(error, RunError)):
            for name in (CONFIG, JOURNAL, ORIGIN, REWARD):
                (journal.directory / name).unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # it may contain other files
                journal.directory.rmdir()
        raise


def load_spec(config: Config, *, read: bool = True) -> TaskSpec:
    """Load the spec of a run's task.

    Args:
        config: Configuration of the run.
        read: Whether a model reads the spec; otherwise only facts and names are determined, unless the user wrote the spec.
    """
    most_steps, seconds = spec_steps(config.budget.steps), config.budget.seconds
    with patience(seconds, f"describing {config.task.label}") if seconds else contextlib.nullcontext():
        if not read and config.spec_file is None:
            return outline(config.task, clip_actions=config.clip_actions, most_steps=most_steps)
        from promptpo.spec.describe import describe

        spec = describe(
            config.task,
            reveal=config.reveals,
            spec_file=config.spec_file,
            clip_actions=config.clip_actions,
            most_steps=most_steps,
        )
    return with_hint(spec, config.hint)


def pin_spec_text(journal: Journal, spec: TaskSpec) -> TaskSpec:
    """Return the spec with the text with which the run began, so that a resumed run's prompts do not change."""
    found = journal.once(
        "spec",
        "spec",
        lambda: {
            "text": clean(spec.text),
            "action_space": space_as_json(spec.action_space),
            "sample_length": spec.sample_length,
            "revealed": spec.revealed,
            "spent": {"spec": spec.sample_steps},
        },
    )
    revealed = found.get("revealed", spec.revealed)
    return replace(spec, text=found["text"], sample_length=found["sample_length"], revealed=revealed)


def settings_for(config: Config) -> Settings:
    """Return the settings of a run's rollout workers."""
    from promptpo_sandbox import Limits

    return Settings(config.task, Limits(), config.allow_weaker_sandbox, config.clip_actions)


def read_answers(directory: Path) -> tuple[Completion, ...]:
    """Return the answers that earlier processes of this run received."""
    events = read_events(directory / JOURNAL) if (directory / JOURNAL).exists() else ()
    return tuple(event.read(Completion) for event in events if event.kind == "completion")


@contextlib.contextmanager
def explain_paid_answers(directory: Path, *, asked: bool) -> Iterator[None]:
    """If a reward program fails, add to the error where the answers paid for so far are.

    Args:
        directory: The run directory.
        asked: Whether a language model writes in the run; a search without one has no paid answers.

    Raises:
        RewardFaultError: The reward program failed, and there is no result.
    """
    try:
        yield
    except RewardFaultError as fault:
        if not (asked and read_answers(directory)):
            raise
        raise RewardFaultError(
            f"{fault} The answers so far are in {directory}: a new run replays them free of charge with "
            f"--model replay:{directory}"
        ) from fault
