"""The output of ``promptpo show`` and ``promptpo evaluate``."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import Exit

from promptpo.cli.document import answer
from promptpo.core.budget import Ledger
from promptpo.core.journal import how_to_finish
from promptpo.envs.task import label_of, relative_name
from promptpo.features.experiments.report import experiment_line
from promptpo.files import Json
from promptpo.llm.choose import SEARCH
from promptpo.output.baseline_run import BaselineRun, read_run
from promptpo.output.importance import importance_json
from promptpo.output.outcome import ending, score_table, spent_steps, with_error
from promptpo.output.report.scores import finite
from promptpo.output.run_view import RunView, read_view
from promptpo.output.sentences import sentence
from promptpo.output.simulated import lines_of
from promptpo.prompts.feedback import OUTCOME_WORDS, number, summary_line
from promptpo.prompts.shortening import count_of
from promptpo.rollouts.agents import BEST_AGENT
from promptpo.run.episodes import UNBOUNDED_HORIZON
from promptpo.run.models import describe_model, summarize_models, writer_of
from promptpo.run.origin import describe_changed_files
from promptpo.run.state import CandidateState
from promptpo_sandbox.text import clean_line, clean_lines

if TYPE_CHECKING:
    from promptpo.features.experiments.records import Experiment
    from promptpo.output.evaluating import EvaluatedPolicy


POINTS = 12
"""Points listed of a baseline's learning curve."""


def overview(run: Path) -> str:
    """Describe a run: its task, candidates by round or a baseline's learning curve, spending, and end."""
    found = read_run(run)
    if isinstance(found, BaselineRun):
        again, lines = (
            "repeat the command that started it to continue (for training, add --resume)",
            _describe_baseline(found),
        )
    else:
        again = how_to_finish(run)
        lines = _describe_search(found)
    if found.result is None or not found.finished:
        return clean_lines(*lines, f"Not finished; {again}")
    return clean_lines(*lines, *ending(found.result, run))


def _describe_search(view: RunView) -> list[str]:
    config, state = view.config, view.state
    lines = [f"{config.task.name}  ·  {config.model}  ·  recipe {config.recipe}  ·  seed {config.seed}"]
    if view.experiments:
        lines += [
            "",
            "Experiments",
            *(f"  {experiment_line(experiment)}" for experiment in view.experiments),
        ]
    for round_ in sorted({*view.rounds, *(ended for ended, why in state.unanswered.items() if why)}):
        lines += ["", f"Round {round_}" if round_ else "Before the first round"]
        lines += [
            f"  {_describe_candidate(attempt, view)}"
            for attempt in view.candidates
            if attempt.round == round_
        ]
        lines += [f"  no answer: {reason}" for reason in state.unanswered.get(round_, {}).values()]
    lines += [""] if view.candidates else ["", "No candidates yet.", ""]
    for name, reference in view.references.items():
        lines.append(f"Reference, {name}: return {with_error(reference)}")
    lines.append(_describe_spending(state.ledger, asked=config.model != SEARCH))
    models = summarize_models(state)
    lines += [f"  {describe_model(model)}" for model in models if len(models) > 1]
    numbers = view.best and importance_json(view.best.attempt.candidate)
    more = describe_changed_files(config.files), sentence("importance", numbers)
    return [*lines, *lines_of(state), *filter(None, more)]


def _describe_baseline(run: BaselineRun) -> list[str]:
    content, result, last = run.content, run.record, len(run.points) - 1
    head = [
        label_of(result.env_id),
        content.get("method"),
        None if result.seed is None else f"seed {result.seed}",
    ]
    lines = ["  ·  ".join(map(str, filter(None, head)))]
    if run.points:
        lines += ["", "Training steps and mean return"]
    for at in sorted({round(n * last / (POINTS - 1)) for n in range(POINTS)} if run.points else ()):
        point = run.points[at]
        mean = "-" if point.mean_return is None else number(point.mean_return)
        lines.append(f"  {point.steps:>12,.0f}  {mean}")
    seconds, agent = content.get("wall_seconds"), run.directory / BEST_AGENT
    took = "" if seconds is None else f"  Seconds: {seconds:,.1f}."
    lines += ["", f"Steps: {spent_steps(result.steps)}.{took}"]
    lines += filter(None, [sentence("acting", content), *_network_lines(content)])
    if agent.is_file():
        command = (
            f"promptpo evaluate {shlex.quote(str(agent))} --env {shlex.quote(relative_name(result.env_id))}"
        )
        lines.append(f"To play it (this loads the agent): {command}")
    return lines


def _network_lines(result: Json) -> list[str]:
    """Describe a network that was added to a program, or learned from it."""
    alone, best = ((result.get(part) or {}) for part in ("program", "validation"))
    before, after = (alone.get("validation") or {}).get("mean_return"), best.get("mean_return")
    if before is None or after is None:
        return []
    network = result.get("residual") or {}
    how = "the standalone network" if network.get("alone") else "with the network"
    end = f"{how} {number(after)}" if network.get("kept") else "and no network was better"
    return [f"The program alone returns {number(before)} on validation episodes, {end}."]


