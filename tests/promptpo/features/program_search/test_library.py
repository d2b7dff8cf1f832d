"""The program forms of program search for each kind of space."""

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from promptpo.errors import UnsupportedSpaceError
from promptpo.features.program_search.actions import write_action
from promptpo.features.program_search.features import count_states, read_observation
from promptpo.features.program_search.library import (
    STRATEGIES,
    Genome,
    read_genome,
    structures_for,
    write_program,
)
from promptpo.program import Program
from promptpo_sandbox import check_source

CARTPOLE = spaces.Box(
    np.array([-4.8, -np.inf, -0.418, -np.inf], np.float32), np.array([4.8, np.inf, 0.418, np.inf], np.float32)
)
CHEETAH = spaces.Box(-np.inf, np.inf, (17,))
SIX_JOINTS = spaces.Box(-1.0, 1.0, (6,))
NESTED = spaces.Dict(
    {
        "position": spaces.Box(-1.0, 1.0, (2,)),
        "mode": spaces.Discrete(3, start=1),
        "many": spaces.Discrete(50),
        "flags": spaces.MultiBinary(2),
        "levels": spaces.MultiDiscrete([3, 4]),
        "camera": spaces.Box(0, 255, (8, 8, 3), np.uint8),
        "note": spaces.Text(5),
        "pair": spaces.Tuple((spaces.Box(-2.0, 2.0, ()), spaces.Discrete(2))),
    }
)
COMPOUND = spaces.Dict(
    {
        "gear": spaces.Discrete(3),
        "wheel": spaces.Box(-0.5, 0.5, (1,)),
        "lights": spaces.MultiBinary(2),
        "levels": spaces.MultiDiscrete([3, 2]),
        "pair": spaces.Tuple((spaces.Discrete(2), spaces.Box(0.0, 10.0, (2, 2)))),
    }
)
PIXELS = spaces.Box(0, 255, (96, 96, 3), np.uint8)
OBSERVATIONS = [CARTPOLE, CHEETAH, NESTED, spaces.Discrete(500), PIXELS, spaces.Discrete(9)]
ACTIONS = [
    spaces.Discrete(2), SIX_JOINTS, COMPOUND, spaces.Box(0, 3, (1,)), spaces.Discrete(30),
    spaces.Discrete(5),
]  # fmt: skip


def every_program() -> Iterator[Any]:
    """Yield all programs of the library for pairs of the spaces above, and varied ones."""
    for observation, action in zip(OBSERVATIONS, ACTIONS, strict=True):
        for genome in structures_for(observation, action):
            yield observation, action, genome
        yield observation, action, Genome("linear", ordered=True, variant=7)


@pytest.mark.slow
def test_every_program_is_valid_and_readable() -> None:
    """It passes the gate, documents itself and declares exactly the parameters that it uses."""
    for observation, action, genome in every_program():
        source = write_program(genome, observation, action)
        assert check_source(source) is None
        tree = ast.parse(source)
        docstring = ast.get_docstring(tree)
        assert docstring is not None
        assert "without a language model" in docstring
        assert read_genome(source) == genome
        named = {node.slice.value for node in ast.walk(tree) if _is_param(node)}
        params = Program(source).params
        assert named == set(params)
        assert all(low <= value <= high for value, low, high in params.values())
        assert all(len(line) <= 120 for line in source.splitlines() if "np.array(" not in line)


def _is_param(node: Any) -> Any:
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "p"


def test_programs_have_moderate_length() -> None:
    for observation, action, genome in every_program():
        assert len(write_program(genome, observation, action)) < 60_000


def test_cartpole_gets_a_weighted_sum() -> None:
    source = write_program(Genome("linear"), CARTPOLE, spaces.Discrete(2))
    assert list(Program(source).params) == ["bias", "x0", "x1", "x2", "x3"]
    assert "x1 = obs[1]\n" in source
    assert "return int(score > 0.0)" in source
    assert "Above 0 the action is 1, else 0." in source


def test_tuned_ranges_replace_the_defaults() -> None:
    source = write_program(Genome("linear"), CARTPOLE, spaces.Discrete(2), {"x2": (0.7, 0.5, 0.9)})
    assert Program(source).params == {"x2": (0.7, 0.5, 0.9)}


def test_small_discrete_observations_get_a_table_first() -> None:
    """Compositions of small spaces get one, too; large spaces do not."""
    cards = spaces.Tuple((spaces.Discrete(32), spaces.Discrete(11), spaces.Discrete(2)))
    for space in (spaces.Discrete(500), cards, spaces.MultiDiscrete([5, 5])):
        assert structures_for(space, spaces.Discrete(2))[0] == Genome("table")
    source = write_program(Genome("table"), cards, spaces.Discrete(3, start=1))
    assert Program(source).table == {}
    assert Program(source).actions == (1, 2, 3)
    assert "return (int(obs[0]), int(obs[1]), int(obs[2]))" in source
    assert structures_for(spaces.MultiDiscrete([100, 100]), spaces.Discrete(2))[0] != Genome("table")
    assert structures_for(spaces.Discrete(5), SIX_JOINTS)[0] != Genome("table")


