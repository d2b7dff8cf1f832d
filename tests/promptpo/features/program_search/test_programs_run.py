"""Programs of program search run in the sandbox and return valid actions."""

import ast
import enum
from collections import Counter
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import example, given, settings
from hypothesis import strategies as st

from promptpo.features.program_search.library import structures_for, write_program
from promptpo.features.program_search.writer import Genome
from promptpo.program import Program
from promptpo.program.reference_policies import zero_policy
from promptpo.spec.fields import fields_of
from promptpo_sandbox import Sandbox, Trial
from tests.promptpo.features.program_search.test_library import ACTIONS, OBSERVATIONS


class Anything(gymnasium.Env):
    """Gives random observations of a space and takes any action of another."""

    def __init__(self, observation_space: Any, action_space: Any) -> None:
        self.observation_space, self.action_space = observation_space, action_space

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """A seeded random observation."""
        super().reset(seed=seed, options=options)
        self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> Any:
        """One point for every action of the space; anything else is a fault of this test's subject."""
        assert self.action_space.contains(action), action
        return self.observation_space.sample(), 1.0, False, False, {}


@pytest.fixture(scope="module")
def box() -> Iterator[Any]:
    """A sandbox shared by all programs."""
    with Sandbox(allow_weaker=True) as sandbox:
        yield sandbox


def runs_to_its_end(box: Any, source: Any, env: Any, params: Any) -> Any:
    rollout = box.rollout(source, [env], [Trial(1, params, 5)])
    assert rollout.failure is None, f"{rollout.failure}\n{source}"
    return rollout.episodes[0].return_ == 5.0


@pytest.mark.parametrize(("observation", "action"), zip(OBSERVATIONS, ACTIONS, strict=True))
def test_programs_act_in_their_action_space(box: Any, observation: Any, action: Any) -> None:
    """Parameters are at their defaults and at their extremes."""
    env = Anything(observation, action)
    for genome in [
        *structures_for(observation, action)[:5],
        Genome("linear", variant=3),
    ]:
        source = write_program(genome, observation, action)
        params = Program(source).params
        assert runs_to_its_end(box, source, env, {name: value for name, (value, _, _) in params.items()})
        assert runs_to_its_end(box, source, env, {name: high for name, (_, _, high) in params.items()})


@pytest.mark.parametrize(
    "action",
    [
        spaces.Discrete(1),
        spaces.MultiDiscrete([[2, 3], [4, 5]]),
        spaces.MultiBinary([2, 2]),
        spaces.Box(0, 255, (3,), "uint8"),
        spaces.Box(-float("inf"), float("inf"), (2,)),
        spaces.Tuple((spaces.Discrete(4, start=3), spaces.Dict({"x": spaces.Box(-1, 1, ())}))),
    ],
)
def test_rarer_action_spaces(box: Any, action: Any) -> None:
    observation = spaces.Box(-1.0, 1.0, (2,))
    source = write_program(Genome("linear"), observation, action)
    params = {name: high for name, (_, _, high) in Program(source).params.items()}
    assert runs_to_its_end(box, source, Anything(observation, action), params)


PARTS = st.one_of(
    st.lists(st.integers(1, 9), min_size=1, max_size=3).map(
        lambda shape: spaces.Box(0, 1, shape, np.float32)
    ),
    st.integers(1, 150).map(lambda n: spaces.Box(-1, 1, (n,), np.float32)),
    st.integers(1, 40).map(spaces.Discrete),
    st.lists(st.integers(1, 9), min_size=1, max_size=4).map(spaces.MultiDiscrete),
    st.integers(1, 40).map(spaces.MultiBinary),
)
"""Tables, images, vectors and choices of many sizes, each of which may need a helper."""


@given(
    parts=st.lists(PARTS, min_size=1, max_size=4), action=st.sampled_from(ACTIONS), which=st.integers(0, 9)
)
@settings(max_examples=12, deadline=None)
def test_function_names_of_a_program_are_unique(box: Any, parts: Any, action: Any, which: int) -> None:
    """Several components of an observation may need a helper each."""
    observation = spaces.Dict({f"part {n}": part for n, part in enumerate(parts)})
    structures = structures_for(observation, action)
    source = write_program(structures[which % len(structures)], observation, action)
    for scope in ast.walk(ast.parse(source)):
        if isinstance(scope, ast.Module | ast.ClassDef | ast.FunctionDef):
            names = Counter(node.name for node in scope.body if isinstance(node, ast.FunctionDef))
            assert set(names.values()) <= {1}, source
    params = {name: value for name, (value, _, _) in Program(source).params.items()}
    assert runs_to_its_end(box, source, Anything(observation, action), params)


class Cell(enum.IntEnum):
    """Keys that are numbers."""

    WALL, CAR = 1, 8


class Colour(enum.StrEnum):
    """Keys that are texts."""

    RED = "red"


CELLS: Any = {Cell.WALL: spaces.Discrete(3), 6: spaces.Box(-1, 1, (1,))}
COLOURS: Any = {Colour.RED: spaces.Box(-1, 1, (2,)), "plain": spaces.Discrete(2)}
PAIRS: Any = {(0, Cell.CAR): spaces.Box(-1, 1, ())}
KEYED = spaces.Dict(
    {"cells": spaces.Dict(CELLS), "colours": spaces.Dict(COLOURS), "pairs": spaces.Dict(PAIRS)}
)
"""Enumeration members, numbers and tuples as keys."""


