"""Reading and rewriting the literals of a policy."""

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.program import Program

SOURCE = '''"""Ünïcödé in the text before."""
PARAMS = {
    "kp": (1.2, 0.0, 5.0),  # proportional, « gain »
    "kd": [-0.5, -1, 1],    # a list will do
    "ü": (3, 1, 10),
}


class Policy:
    def act(self, obs):
        return 0
'''


def test_params_are_read_in_source_order() -> None:
    assert Program(SOURCE).params == {"kp": (1.2, 0.0, 5.0), "kd": (-0.5, -1.0, 1.0), "ü": (3.0, 1.0, 10.0)}
    assert list(Program(SOURCE).params) == ["kp", "kd", "ü"]


def test_writing_values_changes_nothing_else() -> None:
    """Comments, bounds and layout stay."""
    written = Program(SOURCE).with_values({"kp": 3.7, "kd": 0.25, "ü": 2.5, "unknown": 1.0}).source
    assert written == SOURCE.replace("(1.2,", "(3.7,").replace("[-0.5,", "[0.25,").replace("(3,", "(2.5,")


def test_non_finite_values_are_not_written() -> None:
    assert Program(SOURCE).with_values({"kp": float("nan"), "kd": float("inf")}).source == SOURCE


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("{'a': 2.0}", {"a": (2.0, 0.5, 8.0)}),
        ("{'a': -2.0}", {"a": (-2.0, -8.0, -0.5)}),
        ("{'a': 0.0}", {"a": (0.0, -1.0, 1.0)}),
        ("{'a': (9.0, 0.0, 5.0)}", {"a": (9.0, 0.0, 9.0)}),
        ("{'a': (1.0, 5.0, 0.0)}", {"a": (1.0, 0.0, 5.0)}),
        ("{'a': (1.0, 2.0)}", {}),
        ("{'a': 'x', 'b': (1, 0, 2)}", {"b": (1.0, 0.0, 2.0)}),
        ("{'a': (1e999, 0, 1)}", {}),
        ("{'a': open('x')}", {}),
        ("{**other, 'b': (1, 0, 2)}", {"b": (1.0, 0.0, 2.0)}),
        ("[1, 2]", {}),
        ("make()", {}),
    ],
)
def test_odd_declarations_are_parsed_or_ignored(literal: str, expected: Any) -> None:
    """Nothing is executed."""
    assert Program(f"PARAMS = {literal}\n").params == expected


def test_invalid_python_has_no_literals() -> None:
    """It is returned unchanged."""
    assert Program("PARAMS = {").params == {}
    assert Program("PARAMS = {").with_values({"a": 1.0}).source == "PARAMS = {"
    assert Program("TABLE = {").table is None


def test_last_top_level_assignment_counts() -> None:
    source = "PARAMS = {'a': (1, 0, 2)}\nPARAMS: dict = {'b': (1, 0, 2)}\ndef f():\n    PARAMS = {}\n"
    assert Program(source).params == {"b": (1.0, 0.0, 2.0)}


@given(st.dictionaries(st.text(min_size=1, max_size=8), st.floats(-1e6, 1e6), min_size=1, max_size=6))
def test_written_values_round_trip(values: Any) -> None:
    """Six significant digits are kept."""
    literal = ", ".join(f"{name!r}: (0.0, -1e7, 1e7)" for name in values)
    source = f"# é\nPARAMS = {{{literal}}}\n"
    back = Program(Program(source).with_values(values).source).params
    assert {name: value for name, (value, _, _) in back.items()} == pytest.approx(values, rel=1e-5, abs=1e-12)


@given(
    st.dictionaries(
        st.integers(-5, 500) | st.tuples(st.integers(0, 9), st.integers(0, 9)), st.integers(0, 5), max_size=60
    )
)
def test_tables_round_trip(table: Any) -> None:
    source = Program("X = 1\nTABLE = {}\nY = 2\n").with_table(table).source
    assert Program(source).table == table
    assert ast.parse(source).body[2].lineno == len(source.splitlines())


def test_actions_default_to_those_of_the_table() -> None:
    assert Program("ACTIONS = (0, 1, 2)\nTABLE = {}\n").actions == (0, 1, 2)
    assert Program("TABLE = {1: 3, 2: 4, 5: 3}\n").actions == (3, 4)
    assert Program("x = 1\n").actions == ()


def test_constants_must_be_literals() -> None:
    assert Program("DISCOUNT = 0.9\n").constant("DISCOUNT") == 0.9
    assert Program("DISCOUNT = f()\n").constant("DISCOUNT") is None
    assert Program("").constant("DISCOUNT") is None
