"""The scripted provider follows its script."""

from __future__ import annotations

import asyncio

import pytest

from promptpo.errors import FatalProviderError, ProviderError
from promptpo.llm.base import Completion, Request
from promptpo.llm.scripted import ScriptedLLM
from tests.promptpo.llm.asking import REQUEST, ask, check_contract


def test_list_is_used_up_in_order() -> None:
    cut = Completion("def", "other", finish="length")
    llm = ScriptedLLM(["one", cut])
    assert [completion.text for completion in ask(llm, REQUEST, REQUEST)] == ["one", "def"]
    assert llm.requests == [REQUEST, REQUEST]
    with pytest.raises(FatalProviderError, match=r"no answer left for r1\.c1"):
        ask(llm)


def test_exception_in_the_script_is_raised_for_its_call() -> None:
    llm = ScriptedLLM([ProviderError("overloaded"), "fine"])
    with pytest.raises(ProviderError, match="overloaded"):
        ask(llm)
    assert ask(llm)[0].text == "fine"


def test_function_answers_each_request() -> None:
    """It may be a coroutine and return whatever a list may contain."""

    async def later(request: Request) -> str:
        await asyncio.sleep(0)
        return f"for {request.key}"

    assert ask(ScriptedLLM(lambda request: request.purpose))[0].text == "policy"
    assert ask(ScriptedLLM(later))[0].text == "for r1.c1"
    with pytest.raises(ProviderError):
        ask(ScriptedLLM(lambda _: ProviderError("no")))


def test_scripted_provider_keeps_the_contract() -> None:
    asyncio.run(check_contract(ScriptedLLM(lambda request: request.key)))
