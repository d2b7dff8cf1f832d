"""Names, meanings and rewards that a model read from an environment's source, written into a spec that withholds it.

The *formaliser*: what it says of rewards and endings holds in recorded steps, or is left out.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from promptpo.spec.paths import PathError, follow, is_path
from promptpo.spec.reading import read

if TYPE_CHECKING:
    from promptpo.spec.observe import Step
    from promptpo.spec.reading import Reading, Said, SpecClass

FUNCTIONS = ("reward", "terminated")

MAX_STEPS = 400
"""Recorded steps that are held against the functions; the last ones of episodes come first."""

TOLERANCE = 1e-4
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
    """What a model that formalises a task is shown, and what its functions are held against.

    Attributes:
        source: The block of the environment's source.
        steps: Recorded ones.
    """

    source: str
    steps: Sequence[Step]


def evidence_of(source: str, steps: Sequence[Step]) -> SourceEvidence:
    """Keep as many recorded steps as are needed, those with which episodes ended first."""
    known = [step for step in steps if step.next_observation is not None]
    ends = [step for step in known if step.terminated or step.truncated]
    others = [step for step in known if not (step.terminated or step.truncated)]
    return SourceEvidence(source, [*ends, *others][:MAX_STEPS])


def functions_in(reading: Reading) -> dict[str, str]:
    """The functions that are to be held against steps, by their names."""
    tree = ast.parse(reading.blocks.get("reward", ""))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    for function in functions:  # what only says in words that nothing decides it
        if len(function.body) == 2 and ast.unparse(function.body[1]) == "return None":  # noqa: PLR2004 - words and that line
            function.body = function.body[:-1]
    return {function.name: ast.unparse(function) for function in functions}


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


def disagreements(answer: str, evidence: SourceEvidence) -> dict[str, str]:
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
    return isinstance(value, float) and abs(value - told) <= TOLERANCE * (abs(told) + size) + 1e-9


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


def rewrite_spec(text: str, answer: str, left_out: Sequence[str], samples: Mapping[str, Any]) -> str:
    """A spec with the names, meanings and functions of a model's answer.

    Args:
        text: The spec with what the program itself found.
        answer: The model's module.
        left_out: Functions that do not hold.
        samples: "obs" and "action" to a value, to see whether an expression fits it.
    """
    said = read(answer)
    text = _rename_fields(text, said.parts.get("State"), "obs", samples)
    text = _rename_fields(text, said.parts.get("Action"), "action", samples)
    constants = said.parts["Action"].constants if "Action" in said.parts else ()
    text = _with_choices(text, constants)
    functions = functions_in(said)
    for name in FUNCTIONS:
        if name in functions and name not in left_out:
            text = _with_function(text, name, functions[name])
    head = ast.get_docstring(ast.parse(answer))
    if head and re.match(r'"""[^\n]*"""\n', text):
        text = re.sub(
            r'^"""([^\n]*)"""\n', lambda found: f'"""{found[1]}\n\n{_quotable(head)}\n"""\n', text, count=1
        )
    for key in ("start", "end"):
        value = (said.episode or {}).get(key)
        if isinstance(value, str) and f'\n    "{key}":' not in text:
            text = text.replace(
                "\nEPISODE = {\n",
                f'\nEPISODE = {{\n    "{key}": {json.dumps(value, ensure_ascii=False)},\n',
                1,
            )
    return text


def _quotable(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


def _rename_fields(text: str, part: SpecClass | None, root: str, samples: Mapping[str, Any]) -> str:
    """The fields of a class under the names of the answer, with its meanings behind the ranges."""
    told = {ast.unparse(field.expression): field for field in (part.fields if part is not None else ())}
    if not told:
        return text
    lines, last = list[str](), -1
    for line in text.split("\n"):
        found = re.match(rf"(        self\.)\w+ = ({root}\b[^#]*?)(?:  # (.*))?$", line)
        field = told.pop(found[2].replace('"', "'"), None) if found else None
        if found:
            last = len(lines)
        if found and field is not None:
            remark = "; ".join(filter(None, [found[3], field.remark]))
            line = f"{found[1]}{field.name} = {found[2]}" + (f"  # {remark}" if remark else "")  # noqa: PLW2901 - the same one
        lines.append(line)
    more = [
        _line(field)
        for field in told.values()
        if is_path(field.expression) and _fits(field, samples.get(root))
    ]
    if last >= 0:
        lines[last + 1 : last + 1] = more
    return "\n".join(lines)


def _line(field: Said) -> str:
    return f"        self.{field.name} = {ast.unparse(field.expression)}" + (
        f"  # {field.remark}" if field.remark else ""
    )


def _fits(field: Said, value: Any) -> bool:
    try:
        follow(field.expression, value)
    except (PathError, TypeError, ValueError):
        return False
    return True


def _with_choices(text: str, constants: Sequence[Said]) -> str:
    """The class Action with the names of the values of a discrete action, where it has none."""
    at = text.find("\nclass Action:")
    end = text.find("\n\n\n", at)
    block = text[at:end]
    if at < 0 or not constants or "def __init__" in block or re.search(r"\n    [A-Z]\w* = \d", block):
        return text
    names = [
        f"    {constant.name} = {constant.value}" + (f"  # {constant.remark}" if constant.remark else "")
        for constant in constants
    ]
    return text[:at] + block.rstrip() + "\n\n" + "\n".join(names) + text[end:]


def _with_function(text: str, name: str, source: str) -> str:
    """The function in the place of the generated one, whose words on what was seen it keeps."""
    tree = ast.parse(text.partition("\n# The environment's own source")[0])
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            seen = re.search(r"(?s)In [\d,]+ steps of random actions.*", ast.get_docstring(node) or "")
            body = _with_words(source, seen[0] if seen else "")
            lines = text.split("\n")
            return "\n".join([*lines[: node.lineno - 1], body, *lines[node.end_lineno or 0 :]])
    return text.replace("\nEPISODE = {", f"\n{source}\n\n\nEPISODE = {{", 1)


def _with_words(source: str, words: str) -> str:
    node = ast.parse(source).body[0]
    if not words or not isinstance(node, ast.FunctionDef):
        return source
    docs = "\n".join(filter(None, [ast.get_docstring(node), " ".join(words.split())]))
    node.body = [ast.Expr(ast.Constant(docs)), *node.body[1 if ast.get_docstring(node) else 0 :]]
    return ast.unparse(ast.fix_missing_locations(node))
