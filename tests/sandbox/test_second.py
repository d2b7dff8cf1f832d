"""RestrictedPython's walk as a second opinion: it refuses what it knows to be wrong, and nothing that programs really use."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from promptpo_sandbox.gate.second import refused

LEGITIMATE = sorted(Path(__file__).parent.joinpath("legitimate").glob("*.py"))

DANGEROUS = (
    "().__class__.__base__.__subclasses__()",
    "exec('1')",
    "f = lambda: 0\nf.__globals__",
    "def g():\n    yield\ng().gi_frame.f_back",
    "class A(metaclass=type):\n    pass",
    "async def f():\n    pass",
    "from os import *",
)


@pytest.mark.parametrize("source", DANGEROUS)
def test_it_refuses_by_itself(source: str) -> None:
    """Ways to what lies below objects, found without our own rules."""
    assert refused(ast.parse(source))


@pytest.mark.parametrize("program", LEGITIMATE, ids=lambda path: path.name)
def test_it_lets_pass_what_programs_use(program: Path) -> None:
    """Private names, augmented assignments, annotations and closures."""
    assert refused(ast.parse(program.read_text())) == []
