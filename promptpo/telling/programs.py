"""What prompts say of a program besides its code: its idea, its numbers, and whether two differ in more."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from promptpo.program.answers import digest, parse
from promptpo.program.literals import read_params
from promptpo.run.records import Attempt
from promptpo.telling.feedback import number
from promptpo.telling.replies import shortened

MOST_PARAMETERS = 12
"""Parameters listed of two programs that differ in numbers only; the others are counted."""

AT_BOUND = 0.005
"""A value this close to a bound, as a share of the range, stands at it."""


def idea(attempt: Attempt, most: int) -> str:
    """What a program tries, by its own docstring, else by what its author said of it; ends like a sentence."""
    tree = parse(attempt.candidate.source)
    text = ast.get_docstring(tree) if tree else ""
    if not text and tree:
        policy = next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Policy"), None)
        text = ast.get_docstring(policy) if policy else ""
    text = " ".join((text or attempt.prose).split())
    whole = ""
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        if len(whole) + len(sentence) >= most:
            break
        whole = f"{whole} {sentence}".strip()
    if len(whole) < most / 2:  # a heading rather than a sentence
        whole = shortened(text, most)
    return whole if not whole or whole.endswith((".", "!", "?", "…")) else f"{whole}."


@lru_cache(maxsize=256)
def skeleton(source: str) -> str:
    """A name for a program without its numbers: equal for those that differ in nothing else."""
    tree = parse(source)
    if tree is None:
        return digest(source)
    return digest(ast.unparse(ast.fix_missing_locations(_WithoutNumbers().visit(tree))))


class _WithoutNumbers(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        is_number = isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
        return ast.copy_location(ast.Constant(0), node) if is_number else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        inner = self.visit(node.operand)
        if isinstance(node.op, ast.USub) and isinstance(inner, ast.Constant):
            return inner
        node.operand = inner
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if any(isinstance(target, ast.Name) and target.id == "TABLE" for target in node.targets):
            node.value = ast.copy_location(ast.Constant(0), node.value)
            return node
        return self.generic_visit(node)


def parameters(source: str, other: str, name: str) -> str:
    """The parameters in which a program differs from another of the same structure.

    Args:
        source: The program, whose values are told.
        other: The one it differs from.
        name: What the other is called.

    Returns:
        A line for each: name, value, that of the other, bounds, and a mark at a bound; those that moved most
        within their bounds first.
    """
    mine, theirs = read_params(source), read_params(other)
    moved = {key for key in mine if key in theirs and mine[key][0] != theirs[key][0]}

    def move(key: str) -> float:
        value, low, high = mine[key]
        return abs(value - theirs[key][0]) / ((high - low) or 1.0)

    ordered = sorted(moved, key=lambda key: (not _mark(*mine[key]), -move(key)))
    lines = [
        f"{key} {number(mine[key][0])} ({name}: {number(theirs[key][0])}) in {number(mine[key][1])} .. "
        f"{number(mine[key][2])}{_mark(*mine[key])}"
        for key in ordered[:MOST_PARAMETERS]
    ]
    if len(ordered) > MOST_PARAMETERS:
        lines.append(f"{len(ordered) - MOST_PARAMETERS} others moved less")
    return "\n".join(f"- {line}" for line in lines)


def _mark(value: float, low: float, high: float) -> str:
    near = AT_BOUND * (high - low)
    if value <= low + near:
        return ", at its lower bound"
    return ", at its upper bound" if value >= high - near else ""
