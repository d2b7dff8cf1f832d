"""What a run's directory tells, folded into the values that the report shows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from promptpo.output.report.result import RESULT
from promptpo.program.answers import digest, extract
from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.config import CONFIG, Config, load_config
from promptpo.run.journal import JOURNAL, Event, from_json, read_events
from promptpo.run.ledger import Ledger
from promptpo.run.records import Attempt, Measured


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call of the language model.

    Attributes:
        key: Its name in the run, for example "r2.c3.repair1".
        purpose: What the answer was for.
        prompt: Digest of the prompt; many samples may share one.
        answer: The raw text.
        model: Who answered.
        finish: How the answer ended.
        tokens: (input, output).
        cost_usd: None where the price is unknown.
        seconds: From sending to the last token.
    """

    key: str
    purpose: str
    prompt: str
    answer: str
    model: str
    finish: str
    tokens: tuple[int, int]
    cost_usd: float | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt; the system text that all policies share is kept apart, another one is its first message."""

    digest: str
    messages: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Spent:
    """What the run had spent at some moment; steps leave out the final test."""

    steps: int
    tokens: int
    usd: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Entry:
    """One candidate.

    Attributes:
        attempt: The candidate, its training evaluation and the feedback on it.
        validation: Its evaluation on validation seeds, where it had one.
        spent: What the run had spent when the attempt was complete.
        exchanges: The calls that led to it.
    """

    attempt: Attempt
    validation: Evaluation | None
    spent: Spent
    exchanges: tuple[Exchange, ...]


@dataclass(frozen=True, slots=True)
class Stopped:
    """A program that the sandbox stopped.

    Attributes:
        candidate: Whose program it was.
        call: The call that wrote it, where it is not the candidate's final program.
        evaluation: What happened.
    """

    candidate: str
    call: str
    evaluation: Evaluation


@dataclass(frozen=True, slots=True)
class Story:
    """A run, ready to be told.

    Attributes:
        directory: The run directory.
        config: What decided it.
        result: Content of ``result.json``; None while the run is not finished.
        entries: Every candidate, in the order of rounds and ids.
        stopped: Every program that failed, those that were repaired later included.
        best_so_far: (spent, validation mean return) each time the best of the run improved.
        exchanges: Every call.
        prompts: Every prompt, by digest.
        system: The system prompt.
        spec: What the model was told about the task.
        sessions: Data of the processes that worked on the run.
        ledger: What the whole run spent.
        episode_seconds: How long an episode of the final test took, about; None where there was no test.
    """

    directory: Path
    config: Config
    result: Mapping[str, Any] | None
    entries: tuple[Entry, ...]
    stopped: tuple[Stopped, ...]
    best_so_far: tuple[tuple[Spent, float], ...]
    exchanges: tuple[Exchange, ...]
    prompts: Mapping[str, Prompt]
    system: str
    spec: str
    sessions: tuple[Mapping[str, Any], ...]
    ledger: Ledger
    episode_seconds: float | None

    @property
    def best(self) -> Entry | None:
        """The best candidate of the run; while it goes on, the best so far."""
        if self.result is not None:
            name = (self.result["best"] or {}).get("candidate")
            return next((entry for entry in self.entries if entry.attempt.id == name), None)
        running = [entry for entry in self.entries if entry.validation is not None]
        return max(running, key=lambda e: e.validation.score() if e.validation else (), default=None)

    @property
    def rounds(self) -> tuple[int, ...]:
        """The rounds that have candidates."""
        return tuple(sorted({entry.attempt.candidate.round for entry in self.entries}))

    def entry(self, candidate: str) -> Entry | None:
        """The candidate of that id."""
        return next((entry for entry in self.entries if entry.attempt.id == candidate), None)


def read_story(directory: Path) -> Story:
    """Fold a run directory; its lock is not taken, so this works while the run goes on.

    Raises:
        RunError: It is not a readable run.
    """
    config = load_config(directory / CONFIG)
    events = read_events(directory / JOURNAL)
    by_kind: dict[str, list[Event]] = {}
    for event in events:
        by_kind.setdefault(event.kind, []).append(event)
    exchanges = tuple(_exchange(event) for event in by_kind.get("completion", []))
    spent = _spending(config, events)
    validations = {
        event.key.split(".")[0]: from_json(Measured, event.data).evaluation
        for event in by_kind.get("validation", [])
    }
    entries = [
        Entry(
            attempt := from_json(Attempt, event.data),
            validations.get(attempt.candidate.digest),
            spent[event.n],
            _calls_for(attempt.id, exchanges),
        )
        for event in by_kind.get("attempt", [])
    ]
    entries.sort(key=lambda e: _order(e.attempt))
    prompts = by_kind.get("prompt", [])
    for_policies = {
        e.data.get("prompt") for e in by_kind.get("completion", []) if e.data["purpose"] == "policy"
    }
    systems = [event.data["system"] for event in prompts if event.key in for_policies]
    system = systems[0] if systems else ""
    return Story(
        directory=directory,
        config=config,
        result=_result(directory, by_kind),
        entries=tuple(entries),
        stopped=tuple(_stopped(entries, by_kind.get("evaluation", []))),
        best_so_far=_best_so_far(by_kind.get("validation", []), spent),
        exchanges=exchanges,
        prompts={event.key: _prompt(event, system) for event in prompts},
        system=system,
        spec=by_kind["spec"][0].data["text"] if "spec" in by_kind else "",
        sessions=tuple(event.data for event in by_kind.get("session", [])),
        ledger=Ledger(config.budget, events),
        episode_seconds=_episode_seconds(events),
    )


def _episode_seconds(events: Sequence[Event]) -> float | None:
    """From the wall time of the last final test, as if one process had done it: a guess, never far too high."""
    for before, event in reversed(list(pairwise(events))):
        if event.kind == "test":
            episodes = len(event.data["evaluation"]["episodes"])
            return (event.t - before.t) / max(1, episodes)
    return None


def _order(attempt: Attempt) -> tuple[Any, ...]:
    """Rounds, then candidates as they were asked for; tuned ones after the others."""
    return (attempt.candidate.round, attempt.id.endswith("t"), len(attempt.id), attempt.id)


def _result(directory: Path, by_kind: Mapping[str, list[Event]]) -> Mapping[str, Any] | None:
    """The result, unless the run has gone on since it was written."""
    stops, sessions = by_kind.get("stop", []), by_kind.get("session", [])
    path = directory / RESULT
    if not path.exists() or (len(sessions) > 1 and (not stops or stops[-1].n < sessions[-1].n)):
        return None
    content: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def _exchange(event: Event) -> Exchange:
    data = event.data
    return Exchange(
        key=event.key,
        purpose=data["purpose"],
        prompt=data["prompt"],
        answer=data["text"],
        model=data["model"],
        finish=data["finish"],
        tokens=(data["usage"]["input_tokens"], data["usage"]["output_tokens"]),
        cost_usd=data["cost_usd"],
        seconds=data["seconds"],
    )


def _prompt(event: Event, system: str) -> Prompt:
    turns = tuple((turn["role"], turn["content"]) for turn in event.data["messages"])
    own = event.data["system"]
    return Prompt(event.key, turns if own == system else (("system", own), *turns))


def _calls_for(candidate: str, exchanges: Iterable[Exchange]) -> tuple[Exchange, ...]:
    """The calls whose key begins with the candidate's name: "r2c3" was asked for as "r2.c3"."""
    name = candidate.replace("c", ".c", 1)
    return tuple(e for e in exchanges if e.key == name or e.key.startswith(name + "."))


