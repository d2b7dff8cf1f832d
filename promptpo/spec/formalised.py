"""Write the names, meanings and rewards that a model read from an environment's source into a spec without the source.

That model is the *formaliser*. Its functions for rewards and endings must agree with recorded steps, or are left out.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium import spaces

from promptpo.spec.parts import ActionValue, Field, unique
from promptpo.spec.paths import PathError, follow, is_path
from promptpo.spec.reading import read

if TYPE_CHECKING:
    from promptpo.envs.spaces import AnySpace
    from promptpo.spec.observe import Observed, Step
    from promptpo.spec.parts import Parts
    from promptpo.spec.reading import Reading, SpecClass, SpecEntry

FUNCTIONS = ("reward", "terminated")

LEFT_OUT = "how it is computed could not be told from observations and actions; its code is left out."

MAX_STEPS = 400
"""Recorded steps that functions are checked against, beginning with the last ones of episodes."""

FLOAT32_TOLERANCE = 1e-4
"""Error of 32-bit arithmetic, relative to the sum of a value and the largest one."""

MAX_SHOWN = 3
"""Number of disagreeing steps that are reported to the model."""

TARGET = "SpecCheck.run"

CHECK = """


class SpecCheck:
    def run(self, steps):
        lines = []
        for name, function in FUNCTIONS.items():
            for step in steps:
                try:
                    value = function(step["obs"], step["action"], step["next_obs"])
                    told = "" if value is None else repr(float(value))
                except Exception as error:
                    told = " ".join(f"{type(error).__name__}: {error}".split())[:200]
                lines.append(f"{name} {told}")
        return chr(10).join(lines)
