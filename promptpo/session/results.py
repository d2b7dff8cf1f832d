"""Files that a run produces: the best policy, the result, all candidates' modules, the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.core.candidate import Attempt, PlannedTest
from promptpo.core.feature import settings_of_features
from promptpo.core.final_test import Outcome, decision_on
from promptpo.core.journal import Journal, writing
from promptpo.files import Json, file_name, make_folder, write_atomically
from promptpo.llm.base import Completion, Ensemble
from promptpo.llm.choose import public_name
from promptpo.output.exporting import BEST, export_text
from promptpo.output.observer import Observer
from promptpo.output.report import result, write_result
from promptpo.output.report.page import write_report
from promptpo.output.report.result import REPORT, earlier_refinement, summarize_evaluation
from promptpo.output.report.scores import drop_dependent_intervals, kind_of_episodes
from promptpo.output.run_result import RunResult, provenance
from promptpo.output.verdict import facts_of, verdict
from promptpo.program import Program
from promptpo.run.origin import sign
from promptpo.run.preflight import Preflight, final_test_in_words

if TYPE_CHECKING:
    from promptpo.core.feature import SearchContext
    from promptpo.llm.base import LLM
    from promptpo.run.state import RunState


def write_results(context: SearchContext, state: RunState, outcome: Outcome, ended: str) -> RunResult:
    """Write the result, the exported best policy, the candidates' modules and the simulator.

    Args:
        context: Context of the run.
        state: State of the run.
        outcome: Outcome of the search, perhaps preliminary.
        ended: Why the run was stopped early; empty if it was not.

    Raises:
        RunError: The files cannot be written.
    """
    content, directory = _content(context, state, outcome, ended), context.journal.directory
    with writing(directory):
        _write_policies(directory, outcome.history.attempts)
        if outcome.best:
            text = export_text(
                outcome.program.source,
                provenance(directory, content, context.config),
                action_space=context.spec.action_space,
                filename=BEST,
            )
            write_atomically(directory / BEST, sign(text))
        write_result(directory, content)
        _write_products(context, state, outcome, content)
    return RunResult(directory, content, outcome.program.source)


def _write_products(context: SearchContext, state: RunState, outcome: Outcome, content: Json) -> None:
    """Write the policies of different kinds that a run delivers, and the simulator from which they come."""
    directory, spec = context.journal.directory, context.spec
    for name, (attempt, _) in outcome.products.items():
        product = content["products"][name]
        about = {**content, "best": product, "test": product["test"]}
        text = export_text(
            attempt.candidate.source,
            provenance(directory, about, context.config),
            action_space=spec.action_space,
            filename=product["file"],
        )
        write_atomically(directory / product["file"], sign(text))
    if "simulator" in content:
        from promptpo.output.simulated import SIMULATOR, simulator_module

        module = simulator_module(state, (spec.observation_space, spec.action_space), context.horizon)
        if module:
            write_atomically(directory / SIMULATOR, module)


def _products(context: SearchContext, outcome: Outcome) -> dict[str, Any]:
    """Return the policies of different kinds as in ``result.json``."""
    task, horizon = context.config.task, context.horizon
    return {
        name: {
            "candidate": attempt.id,
            "file": f"{name}.py",
            "best": outcome.best is not None and attempt.id == outcome.best.id,
            "origin": attempt.candidate.origin,
            "test": summarize_evaluation(test, task, horizon=horizon, seeds=context.seeds.test),
        }
        for name, (attempt, test) in outcome.products.items()
    }


def write_page(directory: Path, observer: Observer) -> None:
    """Write the page about the run; a failure must not cost a run that has its result."""
    try:
        write_report(directory, out=directory / REPORT, episode=False)
    except Exception as error:  # noqa: BLE001 - see the docstring
        observer.warn(f"report.html was not written: {error or type(error).__name__}")


def _content(context: SearchContext, state: RunState, outcome: Outcome, ended: str) -> Mapping[str, Any]:
    """Build the content of ``result.json``."""
    config, best, journal = context.config, outcome.best, context.journal
    content = result(state, outcome, horizon=context.horizon, language_model=context.learns)
    content |= {
        "model": _model_name(context.work.llm, journal),
        "sandbox": state.sessions[-1]["sandbox"],
        "command": state.sessions[-1]["command"],
    }
    content["preflight"] = Preflight(context.spec, config, context.work.llm).as_json()
    facts = facts_of(state, outcome, threshold=context.threshold, language_model=context.learns, ended=ended)
    content["verdict"] = verdict(replace(facts, episodes=kind_of_episodes(content)))
    plan = best and journal.find("decision", decision_on(context, best), PlannedTest)
    content["test_plan"] = plan and {**asdict(plan), "words": final_test_in_words(plan)}
    if state.payloads["simulator"] or state.payloads["note"]:
        from promptpo.output.simulated import content_of

        content |= content_of(state)
    if outcome.products:
        content["products"] = _products(context, outcome)
    for settings in settings_of_features(config):
        content |= settings.result(context, outcome.findings, ran=best is not None)
    content["reveal"] = context.spec.revealed if context.work.llm.capabilities.language_model else None
    content |= earlier_refinement(journal.directory, best.id if best else None)
    return drop_dependent_intervals(content)


def _model_name(llm: LLM, journal: Journal) -> str:
    """Name of the model that answered, if the provider says more than the requested name."""
    kind, _, asked = llm.name.partition(":")
    names = {event.read(Completion).model for event in journal.of_kind("completion")} - {
        "",
        asked,
        kind,
        llm.name,
    }
    more = f" ({', '.join(sorted(names))})" if names and not isinstance(llm, Ensemble) else ""
    return public_name(llm) + more


def _write_policies(directory: Path, attempts: list[Attempt]) -> None:
    """Write every candidate's module to ``policies/``.

    Raises:
        RunError: A candidate's id is not a valid file name.
    """
    folder = directory / "policies"
    make_folder(folder)
    for attempt in attempts:
        if attempt.candidate.source:
            module = Program.from_source(attempt.candidate.source).postponed
            write_atomically(folder / f"{file_name(attempt.id)}.py", module.source)
