"""A policy's returns depend only on source, seeds and parameters, whatever it tries to pass on between episodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from promptpo_sandbox import Limits, Rollout, Sandbox, Trial
from tests.sandbox.canaries import Canaries, CanaryEnv
from tests.sandbox.test_attacks import PASSING

LEGITIMATE = sorted(Path(__file__).parent.joinpath("legitimate").glob("*.py"))
LIMITS = Limits(step_seconds=2.0, episode_seconds=10.0, construct_seconds=5.0)
SLOW = ("hang_", "memory_", "protocol_output", "source_", "exit_exception", "numpy_repeat", "numpy_svd")
"""Attacks whose outcome depends on time or size."""
ADMITTED = [path for path in PASSING if "@" not in path.read_text() and not path.stem.startswith(SLOW)]
SEEDS = (1, 2, 3)


@pytest.fixture(scope="module")
def lanes_box() -> Iterator[Sandbox]:
    """A sandbox whose deadlines even a busy machine meets."""
    with Sandbox(LIMITS) as sandbox:
        yield sandbox


def returns(rollout: Rollout) -> dict[int, object]:
    """Return the outcome of each seed."""
    return {
        episode.seed: (episode.return_, episode.steps, episode.failure and episode.failure.kind)
        for episode in rollout.episodes
    }


def outcomes(box: Sandbox, source: str, lanes: int) -> dict[int, object]:
    """Return the outcomes of all seeds in one guest with this many lanes."""
    return returns(box.rollout(source, [CanaryEnv() for _ in range(lanes)], [Trial(seed) for seed in SEEDS]))


def test_gate_admits_attacks_to_try() -> None:
    """Otherwise the tests below would be empty."""
    names = {path.stem for path in ADMITTED}
    assert {"cheat_memory_module", "cheat_entropy", "cheat_uninitialised"} <= names


PROGRAMS = [
    pytest.param(path, marks=[] if i % 3 == 0 else pytest.mark.slow, id=f"{path.parent.name}-{path.stem}")
    for i, path in enumerate([*ADMITTED, *LEGITIMATE])
]
"""Default tests run every third, slow tests all."""


@pytest.mark.parametrize("path", PROGRAMS)
def test_lanes_and_guests_agree(path: Path, lanes_box: Sandbox, canaries: Canaries) -> None:
    """One lane, two lanes and a guest for each seed give equal returns."""
    source = canaries.arm(path.read_text())
    one, two = (outcomes(lanes_box, source, lanes) for lanes in (1, 2))
    alone: dict[int, object] = {}
    for seed in SEEDS:
        alone |= returns(lanes_box.rollout(source, [CanaryEnv()], [Trial(seed)]))
    for other in (one, two):
        assert all(alone[seed] == outcome for seed, outcome in other.items())
    assert bool(one) == bool(two) == bool(alone)


LIBRARY_FUNCTION = "failed", "mark({0}().args[0])", "seen({0}().args[0])"
"""A function of numpy that one of its errors names."""
STATES = (
    ("[]", "{0}.append(1)", "len({0})"),
    ("[0]", "{0}[0] += 1", "{0}[0]"),
    ("{{}}", "{0}[len({0})] = 1", "len({0})"),
    ("set()", "{0}.add(len({0}))", "len({0})"),
    ("bytearray()", "{0}.append(1)", "len({0})"),
    ("np.zeros(1)", "{0}[0] += 1", "{0}[0]"),
    ("np.zeros((2, 2)).T[0]", "{0}[0] += 1", "{0}[0]"),
    ("np.empty(64)", "{0}[:] += 1", "{0}.sum()"),
    ("deque()", "{0}.append(1)", "len({0})"),
    ("deque([0, 1, 2])", "{0}.rotate(1)", "{0}[0]"),
    ("Counter()", "{0}.update('a')", "{0}['a']"),
    ("defaultdict(int)", "{0}['a'] += 1", "{0}['a']"),
    ("OrderedDict()", "{0}[len({0})] = 1", "len({0})"),
    *((value, "pass", "next({0}, 0)") for value in (
        "iter(range(9))", "reversed([0, 1, 2])", "(i for i in range(9))", "map(abs, [-2, 0, -1])", "filter(None, [1, 2, 1])",
    )),
    *((f"itertools.{value}", "pass", "next({0}, 0)") for value in (
        "count()", "cycle([0, 1, 2])", "accumulate(range(9))", "chain([1, 2], [0])", "islice(range(9), 1, 8)",
        "dropwhile(abs, range(9))", "compress(range(9), [1, 0, 1, 1])", "starmap(max, [(0, 1), (2, 0)])", "tee(range(9))[0]",
        "filterfalse(abs, range(3))",
    )),
    *((f"itertools.{value}", "pass", "len(next({0}, ''))") for value in (
        "permutations('ab', 2)", "product('ab')", "pairwise('abc')", "zip_longest('ab', 'abc')", "combinations('abc', 2)",
    )),
    ("lru_cache(maxsize=None)(lambda q: q)", "{0}(step)", "{0}.cache_info().misses"),
    ("cache(lambda q: [q])", "{0}(1).append(1)", "len({0}(1))"),
    ("Own()", "{0}.seen += 1", "{0}.seen"),
    ("Own", "{0}.seen += 1", "{0}.seen"),
    ("kept", "{0}.seen = getattr({0}, 'seen', 0) + 1", "{0}.seen"),
    ("Failed([])", "{0}.held.append(1)", "len({0}.held)"),
    ("Tally()", "{0}()", "{0}()"),
    ("Listed()", "{0}.held.append(1)", "len({0}.held)"),
    ("(lambda held=[]: held)", "{0}().append(1)", "len({0}())"),
    ("steps()", "pass", "next({0})"),
    ("Point(1.0, [])", "{0}.y.append(1)", "len({0}.y)"),
    ("partial(kept, held=[])", "{0}().append(1)", "len({0}())"),
    ("random.Random()", "pass", "int({0}.random() * 100)"),
    ("random.Random(3)", "{0}.seed(None)", "int({0}.random() * 100)"),
    ("random.random", "pass", "int({0}() * 100)"),
    ("random.gauss", "pass", "int({0}(0, 50))"),
    ("np.random.default_rng()", "pass", "int({0}.random() * 100)"),
    ("np.random.default_rng(1)", "{0}.shuffle(list(range(3)))", "int({0}.spawn(1)[0].random() * 100)"),
    ("np.random.RandomState()", "pass", "int({0}.rand() * 100)"),
    ("np.random.rand", "pass", "int({0}() * 100)"),
    ("tally()", "pass", "{0}()"),
    ("deep", "pass", "{0}(0)"),
    LIBRARY_FUNCTION,
    *((f"{name}", "mark({0})", "seen({0})") for name in (
        "np.sin", "np.mean", "np.linalg.norm", "math.sin", "heapq.nlargest", "deque", "np.float32",
        "np.random.RandomState", "print", "len", "int",
        "ValueError", "itertools.chain", "partial", "copy.copy", "lru_cache",
        "np.random.default_rng", "json.loads", "bisect.bisect",
    )),
)  # fmt: skip
"""State at the top of a module: a value, a statement that changes it, and an expression that reads it."""
PLACES = (
    ("{0} = {1}", "{0}"),
    ("{0} = [({1},)]", "{0}[0][0]"),
    ("{0} = {{'a': {1}}}", "{0}['a']"),
    ("class {0}:\n    held = {1}", "{0}.held"),
    ("class {0}_:\n    def __init__(self):\n        self.held = {1}\n{0} = {0}_()", "{0}.held"),
    ("def {0}(held={1}):\n    return held", "{0}()"),
    ("def {0}_(value):\n    def held():\n        return value\n    return held\n{0} = {0}_({1})", "{0}()"),
    ("def {0}():\n    pass\n{0}.held = {1}", "{0}.held"),
    ("def {0}_(held):\n    while True:\n        yield held\n{0} = {0}_({1})", "next({0})"),
    ("@cache\ndef {0}():\n    return {1}", "{0}()"),
    ("{0} = partial(kept, {1})", "{0}()"),
    ("{0} = itertools.repeat({1})", "next({0})"),
)  # fmt: skip
"""Places to keep the state, each with the expression that reaches it."""
PRELUDE = """
import bisect, copy, heapq, itertools, json, math, random
import numpy as np
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
class Own:
    seen = 0
