"""Reading documentation as Gymnasium's environments write it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.spec.documentation import NamedNumber, parse
from promptpo.spec.known import fields
from promptpo.spec.parts import identifier, unique
from promptpo.spec.prose import TRUNCATION, clean_prose

TEXT = """
Balance.

## Action Space

- 0: Push *left*
- 1: Push [right](https://example.org)

## Observation Space

* `goal`: where to go:

    | Num | Observation | Min | Max | Unit |
    |-----|-------------|-----|-----|------|
    | 0   | x position  | -1  | 1   | position (m) |
    | excluded | y      | -1  | 1   | position (m) |

## Transition Dynamics

*x = x + v*

### Episode End

1. Termination: x is above $\\\\pi \\times 2$
2. Truncation: after 200 steps

```python
env.step(0)
```
"""


def test_sections_tables_and_choices() -> None:
    """Known sections are found at any level; others, code and links are left out."""
    docs = parse(TEXT.replace("\\\\", "\\"))
    assert docs["description"].text == "Balance."
    assert docs["action"].rows("", range(2)) == {0: NamedNumber("Push left"), 1: NamedNumber("Push right")}
    assert docs["action"].rows("", range(3)) == {}
    table = ("goal", {0: NamedNumber("x position", "position (m)")})
    assert docs["observation"].tables == [table]
    everything = " ".join(section.text for section in docs.values())
    for absent in ("x + v", "https", "env.step"):
        assert absent not in everything


def test_ending_is_without_the_time_limit() -> None:
    """Truncation is the horizon's business; formulas read as typed."""
    assert (
        clean_prose(parse(TEXT.replace("\\\\", "\\"))["end"].text, 500, TRUNCATION)
        == "1. Termination: x is above pi * 2"
    )


@given(st.text())
def test_any_text_is_documentation(text: Any) -> None:
    """No docstring makes the reader fail, and no prose grows beyond its limit."""
    docs = parse(text)
    for section in docs.values():
        assert len(clean_prose(section.text, 50, TRUNCATION)) <= 50 + len(" ...")


@given(st.text())
def test_identifiers_are_identifiers(text: Any) -> None:
    """Whatever the meaning, its name is a Python identifier or empty."""
    name = identifier(text)
    assert name == "" or name.isidentifier()


@given(st.lists(st.sampled_from(["a", "b", "a_2"])))
def test_unique_names_are_unique(names: Any) -> None:
    """Repeated names get numbers that collide with no other name."""
    result = unique(names)
    assert len(set(result)) == len(names)


@pytest.mark.parametrize(
    ("line", "spans", "unit", "meaning"),
    [
        ("x = obs[0]", [], "", ""),
        ("x = obs[0]; -1 .. 1", [(-1, 1)], "", ""),
        ("x = obs[0]; 0 .. 2; rad/s; how fast; really", [(0, 2)], "rad/s", "how fast; really"),
        ("x = obs[0]; how fast", [], "", "how fast"),
        ("x = obs[0]; 0 .. 1; x, y and z", [(0, 1)], "", "x, y and z"),
        ("x = obs[0]; m; x, y, z", [], "m", "x, y, z"),
    ],
)
def test_lines_of_known_tables(line: str, spans: Any, unit: str, meaning: str) -> None:
    """Bounds, unit and meaning may each be missing."""
    (field,) = fields(line)
    assert (field.path, list(field.spans), field.unit, field.meaning) == ("obs[0]", spans, unit, meaning)


def test_where_it_comes_from_is_left_out() -> None:
    """History is no help to a policy; an initial ends no sentence."""
    text = 'This is based on the work of P. Smith in "Running". The goal is to run.'
    assert clean_prose(text, 1000) == "The goal is to run."


@pytest.mark.parametrize(
    "sentence",
    [
        "A gate is passed within 0.4 m, and the next one appears.",
        "The action is the torque on the elbow.",
        "Action 2 corresponds to opening the valve.",
        "Each parcel brings 10 credits.",
        "The wheels turn at v1 and v2.",
        "Small displacements of the gripper are turned into joint angles by inverse kinematics.",
    ],
)
def test_sentences_on_the_task_stay(sentence: str) -> None:
    """Words that libraries use of themselves mean something else in a task of one's own."""
    assert clean_prose(f"A task. {sentence}", 600) == f"A task. {sentence}"
