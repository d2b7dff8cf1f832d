"""Letting a policy act in a world model: two modules in one guest."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any, TypeAlias

from promptpo_sandbox.gate.check import Rejected
from promptpo_sandbox.guest import worlds
from promptpo_sandbox.guest.construct import compiled, construct
from promptpo_sandbox.guest.errors import describe_failure, remember_source

Run: TypeAlias = Callable[[bytes, CodeType | None], dict[str, Any]]
"""Runs the loaded world's module, or another code, afresh; the bytes decide its random numbers."""


def imagine(request: dict[str, Any], run: Run, *, gate: bool) -> list[Any]:
    """Episodes of a policy in the world; a failing policy's are its own outcome.

    Args:
        request: What the host asks for.
        run: Runs modules.
        gate: Whether policies are held to the gate's rules.
    """
    make = worlds.maker(run(request["digest"], None), request["params"])
    source = request["policy"]
    code = compiled(source, request["source_bytes"], gate=gate)
    if isinstance(code, Rejected):
        return [("rejected", code.message, code.detail)]
    remember_source(source)

    def policy(params: dict[str, float] | None, digest: bytes) -> Any:
        return construct(run(digest, code), params)

    episodes: list[Any] = []
    for return_, steps, ended, seen, wrong in worlds.Imagined(make, policy, request).episodes():
        failure = None if wrong is None else describe_failure(wrong)
        episodes.append((return_, steps, ended, seen, failure))
    return episodes
