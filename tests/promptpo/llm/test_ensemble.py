"""Several models as one: who is asked, what happens when one of them is gone, how they are written."""

import asyncio
import collections
import functools
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.errors import FatalProviderError, ProviderError, UsageError
from promptpo.llm.base import Message, Request
from promptpo.llm.conformance import check
from promptpo.llm.ensemble import (
    EnsembleLLM,
    by_weight,
    make_models,
    name_with_weight,
    one_or_several,
    public_name,
    weighted,
)
from promptpo.llm.scripted import ScriptedLLM

REQUEST = Request("r1.c1", "policy", "system", (Message("user", "write"),))


def named(name: Any, script: Any = None) -> Any:
    """A model that answers its own name."""
    return ScriptedLLM(script or (lambda _: name), name=name)


def in_a_loop(test: Any) -> Any:
    """Run an asynchronous test."""

    @functools.wraps(test)
    def run() -> None:
        asyncio.run(test())

    return run


@in_a_loop
async def test_several_models_pass_the_conformance_check() -> None:
    """The optimizer may rely on them as on one."""
    assert await check(lambda: EnsembleLLM([named("a"), named("b")], repairer=named("c"))) == []


@in_a_loop
async def test_answers_say_who_was_asked_and_the_same_call_goes_to_the_same_model() -> None:
    """A resumed run asks as before, in whatever order; what belongs to a sample goes to its writer."""
    first = EnsembleLLM([named("a"), named("b")], seed=3)
    again = EnsembleLLM([named("a"), named("b")], seed=3)
    requests = [replace(REQUEST, key=f"r{r}.c{c}") for r in range(1, 4) for c in range(1, 5)]
    asked = {request.key: (await first.complete(request)).provider for request in requests}
    assert {r.key: (await again.complete(r)).provider for r in reversed(requests)} == asked
    assert set(asked.values()) == {"a", "b"}
    for key, name in asked.items():
        mending = replace(REQUEST, key=f"{key}.repair1", purpose="repair")
        assert (await first.complete(mending)).provider == name


@in_a_loop
async def test_repairs_go_to_the_model_for_repairs() -> None:
    """But a policy that was cut off is asked for again where it was begun."""
    llm = EnsembleLLM([named("dear")], repairer=named("cheap"))
    assert llm.name == "dear, repairs: cheap"
    mending = replace(REQUEST, key="r1.c1.repair1", purpose="repair")
    assert (await llm.complete(mending)).provider == "cheap"
    assert (await llm.complete(replace(mending, key="r1.c1.again"))).provider == "dear"
    assert (await llm.complete(REQUEST)).provider == "dear"


@in_a_loop
async def test_what_is_allotted_goes_before_weights() -> None:
    """By round and slot."""
    llm = EnsembleLLM([named("a"), named("b")])
    llm.allot(2, ["b", "b", "a"])
    providers = [(await llm.complete(replace(REQUEST, key=f"r2.c{n}"))).provider for n in (1, 2, 3)]
    assert providers == ["b", "b", "a"]


@in_a_loop
async def test_another_model_answers_for_one_that_is_gone() -> None:
    """A wrong key for one of them ends nothing; an overload of one is that sample's own."""

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


@given(st.lists(st.floats(0.1, 5.0), min_size=1, max_size=4), st.integers(0, 2**31), st.integers(2, 8))
def test_samples_are_divided_by_weight(weights: Any, seed: Any, samples: Any) -> None:
    """Over many rounds each gets its share, for any number of samples in a round."""
    counts = collections.Counter(
        by_weight(weights, round_, slot, seed) for round_ in range(400) for slot in range(samples)
    )
    for i, weight in enumerate(weights):
        assert abs(counts[i] / counts.total() - weight / sum(weights)) < 0.1


@given(st.text(), st.floats(0.01, 1000).map(lambda x: float(f"{x:g}")))
def test_weights_are_read_as_they_are_written(command: Any, weight: Any) -> None:
    """Whatever a command or a path contains, it is not taken for a weight."""
    name = f"exec:{command}".rstrip()
    assert weighted(name) == (1.0, name)
    assert weighted(name_with_weight(name, weight)) == (weight, name)


@pytest.mark.parametrize(
    ("models", "options", "match"),
    [
        (["0=exec:cat", "exec:tac"], {}, "more than 0"),
        (["2=", "exec:tac"], {}, "more than 0"),
        (["exec:cat", "exec:cat"], {}, "named once"),
        (["exec:cat", "search"], {}, "no language model"),
        (["exec:cat", "exec:tac"], {"price": (1.0, 2.0)}, "PROMPTPO_PRICES"),
        (["2=exec:cat", "exec:tac"], {"choice": "bandit"}, "leave out their weights"),
        (["exec:cat", "exec:tac"], {"base_url": "http://127.0.0.1:1"}, "--base-url needs"),
        (["exec:cat", "opnai:x"], {}, "Did you mean openai"),
    ],
)
def test_what_cannot_be_one_of_several_is_refused(models: Any, options: Any, match: str) -> None:
    """Before anything is asked, in a sentence."""
    with pytest.raises(UsageError, match=match):
        make_models(None, models, **options)


def test_one_address_is_for_all_models_that_take_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program beside them needs none."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    llm = make_models(None, ["openai:x", "2=exec:cat /secret/notes"], base_url="http://127.0.0.1:1")
    assert llm.name == "openai:x + 2=exec:cat /secret/notes"
    assert public_name(llm) == "openai:x + exec:cat"
    assert llm.takes_effort
    assert not llm.price_known


def test_one_model_stays_one() -> None:
    """Given as a text or as a list of one, with or without a weight."""
    assert one_or_several(None) == (None, ())
    assert one_or_several("exec:a=1") == one_or_several(["exec:a=1"]) == ("exec:a=1", ())
    assert one_or_several("3=exec:a") == ("exec:a", ())
    assert one_or_several(["exec:a", "2=exec:b"]) == (None, ("exec:a", "2=exec:b"))
