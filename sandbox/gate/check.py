"""From source text to a tree that may be compiled, or to the reasons why not."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

from sandbox.gate.bindings import bindings_of
from sandbox.gate.declared import params_problems
from sandbox.gate.defined import defined_names
from sandbox.gate.transformer import PolicyTransformer
from sandbox.gate.uses import UseReview

MAX_NODES = 60_000
MAX_BRACKETS = 60
MAX_PREFIX_OPERATORS = 100
MAX_REASONS = 3


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a source may not run: one sentence per construct, the first few."""

    message: str
    detail: str = ""


def check(source: str, *, source_bytes: int = 100_000) -> Rejected | None:
    """Whether the gate lets a source pass; nothing is run."""
    result = admit(source, source_bytes=source_bytes)
    return result if isinstance(result, Rejected) else None


def admit(source: str, *, source_bytes: int = 100_000, gate: bool = True) -> ast.Module | Rejected:
    """Parse a source and check it.

    Args:
        source: The module.
        source_bytes: Its greatest length in UTF-8.
        gate: Whether to check and rewrite the tree; the limits on its size hold anyway.

    Returns:
        The tree to compile, or the reasons against it.
    """
    problem = _size_problem(source, source_bytes)
    if problem:
        return Rejected(problem)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except SyntaxError as error:
        line = (error.text or "").rstrip()
        return Rejected(f"line {error.lineno}: syntax error: {error.msg}", line[:200])
    except (ValueError, RecursionError, MemoryError) as error:
        return Rejected(f"the source cannot be parsed: {error or 'it is nested too deeply'}")
    if not gate:
        return tree
    nodes = sum(1 for _ in ast.walk(tree))
    if nodes > MAX_NODES:
        return Rejected(f"the source has {nodes} syntax nodes; write a shorter one (at most {MAX_NODES})")
    return _transformed(tree)


def _transformed(tree: ast.Module) -> ast.Module | Rejected:
    defined, exceptions = defined_names(tree), _has_exceptions(tree)
    bindings = bindings_of(tree)
    review = UseReview(tree, bindings, defined, exceptions=exceptions)
    transformer = PolicyTransformer(defined, bindings, review.keys.are_safe, exceptions=exceptions)
    try:
        problems = [*review.problems(), *params_problems(tree)]
        result = transformer.visit(tree)
    except RecursionError:
        return Rejected("the source is nested too deeply; split long expressions into statements")
    problems = sorted({*problems, *transformer.problems})
    if not problems:
        return result  # type: ignore[no-any-return]
    reasons = [f"line {line}: {info}" for line, info in problems[:MAX_REASONS]]
    more = len(problems) - MAX_REASONS
    detail = f"and {more} more" if more > 0 else ""
    return Rejected("; also ".join(reasons), detail)


def _has_exceptions(tree: ast.Module) -> bool:
    """Whether some code of the module gets hold of an exception."""
    return any(
        (isinstance(node, ast.ExceptHandler) and node.name is not None)
        or (isinstance(node, ast.FunctionDef) and node.name == "__exit__")
        for node in ast.walk(tree)
    )


_PREFIX = re.compile(r"(?:[-+~]\s*|\bnot\b\s*|\blambda\s*:\s*)+")


def _size_problem(source: str, source_bytes: int) -> str:
    """What could exhaust the parser itself, found by looking at characters alone."""
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        return "the source is not valid text; write plain UTF-8"
    if size > source_bytes:
        return f"the source has {size} bytes; write a shorter one (at most {source_bytes})"
    if "\0" in source:
        return "the source contains a null character; remove it"
    depth = deepest = 0
    for character in source:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth = max(0, depth - 1)
    if deepest > 4 * MAX_BRACKETS:
        return f"brackets are nested {deepest} deep; split long expressions into statements"
    longest = max((len(match.group()) for match in _PREFIX.finditer(source)), default=0)
    if longest > MAX_PREFIX_OPERATORS:
        return "there are too many prefix operators in a row; simplify the expression"
    return ""
