"""The state of a run, replayed from its journal; `show`, the report, the live display and trackers are views of it."""

from __future__ import annotations

import functools
import operator
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from promptpo.core.budget import Ledger
from promptpo.core.candidate import Attempt, PlannedTest, RecordedRollout, RoundEnd
from promptpo.core.config import Config
from promptpo.core.history import History
from promptpo.core.journal import JOURNAL, Event, T, from_json, read_events
from promptpo.core.returns import Evidence
from promptpo.files import reading
from promptpo.llm.base import Completion
from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.config_file import CONFIG, load_config
from promptpo.run.origin import check_size


@dataclass(frozen=True, slots=True)
class RecordedCompletion(Completion):
    """Payload of a "completion" event.

    Attributes:
        purpose: Purpose of the answer.
        prompt: Key of the prompt; empty if there were no messages.
    """

    purpose: str = ""
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class TuningBatch:
    """Payload of a "tuning" event.

    Attributes:
        rollouts: Packed rollouts, see `promptpo.rollouts.packed.inflate`.
        spent: Number of steps, by purpose.
        best_return: Best return of its episodes; None if none finished.
        candidates: Ids of the candidates being tuned.
    """

    rollouts: str
    spent: Mapping[str, int]
    best_return: float | None
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spent:
    """Amounts spent at one point of the run; steps exclude the final test."""

    steps: int
    tokens: int
    usd: float
    seconds: float
    calls: int = 0


@dataclass(frozen=True, slots=True)
class CandidateState:
    """State of one candidate.

    Attributes:
        attempt: The candidate, its training evaluation and feedback.
        validation: All its validation episodes as one evaluation; None if there are none.
        evidence: Training and validation episodes on which it is judged; none if it failed.
        calls: The answers that led to it, by key, in order.
        spent: Amounts spent when the attempt was complete.
    """

    attempt: Attempt
    validation: Evaluation | None
    evidence: Evidence
    calls: Mapping[str, RecordedCompletion]
    spent: Spent

    @property
    def id(self) -> str:
        """The candidate's id."""
        return self.attempt.id

    @property
    def round(self) -> int:
        """The candidate's round, from 1."""
        return self.attempt.candidate.round

    @property
    def ran(self) -> bool:
        """Whether it finished all its episodes."""
        return bool(self.evidence.episodes)