@dataclass
class Point:
    x: float
    y: list
class Failed(Exception):
    def __init__(self, held):
        self.held = held
class Tally:
    def __init__(self):
        self.n = 0
    def __call__(self):
        self.n += 1
        return self.n
@dataclass
class Listed:
    held: list = field(default_factory=list)
def kept(held=None):
    return held
def tally():
    n = 0
    def count():
        nonlocal n
        n += 1
        return n
    return count
def deep(n):
    try:
        return deep(n + 1)
    except RecursionError:
        return n
def steps():
    n = 0
    while True:
        n += 1
        yield n
def failed():
    try:
        np.add(np.array(["a"]), 1)
    except TypeError as error:
        return error
def mark(thing):
    try:
        thing.mark = getattr(thing, "mark", 0) + 1
    except (AttributeError, TypeError):
        pass
def seen(thing):
    return getattr(thing, "mark", 0)
"""


@example([(LIBRARY_FUNCTION, PLACES[0])], 0)
@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sampled_from(STATES), st.sampled_from(PLACES)), min_size=1, max_size=6),
    st.integers(0, 1000),
)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_state_of_every_kind_stays_in_its_episode(
    lanes_box: Sandbox, drawn: list[tuple[tuple[str, str, str], tuple[str, str]]], seed: int
) -> None:
    """Programs with state at the top of the module return the same with one lane, two, six, and a guest for each episode."""
    top, changes, reads = [], [], []
    for i, ((value, change, read), (definition, reached)) in enumerate(drawn):
        place = reached.format(f"S{i}")
        top.append(definition.format(f"S{i}", value.format("")))
        changes.append(change.format(place))
        reads.append(read.format(place))
    act = "\n        ".join(["step = float(obs[0])", *changes, f"return int({' + '.join(reads)}) % 3"])
    source = "\n".join([PRELUDE, *top, f"class Policy:\n    def act(self, obs):\n        {act}\n"])
    trials = [Trial(seed + n) for n in range(6)]
    one, two, six = (
        lanes_box.rollout(source, [CanaryEnv() for _ in range(lanes)], trials) for lanes in (1, 2, 6)
    )
    apart = lanes_box.rollout(source, [CanaryEnv()], trials, apart=True)
    assert one.failure is None, one.failure
    assert not any(episode.failure for episode in one.episodes)
    assert returns(one) == returns(two) == returns(six) == returns(apart)
