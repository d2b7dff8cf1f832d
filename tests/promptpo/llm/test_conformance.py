"""The conformance check finds what is wrong with a provider."""

from __future__ import annotations

import asyncio
from typing import Any

import gymnasium
import pytest

from promptpo.errors import ProviderError
from promptpo.features.program_search import SearchLLM
from promptpo.llm.base import Capabilities, Completion, Request, Situation, Usage
from promptpo.llm.scripted import ScriptedLLM
from promptpo.testing import check_llm as check


def found(answer: Any, seconds: float = 60.0, **changes: Any) -> str:
    """What the check says about a provider that answers like this."""

    def make() -> ScriptedLLM:
        llm = ScriptedLLM(answer if callable(answer) else lambda _: answer)
        for name, value in changes.items():
            setattr(llm, name, value)
        return llm

    return " ".join(asyncio.run(check(make, in_flight=2, seconds=seconds)))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Completion("x", "m", finish="done"), "finish is 'done'"),
        (Completion("x", ""), "model is not a string"),
        (Completion(None, "m"), "text is not a string"),
        (Completion("x", "m", usage=Usage(10, 20, 1)), "cached"),
        (Completion("x", "m", usage=Usage(-1, -2, 1)), "negative"),
        (Completion("x", "m", cost_usd=-1.0), "cost is negative"),
        (Completion("x", "m", seconds=-1.0), "seconds is negative"),
        (ValueError("oops"), "not a ProviderError"),
        (ProviderError("two\nlines"), "not one line"),
        (ProviderError("down"), "none of 1 requests was answered: down"),
    ],
)
def test_faulty_answer(answer: Any, says: str) -> None:
    """Each fault of an answer is named."""
    assert says in found(answer)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"name": ""}, "name is not a string"),
        ({"capabilities": Capabilities(frozenset({"dancing"}))}, "purposes must be"),
        ({"capabilities": {"language_model": True}}, "capabilities is no"),
    ],
)
def test_faulty_attributes(changes: dict[str, Any], says: str) -> None:
    """What the optimizer reads from a provider is checked before it is asked."""
    assert says in found("fine", **changes)


def test_not_a_provider_at_all() -> None:
    """An object without the methods is named as such."""
    [fault] = asyncio.run(check(object))
    assert "lacks" in fault


def test_too_slow() -> None:
    """A provider that hangs does not hang the check."""

    async def hang(request: Request) -> str:
        await asyncio.sleep(30)
        return request.key

    assert "did not finish within 0.2 s" in found(hang, seconds=0.2)


def test_program_search_passes() -> None:
    """The provider that is no language model keeps the same contract."""
    box = gymnasium.spaces.Box(-1.0, 1.0, (4,))
    situation = Situation(box, gymnasium.spaces.Discrete(2), round=1, slot=0, seed=0)
    assert asyncio.run(check(SearchLLM, situation=situation)) == []


def test_nothing_wrong() -> None:
    """A good provider passes."""
    assert found("fine") == ""
