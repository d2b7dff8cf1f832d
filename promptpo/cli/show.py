"""What ``promptpo show`` and ``promptpo evaluate`` print."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from promptpo.display.outcome import came_out, many, spent_steps, with_error, worth
from promptpo.envs.task import label_of
from promptpo.llm.choose import SEARCH
from promptpo.output.importance import importance_in_words, importance_json
from promptpo.output.refined import refined_in_words
from promptpo.output.report.result import (
    REFERENCES,
    by_reward,
    rewarded_in_words,
)
from promptpo.output.report.scores import by_variant, finite, of_episodes, score_in_words, table
from promptpo.output.run_view import RunView, read_view
from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.evidence import Evidence
from promptpo.run.ledger import Ledger
from promptpo.run.models import brought, in_words, writer_of
from promptpo.run.origin import changed_files
from promptpo.run.state_values import CandidateState
from promptpo.telling import experiments
from promptpo.telling.feedback import OUTCOME_WORDS, episodes_in_words, number, one_line
from promptpo_sandbox.text import clean_line, clean_lines

if TYPE_CHECKING:
    from promptpo.output.evaluating import EvaluatedPolicy
    from promptpo.output.play import Watched
    from promptpo.run.records import Experiment


def overview(run: Path) -> str:
    """A run in words: the task, every candidate by round, what was spent, how it ended."""
    view = read_view(run)
    config, state, result = view.config, view.state, view.result
    lines = [f"{config.task.name}  ·  {config.model}  ·  recipe {config.recipe}  ·  seed {config.seed}"]
    if state.experiments:
        lines += ["", "Experiments", *(f"  {experiments.one_line(one)}" for one in state.experiments)]
    for round_ in sorted({*view.rounds, *(ended for ended, why in state.unanswered.items() if why)}):
        lines += ["", f"Round {round_}" if round_ else "Before the first round"]
        lines += [f"  {_line(one, view)}" for one in view.candidates if one.round == round_]
        lines += [f"  no answer: {reason}" for reason in state.unanswered.get(round_, {}).values()]
    lines += [""] if view.candidates else ["", "No candidate yet.", ""]
    for name, reference in view.references.items():
        told = with_error(Evidence.of(reference.episodes))
        lines.append(f"For comparison, {REFERENCES.get(name, name)}: return {told}")
    lines.append(_spent(state.ledger, asked=config.model != SEARCH))
    models = brought(state)
    lines += [f"  {in_words(one)}" for one in models if len(models) > 1]
    lines += [*_world(view), *_ending(view), *filter(None, [changed_files(config.task, config.files)])]
    if view.best is not None:
        lines.append(importance_in_words(view.best.attempt.candidate))
    if result is not None and state.finished:
        lines += [*worth(result), refined_in_words(result)]
    return clean_lines(*lines).rstrip()


def _world(view: RunView) -> list[str]:
    """How well the world is understood, where a model of it was made."""
    if not (view.state.worlds or view.state.studies):
        return []
    from promptpo.output.world import use_of_world
    from promptpo.world import words

    found: list[str] = []
    for data in view.state.worlds[-1:]:
        head, *more = words.in_words(data["score"])
        found += [
            f"World model after {data['steps']:,} recorded steps: {head}",
            *(f"  {line}" for line in more),
        ]
    return found + [f"  {note}" for note in (use_of_world(view), *view.state.studies) if note]


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
    if found := view.experiment(candidate):
        return {**_tried_out(found), "source": found.source}
    state = view.candidate(candidate)
    return {**_facts(state), "feedback": state.attempt.feedback, "source": state.attempt.candidate.source}


def _tried_out(one: Experiment) -> dict[str, Any]:
    names = ("id", "round", "episodes", "steps", "repairs")
    said = {"report": one.report or None, "problem": one.problem or None}
    return {**{name: getattr(one, name) for name in names}, **said}


def _facts(state: CandidateState) -> dict[str, Any]:
    evaluation, evidence, candidate = state.attempt.evaluation, state.evidence, state.attempt.candidate
    return {
        **{name: getattr(candidate, name) for name in ("id", "round", "repairs", "duplicate_of")},
        "parents": list(candidate.parents),
        "outcome": evaluation.outcome,
        "error": evaluation.error or None,
        "returns": list(evaluation.returns),
        "mean_return": finite(evaluation.mean_return),
        "validation_mean_return": finite(state.validation.mean_return) if state.validation else None,
        "judged_by": {
            "episodes": len(evidence.episodes),
            "mean_return": finite(evidence.mean_return),
            "standard_error": finite(evidence.standard_error),
        },
        "model": writer_of(state) or None,
        "tuned": {name: list(change) for name, change in candidate.tuned.items()},
        "importance": importance_json(candidate),
    }


def candidate_in_full(run: Path, candidate: str) -> str:
    """One candidate: outcome, feedback, source; or one experiment with what it reported.

    Raises:
        RunError: The run has no such candidate.
    """
    view = read_view(run)
    if found := view.experiment(candidate):
        parts = [clean_line(experiments.one_line(found)), found.report, found.source]
    else:
        attempt = view.candidate(candidate).attempt
        parts = [
            clean_line(one_line(attempt)),
            attempt.prose,
            attempt.feedback,
            *attempt.notes,
            importance_in_words(attempt.candidate),
            attempt.evaluation.detail,
            attempt.candidate.source,
        ]
    return "\n\n".join(part for part in parts if part.strip())


def played(result: EvaluatedPolicy) -> str:
    """What an evaluation gave, in words."""
    lines = _rolled_out(result.evaluation, label_of(result.env_id))
    if result.evaluation.episodes:
        lines[-1] += f" in {result.seconds:.1f} s"
        lines += map(
            clean_line, table(by_variant(result.task, result.evaluation.episodes).get("by_variant", ()))
        )
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
        score = score_in_words(of_episodes(evaluation.episodes))
        lines.append(f"{env_id}: mean return {score}; {evaluation.steps:,} steps")
        lines[:0] = filter(None, [clean_line(rewarded_in_words(by_reward(evaluation)))])
    return lines


def _line(state: CandidateState, view: RunView) -> str:
    candidate, evidence = state.attempt.candidate, state.evidence
    judged = f"{number(evidence.mean_return)} over {episodes_in_words(len(evidence.episodes))}"
    extras = {
        "best": state is view.best,
        f"judged by {judged}": state.validation is not None,
        f"after {many(candidate.repairs, 'repair', 'repairs')}": candidate.repairs,
        f"{many(len(candidate.tuned), 'number', 'numbers')} tuned": candidate.tuned,
    }
    told = "; ".join(words for words, holds in extras.items() if holds)
    return f"{one_line(state.attempt)}  [{told}]" if told else one_line(state.attempt)


def _spent(ledger: Ledger, *, asked: bool) -> str:
    text = f"Steps: {spent_steps(ledger.steps)}"
    if not asked:
        return text + "."
    usage = ledger.usage
    text += f".  Calls: {ledger.calls}"
    if usage.input_tokens:
        counts = "{input_tokens:,} tokens in, {cached_input_tokens:,} of them cached, {output_tokens:,} out"
        text += f" ({counts.format(**asdict(usage))}{', estimated' if usage.estimated_tokens else ''})"
    text += f", ${ledger.cost_usd:.4f}" if ledger.cost_usd else ""
    text += f"; {ledger.unpriced_calls} of unknown price" if ledger.unpriced_calls else ""
    return text + "."


def _ending(view: RunView) -> list[str]:
    again = f"go on with: promptpo resume {shlex.quote(str(view.directory))}"
    if view.result is None or not view.state.finished:
        return [f"Not finished; {again}"]
    stopped, best = f"Stopped: {view.state.stop}.", view.result["best"]
    if best is None:
        return [f"{stopped} No policy ran."]
    if view.result["test"] is None:
        return [f"{stopped} Best so far: {best['candidate']}, not tested; {again}"]
    return [stopped, *came_out(view.result, view.directory)]
