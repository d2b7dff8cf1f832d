"""A function from prompt to answer as a provider, passed as an object or registered by a package."""

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


def answer(prompt: str) -> str:
    """A model of one line."""
    return f"{len(prompt)} characters, of which one is a policy:\n```python\n{POLICY}```"


async def answer_later(prompt: str) -> str:
    """Answer as `answer` does, as a coroutine without a thread."""
    await asyncio.sleep(0.01)
    return answer(prompt)


@pytest.mark.parametrize("function", [answer, answer_later])
def test_function_is_a_provider(function: Any) -> None:
    """It keeps the contract and is named after the function."""
    asyncio.run(check_contract(FunctionLLM(function)))
    assert FunctionLLM(function).name == f"function:{function.__name__}"
    assert not FunctionLLM(function).capabilities.price_known


def test_function_gets_the_whole_prompt_as_one_text() -> None:
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
def test_fault_of_a_function_gets_one_sentence(function: Any, says: str) -> None:
    with pytest.raises(ProviderError, match=says):
        asyncio.run(FunctionLLM(function).complete(Request("r1.c1", "policy", "", (Message("user", "x"),))))


def test_other_objects_are_no_providers() -> None:
    """The sentence lists the attributes of a provider."""
    llm = ScriptedLLM([])
    assert as_llm(llm) is llm
    for wrong in (3, object(), type("Old", (), {"complete": None, "__call__": None})()):
        with pytest.raises(UsageError, match="capabilities"):
            as_llm(wrong)


@pytest.mark.slow
def test_run_with_a_function(tmp_path: Path) -> None:
    """Resuming requires the function again."""
    out = tmp_path / "run"
    result = promptpo.optimize(
        "CartPole-v1",
        llm=answer,
        out=out,
        rounds=1,
        candidates=1,
        max_steps=3000,
        test_episodes=2,
        jobs=1,
    )
    assert result.data["model"] == "function:answer"
    assert result.mean_return > 100
    assert promptpo.resume(out, llm=answer, rounds=1).data["model"] == "function:answer"


MODULE = f"""
def connect(model):
    if model == "none":
        raise KeyError(model)
    return lambda prompt: f"{{model}}: ```python\\n{POLICY!r}```"
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with a provider."""
    info = tmp_path / "theirs-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\ntheirs = their_provider:connect\n")
    (tmp_path / "their_provider.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "their_provider", raising=False)


@pytest.mark.usefixtures("installed")
def test_package_adds_a_provider() -> None:
    """Errors in it give one sentence."""
    llm = make_llm("theirs:large")
    assert llm.name == "theirs:large"
    asyncio.run(check_contract(llm))
    with pytest.raises(UsageError, match="theirs:none: their_provider:connect raised KeyError"):
        make_llm("theirs:none")
    with pytest.raises(UsageError, match="did you mean theirs"):
        choose("their:large")


def test_provider_of_a_missing_package_is_unknown() -> None:
    with pytest.raises(UsageError, match="there is no provider 'theirs'"):
        choose("theirs:large")
