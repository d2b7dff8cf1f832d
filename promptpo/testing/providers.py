"""A check for any model provider.

Authors of a provider run ``await check_llm(lambda: MyLLM(...))`` in a test: it makes the provider answer real requests
and returns the faults that it finds, as sentences. With an empty list, the optimizer can rely on the provider.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from promptpo.errors import ProviderError
from promptpo.llm.base import ALL_PURPOSES, LLM, Capabilities, Completion, Message, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from promptpo.llm.base import CallPurpose, Situation

IN_FLIGHT = 8

_FINISHES = ("stop", "length", "refusal")


async def check_llm(
    make: Callable[[], LLM],
    *,
    situation: Situation | None = None,
    max_output_tokens: int = 64,
    in_flight: int = IN_FLIGHT,
    seconds: float = 300.0,
) -> list[str]:
    """Check a provider's behaviour in all ways in which the optimizer uses it.

    The provider gets one request, several at once, one that is cancelled in flight, and another one; then it is closed twice.
    A `ProviderError` is a proper answer, but at least one request must be answered.

    Args:
        make: Creates the provider; called once.
        situation: Facts for a provider that computes instead of reading (`Request.situation`).
        max_output_tokens: Limit on each answer.
        in_flight: Number of concurrent requests.
        seconds: Time limit for the whole check.

    Returns:
        Faults, one sentence each; empty if there are none.
    """
    llm = make()
    found: list[str] = list(_attributes(llm))
    if found:
        return found
    purpose: CallPurpose = (
        "policy" if "policy" in llm.capabilities.purposes else min(llm.capabilities.purposes)
    )
    request = Request(
        key="r1.c1",
        purpose=purpose,
        system="You write short Python programs.",
        messages=(Message("user", "Write a function that returns 0. Answer with one Python code block."),),
        max_output_tokens=max_output_tokens,
        temperature=0.7,
        situation=situation,
    )
    batch = [replace(request, key=f"r2.c{n + 1}") for n in range(in_flight)]
    try:
        async with asyncio.timeout(seconds):
            found += await _answers(llm, [request])
            found += await _answers(llm, batch)
            found += await _cancels(llm, replace(request, key="r3.c1"))
            found += await _answers(llm, [replace(request, key="r4.c1")], may_fail=True)
            await llm.aclose()
            await llm.aclose()
    except TimeoutError:
        found.append(f"the check did not finish within {seconds:g} s.")
    return found


def _attributes(llm: LLM) -> Iterator[str]:
    if not isinstance(llm, LLM):
        yield "it lacks an attribute or a method of promptpo.llm.base.LLM."
        return
    if not (isinstance(llm.name, str) and llm.name):
        yield "name is not a string."
    if not isinstance(llm.capabilities, Capabilities):
        yield "capabilities is not a promptpo.llm.base.Capabilities."
    elif not llm.capabilities.purposes or not llm.capabilities.purposes <= ALL_PURPOSES:
        yield f"its purposes must be a non-empty subset of {sorted(ALL_PURPOSES)}."


async def _answers(llm: LLM, requests: list[Request], *, may_fail: bool = False) -> list[str]:
    """List faults in the answers to requests made at once."""
    results = await asyncio.gather(*(llm.complete(request) for request in requests), return_exceptions=True)
    found: list[str] = []
    for request, result in zip(requests, results, strict=True):
        if isinstance(result, Completion):
            found += [f"{request.key}: {fault}" for fault in _faults(result)]
        elif not isinstance(result, ProviderError):
            found.append(f"{request.key}: complete() raised {result!r}, which is not a ProviderError.")
        elif "\n" in str(result) or not str(result).strip():
            found.append(f"{request.key}: its error is not one line: {result}")
    if not may_fail and not any(isinstance(result, Completion) for result in results):
        found.append(f"none of {len(requests)} requests was answered: {results[0]}")
    return found


def _faults(completion: Completion) -> Iterator[str]:
    if not isinstance(completion.text, str):
        yield "text is not a string."
    if not (isinstance(completion.model, str) and completion.model):
        yield "model is not a string."
    if completion.finish not in _FINISHES:
        yield f"finish is {completion.finish!r}, not one of {', '.join(_FINISHES)}."
    usage = completion.usage
    if min(usage.input_tokens, usage.cached_input_tokens, usage.output_tokens) < 0:
        yield "usage is negative."
    if usage.cached_input_tokens > usage.input_tokens:
        yield "more input tokens were cached than there were; cached tokens are part of the input tokens."
    if completion.cost_usd is not None and completion.cost_usd < 0:
        yield "the cost is negative."
    if completion.seconds < 0:
        yield "seconds is negative."


async def _cancels(llm: LLM, request: Request) -> list[str]:
    """Check that a request in flight can be cancelled."""
    task = asyncio.ensure_future(llm.complete(request))
    await asyncio.sleep(0)
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=10)
    if not done:
        return ["a cancelled request was still running 10 s later."]
    if not task.cancelled() and isinstance(task.exception(), BaseException):
        error = task.exception()
        return [] if isinstance(error, ProviderError) else [f"a cancelled request raised {error!r}."]
    return []
