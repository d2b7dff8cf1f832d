"""The state of a run, folded from its journal: what `show`, the report, the live display and trackers are views of."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from promptpo.errors import RunError
from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.config import CONFIG, Config, load_config
from promptpo.run.evidence import Evidence
from promptpo.run.history import History
from promptpo.run.journal import JOURNAL, Event, from_json, read_events
from promptpo.run.ledger import Ledger
from promptpo.run.records import Attempt, Experiment
from promptpo.run.state_values import (
    BestSoFar,
    CandidateState,
    ModelCall,
    Prompt,
    Spent,
    Stopped,
    TuningState,
)


@dataclass
class RunState:
    """What the events of a run add up to; `add` each of them, oldest first.

    Attributes:
        config: What decides the run.
        ledger: What was spent.
        spec: What the model was told about the task.
        action_space: What an exported file needs to know of it, see `promptpo.envs.spaces.recorded`.
        system: The system prompt of requests for policies.
        prompts: Every prompt, by digest.
        calls: Every call, in the order of the answers.
        unanswered: Why a sample has no answer, by slot, of every round that has ended.
        sessions: Data of the processes that worked on the run.
        references: Evaluations of policies that serve as marks, by name: "random" and "zero", and those on
            test seeds as "random.test" and "zero.test"; "teacher" likewise.
        constant_actions: Digest of a program to the action that it gave in every step of training, where it did.
        teacher: Name of the trained agent's file; empty without one.
        fidelity: Digest of a program to how much it acts like the teacher, as ``result.json`` has it.
        tuning: Of the newest round that was tuned.
        worlds: World models with their held-out scores, oldest first.
        studies: What came of using them, in words.
        imagined: Steps that were taken in them.
        promises: What they promised of policies that were tried then, by candidate: "promised", "earned", "kept".
        history: What the search has decided: candidates, their evidence, who leads.
        test: The newest evaluation on test seeds.
        planned_test: Of how many episodes it is to be.
        stop: Why the newest process ended; empty while it works or where it was killed.
        last: The newest event.
        best_so_far: The best of the run each time that it, or what is known of it, changed.
        seconds_per_test_episode: Wall time as if one process had played them; None where there was no test.
    """

    config: Config
    ledger: Ledger = field(init=False)
    spec: str = ""
    action_space: Mapping[str, Any] | None = None
    system: str = ""
    prompts: dict[str, Prompt] = field(default_factory=dict)
    calls: list[ModelCall] = field(default_factory=list)
    unanswered: dict[int, Mapping[str, str]] = field(default_factory=dict)
    sessions: list[Mapping[str, Any]] = field(default_factory=list)
    references: dict[str, Evaluation] = field(default_factory=dict)
    constant_actions: dict[str, str] = field(default_factory=dict)
    teacher: str = ""
    fidelity: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    tuning: TuningState | None = None
    worlds: list[Mapping[str, Any]] = field(default_factory=list)
    studies: list[str] = field(default_factory=list)
    imagined: int = 0
    promises: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    history: History = field(default_factory=History)
    test: Evaluation | None = None
    planned_test: int = 0
    stop: str = ""
    last: Event | None = None
    best_so_far: list[BestSoFar] = field(default_factory=list)
    seconds_per_test_episode: float | None = None
    _states: dict[str, CandidateState] = field(default_factory=dict)
    _spent_by: dict[str, Spent] = field(default_factory=dict)
    _failed: list[Stopped] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.config.budget)
        self.planned_test = self.config.most_tested

    @classmethod
    def of(cls, config: Config, events: Iterable[Event]) -> RunState:
        """The state after these events.

        Raises:
            RunError: They are not those of a run.
        """
        state = cls(config)
        try:
            for event in events:
                state.add(event)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise RunError(
                f"the {JOURNAL} is damaged: its events are not those of a run; restore it from a copy."
            ) from error
        return state

    def add(self, event: Event) -> None:
        """Take one event into account: by the method ``_on_KIND``, where there is one."""
        self.ledger.add(event)
        self.history.add(event)
        self._states.clear()
        fold: Callable[[Event], None] = getattr(self, f"_on_{event.kind}", _nothing)
        fold(event)
        self.last = event

    @property
    def spent(self) -> Spent:
        """What has been spent so far."""
        one = self.ledger
        return Spent(one.searched_steps, one.usage.total, one.cost_usd, one.seconds, one.calls)

    @property
    def seconds_to_come(self) -> float:
        """Of the steps that are left, as they went so far, policies' own time included; 0 without a limit on steps."""
        tried = [one.evaluation for one in self.history.attempts]
        pace = sum(one.seconds for one in tried) / max(1, sum(one.steps for one in tried))
        return (self.ledger.steps_left() or 0) * pace

    @property
    def candidates(self) -> tuple[CandidateState, ...]:
        """Every candidate: by round, then as they were asked for; tuned ones after the others."""
        return tuple(map(self._state_of, self.history.attempts))

    @property
    def experiments(self) -> list[Experiment]:
        """What the model tried out to learn about the task, oldest first."""
        return self.history.experiments

    def _state_of(self, attempt: Attempt) -> CandidateState:
        """A candidate as it is known by now, the same value until the next event."""
        found = self._states.get(attempt.id)
        if found is None:  # a display may ask in another thread, so what is found is not looked up again
            looks, history = self.history.looks_of(attempt), self.history
            found = self._states[attempt.id] = CandidateState(
                attempt,
                functools.reduce(operator.add, looks) if looks else None,
                history.evidence(attempt) if history.runs(attempt) else Evidence(),
                self.calls_for(attempt.id, attempt.candidate.calls),
                self._spent_by[attempt.id],
            )
        return found

    def candidate(self, candidate: str) -> CandidateState | None:
        """The candidate of that id."""
        found = self.history.find(candidate)
        return None if found is None else self._state_of(found)

    def calls_for(self, candidate: str, named: Container[str] = ()) -> tuple[ModelCall, ...]:
        """The calls that were made for a candidate, and those named by their keys, in the order of their answers."""
        return tuple(call for call in self.calls if call.candidate == candidate or call.key in named)

    @property
    def stopped(self) -> list[Stopped]:
        """Every program that failed: those that a repair replaced, and candidates that failed in the end."""
        found: list[Stopped] = []
        for one in self.history.attempts:
            mended = one.candidate.repairs
            found += [early for early in self._failed if early.candidate == one.id and early.repairs < mended]
            if one.evaluation.outcome != "ok":
                found.append(Stopped(one.id, "", one.evaluation))
        return found

    @property
    def best(self) -> CandidateState | None:
        """The best so far; None while nothing has run."""
        best = self.history.best()
        return None if best is None else self._state_of(best)

    @property
    def finished(self) -> bool:
        """Whether the newest process that worked on the run came to its end."""
        return bool(self.stop)

    def _on_session(self, event: Event) -> None:
        self.sessions.append(event.data)
        self.stop = ""

    def _on_spec(self, event: Event) -> None:
        self.spec = event.data["text"]
        self.action_space = event.data.get("action_space")

    def _on_prompt(self, event: Event) -> None:
        turns = tuple((turn["role"], _with_pictures(turn)) for turn in event.data["messages"])
        self.prompts[event.key] = Prompt(event.key, turns, event.data["system"])

    def _on_completion(self, event: Event) -> None:
        data = event.data
        if data["purpose"] == "policy" and not self.system and data["prompt"] in self.prompts:
            self.system = self.prompts[data["prompt"]].system
        tokens = (data["usage"]["input_tokens"], data["usage"]["output_tokens"])
        self.calls.append(
            from_json(ModelCall, {**data, "key": event.key, "answer": data["text"], "tokens": tokens})
        )

    def _on_decision(self, event: Event) -> None:
        round_, _, name = event.key.partition(".")
        if round_ == "test":
            self.planned_test = min(self.config.most_tested, int(event.data["episodes"]))
        if name == "tuning_steps":
            self.tuning = TuningState(int(round_[1:]), event.t, planned_steps=int(event.data))

    def _on_tuning(self, event: Event) -> None:
        data, round_ = event.data, int(event.key.partition(".")[0][1:])
        if self.tuning is None or self.tuning.round != round_:
            self.tuning = TuningState(round_, event.t)
        tuning = self.tuning
        tuning.steps += sum(data["spent"].values())
        tuning.candidates = tuple(data.get("candidates") or tuning.candidates)
        if data.get("best_return") is not None:
            tuning.best_return = max(data["best_return"], tuning.best_return, key=_nan_last)

    def _on_evaluation(self, event: Event) -> None:
        evaluation, owner = evaluation_in(event), event.data["candidate"]
        if evaluation.outcome != "ok":
            written = self.calls_for(owner)
            call = written[-1].key if written else ""
            self._failed.append(Stopped(owner, call, evaluation, event.data["repairs"]))

    def _on_attempt(self, event: Event) -> None:
        self._spent_by[event.key] = self.spent

    def _on_world(self, event: Event) -> None:
        self.worlds.append(event.data)

    def _on_imagined(self, event: Event) -> None:
        self.imagined += int(event.data)

    def _on_promise(self, event: Event) -> None:
        self.promises[event.key] = event.data

    def _on_note(self, event: Event) -> None:
        what = "study" if event.key.startswith("w") else "round"
        self.studies.append(f"{what} {event.key[1:]}: {event.data}")

    def _note_best(self, _: Event) -> None:
        best = self.best
        if best is None or best.validation is None:
            return
        mean, success = best.evidence.mean_return, best.evidence.success_rate
        if not self.best_so_far or self.best_so_far[-1].mean_return != mean:
            self.best_so_far.append(BestSoFar(self.spent, mean, success))

    _on_validation = _on_lead = _note_best

    def _on_reference(self, event: Event) -> None:
        self.references[event.key] = evaluation_in(event)

    def _on_constant(self, event: Event) -> None:
        self.constant_actions[event.data["program"]] = event.data["action"]

    def _on_teacher(self, event: Event) -> None:
        if event.key == "episodes":
            self.teacher = event.data["agent"]
            self.references["teacher"] = evaluation_in(event)

    def _on_fidelity(self, event: Event) -> None:
        self.fidelity[event.key] = event.data

    def _on_round(self, event: Event) -> None:
        self.unanswered[int(event.key[1:])] = event.data["unanswered"]
        self._note_best(event)

    def _on_test(self, event: Event) -> None:
        self.test = evaluation_in(event)
        if self.last is not None:
            self.seconds_per_test_episode = (event.t - self.last.t) / max(1, len(self.test.episodes))

    def _on_stop(self, event: Event) -> None:
        self.stop = event.data["reason"]


def _nothing(_: Event) -> None:
    """Of other kinds, what was spent counts, and what the search has decided."""


def read_state(directory: Path) -> RunState:
    """The state of a run on disk; its lock is not taken, so this works while the run goes on.

    Raises:
        RunError: It is not a readable run.
    """
    return RunState.of(load_config(directory / CONFIG), read_events(directory / JOURNAL))


def evaluation_in(event: Event) -> Evaluation:
    """The rollouts that an evaluation, a validation, a reference or a test tells of."""
    return from_json(Evaluation, event.data["evaluation"])


def _nan_last(value: float) -> float:
    return -math.inf if math.isnan(value) else value


def _with_pictures(turn: Mapping[str, Any]) -> str:
    """What a turn of a prompt says, with the files of the pictures that it showed."""
    shown = [f"{picture['caption']}\nPicture: {picture['file']}" for picture in turn.get("pictures", ())]
    return "\n\n".join([turn["content"].rstrip("\n"), *shown]) if shown else str(turn["content"])
