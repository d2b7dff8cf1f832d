"""The state of a run, folded from its journal: what `show`, the report, the live display and trackers are views of.

Events of today's runs say to which candidate they belong. Those of older runs do not: there, an evaluation
belongs to the candidates whose program has the digest that is in its key.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from promptpo.errors import RunError
from promptpo.program import Program
from promptpo.program.answers import extract
from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.config import CONFIG, Config, load_config
from promptpo.run.evidence import Evidence, ran
from promptpo.run.journal import JOURNAL, Event, from_json, read_events
from promptpo.run.ledger import Ledger
from promptpo.run.records import Attempt, Candidate, Experiment, Remark
from promptpo.run.state_values import (
    BestSoFar,
    CandidateState,
    ModelCall,
    Prompt,
    RoundState,
    Spent,
    Stopped,
    TuningState,
    pooled,
)


@dataclass
class RunState:
    """What the events of a run add up to; `add` each of them, oldest first.

    Attributes:
        config: What decides the run.
        ledger: What was spent.
        spec: What the model was told about the task.
        action_space: What an exported file needs to know of it, see `promptpo.envs.recorded_space`; None in older runs.
        system: The system prompt of requests for policies.
        prompts: Every prompt, by digest.
        calls: Every call, in the order of the answers.
        rounds: Every round that has ended, in order.
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
        experiments: What the model tried out to learn about the task, oldest first.
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
    rounds: list[RoundState] = field(default_factory=list)
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
    experiments: list[Experiment] = field(default_factory=list)
    test: Evaluation | None = None
    planned_test: int = 0
    stop: str = ""
    last: Event | None = None
    best_so_far: list[BestSoFar] = field(default_factory=list)
    seconds_per_test_episode: float | None = None
    _candidates: dict[str, CandidateState] = field(default_factory=dict)
    _best: str | None = None
    _looks: dict[str, list[Evaluation]] = field(default_factory=dict)
    _programs: dict[str, Evaluation] = field(default_factory=dict)
    _linked: dict[tuple[str, int], Evaluation] = field(default_factory=dict)
    _seconds: float = 0.0

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.config.budget)
        self.planned_test = self.config.most_tested
        self._folds: dict[str, Callable[[Event], None]] = {
            "session": self._session,
            "spec": self._spec,
            "prompt": self._prompt,
            "completion": self._completion,
            "decision": self._decision,
            "evaluation": self._evaluation,
            "tuning": self._tuning,
            "attempt": self._attempt,
            "remark": self._remark,
            "validation": self._validation,
            "reference": self._reference,
            "constant": self._constant,
            "teacher": self._teacher,
            "fidelity": self._fidelity,
            "round": self._round,
            "test": self._test,
            "stop": self._stop,
            "world": lambda event: self.worlds.append(event.data),
            "imagined": self._imagined,
            "promise": lambda event: self.promises.update({event.key: event.data}),
            "experiment": lambda event: self.experiments.append(from_json(Experiment, event.data)),
            "note": lambda event: self.studies.append(
                f"{'study' if event.key.startswith('w') else 'round'} {event.key[1:]}: {event.data}"
            ),
        }

    def _imagined(self, event: Event) -> None:
        self.imagined += int(event.data)

    @classmethod
    def of(cls, config: Config, events: Iterable[Event]) -> RunState:
        """The state after these events."""
        state = cls(config)
        for event in events:
            state.add(event)
        return state

    def add(self, event: Event) -> None:
        """Take one event into account; kinds that are not known count for what was spent only."""
        self.ledger.add(event)
        if self.sessions and event.kind != "session" and self.last is not None:
            self._seconds += event.t - self.last.t
        fold = self._folds.get(event.kind)
        if fold is not None:
            fold(event)
        self.last = event

    @property
    def spent(self) -> Spent:
        """What has been spent so far."""
        usage = self.ledger.usage
        tokens = usage.input_tokens + usage.output_tokens
        return Spent(
            self.ledger.searched_steps, tokens, self.ledger.cost_usd, self._seconds, self.ledger.calls
        )

    @property
    def seconds_to_come(self) -> float:
        """Of the steps that are left, as they went so far, policies' own time included; 0 without a limit on steps."""
        tried = [one.attempt.evaluation for one in self._candidates.values()]
        pace = sum(one.seconds for one in tried) / max(1, sum(one.steps for one in tried))
        return (self.ledger.steps_left() or 0) * pace

    @property
    def candidates(self) -> tuple[CandidateState, ...]:
        """Every candidate: by round, then as they were asked for; tuned ones after the others."""

        def order(state: CandidateState) -> tuple[int, bool, int, str]:
            return (state.round, state.id.endswith("t"), len(state.id), state.id)

        return tuple(sorted(self._candidates.values(), key=order))

    def candidate(self, candidate: str) -> CandidateState | None:
        """The candidate of that id."""
        return self._candidates.get(candidate)

    def calls_for(self, candidate: str, named: frozenset[str] = frozenset()) -> tuple[ModelCall, ...]:
        """The calls that were made for a candidate, in the order of their answers.

        They are found by their link; in older runs by name: the candidate "r2c3" was asked for as "r2.c3".

        Args:
            candidate: Its id.
            named: Keys of calls that are its own in any case.
        """
        name = candidate.replace("c", ".c", 1)

        def its_own(call: ModelCall) -> bool:
            by_name = call.key == name or call.key.startswith(f"{name}.")
            return call.key in named or (call.candidate == candidate if call.candidate else by_name)

        return tuple(call for call in self.calls if its_own(call))

    def looks(self, candidate: Candidate) -> list[Evaluation]:
        """What was seen of a candidate on validation seeds, or of one with the same program, oldest first."""
        names = dict.fromkeys((candidate.id, candidate.digest, candidate.duplicate_of))
        return [look for name in names if name for look in self._looks.get(name, ())]

    def failed_programs(self, candidate: str) -> int:
        """How many programs of a candidate have failed, as far as events are linked."""
        return sum(
            evaluation.outcome != "ok"
            for (owner, _), evaluation in self._linked.items()
            if owner == candidate
        )

    @property
    def best(self) -> CandidateState | None:
        """The best so far; None while nothing has run."""
        return None if self._best is None else self._candidates[self._best]

    @property
    def finished(self) -> bool:
        """Whether the newest process that worked on the run came to its end."""
        return bool(self.stop)

    @property
    def stopped(self) -> tuple[Stopped, ...]:
        """Every program that failed: those that a repair replaced, and candidates that failed in the end."""
        found: list[Stopped] = []
        for state in self.candidates:
            found.extend(self._replaced(state))
            if state.attempt.evaluation.outcome != "ok":
                found.append(Stopped(state.id, "", state.attempt.evaluation))
        return tuple(found)

    def _replaced(self, state: CandidateState) -> Iterator[Stopped]:
        """The failures of the programs that came before a candidate's final one."""
        candidate = state.attempt.candidate
        for repairs, call in enumerate(programs_of(state.calls)):
            evaluation = self._linked.get((candidate.id, repairs))
            if evaluation is not None:
                if repairs < candidate.repairs and evaluation.outcome != "ok":
                    yield Stopped(candidate.id, call.key, evaluation)
                continue
            written = Program.parse(extract(call.answer, cut=call.finish == "length").source).digest
            evaluation = self._programs.get(f"{written}.r{candidate.round}")
            if evaluation is not None and written != candidate.digest and evaluation.outcome != "ok":
                yield Stopped(candidate.id, call.key, evaluation)

    def _session(self, event: Event) -> None:
        self.sessions.append(event.data)
        self.stop = ""

    def _spec(self, event: Event) -> None:
        self.spec = event.data["text"]
        self.action_space = event.data.get("action_space")

    def _prompt(self, event: Event) -> None:
        turns = tuple((turn["role"], _with_pictures(turn)) for turn in event.data["messages"])
        self.prompts[event.key] = Prompt(event.key, turns, event.data["system"])

    def _completion(self, event: Event) -> None:
        data = event.data
        if data["purpose"] == "policy" and not self.system and data["prompt"] in self.prompts:
            self.system = self.prompts[data["prompt"]].system
        call = ModelCall(
            key=event.key,
            purpose=data["purpose"],
            prompt=data["prompt"],
            answer=data["text"],
            model=data["model"],
            finish=data["finish"],
            tokens=(data["usage"]["input_tokens"], data["usage"]["output_tokens"]),
            cost_usd=data["cost_usd"],
            seconds=data["seconds"],
            candidate=data.get("candidate") or "",
            provider=data.get("provider") or "",
        )
        self.calls.append(call)

    def _decision(self, event: Event) -> None:
        round_, _, name = event.key.partition(".")
        if round_ == "test":
            self.planned_test = int(event.data["episodes"])
        if name == "tuning_steps":
            self.tuning = TuningState(int(round_[1:]), event.t, planned_steps=int(event.data))

    def _tuning(self, event: Event) -> None:
        data, round_ = event.data, int(event.key.partition(".")[0][1:])
        if self.tuning is None or self.tuning.round != round_:
            self.tuning = TuningState(round_, event.t)
        tuning = self.tuning
        tuning.steps += sum(data["spent"].values())
        tuning.candidates = tuple(data.get("candidates") or tuning.candidates)
        if data.get("best_return") is not None:
            tuning.best_return = max(data["best_return"], tuning.best_return, key=_nan_last)

    def _evaluation(self, event: Event) -> None:
        evaluation = evaluation_in(event)
        self._programs[event.key] = evaluation
        owner = event.data.get("candidate")
        if owner:
            self._linked[owner, int(event.data.get("repairs", 0))] = evaluation
        else:  # older runs without recognition of equal programs: "r2c3.1"
            name, _, repairs = event.key.rpartition(".")
            if repairs.isdecimal():
                self._linked[name, int(repairs)] = evaluation

    def _attempt(self, event: Event) -> None:
        attempt = from_json(Attempt, event.data)
        named = event.data["candidate"].get("calls") or ()
        calls = self.calls_for(attempt.id, frozenset(named))
        self._put(CandidateState(attempt, None, Evidence(), calls, self.spent))

    def _remark(self, event: Event) -> None:
        remark = from_json(Remark, event.data)
        state = self._candidates.get(remark.candidate)
        if state is not None:
            self._put(replace(state, attempt=remark.on(state.attempt)))

    def _validation(self, event: Event) -> None:
        owner = event.data.get("candidate") or event.key.partition(".")[0]
        self._looks.setdefault(owner, []).append(evaluation_in(event))
        for state in list(self._candidates.values()):
            candidate = state.attempt.candidate
            if owner in (candidate.id, candidate.digest, candidate.duplicate_of):
                self._put(state)
        self._note_best()

    def _put(self, state: CandidateState) -> None:
        """Keep a candidate with what is known by now, and let it become the best."""
        looks = self.looks(state.attempt.candidate)
        trained = state.attempt.evaluation
        parts = (trained.episodes, *(look.episodes for look in looks)) if ran(trained, looks) else ()
        state = replace(state, validation=pooled(looks), evidence=Evidence.of(*parts))
        self._candidates[state.id] = state
        if self._best == state.id:
            self._best = None
            for other in self._candidates.values():
                self._challenge(other)
        else:
            self._challenge(state)

    def _challenge(self, state: CandidateState) -> None:
        best = self.best
        if state.ran and not state.attempt.candidate.duplicate_of and (not best or state.better_than(best)):
            self._best = state.id

    def _note_best(self) -> None:
        best = self.best
        if best is None or best.validation is None:
            return
        mean, success = best.evidence.mean_return, best.evidence.success_rate
        if not self.best_so_far or self.best_so_far[-1].mean_return != mean:
            self.best_so_far.append(BestSoFar(self.spent, mean, success))

    def _reference(self, event: Event) -> None:
        self.references[event.key] = evaluation_in(event)

    def _constant(self, event: Event) -> None:
        self.constant_actions[event.data["program"]] = event.data["action"]

    def _teacher(self, event: Event) -> None:
        if event.key == "episodes":
            self.teacher = event.data["agent"]

    def _fidelity(self, event: Event) -> None:
        self.fidelity[event.key] = event.data

    def _round(self, event: Event) -> None:
        data = event.data
        mean, error = data.get("mean_return", data.get("validation_mean_return")), data.get("standard_error")
        self.rounds.append(
            RoundState(
                number=int(event.key[1:]),
                best=data.get("best"),
                mean_return=math.nan if mean is None else float(mean),
                standard_error=math.nan if error is None else float(error),
                episodes=int(data.get("episodes") or 0),
                stalled=int(data.get("stalled") or 0),
                unanswered=dict(data.get("unanswered") or {}),
                reflection=data.get("reflection") or "",
            )
        )
        if data.get("best") in self._candidates:  # the run's own choice counts, not how we would have chosen
            self._best = data["best"]
            self._note_best()

    def _test(self, event: Event) -> None:
        self.test = evaluation_in(event)
        if self.last is not None:
            self.seconds_per_test_episode = (event.t - self.last.t) / max(1, len(self.test.episodes))

    def _stop(self, event: Event) -> None:
        self.stop = event.data["reason"]


