"""Arrays in PARAMS: parsed without execution, tuned element by element, written back in place, labelled as one."""

import ast
import math
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.program import Program
from promptpo.program.param_arrays import bound_of_block, group_by_array, label
from promptpo_sandbox import Sandbox, Trial, check_source
from promptpo_sandbox.arrays import assemble, element_names, read_array

LINEAR = '''"""A linear map, ünïcödé included."""
import numpy as np

PARAMS = {
    "W": (np.zeros((2, 4)), -1.0, 1.0),  # one row for each push
    "gain": (1.5, 0.0, 5.0),
    "b": ([0.25, -0.5], -1, 1),
}


class Policy:
    def __init__(self, params):
        assert isinstance(params["W"], np.ndarray) and isinstance(params["gain"], float)
        self.W, self.b, self.gain = params["W"], params["b"], params["gain"]

    def act(self, obs):
        return int(np.argmax(self.gain * (self.W @ obs + self.b)))
'''

SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)


@pytest.mark.parametrize(
    ("text", "shape", "first"),
    [
        ("np.zeros(3)", (3,), 0.0),
        ("numpy.ones((2, 3))", (2, 3), 1.0),
        ("np.full((2,), -0.5)", (2,), -0.5),
        ("np.full(shape=2, fill_value=3)", (2,), 3.0),
        ("np.array([[1, 2], [3, -4]])", (2, 2), 1.0),
        ("np.zeros((1, 2), dtype=np.float32)", (1, 2), 0.0),
        ("[0.5] * 4", (4,), 0.5),
        ("[[0.0] * 3 for _ in range(2)]", (2, 3), 0.0),
        ("2 * [[0.0, 1.0]]", (2, 2), 0.0),
        ("((1.0,), (2.0,))", (2, 1), 1.0),
    ],
)
def test_array_expressions_are_parsed(text: str, shape: Any, first: float) -> None:
    read = read_array(ast.parse(text, mode="eval").body)
    assert read is not None
    assert read[0] == shape
    assert read[1][0] == first
    assert len(read[1]) == math.prod(shape)
    program = Program(f"PARAMS = {{'W': ({text}, -9, 9)}}\n")
    assert program.arrays == {"W": shape}


@pytest.mark.parametrize(
    "text",
    [
        "np.zeros((2000,))", "np.zeros(0)", "np.zeros((2, -3))", "np.zeros(n)", "np.random.randn(3)", "[[1, 2], [3]]",
        "[]", "[[]]", "['a', 'b']", "[True]", "np.zeros((1, 1, 1, 1))", "np.zeros(3, dtype=int)", "[1e999]",
        "[i for i in range(3)]", "[0.0 for _ in range(9) if _]", "[0] * 10 ** 9", "1.0", "open('x')", "xp.zeros(3)",
    ],
)  # fmt: skip
def test_other_expressions_are_not_arrays(text: str) -> None:
    """Nothing is executed and nothing large is built."""
    assert read_array(ast.parse(text, mode="eval").body) is None
    assert Program(f"PARAMS = {{'W': ({text}, 0, 1)}}\n").arrays == {}


def test_list_of_three_numbers_is_a_value_with_bounds() -> None:
    """Older programs rely on it."""
    program = Program("PARAMS = {'kd': [-0.5, -1, 1], 'W': [[0.5, 0.25], 0, 1]}\n")
    assert program.params == {"kd": (-0.5, -1, 1), "W[0]": (0.5, 0, 1), "W[1]": (0.25, 0, 1)}


@given(SHAPES, st.data())
def test_written_arrays_round_trip(shape: Any, data: Any) -> None:
    """Six digits are kept, and other source does not change."""
    program = Program(f"X = 'é'; PARAMS = {{'é': (np.zeros({shape!r}), -1, 1), 'kp': (1, 0, 2)}}  # kept\n")
    names = element_names("é", shape)
    values = data.draw(st.lists(st.floats(-1e3, 1e3), min_size=len(names), max_size=len(names)))
    written = program.with_values(dict(zip(names, values, strict=True)))
    assert [written.params[name][0] for name in names] == [float(f"{value:.6g}") for value in values]
    assert written.params["kp"] == (1, 0, 2)
    assert written.source.startswith("X = 'é'; PARAMS = {'é': (np.array([")
    assert written.source.endswith(", -1, 1), 'kp': (1, 0, 2)}  # kept\n")
    assert written.with_values(dict.fromkeys(names, 0.0)).arrays == {"é": shape}


