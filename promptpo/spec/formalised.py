"""Names, meanings and rewards that a model read from an environment's source, written into a spec that withholds it.

The *formaliser*: what it says of rewards and endings holds in recorded steps, or is left out.
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
    from promptpo.spec.reading import Reading, Said, SpecClass

FUNCTIONS = ("reward", "terminated")

LEFT_OUT = "how it is computed could not be told from observations and actions; its code is left out."

MAX_STEPS = 400
"""Recorded steps that are held against the functions; the last ones of episodes come first."""

FLOAT32_TOLERANCE = 1e-4
"""Of a value, and of the largest one, by which arithmetic in 32 bits may be off."""

MAX_SHOWN = 3
"""Steps in which a function disagrees that are sent back."""

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
"""What runs the functions on recorded steps; it stands behind them in one module."""


class SourceEvidence(NamedTuple):
    """Source for the model that formalises a task, and recorded steps that its functions are checked against.

    Attributes:
        source: The block of the environment's source.
        steps: Recorded ones.
        parts: Of the spec that its answer completes.
    """

    source: str
    steps: Sequence[Step]
    parts: Parts


def evidence_of(source: str, observed: Observed, parts: Parts) -> SourceEvidence:
    """Keep as many recorded steps as are needed, those with which episodes ended first."""
    known = [step for step in [*observed.steps, *observed.more] if step.next_observation is not None]
    known.sort(key=lambda step: not (step.terminated or step.truncated))
    return SourceEvidence(source, known[:MAX_STEPS], parts)


def functions_in(reading: Reading) -> dict[str, str]:
    """The functions that are to be held against steps, by their names."""
    tree = ast.parse(reading.blocks.get("reward", ""))
    return {node.name: ast.unparse(node) for node in tree.body if isinstance(node, ast.FunctionDef)}


def check_module(reading: Reading) -> str:
    """A module that runs the functions, for the sandbox."""
    functions = functions_in(reading)
    names = ", ".join(f'"{name}": {name}' for name in FUNCTIONS if name in functions)
    return "\n\n\n".join(["import numpy as np", *functions.values(), f"FUNCTIONS = {{{names}}}"]) + CHECK


def check_inputs(evidence: SourceEvidence) -> list[dict[str, Any]]:
    """The steps as the functions are given them."""
    return [
        {"obs": step.observation, "action": step.action, "next_obs": step.next_observation}
        for step in evidence.steps
    ]


def values_in(answer: str) -> dict[str, list[Any]]:
    """Function to what it gave for each step: a number, None, or the error's text."""
    found = defaultdict[str, list[Any]](list)
    for line in answer.split("\n"):
        name, _, told = line.partition(" ")
        try:
            value: Any = float(told) if told else None
        except ValueError:
            value = told
        found[name].append(value)
    return {name: found[name] for name in FUNCTIONS if name in found}


def check_against_steps(answer: str, evidence: SourceEvidence) -> dict[str, str]:
    """Function to what is wrong with it, in words; empty where all agree.

    Args:
        answer: What the sandbox gave back.
        evidence: The steps.
    """
    wrong = {}
    for name, values in values_in(answer).items():
        told = [float(getattr(step, name)) for step in evidence.steps]
        size = max(map(abs, told), default=0.0)
        pairs = [
            (n, value, right)
            for n, (value, right) in enumerate(zip(values, told, strict=True))
            if value is not None
        ]
        off = [pair for pair in pairs if not _agrees(pair[1], pair[2], size)]
        if off:
            wrong[name] = _in_words(name, off, len(pairs), evidence)
    return wrong


def _agrees(value: Any, told: float, size: float) -> bool:
    return isinstance(value, float) and abs(value - told) <= FLOAT32_TOLERANCE * (abs(told) + size) + 1e-9


def _in_words(name: str, off: Sequence[tuple[int, Any, float]], tried: int, evidence: SourceEvidence) -> str:
    lines = [f"{name} disagrees with {len(off)} of {tried} recorded steps:"]
    for n, value, told in off[:MAX_SHOWN]:
        step = evidence.steps[n]
        lines.append(
            f"- obs {_short(step.observation)}, action {_short(step.action)}, next_obs {_short(step.next_observation)}: "
            f"it gave {value}, recorded is {told:g}"
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
    """The parts of a spec with the names, meanings and functions of a model's answer.

    Args:
        parts: With what the program itself found.
        answer: The model's module.
        left_out: Functions that do not hold.
        observation: What its fields have to fit.
        action_space: What fields and choices of the action have to fit.
    """
    said = read(answer)
    state, action = (said.parts.get(name) for name in ("State", "Action"))
    constants = action.constants if action is not None else ()
    choices = [
        ActionValue(constant.name, constant.value, constant.remark)
        for constant in constants
        if isinstance(action_space, spaces.Discrete) and action_space.contains(constant.value)
    ]
    kept = {name: code for name, code in functions_in(said).items() if name not in left_out}
    start, end = ((said.episode or {}).get(key) for key in ("start", "end"))
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


def _with_names(fields: Sequence[Field], said: SpecClass | None, value: Any) -> list[Field]:
    """Fields under the names of an answer, with its meanings behind the ranges, and parts that it tells besides."""
    told = {ast.unparse(field.expression): field for field in (said.fields if said is not None else ())}
    found = []
    for item in fields:
        field = told.pop(ast.unparse(ast.parse(item.path, mode="eval")), None)
        found.append(item if field is None else replace(item, name=field.name, meaning=field.remark))
    found += [
        Field(field.name, path, meaning=field.remark)
        for path, field in told.items()
        if is_path(field.expression) and _fits(field, value)
    ]
    return [
        replace(item, name=name) for item, name in zip(found, unique([f.name for f in found]), strict=True)
    ]


def _fits(field: Said, value: Any) -> bool:
    try:
        follow(field.expression, value)
    except (PathError, TypeError, ValueError):
        return False
    return True
