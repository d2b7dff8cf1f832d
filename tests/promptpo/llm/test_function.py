"""Providers of a few lines: a function from a prompt to its answer, given as an object or by another package."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.errors import ProviderError, UsageError
from promptpo.llm.base import Message, Request
from promptpo.llm.choose import ENTRY_POINTS, choose, make_llm
from promptpo.llm.function import FunctionLLM, as_llm
from promptpo.llm.scripted import ScriptedLLM
from tests.promptpo.llm.asking import check_contract

POLICY = "class Policy:\n    def act(self, obs):\n        return 1 if obs[2] + 0.5 * obs[3] > 0 else 0\n"


def answers(prompt: str) -> str:
    """A model of one line."""
    return f"{len(prompt)} characters, of which one is a policy:\n```python\n{POLICY}```"


async def answers_later(prompt: str) -> str:
    """The same without a thread."""
    await asyncio.sleep(0.01)
    return answers(prompt)


@pytest.mark.parametrize("function", [answers, answers_later])
def test_a_function_is_a_provider(function: Any) -> None:
    """It passes what every provider passes, and its name says what it is."""
    asyncio.run(check_contract(FunctionLLM(function)))
    assert FunctionLLM(function).name == f"function:{function.__name__}"
    assert not FunctionLLM(function).capabilities.price_known


def test_the_prompt_is_one_text() -> None:
    """System prompt and conversation, in their order."""
    seen: list[str] = []
    request = Request(
        "r1.c1",
        "policy",
        "Write.",
        (Message("user", "For a pole."), Message("assistant", "How?"), Message("user", "So.")),
    )
    asyncio.run(FunctionLLM(lambda prompt: seen.append(prompt) or "x").complete(request))
    places = [seen[0].index(part) for part in ("Write.", "For a pole.", "How?", "So.")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("function", "says"),
    [(lambda _: 1 / 0, "raised ZeroDivisionError"), (lambda _: None, "returned a NoneType")],
)
def test_what_a_function_does_wrong_is_one_sentence(function: Any, says: str) -> None:
    """As of any other provider."""
    with pytest.raises(ProviderError, match=says):
        asyncio.run(FunctionLLM(function).complete(Request("r1.c1", "policy", "", (Message("user", "x"),))))


def test_what_is_neither_is_refused() -> None:
    """A provider is itself; other objects are told what one has."""
    llm = ScriptedLLM([])
    assert as_llm(llm) is llm
    for wrong in (3, object(), type("Old", (), {"complete": None, "__call__": None})()):
        with pytest.raises(UsageError, match="capabilities"):
            as_llm(wrong)


@pytest.mark.slow
def test_a_run_with_a_function(tmp_path: Path) -> None:
    """Five lines from a model of one's own to a policy; it is resumed with the function again."""
    out = tmp_path / "run"
    result = promptpo.optimize(
        "CartPole-v1",
        llm=answers,
        out=out,
        rounds=1,
        candidates=1,
        max_steps=3000,
        test_episodes=2,
        jobs=1,
    )
    assert result.data["model"] == "function:answers"
    assert result.mean_return > 100
    assert promptpo.resume(out, llm=answers, rounds=1).data["model"] == "function:answers"


MODULE = f"""
def connect(model):
    if model == "none":
        raise KeyError(model)
    return lambda prompt: f"{{model}}: ```python\\n{POLICY!r}```"
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another package with a provider."""
    info = tmp_path / "theirs-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\ntheirs = their_provider:connect\n")
    (tmp_path / "their_provider.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "their_provider", raising=False)


@pytest.mark.usefixtures("installed")
def test_another_package_adds_a_provider() -> None:
    """Named as --model names all; what goes wrong in it is one sentence."""
    llm = make_llm("theirs:large")
    assert llm.name == "theirs:large"
    asyncio.run(check_contract(llm))
    with pytest.raises(UsageError, match="theirs:none: their_provider:connect raised KeyError"):
        make_llm("theirs:none")
    with pytest.raises(UsageError, match="did you mean theirs"):
        choose("their:large")


def test_it_is_unknown_where_it_is_not_installed() -> None:
    """As any other name."""
    with pytest.raises(UsageError, match="there is no provider 'theirs'"):
        choose("theirs:large")
