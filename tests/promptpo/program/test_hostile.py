"""Programs that are built to be hard to read: known in seconds, or unreadable, and never at the host's expense."""

from __future__ import annotations

import ast
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from promptpo.program import Program, answers
from promptpo_sandbox.reader import READER_LIMITS, reader
from tests.sandbox.test_reader import HARD_SOURCES

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def impatient() -> Iterator[None]:
    """A reader with less time than usual."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "_limits", replace(READER_LIMITS, call_seconds=0.4))
        reader.close()
        yield
    reader.close()


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", HARD_SOURCES)
def test_hard_programs_are_read_or_not(name: str) -> None:
    """Everything that a run asks of a program has an answer, and the host's memory stays as it is."""
    source = HARD_SOURCES[name] + "\n\nclass Policy:\n    def act(self, obs):\n        return 0\n"
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    answer = answers.extract_program(f"```python\n{source}\n```")
    assert answer.problem in {None, "unreadable", "no_code", "too_long"}
    program = Program(source)
    assert len(program.digest) == len(Program("").digest)
    assert len(program.params) <= 20_000
    assert program.with_values({"a": 2.0}).source
    assert isinstance(program.docstring, str)
    assert program.contract.resets in {None, False}
    assert time.monotonic() - began < 120  # wall time of a machine that may be busy
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < (100 << 10 if sys.platform == "linux" else 100 << 20)


def test_what_cannot_be_read_defines_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program whose reading fails is asked for nothing else, and is never rewritten."""
    from promptpo.program import program as module

    asked: list[str] = []

    def fails(*question: str) -> None:
        asked.append(question[2])
        raise module.UnreadableError("reading it takes longer than 5 s")

    monkeypatch.setattr(module, "read", fails)
    program = Program("PARAMS = {'a': (1, 0, 2)}")
    assert (program.values, program.table, program.actions) == (None, None, ())
    assert not program.is_python
    assert program.with_values({"a": 2.0}) is program
    assert asked == ["params"]


def test_only_the_reader_parses() -> None:
    """No module of the host imports what parses programs, nor the gate's check."""
    wrong = []
    for room in ("promptpo", "baselines", "benchmarks/promptpo_benchmarks"):
        for path in (ROOT / room).rglob("*.py"):
            if "confined" in path.parts:
                continue
            text = path.read_bytes()
            if b"program.confined" not in text and b"promptpo_sandbox.gate" not in text:
                continue
            for node in ast.walk(ast.parse(text)):
                module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
                if "program.confined" in module or module in {
                    "promptpo_sandbox.gate",
                    "promptpo_sandbox.gate.check",
                }:
                    wrong.append(path)
    assert not wrong