def _stopped(entries: Iterable[Entry], evaluations: Iterable[Event]) -> Iterator[Stopped]:
    """The failures of every candidate: of the programs that were repaired, and of the final one."""
    measured = {event.key: event for event in evaluations}
    for entry in entries:
        candidate = entry.attempt.candidate
        for n, call in enumerate(entry.exchanges):
            written = digest(extract(call.answer, cut=call.finish == "length").source)
            names = (f"{written}.r{candidate.round}", f"{candidate.id}.{n}")
            event = next((measured[name] for name in names if name in measured), None)
            if event is not None and written != candidate.digest:
                evaluation = from_json(Measured, event.data).evaluation
                if evaluation.outcome != "ok":
                    yield Stopped(candidate.id, call.key, evaluation)
        if entry.attempt.evaluation.outcome != "ok":
            yield Stopped(candidate.id, "", entry.attempt.evaluation)


def _spending(config: Config, events: Iterable[Event]) -> dict[int, Spent]:
    """What had been spent after each event."""
    ledger = Ledger(config.budget)
    found: dict[int, Spent] = {}
    started = last = None
    seconds = 0.0
    for event in events:
        ledger.add(event)
        if event.kind == "session":
            started = last = event.t
        elif started is not None and last is not None:
            seconds += event.t - last
            last = event.t
        tokens = ledger.usage.input_tokens + ledger.usage.output_tokens
        found[event.n] = Spent(ledger.searched_steps, tokens, ledger.cost_usd, seconds)
    return found


def _best_so_far(validations: Iterable[Event], spent: Mapping[int, Spent]) -> tuple[tuple[Spent, float], ...]:
    points: list[tuple[Spent, float]] = []
    best: Evaluation | None = None
    for event in validations:
        evaluation = from_json(Measured, event.data).evaluation
        if evaluation.outcome == "ok" and (best is None or evaluation.score() > best.score()):
            best = evaluation
            points.append((spent[event.n], evaluation.mean_return))
    return tuple(points)
