"""The gate itself: from source text to a tree that may be compiled, or to the reasons against it."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass

from promptpo_sandbox.gate.bindings import parents_in
from promptpo_sandbox.gate.declared import params_problems
from promptpo_sandbox.gate.review import Review

MAX_NODES = 60_000
MAX_REASONS = 3


@dataclass(frozen=True, slots=True)
class Rejected:
    """The reasons why a source may not run: one sentence for each of the first few constructs."""

    message: str
    detail: str = ""


def reasons(source: str, source_bytes: int = 100_000) -> tuple[str, str] | None:
    """Return why a source may not run, and the detail; None if the gate admits it. Nothing is run."""
    result = admit(source, source_bytes=source_bytes)
    return (result.message, result.detail) if isinstance(result, Rejected) else None


def admit(source: str, *, source_bytes: int = 100_000, gate: bool = True) -> ast.Module | Rejected:
    """Parse a source and check it.

    Args:
        source: The module.
        source_bytes: Its maximum length in UTF-8.
        gate: Whether to check the tree; the limit on its length always holds.

    Returns:
        The tree to compile, or the reasons against it. With the gate on, the tree checks objects in which it stores
        attributes at run time: see `promptpo_sandbox.guest.namespace.check_own`.
    """
    problem = size_problem(source, source_bytes)
    if problem:
        return Rejected(problem)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            if not gate:
                return tree
            parents = parents_in(tree)
            if len(parents) > MAX_NODES:
                return Rejected(
                    f"the source has {len(parents)} syntax nodes; write a shorter one (at most {MAX_NODES})"
                )
            review = Review(tree, parents, source)
            problems = {*review.problems(), *params_problems(tree)}
    except SyntaxError as error:
        line = (error.text or "").rstrip()
        return Rejected(f"line {error.lineno}: syntax error: {error.msg}", line[:200])
    except (ValueError, RecursionError, MemoryError) as error:
        return Rejected(f"the source cannot be parsed: {str(error) or 'it is nested too deeply'}")
    if not problems:
        review.guard_stores()
        return tree
    ordered = sorted(problems)
    reasons = [f"line {line}: {info}" for line, info in ordered[:MAX_REASONS]]
    more = len(ordered) - MAX_REASONS
    detail = f"and {more} more" if more > 0 else ""
    return Rejected("; also ".join(reasons), detail)


def size_problem(source: str, source_bytes: int) -> str:
    """Return what could exhaust the parser itself, judged by characters alone; empty if nothing."""
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        return "the source is not valid text; write plain UTF-8"
    if size > source_bytes:
        return f"the source has {size} bytes; write a shorter one (at most {source_bytes})"
    if "\0" in source:
        return "the source contains a null character; remove it"
    return ""
