"""By reading attributes a policy reaches nothing that leads out, and nothing that episodes would share."""

from __future__ import annotations

import types
from typing import Any

import pytest

from promptpo_sandbox.gate.names import ANNOTATIONS, MODULES
from promptpo_sandbox.guest.facades import Modules
from tests.sandbox.reachable import exposed, is_restricted, real, results, values, walk


def roots(member: Any) -> list[tuple[str, Any]]:
    """All that a program can write down as a value."""
    return [(path, value) for path, value in exposed(member) if not is_restricted(path)]


def test_nothing_in_the_real_modules_leads_out() -> None:
    """From every name and kind of value, through every attribute that any program may name, and every result of a call: no door."""
    doors, seen = walk([*roots(real), *values(), *results()])
    assert doors == []
    assert len(seen) > 1000


def test_the_walk_finds_doors_where_names_are_free() -> None:
    """Without the taken names the same walk gets to code, namespaces and raw memory."""
    doors, _ = walk([*roots(real), *values()], frozenset())
    found = {door.rpartition(" is ")[2] for door in doors}
    assert {"a module", "code or a frame", "a module's namespace", "raw memory"} <= found


EVERYTHING = compile(
    "\n".join(f"x.{name}" for members in MODULES.values() for name in members if name.isidentifier()),
    "all",
    "exec",
)
"""A program that names every member there is."""


def members(digest: bytes) -> dict[str, Any]:
    """What a program that names everything gets in one episode."""
    modules = EPISODES(digest)
    spaces = {space: modules[space] for space in MODULES if space not in ANNOTATIONS}
    return {
        f"{space}.{name}": getattr(facade, name)
        for space, facade in spaces.items()
        for name in type(facade).__slots__
    }


EPISODES = Modules().episodes(EVERYTHING)


def test_nothing_in_the_facades_leads_out_or_is_shared() -> None:
    """Two episodes have nothing in common that one could write to and the other read."""
    first, second = members(b"a" * 32), members(b"b" * 32)
    assert len(first) > 400
    for path, value in first.items():
        assert not isinstance(value, types.ModuleType | types.FunctionType | dict), path
        if value is second[path]:
            with pytest.raises((AttributeError, TypeError)):
                value.mark = 1
    doors, _ = walk([(path, value) for path, value in first.items() if not is_restricted(path)])
    assert doors == []


def test_random_numbers_come_from_the_episode_alone() -> None:
    """However a generator is made or seeded, the same episode draws the same numbers and another one others."""

    def drawn(digest: bytes) -> list[float]:
        modules = EPISODES(digest)
        plain, numbers = modules["random"], modules["numpy"].random
        found = [plain.random(), numbers.rand(), numbers.default_rng().random()]
        plain.seed()
        numbers.seed()
        found += [plain.random(), numbers.rand()]
        own, old = plain.Random(), numbers.RandomState()
        found += [own.random(), old.rand()]
        own.seed()
        old.seed(None)
        own.seed(a=None)
        return [*found, own.random(), old.rand(), modules["numpy"].empty(3).sum()]

    first, again, other = drawn(b"a" * 32), drawn(b"a" * 32), drawn(b"b" * 32)
    assert first == again
    assert not set(first[:-1]) & set(other[:-1])
    assert len(set(first)) == len(first)