def test_dict_keys_are_accessible_to_policies(box: Any) -> None:
    """Specs, programs and the zero action use the keys that the sandbox passes on."""
    done = spaces.Dict({key: KEYED[key] for key in ("cells", "colours")})
    env = Anything(KEYED, done)
    paths = [item.path for item in fields_of("obs", KEYED, "")]
    zero = zero_policy(done)
    reads = zero.replace("return", f"assert len([{', '.join(paths)}]) == {len(paths)}\n        return")
    assert len(paths) == 6  # two in "cells", three in "colours", one in "pairs"
    assert runs_to_its_end(box, reads, env, None)
    source = write_program(Genome("linear"), KEYED, done)
    assert runs_to_its_end(
        box, source, env, {name: value for name, (value, *_) in Program(source).params.items()}
    )


def test_recorded_observations_have_plain_keys(box: Any) -> None:
    """Prompts must not show enumeration members."""
    source = write_program(Genome("linear"), KEYED, spaces.Discrete(2))
    params = {name: value for name, (value, *_) in Program(source).params.items()}
    rollout = box.rollout(source, [Anything(KEYED, spaces.Discrete(2))], [Trial(1, params, 2)], record="all")
    first = rollout.episodes[0].trajectory.observations[0]
    keys = [key for part in first.values() for key in part]
    assert sorted(map(repr, keys)) == sorted(map(repr, [1, 6, "red", "plain", (0, 8)]))


BOUNDS = st.tuples(
    st.sampled_from([-np.inf, -2 / 3, -0.1, 0.0, -1.0]), st.sampled_from([np.inf, 2 / 3, 1e7 / 3, 1.0])
)
KINDS = st.one_of(
    st.builds(
        lambda ends, shape, dtype: spaces.Box(*ends, shape, dtype),
        BOUNDS,
        st.sampled_from([(), (1,), (2,), (2, 2)]),
        st.sampled_from([np.float32, np.float64]),
    ),
    st.builds(spaces.Box, st.just(0), st.just(255), st.sampled_from([(1,), (3,)]), st.just(np.uint8)),
    st.builds(lambda n, start: spaces.Discrete(n, start=start), st.integers(1, 20), st.sampled_from([0, -2])),
    st.sampled_from([1, 3, (2, 2)]).map(spaces.MultiBinary),
    st.sampled_from([[2, 3], [[2, 3], [4, 5]]]).map(spaces.MultiDiscrete),
)
SPACES = st.recursive(
    KINDS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(spaces.Tuple),
        st.dictionaries(st.sampled_from(["a", "b c", "class"]), inner, min_size=1, max_size=3).map(
            spaces.Dict
        ),
    ),
    max_leaves=4,
)
"""Spaces of all kinds, simple and nested."""


@given(SPACES, SPACES, st.integers(0, 99))
@example(spaces.MultiBinary(1), spaces.MultiBinary(1), 0)
@example(spaces.Discrete(2), spaces.Tuple([spaces.Box(-1, 1, (2,)), spaces.Discrete(3)]), 0)
@example(spaces.Discrete(2), spaces.Dict({"a": spaces.Discrete(3), "b": spaces.Discrete(2)}), 0)
@settings(max_examples=60, deadline=None)
@pytest.mark.filterwarnings("error")
def test_library_programs_act_within_random_action_spaces(observation: Any, action: Any, seed: int) -> None:
    """Parameters are at their defaults and at their extremes; warnings of overflow are errors."""
    observation.seed(seed)
    seen = [observation.sample() for _ in range(4)]
    for genome in structures_for(observation, action):
        source = write_program(genome, observation, action, None, seen)
        program: dict[str, Any] = {}
        exec(source, program)  # noqa: S102 - our own text, in a test
        for end in range(3):
            params = {name: ends[end] for name, ends in program.get("PARAMS", {}).items()}
            policy = program["Policy"](params) if params else program["Policy"]()
            acted = policy.act(observation.sample())
            acted = np.int64(acted) if isinstance(action, spaces.Discrete) else acted
            assert action.contains(acted), f"{acted}\n{source}"


def test_unsigned_observations_do_not_wrap_around() -> None:
    """Subtracting the mean from bytes must give negative numbers."""
    observation, action = spaces.Box(0, 255, (2,), np.uint8), spaces.Box(-10, 10, (1,), np.float64)
    seen = [np.array([100, 9], np.uint8), np.array([132, 9], np.uint8)]
    program: dict[str, Any] = {}
    exec(write_program(Genome("linear"), observation, action, None, seen), program)  # noqa: S102 - our own text, in a test
    params = {name: 0.1 if name.endswith("0") else 0.0 for name in program["PARAMS"]}
    policy = program["Policy"](params)
    acts = [float(policy.act(np.array([byte, 0], np.uint8))[0]) for byte in range(0, 256, 15)]
    assert acts == sorted(acts)
    assert acts[0] < 0 < acts[-1]
