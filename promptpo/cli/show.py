"""What ``promptpo show`` and ``promptpo evaluate`` print."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from promptpo.display.results import came_out, families, with_error
from promptpo.envs.task import label_of
from promptpo.llm.choose import SEARCH
from promptpo.output.importance import importance_in_words, importance_json
from promptpo.output.refined import refined_in_words
from promptpo.output.report.result import (
    REFERENCES,
    by_reward,
    fidelity_in_words,
    goal_in_words,
    rewarded_in_words,
)
from promptpo.output.report.variants import by_variant
from promptpo.output.run_view import RunView, read_view
from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.evidence import Evidence
from promptpo.run.ledger import Ledger
from promptpo.run.models import brought, in_words, writer_of
from promptpo.run.origin import changed_files
from promptpo.run.state_values import CandidateState
from promptpo.telling import experiments
from promptpo.telling.feedback import OUTCOME_WORDS, episodes_in_words, number, one_line
from promptpo_sandbox.text import clean_line

if TYPE_CHECKING:
    from promptpo.output.evaluating import EvaluatedPolicy
    from promptpo.output.play import Watched
    from promptpo.run.records import Experiment


def overview(run: Path) -> str:
    """A run in words: the task, every candidate by round, what was spent, how it ended."""
    view = read_view(run)
    config, state = view.config, view.state
    lines = [
        clean_line(f"{config.task.name}  ·  {config.model}  ·  recipe {config.recipe}  ·  seed {config.seed}")
    ]
    if state.experiments:
        lines.append("\nExperiments")
        lines.extend(f"  {clean_line(experiments.one_line(one))}" for one in state.experiments)
    unanswered = {number: why.values() for number, why in state.unanswered.items()}
    for round_ in sorted({*view.rounds, *(ended for ended, why in unanswered.items() if why)}):
        lines.append(f"\nRound {round_}" if round_ else "\nBefore the first round")
        lines.extend(
            f"  {clean_line(_line(one, best=one is view.best))}"
            for one in view.candidates
            if one.round == round_
        )
        lines.extend(f"  no answer: {clean_line(reason)}" for reason in unanswered.get(round_, ()))
    if not view.candidates:
        lines.append("\nNo candidate yet.")
    lines.append("")
    for name, reference in view.references.items():
        lines.append(f"For comparison, {clean_line(REFERENCES.get(name, name))}: return {with_error(Evidence.of(reference.episodes))}")  # fmt: skip
    lines.append(_spent(state.ledger, asked=config.model != SEARCH))
    models = brought(state)
    if len(models) > 1:
        lines.extend(f"  {clean_line(in_words(one))}" for one in models)
    lines.extend(_world(view))
    lines.append(_ending(view))
    lines += filter(None, [changed_files(config)])
    if view.best is not None:
        lines += filter(None, [clean_line(importance_in_words(view.best.attempt.candidate))])
    if view.result is not None and view.state.finished and view.result.get("verdict"):
        lines.append(clean_line(view.result["verdict"]))
        lines += filter(None, [clean_line(goal_in_words(view.result))])
        lines += filter(None, [clean_line(refined_in_words(view.result))])
        lines += filter(None, [fidelity_in_words((view.result.get("teacher") or {}).get("fidelity"))])
    return "\n".join(lines)


def _world(view: RunView) -> list[str]:
    """How well the world is understood, where a model of it was made."""
    if not (view.state.worlds or view.state.studies):
        return []
    from promptpo.output.world import use_of_world
    from promptpo.world import words

    newest = view.state.worlds[-1:]
    found = [
        f"World model after {data['steps']:,} recorded steps: {words.in_words(data['score'])[0]}"
        for data in newest
    ]
    found += [f"  {clean_line(line)}" for data in newest for line in words.in_words(data["score"])[1:]]
    found += [f"  {clean_line(use)}" for use in filter(None, [use_of_world(view)])]
    return found + [f"  {clean_line(note)}" for note in view.state.studies]


def overview_json(run: Path) -> dict[str, Any]:
    """The same as a JSON value."""
    view = read_view(run)
    return {
        "run": str(run),
        "result": view.result,
        "best": view.best.id if view.best else None,
        "models": brought(view.state),
        "experiments": [_tried_out(one) for one in view.state.experiments],
        "candidates": [_facts(state) for state in view.candidates],
    }


def candidate_json(run: Path, candidate: str) -> dict[str, Any]:
    """One candidate as a JSON value: as in the overview, with its feedback and source; or an experiment.

    Raises:
        RunError: The run has no such candidate.
    """
    view = read_view(run)
    found = view.experiment(candidate)
    if found is not None:
        return {**_tried_out(found), "source": found.source}
    state = view.candidate(candidate)
    return {**_facts(state), "feedback": state.attempt.feedback, "source": state.attempt.candidate.source}


def _tried_out(one: Experiment) -> dict[str, Any]:
    return {
        "id": one.id,
        "round": one.round,
        "report": one.report or None,
        "problem": one.problem or None,
        "episodes": one.episodes,
        "steps": one.steps,
        "repairs": one.repairs,
    }


def _facts(state: CandidateState) -> dict[str, Any]:
    attempt, evidence = state.attempt, state.evidence
    candidate, evaluation = attempt.candidate, attempt.evaluation
    return {
        "id": attempt.id,
        "round": candidate.round,
        "parents": list(candidate.parents),
        "outcome": evaluation.outcome,
        "error": evaluation.error or None,
        "returns": list(evaluation.returns),
        "mean_return": _finite(evaluation.mean_return),
        "validation_mean_return": _finite(state.validation.mean_return) if state.validation else None,
        "judged_by": {
            "episodes": len(evidence.episodes),
            "mean_return": _finite(evidence.mean_return),
            "standard_error": _finite(evidence.standard_error),
        },
        "model": writer_of(state) or None,
        "repairs": candidate.repairs,
        "duplicate_of": candidate.duplicate_of,
        "tuned": {name: list(change) for name, change in candidate.tuned.items()},
        "importance": importance_json(candidate),
    }


def candidate_in_full(run: Path, candidate: str) -> str:
    """One candidate: outcome, feedback, source; or one experiment with what it reported.

    Raises:
        RunError: The run has no such candidate.
    """
    view = read_view(run)
    found = view.experiment(candidate)
    if found is not None:
        return "\n\n".join(
            filter(None, [clean_line(experiments.one_line(found)), found.report, found.source])
        )
    attempt = view.candidate(candidate).attempt
    parts = [
        clean_line(one_line(attempt)),
        attempt.prose,
        attempt.feedback,
        *attempt.notes,
        importance_in_words(attempt.candidate),
        attempt.evaluation.detail,
    ]
    return "\n\n".join(part for part in [*parts, attempt.candidate.source] if part.strip())


def played(result: EvaluatedPolicy) -> str:
    """What an evaluation gave, in words."""
    lines = _rolled_out(result.evaluation, label_of(result.env_id))
    if result.evaluation.episodes:
        lines[-1] += f" in {result.seconds:.1f} s"
        lines += families(by_variant(result.task, result.evaluation.episodes))
    return "\n".join(lines)


def watched_json(found: Watched, env_id: str) -> dict[str, Any]:
    """What `promptpo play` found, as a JSON value."""
    evaluation = found.evaluation
    return {
        "env": env_id,
        "returns": list(evaluation.returns),
        "steps": evaluation.steps,
        "video": str(found.video) if found.video else None,
        "outcome": evaluation.outcome,
        "error": evaluation.error or None,
    }


def watched(found: Watched, env_id: str) -> str:
    """The same in words."""
    lines = _rolled_out(found.evaluation, env_id)
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
        lines.append(clean_line(f"The policy {OUTCOME_WORDS[evaluation.outcome]}: {evaluation.error}"))
        if evaluation.detail:
            lines.append(indent(evaluation.detail.rstrip(), "    "))
    if evaluation.episodes:
        returns = evaluation.returns
        text = f"mean return {number(evaluation.mean_return)} over {episodes_in_words(len(returns))}"
        if len(returns) > 1:
            text += f" (min {number(min(returns))}, max {number(max(returns))})"
        if evaluation.success_rate is not None:
            text += f", success {evaluation.success_rate:.0%}"
        lines.append(f"{env_id}: {text}; {evaluation.steps:,} steps")
        lines[:0] = filter(None, [clean_line(rewarded_in_words(by_reward(evaluation)))])
    return lines


def _line(state: CandidateState, *, best: bool) -> str:
    candidate = state.attempt.candidate
    extras = ["best"] if best else []
    if state.validation is not None:
        n = len(state.evidence.episodes)
        extras.append(f"judged by {number(state.evidence.mean_return)} over {episodes_in_words(n)}")
    if candidate.repairs:
        extras.append(f"after {candidate.repairs} repair{'' if candidate.repairs == 1 else 's'}")
    if candidate.tuned:
        extras.append(f"{len(candidate.tuned)} number{'' if len(candidate.tuned) == 1 else 's'} tuned")
    text = one_line(state.attempt)
    return f"{text}  [{'; '.join(extras)}]" if extras else text


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _spent(ledger: Ledger, *, asked: bool) -> str:
    steps = ", ".join(f"{purpose} {count:,}" for purpose, count in ledger.steps.items() if count)
    text = f"Steps: {steps or 'none'}"
    if not asked:
        return text + "."
    text += f".  Calls: {ledger.calls}"
    if ledger.usage.input_tokens:
        text += f" ({ledger.usage.input_tokens:,} tokens in, {ledger.usage.cached_input_tokens:,} of them cached, {ledger.usage.output_tokens:,} out{', estimated' if ledger.usage.estimated_tokens else ''})"
    if ledger.cost_usd:
        text += f", ${ledger.cost_usd:.4f}"
    if ledger.unpriced_calls:
        text += f"; {ledger.unpriced_calls} of unknown price"
    return text + "."


def _ending(view: RunView) -> str:
    reason = clean_line(view.state.stop)
    if view.result is None or not view.state.finished:
        return clean_line(f"Not finished; go on with: promptpo resume {shlex.quote(str(view.directory))}")
    test, best = view.result["test"], view.result["best"]
    if best is None:
        return f"Stopped: {reason}. No policy ran."
    if test is None:
        again = f"promptpo resume {shlex.quote(str(view.directory))}"
        return f"Stopped: {reason}. Best so far: {clean_line(best['candidate'])}, not tested; go on with: {again}"
    return "\n".join([f"Stopped: {reason}.", *came_out(view.result, view.directory)])