@dataclass
class RunState:
    """State of a run, built from its events; `add` them oldest first.

    Attributes:
        config: Configuration of the run.
        ledger: Amounts spent.
        payloads: Data of events by kind and key, in the order of the journal.
        history: Decisions of the search: candidates, their evidence, the leader.
        last: The newest event.
        best_so_far: Amounts spent and the best candidate's evidence, each time the best or its estimate changed.
        lock: Held while an event is added; other threads hold it while they read.
    """

    config: Config
    ledger: Ledger = field(init=False)
    payloads: defaultdict[str, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    history: History = field(default_factory=History)
    last: Event | None = None
    best_so_far: list[tuple[Spent, Evidence]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    _spent_by: dict[str, Spent] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.config.budget)

    @classmethod
    def of(cls, config: Config, events: Iterable[Event]) -> RunState:
        """Return the state after these events.

        Raises:
            RunError: The events are not those of a run.
        """
        state = cls(config)
        with reading(JOURNAL):
            for event in events:
                state.add(event)
        return state

    def add(self, event: Event) -> None:
        """Update the state with an event."""
        with self.lock:
            self._add(event)

    def _add(self, event: Event) -> None:
        self.ledger.add(event)
        self.history.add(event)
        self.payloads[event.kind][event.key] = event.data
        if event.kind == "attempt":
            self._spent_by[event.key] = self.spent
        elif event.kind in {"validation", "lead", "round"}:
            best = self.best
            known = [score.mean_return for _, score in self.best_so_far[-1:]]
            if best and best.validation and best.evidence.mean_return not in known:
                self.best_so_far.append((self.spent, best.evidence))
        self.last = event

    def read(self, kind: str, of: type[T]) -> dict[str, T]:
        """Return the data of all events of a kind, by key."""
        return {key: from_json(of, data) for key, data in self.payloads[kind].items()}

    @property
    def spent(self) -> Spent:
        """Amounts spent so far."""
        ledger = self.ledger
        return Spent(ledger.searched_steps, ledger.usage.total, ledger.cost_usd, ledger.seconds, ledger.calls)

    @property
    def candidates(self) -> tuple[CandidateState, ...]:
        """All candidates: by round, then by slot; tuned ones last."""
        return tuple(map(self._state_of, self.history.attempts))

    def _state_of(self, attempt: Attempt) -> CandidateState:
        """Return the current state of a candidate."""
        validations, history = self.history.validations_of(attempt), self.history
        return CandidateState(
            attempt,
            functools.reduce(operator.add, validations) if validations else None,
            history.evidence(attempt) if history.runs(attempt) else Evidence(),
            {
                key: from_json(RecordedCompletion, self.payloads["completion"][key])
                for key in attempt.candidate.calls
            },
            self._spent_by[attempt.id],
        )

    def candidate(self, candidate: str) -> CandidateState | None:
        """Return the candidate with this id; None if there is none."""
        found = self.history.find(candidate)
        return self._state_of(found) if found else None

    @property
    def best(self) -> CandidateState | None:
        """The best so far; None until a candidate has run."""
        best = self.history.best()
        return self._state_of(best) if best else None

    @property
    def stopped(self) -> list[tuple[str, bool, Evaluation]]:
        """All programs that failed: candidate id, whether a repair replaced it, and its evaluation."""
        repairs = {attempt.id: attempt.candidate.repairs for attempt in self.history.attempts}
        found = {(attempt.id, repairs[attempt.id]): attempt.evaluation for attempt in self.history.attempts}
        for rollout in self.read("evaluation", RecordedRollout).values():
            found.setdefault((rollout.candidate, rollout.repairs), rollout.evaluation)
        return [
            (id_, n < repairs.get(id_, 0), evaluation)
            for (id_, n), evaluation in found.items()
            if evaluation.outcome != "ok"
        ]

    @property
    def stop(self) -> str:
        """Why the latest process ended; empty while it works or if it was killed."""
        ended = self.payloads["stop"].get(str(len(self.payloads["session"]) - 1), {})
        return str(ended.get("reason", ""))

    @property
    def spec(self) -> str:
        """The spec as shown to the model; empty before that."""
        return str(self.payloads["spec"].get("spec", {}).get("text", ""))

    @property
    def action_space(self) -> Mapping[str, Any]:
        """Description of the action space for exported files, see `promptpo.envs.spaces.recorded`."""
        return self.payloads["spec"].get("spec", {}).get("action_space") or {}

    @property
    def sessions(self) -> list[Mapping[str, Any]]:
        """Data of the processes that worked on the run."""
        return list(self.payloads["session"].values())

    @property
    def unanswered(self) -> dict[int, Mapping[str, str]]:
        """Why samples are unanswered, by slot, for each completed round."""
        return {int(key[1:]): end.unanswered for key, end in self.read("round", RoundEnd).items()}

    @property
    def tuning(self) -> list[TuningBatch]:
        """Batches of the current round, or of the last tuning after all rounds."""
        names = f"r{self.history.rounds + 1}.", f"last{self.history.rounds}."
        return [batch for key, batch in self.read("tuning", TuningBatch).items() if key.startswith(names)]

    @property
    def test(self) -> Evaluation | None:
        """Test evaluation of the program tested last; None if there is none."""
        program = next(reversed(self.payloads["test"]), "").partition(".")[0]
        tests = self.read("test", RecordedRollout)
        parts = [test.evaluation for key, test in tests.items() if key.startswith(program)]
        return functools.reduce(operator.add, parts) if parts else None

    @property
    def planned_test(self) -> int:
        """Planned number of test episodes."""
        decisions = self.payloads["decision"].items()
        decided = [
            from_json(PlannedTest, data).episodes for key, data in decisions if key.startswith("test.")
        ]
        return min([self.config.most_tested, *decided[-1:]])


def read_state(directory: Path) -> RunState:
    """Return the state of a run on disk; takes no lock, so it works while the run goes on.

    Raises:
        RunError: The run cannot be read.
    """
    check_size(directory)
    return RunState.of(load_config(directory / CONFIG), read_events(directory / JOURNAL))
