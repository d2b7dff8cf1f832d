"""By attribute access a policy reaches nothing dangerous, and nothing shared between episodes."""

from __future__ import annotations

import types
from typing import Any

import pytest

from promptpo_sandbox.gate.names import ANNOTATIONS, MODULES
from promptpo_sandbox.guest.facades import Modules
from tests.sandbox.reachable import (
    call_results,
    exposed_values,
    is_restricted,
    real_member,
    sample_values,
    walk,
)


def roots(member: Any) -> list[tuple[str, Any]]:
    """Return everything that a program can write as a value."""
    return [(path, value) for path, value in exposed_values(member) if not is_restricted(path)]


def test_no_door_is_reachable_in_the_real_modules() -> None:
    """The search starts from every name and kind of value and follows every admitted attribute and call result."""
    doors, seen = walk([*roots(real_member), *sample_values(), *call_results()])
    assert doors == []
    assert len(seen) > 1000


def test_walk_finds_doors_if_all_names_are_free() -> None:
    """Code, namespaces and raw memory; this tests the walk itself."""
    doors, _ = walk([*roots(real_member), *sample_values()], frozenset())
    kinds = {door.rpartition(" is ")[2] for door in doors}
    assert {"a module", "code or a frame", "a module's namespace", "raw memory"} <= kinds


EVERYTHING = compile(
    "\n".join(f"x.{name}" for members in MODULES.values() for name in members if name.isidentifier()),
    "all",
    "exec",
)
"""A program that uses every member of every module."""


def members(digest: bytes) -> dict[str, Any]:
    """Return what a program that uses every name gets in one episode."""
    modules = EPISODES(digest)
    spaces = {space: modules[space] for space in MODULES if space not in ANNOTATIONS}
    return {
        f"{space}.{name}": getattr(facade, name)
        for space, facade in spaces.items()
        for name in type(facade).__slots__
    }


EPISODES = Modules().episodes(EVERYTHING)


def test_facades_share_no_mutable_value_between_episodes() -> None:
    """Nor is any door reachable."""
    first, second = members(b"a" * 32), members(b"b" * 32)
    assert len(first) > 400
    for path, value in first.items():
        assert not isinstance(value, types.ModuleType | types.FunctionType | dict), path
        if value is second[path]:
            with pytest.raises((AttributeError, TypeError)):
                value.mark = 1
    doors, _ = walk([(path, value) for path, value in first.items() if not is_restricted(path)])
    assert doors == []


def test_random_numbers_are_determined_by_the_episode() -> None:
    """However a generator is made or seeded."""

    def draw(digest: bytes) -> list[float]:
        modules = EPISODES(digest)
        plain, numbers = modules["random"], modules["numpy"].random
        numbers_drawn = [plain.random(), numbers.rand(), numbers.default_rng().random()]
        plain.seed()
        numbers.seed()
        numbers_drawn += [plain.random(), numbers.rand()]
        own, old = plain.Random(), numbers.RandomState()
        numbers_drawn += [own.random(), old.rand()]
        own.seed()
        old.seed(None)
        own.seed(a=None)
        return [*numbers_drawn, own.random(), old.rand(), modules["numpy"].empty(3).sum()]

    first, again, other = draw(b"a" * 32), draw(b"a" * 32), draw(b"b" * 32)
    assert first == again
    assert not set(first[:-1]) & set(other[:-1])
    assert len(set(first)) == len(first)