def read_state(directory: Path) -> RunState:
    """The state of a run on disk; its lock is not taken, so this works while the run goes on.

    Raises:
        RunError: It is not a readable run.
    """
    config, events = load_config(directory / CONFIG), read_events(directory / JOURNAL)
    try:
        return RunState.of(config, events)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise RunError(
            f"{directory / JOURNAL} is damaged: its events are not those of a run; restore it from a copy."
        ) from error


def evaluation_in(event: Event) -> Evaluation:
    """The rollouts that an evaluation, a validation, a reference or a test tells of."""
    return from_json(Evaluation, event.data["evaluation"])


def programs_of(calls: Iterable[ModelCall]) -> list[ModelCall]:
    """Of a candidate's calls those whose program was run, by the number of repairs before it."""
    found: list[ModelCall] = []
    for call in calls:
        if call.key.endswith(".again") and found:
            found[-1] = call  # asked once more, since the first answer held no program
        else:
            found.append(call)
    return found


def _nan_last(value: float) -> float:
    return -math.inf if math.isnan(value) else value


def _with_pictures(turn: Mapping[str, Any]) -> str:
    """What a turn of a prompt says, with the files of the pictures that it showed."""
    shown = [f"{picture['caption']}\nPicture: {picture['file']}" for picture in turn.get("pictures", ())]
    return "\n\n".join([turn["content"].rstrip("\n"), *shown]) if shown else str(turn["content"])
