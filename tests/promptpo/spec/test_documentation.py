"""Parsing the docstrings of Gymnasium environments."""

import textwrap
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


def test_names_are_read_from_tables_and_lists() -> None:
    """Names of another subject or of another count are ignored."""
    assert names_in(TEXT, "action", 2) == {0: "Push *left*", 1: "Push [right](https://example.org)"}
    assert names_in(TEXT, "action", 3) == {}
    assert names_in(TEXT, "observation", 1, "goal") == {0: "x position"}
    assert names_in(TEXT, "observation", 1, "other") == {}


@pytest.mark.parametrize(
    "title", ["Observation space (Box, 2 dimensions):", "Observations:", "## Observation Space"]
)
@pytest.mark.parametrize("item", ["- {}: in m", "* `{}` (m): of it", "    - {} : what it is"])
def test_list_of_names_is_used_if_its_length_matches(title: str, item: str) -> None:
    text = f"A tank.\n\n{title}\n{item.format('level')}\n{item.format('rate')}\n\nReward:\n- speed: 1"
    assert names_in(text, "observation", 2) == {0: "level", 1: "rate"}
    assert names_in(text, "observation", 3) == {}
    assert names_in(text, "action", 2) == {}


def test_dynamics_are_omitted_unless_the_source_is_shown() -> None:
    """Code examples are omitted in both cases."""
    withheld, whole = (words_of(Documented, moving=moving) for moving in (False, True))
    assert "x + v" not in withheld
    assert "x + v" in whole
    assert "env.step" not in whole
    assert "Termination: x is above" in withheld
    assert summary_of(Documented) == "Balance."


@pytest.mark.parametrize("fences", [("```python", "```"), ("'''python", "```"), ("```", "```")])
def test_comments_in_code_examples_are_not_headings(fences: tuple[str, str]) -> None:
    """A comment inside a fence once ended the section on arguments too early."""
    begin, end = fences
    example = f"{begin}\n# To change it\nenv.unwrapped.dt = 0.1\n{end}\n"
    kind = type(
        "Kind",
        (),
        {"__doc__": f"A pole.\n\n## Arguments\n\n{example}\nOnly dt.\n\n## Rewards\n\nOne a step."},
    )
    assert words_of(kind, moving=True) == "A pole.\n\n## Rewards\n\nOne a step."


def test_figure_directives_are_removed() -> None:
    """The directive goes with its options and caption; the text around it stays."""
    picture = ".. figure:: pole.png\n   :width: 200px\n\n   The pole.\n\n"
    kind = type("Kind", (), {"__doc__": f"A pole.\n\n{picture}It falls."})
    assert words_of(kind, moving=True) == "A pole.\n\nIt falls."


EXAMPLES = {
    "literal": "{mark}{intro}{mark}::\n{gap}{body}",
    "directive": ".. code-block:: python\n{gap}{body}",
    "fence": "```python\n{body}\n```",
    "doctest": ">>> called_0()\ncalled_1\n>>> called_2()",
}
"""Ways in which docstrings mark a usage example."""

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
def test_usage_examples_are_removed(
    form: str, intro: str, mark: str, gap: str, lines: list[str], indent: str, ends: str
) -> None:
    """The text before and after an example stays, whatever its introduction, indentation and end."""
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
def test_literal_blocks_other_than_examples_are_kept(intro: str) -> None:
    kind = type("Kind", (), {"__doc__": f"A pole.\n\n{intro}\n\n    -x**2\n\nIt falls."})
    assert "-x**2" in words_of(kind, moving=True)


@given(st.text(), st.sampled_from(["action", "observation"]), st.integers(0, 4))
def test_parser_accepts_any_text(text: Any, subject: str, n: int) -> None:
    """Arbitrary docstrings raise nothing and are truncated to the limit."""
    assert set(names_in(text, subject, n)) <= set(range(n))
    kind = type("Kind", (), {"__doc__": text * 50})
    assert len(words_of(kind, moving=False)) <= MAX_WORDS_CHARS + len("\n...")


ROWS = "x" * (MAX_WORDS_CHARS // 4)
TABLES = (
    f"| Num | Action |\n|-----|--------|\n| 0 | {ROWS} |",
    f"+-----+------+\n| Num | Name |\n+=====+======+\n| 0 | {ROWS} |\n+-----+------+",
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["The elements are as follows:", "* `goal`: where to go:", "", "It moves. Table 1 lists all:"]
            ),
            st.sampled_from(["\n", "\n\n"]),
            st.sampled_from(["", "    "]),
            st.sampled_from(TABLES),
            st.sampled_from(["\n\n## Rewards", "\nOne a step.", "\n\n* `other`: text", ""]),
        ),
        min_size=5,
        max_size=8,
    )
)
def test_tables_left_out_are_marked(parts: list[tuple[str, str, str, str, str]]) -> None:
    """The text that introduces a table is not left dangling, and all other lines stay."""
    blocks = [f"{lead}{gap}{textwrap.indent(table, pad)}{then}" for lead, gap, pad, table, then in parts]
    words = words_of(type("Kind", (), {"__doc__": "\n\n".join(["A pole.", *blocks])}), moving=True)
    lines = list(filter(None, words.splitlines()))
    kept = (line for lead, _, _, _, then in parts for line in (lead, "(table left out)", then.strip()))
    assert lines == ["A pole.", *filter(None, kept)]


@given(st.text())
def test_identifier_is_valid_or_empty(text: Any) -> None:
    name = identifier(text)
    assert name == "" or name.isidentifier()


@given(st.lists(st.sampled_from(["a", "b", "a_2"])))
def test_unique_names_are_unique(names: Any) -> None:
    """Numbering repeated names must not collide with a name that already ends in a number."""
    result = unique(names)
    assert len(set(result)) == len(names)


@pytest.mark.parametrize(("base", "words"), [({}, ""), ({"step": print}, "A crane over a river.")])
def test_docstring_of_an_abstract_base_is_ignored(base: Any, words: str) -> None:
    """A base class without `step` documents a library, not a task."""
    parent = type("Parent", (), {"__doc__": "A crane over a river.", "__module__": "cranes", **base})
    assert words_of(type("Child", (parent,), {"step": print}), moving=True) == words
