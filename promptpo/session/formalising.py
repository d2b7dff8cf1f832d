"""One request per run that lets the model write names, actions and rewards of a spec that withholds the source."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.errors import BudgetSpentError, ProviderError
from promptpo.files import write_atomically
from promptpo.llm.base import Message
from promptpo.program import Program, answers
from promptpo.prompts import prompting
from promptpo.rollouts import Call
from promptpo.spec.formalised import (
    FUNCTIONS,
    TARGET,
    SourceEvidence,
    check_against_steps,
    check_inputs,
    check_module,
    formalise,
    functions_in,
)
from promptpo.spec.reading import read
from promptpo.spec.render import render

if TYPE_CHECKING:
    from promptpo.core.journal import Journal
    from promptpo.core.work import RecordedWork
    from promptpo.run.preflight import Preflight
    from promptpo.spec import TaskSpec

SPEC = "spec.py"
"""File of the spec in a run's directory, for people to read or edit."""

SYSTEM = "You describe reinforcement-learning environments to people who write policies for them, exactly and briefly."


def can_formalise(ahead: Preflight, journal: Journal) -> bool:
    """Whether a run requests a spec; a run that began without does not."""
    begun = journal.find("spec", "spec") is not None
    return ahead.formalises and not (begun and journal.find("decision", "formalised") is None)


async def formalise_spec(spec: TaskSpec, work: RecordedWork) -> TaskSpec:
    """Return the spec completed by the model; unchanged without a usable answer."""
    evidence = spec.evidence
    if evidence is None:
        return spec

    async def ask() -> dict[str, Any]:
        text, left_out = await _ask_and_check(spec.text, evidence, work)
        return {"text": text, "left_out": left_out}

    found = await work.journal.once_async("decision", "formalised", ask)
    if not found["text"]:
        return spec
    parts = evidence.parts
    completed = formalise(parts, found["text"], list(found["left_out"]), spec.firsts[0], spec.action_space)
    text = spec.text.replace(render(parts).rstrip(), render(completed).rstrip(), 1)  # a hint may follow it
    write_atomically(work.journal.directory / SPEC, text)
    return replace(spec, text=text)


async def _ask_and_check(
    text: str, evidence: SourceEvidence, work: RecordedWork
) -> tuple[str, dict[str, str]]:
    """Return the answer, and which of its functions disagree with recorded steps after one correction."""
    question = prompting.render("formaliser", spec=text, source=f"```python\n{evidence.source}\n```")
    messages = [Message("user", question)]
    source, wrong = "", dict[str, str]()
    for key in ("spec", "spec.repair"):
        try:
            completion = await work.ask(key, "spec", messages, system=SYSTEM)
        except (ProviderError, BudgetSpentError):
            return source, wrong
        module = answers.extract_program(completion.text, class_name="State").source
        if module and Program.from_source(module).is_python:
            source, wrong = module, await _find_disagreements(module, evidence, work)
            if not wrong:
                break
        problems = "\n".join(wrong.values()) or "the answer holds no module with a class State"
        again = f"{problems}\n\nCorrect it, and return the whole module again. Where obs, action and next_obs do not decide a value, return None."
        messages = [*messages, Message("assistant", completion.text), Message("user", again)]
    return source, wrong


async def _find_disagreements(source: str, evidence: SourceEvidence, work: RecordedWork) -> dict[str, str]:
    """Return the errors of the module's functions, by function."""
    try:
        reading = read(source)
    except SyntaxError as error:
        return dict.fromkeys(FUNCTIONS, f"the module cannot be read: {error.msg}")
    if not functions_in(reading):
        return {}
    result = await work.executor.run(Call(check_module(reading), TARGET, check_inputs(evidence)))
    if result.failure is not None or not result.value:
        why = result.failure.message if result.failure else "it returned nothing"
        return dict.fromkeys(functions_in(reading), f"the functions do not run: {why}")
    return check_against_steps(result.value, evidence)
