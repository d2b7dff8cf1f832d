"""What a policy can get hold of by reading: nothing that leads out, and nothing that episodes would share."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from sandbox.guest.facades import Modules
from tests.sandbox.reachable import exposed, is_restricted, real, values, walk


def roots(member: Any) -> list[tuple[str, Any]]:
    """All that a program can write down as a value."""
    return [(path, value) for path, value in exposed(member) if not is_restricted(path)]


def test_nothing_in_the_real_modules_leads_out() -> None:
    """From every name and kind of value, through every attribute that any program may name: no door."""
    doors, seen = walk([*roots(real), *values()])
    assert doors == []
    assert len(seen) > 3000


def test_the_walk_finds_doors_where_names_are_free() -> None:
    """Without the taken names the same walk gets to code, namespaces and raw memory."""
    doors, _ = walk([*roots(real), *values()], frozenset())
    found = {door.rpartition(" is ")[2] for door in doors}
    assert {"a module", "code or a frame", "a module's namespace", "raw memory"} <= found


def test_nothing_in_the_facades_leads_out_or_is_shared() -> None:
    """Two episodes have no container in common that one could fill and the other read."""
    shared = Modules(scipy=True)

    def seen_by(digest: bytes) -> dict[Any, tuple[str, Any]]:
        episode = shared.for_episode(digest)
        found = []
        for space, facade in [(space, episode[space]) for space in ("numpy", "random", *episode)]:
            found += [
                (f"{space}.{name}", value) for name, value in vars(facade).items() if name.isidentifier()
            ]
        doors, seen = walk([(path, value) for path, value in found if not is_restricted(path)])
        assert doors == []
        return seen

    first, second = seen_by(b"a" * 32), seen_by(b"b" * 32)
    mutable = (list, dict, set, bytearray, collections.deque)
    known = {id(value) for _, value in second.values()}
    common = [
        path
        for path, value in first.values()
        if id(value) in known
        and (isinstance(value, mutable) or (isinstance(value, np.ndarray) and value.flags.writeable))
    ]
    assert not common, common


def test_random_numbers_come_from_the_episode_alone() -> None:
    """However a generator is made or seeded, the same episode draws the same numbers and another one others."""

    def drawn(digest: bytes) -> list[float]:
        modules = Modules().for_episode(digest)
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
