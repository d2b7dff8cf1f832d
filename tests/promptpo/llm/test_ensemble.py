"""Several models as one: assignment of requests, failing members and names."""

import asyncio
import functools
from dataclasses import replace
from typing import Any

import pytest

from promptpo.errors import FatalProviderError, ProviderError, UsageError
from promptpo.llm.base import Message, Request
from promptpo.llm.choose import make_models, public_name, split_models
from promptpo.llm.ensemble import EnsembleLLM
from promptpo.llm.scripted import ScriptedLLM
from tests.promptpo.llm.asking import check_contract

REQUEST = Request("r1.c1", "policy", "system", (Message("user", "write"),))


def named(name: Any, script: Any = None) -> Any:
    """Return a model that answers its own name."""
    return ScriptedLLM(script or (lambda _: name), name=name)


def run_async(test: Any) -> Any:
    """Run an asynchronous test."""

    @functools.wraps(test)
    def run() -> None:
        asyncio.run(test())

    return run


@run_async
async def test_several_models_keep_the_contract() -> None:
    await check_contract(EnsembleLLM([named("a"), named("b")], repairer=named("c")))


@run_async
async def test_assignment_of_calls_to_models_is_deterministic() -> None:
    """A resumed run asks the same models, in any order of calls; repairs go to the author of the sample."""
    first = EnsembleLLM([named("a"), named("b")])
    again = EnsembleLLM([named("a"), named("b")])
    requests = [replace(REQUEST, key=f"r{r}.c{c}") for r in range(1, 4) for c in range(1, 5)]
    assigned = {request.key: (await first.complete(request)).provider for request in requests}
    assert {r.key: (await again.complete(r)).provider for r in reversed(requests)} == assigned
    assert [assigned[f"r1.c{n}"] for n in (1, 2, 3)] == ["a", "b", "a"]
    assert [assigned[f"r2.c{n}"] for n in (1, 2, 3)] == ["b", "a", "b"]
    for key, name in assigned.items():
        repair = replace(REQUEST, key=f"{key}.repair1", purpose="repair")
        assert (await first.complete(repair)).provider == name


@run_async
async def test_repairs_go_to_the_model_for_repairs() -> None:
    """A policy that was cut off is requested again from its author."""
    llm = EnsembleLLM([named("dear")], repairer=named("cheap"))
    assert llm.name == "dear, repairs: cheap"
    repair = replace(REQUEST, key="r1.c1.repair1", purpose="repair")
    assert (await llm.complete(repair)).provider == "cheap"
    assert (await llm.complete(replace(repair, key="r1.c1.again"))).provider == "dear"
    assert (await llm.complete(REQUEST)).provider == "dear"


@run_async
async def test_another_model_replaces_one_that_failed_for_good() -> None:
    """An overload concerns only that sample."""

    def gone(_: Any) -> None:
        raise FatalProviderError("the key is wrong.")

    def overloaded(_: Any) -> None:
        raise ProviderError("overloaded.")

    llm = EnsembleLLM([named("a", gone), named("b")])
    keys = [f"r1.c{n}" for n in range(1, 9)]
    assert {(await llm.complete(replace(REQUEST, key=key))).provider for key in keys} == {"b"}
    with pytest.raises(FatalProviderError, match="key is wrong"):
        await EnsembleLLM([named("a", gone), named("b", gone)]).complete(REQUEST)
    with pytest.raises(ProviderError, match="overloaded") as caught:
        await EnsembleLLM([named("a", overloaded), named("b", overloaded)]).complete(REQUEST)
    assert not isinstance(caught.value, FatalProviderError)


@pytest.mark.parametrize(
    ("models", "options", "match"),
    [
        (["exec:cat", "exec:cat"], {}, "only once"),
        (["exec:cat", "search"], {}, "a language model"),
        (["exec:cat", "exec:tac"], {"price": (1.0, 2.0)}, "PROMPTPO_PRICES"),
        (["exec:cat", "exec:tac"], {"base_url": "http://127.0.0.1:1"}, "--base-url needs"),
        (["exec:cat", "opnai:x"], {}, "did you mean openai"),
    ],
)
def test_unusable_combination_of_models_is_refused(models: Any, options: Any, match: str) -> None:
    with pytest.raises(UsageError, match=match):
        make_models(None, models, **options)


def test_base_url_applies_to_all_models_that_take_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    llm = make_models(None, ["openai:x", "exec:cat /secret/notes"], base_url="http://127.0.0.1:1")
    assert llm.name == "openai:x + exec:cat /secret/notes"
    assert public_name(llm) == "openai:x + exec:cat"
    assert llm.capabilities.takes_effort
    assert not llm.capabilities.price_known


def test_list_of_one_model_is_that_model() -> None:
    assert split_models(None) == (None, ())
    assert split_models("exec:a=1") == split_models(["exec:a=1"]) == ("exec:a=1", ())
    assert split_models(["exec:a", "exec:b"]) == (None, ("exec:a", "exec:b"))
