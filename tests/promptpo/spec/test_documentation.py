"""Reading documentation as Gymnasium's environments write it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.spec.documentation import MAX_WORDS_CHARS, names_in, summary_of, words_of
from promptpo.spec.parts import identifier, unique

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


class Documented:  # noqa: D101 - its documentation is the text
    __doc__ = TEXT.replace("\\\\", "\\")


def test_tables_and_lists_name_numbers() -> None:
    """Each on its own subject, and only where all numbers fit."""
    assert names_in(TEXT, "action", 2) == {0: "Push *left*", 1: "Push [right](https://example.org)"}
    assert names_in(TEXT, "action", 3) == {}
    assert names_in(TEXT, "observation", 1, "goal") == {0: "x position"}
    assert names_in(TEXT, "observation", 1, "other") == {}


@pytest.mark.parametrize(
    "title", ["Observation space (Box, 2 dimensions):", "Observations:", "## Observation Space"]
)
@pytest.mark.parametrize("item", ["- {}: in m", "* `{}` (m): of it", "    - {} : what it is"])
def test_lists_of_names_name_numbers(title: str, item: str) -> None:
    """Where there are as many as numbers."""
    text = f"A tank.\n\n{title}\n{item.format('level')}\n{item.format('rate')}\n\nReward:\n- speed: 1"
    assert names_in(text, "observation", 2) == {0: "level", 1: "rate"}
    assert names_in(text, "observation", 3) == {}
    assert names_in(text, "action", 2) == {}


def test_what_an_author_says_is_told_without_dynamics_and_code() -> None:
    """Dynamics only where the source stands below; examples of calls, arguments and history never."""
    withheld, whole = (words_of(Documented, moving=moving) for moving in (False, True))
    assert "x + v" not in withheld
    assert "x + v" in whole
    assert "env.step" not in whole
    assert "Termination: x is above" in withheld
    assert summary_of(Documented) == "Balance."


@pytest.mark.parametrize("fences", [("```python", "```"), ("'''python", "```"), ("```", "```")])
def test_comments_in_an_example_are_no_headings(fences: tuple[str, str]) -> None:
    """A section of arguments ends where the next section begins, not at a comment of its code."""
    begin, end = fences
    example = f"{begin}\n# To change it\nenv.unwrapped.dt = 0.1\n{end}\n"
    kind = type(
        "Kind",
        (),
        {"__doc__": f"A pole.\n\n## Arguments\n\n{example}\nOnly dt.\n\n## Rewards\n\nOne a step."},
    )
    assert words_of(kind, moving=True) == "A pole.\n\n## Rewards\n\nOne a step."


def test_pictures_of_documentation_are_not_told() -> None:
    """A directive goes with its options; the text around it stays."""
    picture = ".. figure:: pole.png\n   :width: 200px\n\n   The pole.\n\n"
    kind = type("Kind", (), {"__doc__": f"A pole.\n\n{picture}It falls."})
    assert words_of(kind, moving=True) == "A pole.\n\nIt falls."


EXAMPLES = {
    "literal": "{mark}{intro}{mark}::\n{gap}{body}",
    "directive": ".. code-block:: python\n{gap}{body}",
    "fence": "```python\n{body}\n```",
    "doctest": ">>> called_0()\ncalled_1\n>>> called_2()",
}
"""How docstrings set off an example of a call."""

INTRODUCTIONS = (
    "Example,Examples,Usage,usage,EXAMPLE,Example usage,Usage example,Example of use,A short example"
)


@given(
    form=st.sampled_from(sorted(EXAMPLES)),
    intro=st.sampled_from(INTRODUCTIONS.split(",")),
    mark=st.sampled_from(["", "**", "*"]),
    gap=st.sampled_from(["", "\n", "\n\n", "   \n"]),
    lines=st.lists(
        st.sampled_from(["# called", "called()", "  called()", "", "for i in called:", "    called()"]),
        max_size=6,
    ),
    indent=st.sampled_from(["", "  ", "    "]),
    ends=st.sampled_from(["\n\nIt falls.", "\n\n## Rewards\n\nIt falls.", "\nIt falls.", ""]),
)
def test_no_example_of_a_call_is_among_the_words(
    form: str, intro: str, mark: str, gap: str, lines: list[str], indent: str, ends: str
) -> None:
    """However it is introduced, indented and ended; what stands before it and behind it stays."""
    body = "\n".join(f"    {line}".rstrip() for line in ["called()", *lines])
    example = EXAMPLES[form].format(intro=intro, mark=mark, gap=gap, body=body)
    example = "\n".join(f"{indent}{line}".rstrip() for line in example.split("\n"))
    ends = f"\n{ends}" if form == "doctest" and ends else ends
    kind = type("Kind", (), {"__doc__": f"A pole.\n\n{example}{ends}"})
    words = words_of(kind, moving=True)
    assert "called" not in words
    assert "```" not in words
    assert words.startswith("A pole.")
    assert words.endswith("It falls." if ends else "A pole.")


@pytest.mark.parametrize("intro", ["The reward is::", "For example, the reward is::", "Actions::"])
def test_literal_blocks_that_are_no_examples_stay(intro: str) -> None:
    """A formula is what the author says."""
    kind = type("Kind", (), {"__doc__": f"A pole.\n\n{intro}\n\n    -x**2\n\nIt falls."})
    assert "-x**2" in words_of(kind, moving=True)


@given(st.text(), st.sampled_from(["action", "observation"]), st.integers(0, 4))
def test_any_text_is_documentation(text: Any, subject: str, n: int) -> None:
    """No docstring makes the reader fail, and its words do not grow beyond their limit."""
    assert set(names_in(text, subject, n)) <= set(range(n))
    kind = type("Kind", (), {"__doc__": text * 50})
    assert len(words_of(kind, moving=False)) <= MAX_WORDS_CHARS + len("\n...")


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


@pytest.mark.parametrize(("base", "told"), [({}, ""), ({"step": print}, "A crane over a river.")])
def test_a_base_describes_a_task_only_where_it_can_be_played(base: Any, told: str) -> None:
    """What all environments of a library inherit from says nothing about any of them."""
    parent = type("Parent", (), {"__doc__": "A crane over a river.", "__module__": "cranes", **base})
    assert words_of(type("Child", (parent,), {"step": print}), moving=True) == told
