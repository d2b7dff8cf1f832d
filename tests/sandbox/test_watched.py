"""A policy cannot detect that its episodes are recorded: returns are equal for every value of `record` and any number of lanes."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptpo_sandbox import Layers, Record, Sandbox, Trial
from tests.sandbox.canaries import Canaries, CanaryEnv
from tests.sandbox.test_lanes import PROGRAMS, lanes_box, returns

__all__ = ["lanes_box"]

RECORDS: tuple[Record, ...] = (False, True, "seen", "info")
TRIALS = [Trial(seed) for seed in (1, 2, 3)]


def play(box: Sandbox, source: str, record: Record, lanes: int) -> dict[int, object]:
    """Return the outcome of each seed."""
    envs = [CanaryEnv() for _ in range(lanes)]
    return returns(box.rollout(source, envs, TRIALS, record=record, stop_on_failure=False))


@pytest.mark.parametrize("path", PROGRAMS)
def test_recording_does_not_change_returns(path: Path, lanes_box: Sandbox, canaries: Canaries) -> None:
    """This holds for any program, hostile or not."""
    source = canaries.arm(path.read_text())
    plain = play(lanes_box, source, False, 1)
    for record in RECORDS[1:]:
        assert play(lanes_box, source, record, 2) == plain, record


POLICY = """
class Value:
    def __init__(self):
        self.n = 0
    def __len__(self):
        self.n += 1
        return 1
    def __iter__(self):
        self.n += 1
        return iter([])
    def __repr__(self):
        self.n += 1
        return ""
VALUE = Value()
{0}
class Policy:
    def __init__(self):
        self.seen = 0
    {1}
    def act(self, obs):
        {2}
        return ({3}) % 3
"""
PERCEIVE = "def perceive(self, obs):\n        return {0}"
WAYS = {
    "a property": (
        "",
        "@property\n    def debug(self):\n        self.seen += 1\n        return {}",
        "",
        "self.seen",
    ),
    "a value that counts": ("", "", "self.debug = {'a': VALUE}", "VALUE.n"),
    "a dict with a key that counts": ("", "", "self.debug = {VALUE: 1}", "VALUE.n"),
    "a value of its own kind": ("", "", "self.debug = VALUE", "VALUE.n"),
    "an attribute of the class": ("", "debug = VALUE", "", "VALUE.n"),
    "a caught lookup": (
        "",
        "",
        "self.debug = {'a': 1}; self.debug = dict(self.debug, b=2)",
        "len(self.debug)",
    ),
    "what it perceives": ("", PERCEIVE.format("{'a': VALUE}"), "self.perceive(obs)", "VALUE.n"),
    "what it perceives as a list": ("", PERCEIVE.format("{'a': [VALUE]}"), "self.perceive(obs)", "VALUE.n"),
    "whether perceive is its own": (
        "",
        PERCEIVE.format("{}") + "\n    original = perceive",
        "x = self.perceive(obs)",
        "int(Policy.perceive is Policy.original)",
    ),
    "whether the class has it": ("", PERCEIVE.format("{}"), "", "len(repr(Policy.perceive)) > 10"),
    **{
        f"perceive as {name}": (
            f"class Caller:\n    def __call__(self, obs):\n        return {{'a': obs[0]}}\nfrom functools import cache, partial\n{before}",
            f"perceive = {value}",
            "x = self.perceive(obs)",
            "1",
        )
        for name, (before, value) in {
            "an object": ("", "Caller()"),
            "a class": ("class Kind:\n    def __init__(self, obs):\n        pass", "Kind"),
            "a builtin": ("", "len"),
            "a partial": ("", "partial(len)"),
            "a function": ("def look(self, obs):\n    return {'a': 1}", "look"),
            "a cached function": (
                "@cache\ndef look(self, obs):\n    return 1",
                "lambda self, obs: look(1, 2)",
            ),
            "a static method": ("", "staticmethod(lambda obs: {'a': 1})"),
            "a class method": ("", "classmethod(lambda cls, obs: {'a': 1})"),
        }.items()
    },
    "how deep it may go": (
        "def deep(n):\n    try:\n        return deep(n + 1)\n    except RecursionError:\n        return n",
        PERCEIVE.format("{'n': deep(0)}"),
        "self.seen = self.perceive(obs)['n']",
        "self.seen",
    ),
}
"""Ways to detect a reader of its values: definitions, a member, statements in `act` and its return value."""


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_policy_cannot_detect_recording(way: tuple[str, ...], lanes_box: Sandbox) -> None:
    """Reads of its values and wrappers around it show no difference."""
    source = POLICY.format(*way)
    outcomes = {
        (record, lanes): play(lanes_box, source, record, lanes)
        for record, lanes in zip((False, *RECORDS), (1, 3, 1, 3, 1), strict=True)
    }
    first = outcomes[False, 1]
    assert [one for one in first.values() if not (isinstance(one, tuple) and one[2] is None)] == []
    assert all(other == first for other in outcomes.values()), outcomes


CARRYING = """
import builtins
import collections
import sys
import numpy as np

class Policy:
    def __init__(self):
        {0}
    def act(self, obs):
        return self.n % 3
"""
PLACES = (
    "sys.n = self.n = getattr(sys, 'n', 0) + 1",
    "builtins.n = self.n = getattr(builtins, 'n', 0) + 1",
    "collections.Counter.n = self.n = getattr(collections.Counter, 'n', 0) + 1",
    "d = np.linalg.eigh(np.eye(2))._field_defaults; d['n'] = self.n = d.get('n', 0) + 1",
)


def test_separate_guests_share_no_state() -> None:
    """Even without the gate, the order of episodes does not matter."""
    with Sandbox(layers=Layers(gate=False), allow_weaker=True) as box:
        for place in PLACES:
            source = CARRYING.format(place)
            shared = box.rollout(source, [CanaryEnv()], TRIALS)
            apart = box.rollout(source, [CanaryEnv(), CanaryEnv()], TRIALS, apart=True)
            alone = [box.rollout(source, [CanaryEnv()], [trial]).episodes[0] for trial in TRIALS]
            assert apart.failure is None
            assert [e.return_ for e in apart.episodes] == [e.return_ for e in alone], place
            assert [e.return_ for e in shared.episodes] != [e.return_ for e in alone], place


def test_failures_in_separate_guests(box: Sandbox) -> None:
    """Each episode has its own; a rejected source fails every trial."""
    source = "class Policy:\n    def act(self, obs):\n        return 0 if {0} else 1 / 0\n"
    rollout = box.rollout(
        source.format("obs[0] > 9"), [CanaryEnv()], TRIALS, apart=True, stop_on_failure=False
    )
    assert [e.failure.kind for e in rollout.episodes if e.failure] == ["crashed"] * 3
    refused = box.rollout("import os\n", [CanaryEnv()], TRIALS, apart=True, stop_on_failure=False)
    assert refused.failure is not None
    assert [e.failure.kind for e in refused.episodes if e.failure] == ["rejected"] * 3