def overview_json(run: Path) -> dict[str, Any]:
    """Return the overview of a run as a JSON value."""
    view = read_run(run)
    if isinstance(view, BaselineRun):
        facts = {
            name: view.content.get(name) for name in ("method", "env_id", "seed", "steps", "wall_seconds")
        }
        facts |= {"finished": view.finished, "curve": [asdict(point) for point in view.points]}
        return {"run": str(run), **facts, "result": view.result}
    return {
        "run": str(run),
        "result": view.result,
        "best": view.best.id if view.best else None,
        "models": summarize_models(view.state),
        "experiments": list(map(_experiment_json, view.experiments)),
        "candidates": [_facts(state) for state in view.candidates],
    }


def candidate_json(run: Path, candidate: str) -> dict[str, Any]:
    """Return a candidate with its feedback and source, or an experiment, as a JSON value.

    Raises:
        RunError: The run has no such candidate.
    """
    view = read_view(run)
    if found := view.experiment(candidate):
        return {**_experiment_json(found), "source": found.source}
    state = view.candidate(candidate)
    return {**_facts(state), "feedback": state.attempt.feedback, "source": state.attempt.candidate.source}


def _experiment_json(experiment: Experiment) -> dict[str, Any]:
    names = ("id", "round", "episodes", "steps", "repairs")
    texts = {"report": experiment.report or None, "problem": experiment.problem or None}
    return {**{name: getattr(experiment, name) for name in names}, **texts}


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
        "evidence": {
            "episodes": len(evidence.episodes),
            "mean_return": finite(evidence.mean_return),
            "standard_error": finite(evidence.standard_error),
        },
        "model": writer_of(state) or None,
        "tuned": {name: list(change) for name, change in candidate.tuned.items()},
        "importance": importance_json(candidate),
    }


def candidate_in_full(run: Path, candidate: str) -> str:
    """Describe a candidate with outcome, feedback and source, or an experiment with its report.

    Raises:
        RunError: The run has no such candidate.
    """
    view = read_view(run)
    if found := view.experiment(candidate):
        parts = [clean_line(experiment_line(found)), found.report, found.source]
    else:
        attempt = view.candidate(candidate).attempt
        parts = [
            clean_line(summary_line(attempt)),
            attempt.prose,
            attempt.feedback,
            *attempt.notes,
            sentence("importance", importance_json(attempt.candidate)),
            attempt.evaluation.detail,
            attempt.candidate.source,
        ]
    return "\n\n".join(part for part in parts if part.strip())


def answer_evaluation(result: EvaluatedPolicy, *, as_json: bool) -> None:
    """Print an evaluation, and exit with 1 if the policy failed or has no finite mean return."""
    facts = result.as_json()
    answer(facts, describe_evaluation(result), as_json=as_json)
    if facts["error"]:
        raise Exit(1)


def describe_evaluation(result: EvaluatedPolicy) -> str:
    """Describe the evaluation of a policy in words."""
    evaluation, lines = result.evaluation, []
    if evaluation.outcome != "ok":
        lines.append(f"The policy {OUTCOME_WORDS[evaluation.outcome]}: {evaluation.error}")
    lines += [f"    {line}" for line in evaluation.detail.rstrip().splitlines()]
    if evaluation.episodes:
        facts = result.as_json()
        score = f"{label_of(result.env_id)}: mean return {sentence('score', facts)}"
        lines += filter(None, [sentence("rewarded", facts), sentence("one_series", facts.get("preflight"))])
        lines.append(f"{score}; {evaluation.steps:,} steps in {result.seconds:.1f} s")
        lines += score_table(facts.get("by_variant", ()))
        if UNBOUNDED_HORIZON in {episode.steps for episode in evaluation.episodes}:
            lines.append(
                f"Episodes were cut at {UNBOUNDED_HORIZON:,} steps; --max-episode-steps sets another limit."
            )
    if result.video is not None:
        lines.append(f"wrote {result.video}")
    if not result.same:
        lines.append(
            "The environment did not reproduce its episodes exactly: the images show other episodes than the returns."
        )
    return clean_lines(*lines)


def _describe_candidate(state: CandidateState, view: RunView) -> str:
    candidate, evidence = state.attempt.candidate, state.evidence
    judged = f"{number(evidence.mean_return)} over {count_of(len(evidence.episodes), 'episode')}"
    extras = {
        "best": view.best is not None and state.id == view.best.id,
        f"estimate {judged}": state.validation is not None,
        f"after {count_of(candidate.repairs, 'repair')}": candidate.repairs,
        f"{count_of(len(candidate.tuned), 'parameter')} tuned": candidate.tuned,
    }
    remarks = "; ".join(words for words, holds in extras.items() if holds)
    return f"{summary_line(state.attempt)}  [{remarks}]" if remarks else summary_line(state.attempt)


def _describe_spending(ledger: Ledger, *, asked: bool) -> str:
    text = f"Steps: {spent_steps(ledger.steps)}"
    if not asked:
        return text + "."
    usage = ledger.usage
    text += f".  Calls: {ledger.calls}"
    if usage.input_tokens:
        counts = "{input_tokens:,} tokens in, {cached_input_tokens:,} of them cached, {output_tokens:,} out"
        text += f" ({counts.format(**asdict(usage))}{', estimated' if usage.estimated_tokens else ''})"
    text += f", ${ledger.cost_usd:.4f}" if ledger.cost_usd else ""
    text += f"; {ledger.unpriced_calls} calls of unknown price" if ledger.unpriced_calls else ""
    return text + "."
