"""What ``promptpo show`` and ``promptpo evaluate`` print."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.errors import RunError
from promptpo.output.report import RESULT
from promptpo.output.report.result import failures_in_words
from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.config import CONFIG, load_config
from promptpo.run.journal import Event, Kind, from_json, read_run
from promptpo.run.ledger import Ledger
from promptpo.run.records import Attempt, Measured
from promptpo.telling.feedback import OUTCOME_WORDS, number, one_line

if TYPE_CHECKING:
    from promptpo.api import Played
    from promptpo.output.play import Watched


def overview(run: Path) -> str:
    """A run in words: the task, every candidate by round, what was spent, how it ended."""
    config = load_config(run / CONFIG)
    events = read_run(run)
    attempts = _attempts(events)
    validations = _validations(events)
    lines = [f"{config.task.name}  ·  {config.model}  ·  recipe {config.recipe}  ·  seed {config.seed}"]
    for round_ in sorted({attempt.candidate.round for attempt in attempts}):
        lines.append(f"\nRound {round_}")
        lines.extend(
            "  " + _line(attempt, validations.get(attempt.candidate.digest))
            for attempt in attempts
            if attempt.candidate.round == round_
        )
        lines.extend(f"  no answer: {reason}" for reason in _unanswered(events, round_))
    if not attempts:
        lines.append("\nNo candidate yet.")
    lines.append("\n" + _spent(Ledger(config.budget, _in_order(events))))
    lines.append(_ending(run, events))
    return "\n".join(lines)


def overview_json(run: Path) -> dict[str, Any]:
    """The same as a JSON value."""
    events = read_run(run)
    validations = _validations(events)
    result = run / RESULT
    return {
        "run": str(run),
        "result": json.loads(result.read_text(encoding="utf-8")) if result.exists() else None,
        "candidates": [_facts(attempt, validations) for attempt in _attempts(events)],
    }


def candidate_json(run: Path, candidate: str) -> dict[str, Any]:
    """One candidate as a JSON value: as in the overview, with its feedback and source.

    Raises:
        RunError: The run has no such candidate.
    """
    events = read_run(run)
    attempt = _attempt(run, events, candidate)
    facts = _facts(attempt, _validations(events))
    return {**facts, "feedback": attempt.feedback, "source": attempt.candidate.source}


def _facts(attempt: Attempt, validations: Mapping[str, float]) -> dict[str, Any]:
    candidate, evaluation = attempt.candidate, attempt.evaluation
    return {
        "id": attempt.id,
        "round": candidate.round,
        "parents": list(candidate.parents),
        "outcome": evaluation.outcome,
        "error": evaluation.error or None,
        "returns": list(evaluation.returns),
        "mean_return": evaluation.mean_return if evaluation.episodes else None,
        "validation_mean_return": validations.get(candidate.digest),
        "repairs": candidate.repairs,
        "duplicate_of": candidate.duplicate_of,
        "tuned": {name: list(change) for name, change in candidate.tuned.items()},
    }


def candidate_in_full(run: Path, candidate: str) -> str:
    """One candidate: outcome, feedback, source.

    Raises:
        RunError: The run has no such candidate.
    """
    attempt = _attempt(run, read_run(run), candidate)
    parts = [one_line(attempt), attempt.prose, attempt.feedback, *attempt.notes, attempt.evaluation.detail]
    return "\n\n".join(part for part in [*parts, attempt.candidate.source] if part.strip())


def played(result: Played) -> str:
    """What an evaluation gave, in words."""
    lines = _rolled_out(result.evaluation, result.env_id)
    if result.evaluation.episodes:
        lines[-1] += f" in {result.seconds:.1f} s"
    return "\n".join(lines)


def watched(found: Watched, env_id: str, *, as_json: bool) -> str:
    """What `promptpo play` found, in words or as JSON."""
    evaluation = found.evaluation
    if as_json:
        value = {
            "env": env_id,
            "returns": list(evaluation.returns),
            "steps": evaluation.steps,
            "video": str(found.video) if found.video else None,
            "outcome": evaluation.outcome,
            "error": evaluation.error or None,
        }
        return json.dumps(value)
    lines = _rolled_out(evaluation, env_id)
    if found.video is not None:
        lines.append(f"wrote {found.video}")
    if not found.same:
        lines.append(
            "The environment did not repeat its episodes exactly: the pictures are of others than the returns."
        )
    return "\n".join(lines)


def _rolled_out(evaluation: Evaluation, env_id: str) -> list[str]:
    """The outcome of rollouts, in lines; the last one tells the returns, where there are any."""
    lines = []
    if evaluation.outcome != "ok":
        lines.append(f"The policy {OUTCOME_WORDS[evaluation.outcome]}: {evaluation.error}")
        if evaluation.detail:
            lines.append(evaluation.detail.rstrip())
    if evaluation.episodes:
        returns = evaluation.returns
        text = f"mean return {number(evaluation.mean_return)} over {len(returns)} episodes (min {number(min(returns))}, max {number(max(returns))})"
        if evaluation.success_rate is not None:
            text += f", success {evaluation.success_rate:.0%}"
        lines.append(f"{env_id}: {text}; {evaluation.steps:,} steps")
    return lines


def _attempt(run: Path, events: Mapping[Kind, list[Event]], candidate: str) -> Attempt:
    attempts = {attempt.id: attempt for attempt in _attempts(events)}
    if candidate not in attempts:
        raise RunError(f"{run} has no candidate {candidate}; it has: {', '.join(attempts) or 'none'}.")
    return attempts[candidate]


def _attempts(events: Mapping[Kind, list[Event]]) -> list[Attempt]:
    attempts = [from_json(Attempt, event.data) for event in events.get("attempt", [])]
    return sorted(attempts, key=lambda a: (a.candidate.round, a.id.endswith("t"), len(a.id), a.id))


def _validations(events: Mapping[Kind, list[Event]]) -> dict[str, float]:
    return {
        event.key.split(".")[0]: from_json(Measured, event.data).evaluation.mean_return
        for event in events.get("validation", [])
    }


def _line(attempt: Attempt, validation: float | None) -> str:
    text = one_line(attempt)
    extras = []
    if validation is not None:
        extras.append(f"validation {number(validation)}")
    if attempt.candidate.repairs:
        extras.append(f"after {attempt.candidate.repairs} repair(s)")
    if attempt.candidate.tuned:
        extras.append(f"{len(attempt.candidate.tuned)} numbers tuned")
    return f"{text}  [{'; '.join(extras)}]" if extras else text


def _unanswered(events: Mapping[Kind, list[Event]], round_: int) -> list[str]:
    return [
        reason
        for event in events.get("round", [])
        if event.key == f"r{round_}"
        for reason in event.data["unanswered"].values()
    ]


def _in_order(events: Mapping[Kind, list[Event]]) -> list[Event]:
    return sorted((event for group in events.values() for event in group), key=lambda event: event.n)


def _spent(ledger: Ledger) -> str:
    steps = ", ".join(f"{purpose} {count:,}" for purpose, count in ledger.steps.items() if count)
    text = f"Steps: {steps or 'none'}.  Calls: {ledger.calls}"
    if ledger.usage.input_tokens:
        text += f" ({ledger.usage.input_tokens:,} tokens in, {ledger.usage.cached_input_tokens:,} of them cached, {ledger.usage.output_tokens:,} out{', estimated' if ledger.usage.estimated_tokens else ''})"
    if ledger.cost_usd:
        text += f", ${ledger.cost_usd:.4f}"
    if ledger.unpriced_calls:
        text += f"; {ledger.unpriced_calls} of unknown price"
    return text + "."


def _ending(run: Path, events: Mapping[Kind, list[Event]]) -> str:
    stops = events.get("stop", [])
    sessions = events.get("session", [])
    if not stops or (sessions and sessions[-1].n > stops[-1].n):
        return f"Not finished; go on with: promptpo resume {run}"
    result = json.loads((run / RESULT).read_text(encoding="utf-8"))
    test, best = result["test"], result["best"]
    if best is None:
        return f"Stopped: {stops[-1].data['reason']}. No policy ran."
    low, high = test["ci95"]
    text = f"Stopped: {stops[-1].data['reason']}. Best: {best['candidate']}"
    if test["mean_return"] is not None:
        text += (
            f", held-out return {test['mean_return']:.6g} "
            f"(95 % interval {low:.6g} to {high:.6g}, {test['episodes']} episodes)"
        )
    return f"{text}. {failures_in_words(test)}".strip()
