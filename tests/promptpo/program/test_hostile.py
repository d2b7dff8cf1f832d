"""Programs built to be hard to parse are parsed in seconds or rejected, without burdening the host."""

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
def impatient_reader() -> Iterator[None]:
    """Give the reader less time than usual."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "_limits", replace(READER_LIMITS, call_seconds=0.4))
        reader.close()
        yield
    reader.close()


@pytest.mark.usefixtures("impatient_reader")
@pytest.mark.parametrize("name", HARD_SOURCES)
def test_hard_programs_are_parsed_or_unreadable(name: str) -> None:
    """All queries have an answer, and the host's memory does not grow."""
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


def test_unreadable_program_defines_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first failure nothing else is parsed or rewritten."""
    from promptpo.program import program as module

    queries: list[str] = []

    def fail_to_read(*question: str) -> None:
        queries.append(question[2])
        raise module.UnreadableError("reading it takes longer than 5 s")

    monkeypatch.setattr(module, "read", fail_to_read)
    program = Program("PARAMS = {'a': (1, 0, 2)}")
    assert (program.values, program.table, program.actions) == (None, None, ())
    assert not program.is_python
    assert program.with_values({"a": 2.0}) is program
    assert queries == ["params"]


def test_only_the_reader_parses_programs() -> None:
    """No module of the host imports the parser or the gate's check."""
    wrong = []
    for package in ("promptpo", "baselines", "benchmarks/promptpo_benchmarks"):
        for path in (ROOT / package).rglob("*.py"):
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