def test_states_are_counted() -> None:
    """A continuous component makes the number infinite."""
    assert count_states(spaces.Tuple((spaces.Discrete(3), spaces.MultiBinary(2)))) == 12
    assert count_states(spaces.Dict({"a": spaces.Discrete(3), "b": CARTPOLE})) is None
    assert count_states(CARTPOLE) is None


def test_features_are_normalised() -> None:
    """Observed values determine the scale, or else the bounds; constant unbounded features stay unchanged."""
    space = spaces.Box(np.array([0.0, -np.inf, -np.inf]), np.array([100.0, np.inf, np.inf]), dtype=np.float64)
    for seen, want in (
        ([], [0.5, 160.0, 0.5]),
        ([np.array([5.0, -320.0, 0.5]), np.array([15.0, -160.0, 0.5])], [13.0, 5.0, 0.5]),
    ):
        features = read_observation(space, seen)
        namespace = {"obs": np.array([75.0, 160.0, 0.5]), "np": np}
        assert [eval(each, namespace) for each in features.each] == want  # noqa: S307 - our own templates
        assert eval(features.lines[-1].removeprefix("return "), namespace) == want  # noqa: S307


def test_features_are_named_as_in_the_spec() -> None:
    """Names must be unique words."""
    called = {"obs[0]": "cart_position", "obs[1]": "speed", "obs[2]": "speed", "obs[3]": "p"}
    source = write_program(Genome("linear"), CARTPOLE, spaces.Discrete(2), called=called)
    assert list(Program(source).params) == ["bias", "cart_position", "x1", "x2", "x3"]
    assert "cart_position = obs[0] / 4.8" in source


def test_features_of_nested_observations_are_named() -> None:
    """Text is left out; small categories are one-hot."""
    names = read_observation(NESTED).names
    assert {"x_position0", "x_mode2", "x_many", "x_flags1", "x_levels0", "x_camera15", "x_pair_0"} <= set(
        names
    )
    assert not any("note" in name for name in names)
    assert len(names) == len(set(names)) == 2 + 3 + 1 + 2 + 2 + 16 + 1 + 2


def test_observation_without_numbers_has_a_constant_feature() -> None:
    assert read_observation(spaces.Text(9)).names == ("one",)


@pytest.mark.parametrize(
    "space", [spaces.Sequence(spaces.Discrete(2)), spaces.Graph(spaces.Discrete(2), None)]
)
def test_unsupported_spaces_are_rejected(space: Any) -> None:
    """The error suggests a language model."""
    with pytest.raises(UnsupportedSpaceError, match="use a language model"):
        read_observation(space)
    with pytest.raises(UnsupportedSpaceError, match="use a language model"):
        write_action(space)


def test_every_structure_has_a_description() -> None:
    used = {genome.structure for _, _, genome in every_program()}
    assert used == set(STRATEGIES)


@pytest.mark.parametrize(
    "genome", [Genome("linear"), Genome("linear", ordered=True), Genome("linear", variant=12)]
)
def test_genome_round_trips_through_the_docstring(genome: Any) -> None:
    """Later rounds recognise their parents by it."""
    assert read_genome(f'"""A policy.\n\nStructure: {genome}\n"""\n') == genome


def test_other_programs_have_no_genome() -> None:
    assert read_genome('"""A PD controller.\n\nStructure: hand made, with love\n"""') is None
    assert read_genome("Structure: linear with magic\n") is None


@pytest.mark.parametrize("seed", range(12))
def test_helper_names_are_unique(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts: dict[str, Any] = {}
    for n in range(6):
        shape = tuple(int(size) for size in rng.integers(1, 9, rng.integers(1, 4)))
        parts[f"part_{n}"] = spaces.Box(0, float(rng.choice([1, 30, 500])), shape)
    parts |= {"many": spaces.Discrete(int(rng.integers(2, 40))), "flags": spaces.MultiBinary(3)}
    space = spaces.Dict(parts)
    source = write_program(Genome("linear"), space, COMPOUND, seen=[space.sample()])
    functions = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    assert len(functions) == len(set(functions))
    module: dict[str, Any] = {}
    exec(compile(source, "policy", "exec"), module)  # noqa: S102 - our own templates
    space.seed(seed)
    assert len(module["features"](space.sample())) == len(read_observation(space).names)
    params = {name: value for name, (value, _, _) in module["PARAMS"].items()}
    assert COMPOUND.contains(module["Policy"](params).act(space.sample()))