@given(st.dictionaries(st.text("Wab", min_size=1, max_size=2), SHAPES, max_size=4), st.data())
def test_elements_are_assembled_into_arrays(shapes: Any, data: Any) -> None:
    params = {f"{name}!": 0.5 for name in shapes}
    for name, shape in shapes.items():
        params |= {part: data.draw(st.floats(-1, 1)) for part in element_names(name, shape)}
    given_ = assemble(params, {"W!": (0.5, 0, 1)})
    assert set(given_) == {*shapes, *(f"{name}!" for name in shapes)}
    for name, shape in shapes.items():
        assert given_[name].shape == shape
        assert given_[name].ravel().tolist() == [params[part] for part in element_names(name, shape)]


def test_names_that_resemble_elements_stay_scalars() -> None:
    """Keys may contain brackets; an incomplete group is not an array."""
    assert assemble({"k[0]": 1.0}, {"k[0]": (1.0, 0, 2)}) == {"k[0]": 1.0}
    assert assemble({"k[1]": 1.0, "k[999]": 2.0}) == {"k[1]": 1.0, "k[999]": 2.0}
    both = Program("PARAMS = {'W': ([1.0, 2.0], 0, 3), 'W[0]': (1, 0, 2)}\n")
    assert list(both.params) == ["W[0]", "W[1]"]


def test_policy_with_arrays_runs_sandboxed_and_exported(tmp_path: Any) -> None:
    """Both act alike with the tuned values."""
    from promptpo.output.exporting import export_text
    from tests.promptpo.output.test_export import load, provenance

    program = Program.from_source(LINEAR).with_values(
        {"W[1,2]": 1.0, "W[1,3]": 0.75, "b[0]": 0.0, "b[1]": 0.0}
    )
    assert check_source(program.source) is None
    env = gymnasium.make("CartPole-v1")
    with Sandbox() as box:
        rollout = box.rollout(program.source, [env], [Trial(3, program.values, 60)], record=True)
    (episode,) = rollout.episodes
    assert episode.failure is None
    assert episode.return_ == 60
    for source in (program.source, program.source.replace("(1.5, 0.0, 5.0)", "1.5")):
        path = tmp_path / "policy.py"
        path.write_text(export_text(source, provenance("CartPole-v1"), action_space=env.action_space))
        module = load(path)
        obs, _ = env.reset(seed=3)
        state, total = None, 0.0
        for _ in range(60):
            action, state = module.predict(obs, state)
            obs, reward, ended, _, _ = env.step(action)
            total += float(reward)
            if ended:
                break
        assert total == 60
        state[0].W[:] = 9.0
        assert module.new_policy().W[1, 2] == 1.0


def test_unreadable_array_is_rejected_with_a_remedy() -> None:
    """Other uses of PARAMS are unaffected."""
    refused = check_source(LINEAR.replace("np.zeros((2, 4))", "np.zeros((20, 400))"))
    assert refused is not None
    assert "'W' in PARAMS cannot be read" in refused.message
    assert "at most 1000 numbers" in refused.message
    other = LINEAR.replace('"gain": (1.5', '"legs": [[0, 1], [2]], "a": ("x", 1, 2), "gain": (1.5')
    assert check_source(other) is None


def test_elements_are_grouped_by_array() -> None:
    """Messages name the array instead of its elements."""
    names = element_names("W", (2, 4))
    tuned = Program.from_source(LINEAR).with_values({**dict.fromkeys(names, 0.5), "W[0,0]": 1.0, "gain": 2.0})
    arrays = tuned.arrays
    assert list(group_by_array(tuned.params, arrays)) == ["W", "gain", "b"]
    assert [label(name, arrays) for name in ("W", "b", "gain")] == ["W (2 x 4)", "b (2 numbers)", "gain"]
    assert bound_of_block(["upper", "", "", "lower", "upper"]) == "upper"
    assert bound_of_block(["", "lower", "", "", ""]) == ""


def test_written_array_evaluates_to_its_values() -> None:
    written = Program.from_source(LINEAR).with_values({"W[1,3]": 0.5})
    node = ast.parse(written.source).body[2].value.values[0].elts[0]
    made = eval(ast.unparse(node), {"np": np})  # noqa: S307 - our own text
    assert made.shape == (2, 4)
    assert made[1, 3] == 0.5