"""
"""Code that runs the functions on recorded steps; it follows them in one module."""


class SourceEvidence(NamedTuple):
    """Source for the model that formalises a task, and recorded steps that its functions are checked against.

    Attributes:
        source: The block of the environment's source.
        steps: Recorded steps.
        parts: The parts of the spec that its answer completes.
    """

    source: str
    steps: Sequence[Step]
    parts: Parts


def evidence_of(source: str, observed: Observed, parts: Parts) -> SourceEvidence:
    """Return the evidence for a formaliser, with at most `MAX_STEPS` recorded steps, last steps of episodes first."""
    known = [step for step in [*observed.steps, *observed.more] if step.next_observation is not None]
    known.sort(key=lambda step: not (step.terminated or step.truncated))
    return SourceEvidence(source, known[:MAX_STEPS], parts)


def functions_in(reading: Reading) -> dict[str, str]:
    """Return the source of the functions in a spec, by name."""
    tree = ast.parse(reading.blocks.get("reward", ""))
    return {node.name: ast.unparse(node) for node in tree.body if isinstance(node, ast.FunctionDef)}


def check_module(reading: Reading) -> str:
    """Return the source of a module that runs the functions in the sandbox."""
    functions = functions_in(reading)
    names = ", ".join(f'"{name}": {name}' for name in FUNCTIONS if name in functions)
    return "\n\n\n".join(["import numpy as np", *functions.values(), f"FUNCTIONS = {{{names}}}"]) + CHECK


def check_inputs(evidence: SourceEvidence) -> list[dict[str, Any]]:
    """Return the arguments of the functions for each step."""
    return [
        {"obs": step.observation, "action": step.action, "next_obs": step.next_observation}
        for step in evidence.steps
    ]


def values_in(answer: str) -> dict[str, list[Any]]:
    """Parse the sandbox's answer: function to its value for each step, a number, None, or an error's text."""
    found = defaultdict[str, list[Any]](list)
    for line in answer.split("\n"):
        name, _, text = line.partition(" ")
        try:
            value: Any = float(text) if text else None
        except ValueError:
            value = text
        found[name].append(value)
    return {name: found[name] for name in FUNCTIONS if name in found}


def check_against_steps(answer: str, evidence: SourceEvidence) -> dict[str, str]:
    """Return what is wrong with each function that disagrees with recorded steps; empty if all agree.

    Args:
        answer: The sandbox's answer.
        evidence: The recorded steps.
    """
    wrong = {}
    for name, values in values_in(answer).items():
        recorded = [float(getattr(step, name)) for step in evidence.steps]
        size = max(map(abs, recorded), default=0.0)
        pairs = [
            (n, value, right)
            for n, (value, right) in enumerate(zip(values, recorded, strict=True))
            if value is not None
        ]
        off = [pair for pair in pairs if not _agrees(pair[1], pair[2], size)]
        if off:
            wrong[name] = _describe(name, off, len(pairs), evidence)
    return wrong


def _agrees(value: Any, right: float, size: float) -> bool:
    return isinstance(value, float) and abs(value - right) <= FLOAT32_TOLERANCE * (abs(right) + size) + 1e-9


def _describe(name: str, off: Sequence[tuple[int, Any, float]], tried: int, evidence: SourceEvidence) -> str:
    lines = [f"{name} disagrees with {len(off)} of {tried} recorded steps:"]
    for n, value, right in off[:MAX_SHOWN]:
        step = evidence.steps[n]
        lines.append(
            f"- obs {_short(step.observation)}, action {_short(step.action)}, next_obs {_short(step.next_observation)}: "
            f"it gave {value}, recorded is {right:g}"
        )
    return "\n".join(lines)


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_short(item)}" for key, item in value.items()) + "}"
    text = np.array2string(np.asarray(value), precision=6, separator=", ", threshold=60).replace("\n", "")
    return text if len(text) < 600 else f"{text[:600]}..."  # noqa: PLR2004 - characters of one value


def formalise(
    parts: Parts, answer: str, left_out: Sequence[str], observation: Any, action_space: AnySpace
) -> Parts:
    """Add the names, meanings and functions of a model's answer to the parts of a spec.

    Args:
        parts: The generated parts.
        answer: The model's module.
        left_out: Names of functions that disagree with recorded steps.
        observation: A value that the observation's fields must fit.
        action_space: The space that the action's fields and choices must fit.
    """
    reading = read(answer)
    state, action = (reading.parts.get(name) for name in ("State", "Action"))
    constants = action.constants if action is not None else ()
    choices = [
        ActionValue(constant.name, constant.value, constant.remark)
        for constant in constants
        if isinstance(action_space, spaces.Discrete) and action_space.contains(constant.value)
    ]
    kept = {name: code for name, code in functions_in(reading).items() if name not in left_out}
    start, end = ((reading.episode or {}).get(key) for key in ("start", "end"))
    return replace(
        parts,
        description=ast.get_docstring(ast.parse(answer)) or parts.description,
        observation=_with_names(parts.observation, state, observation),
        action=_with_names(parts.action, action, action_space.sample()),
        choices=choices if len(choices) >= len(parts.choices) else parts.choices,
        functions={name: kept[name] for name in FUNCTIONS if name in kept},
        notes=[f"{name}: {LEFT_OUT}" for name in left_out],
        start=start if isinstance(start, str) else "",
        end=end if isinstance(end, str) else "",
    )


def _with_names(fields: Sequence[Field], answer: SpecClass | None, value: Any) -> list[Field]:
    """Rename fields as in an answer, add its meanings, and append its other fields that fit the value."""
    named = {ast.unparse(field.expression): field for field in (answer.fields if answer is not None else ())}
    found = []
    for item in fields:
        field = named.pop(ast.unparse(ast.parse(item.path, mode="eval")), None)
        found.append(item if field is None else replace(item, name=field.name, meaning=field.remark))
    found += [
        Field(field.name, path, meaning=field.remark)
        for path, field in named.items()
        if is_path(field.expression) and _fits(field, value)
    ]
    return [
        replace(item, name=name) for item, name in zip(found, unique([f.name for f in found]), strict=True)
    ]


def _fits(field: SpecEntry, value: Any) -> bool:
    try:
        follow(field.expression, value)
    except (PathError, TypeError, ValueError):
        return False
    return True
