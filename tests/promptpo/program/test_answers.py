"""Reading answers: what models really write, and whatever else may come."""

import textwrap
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptpo.program import Program
from promptpo.program.answers import extract_program
from promptpo.program.confined.tree import parse

POLICY = '''"""Push along the velocity."""


class Policy:
    def __init__(self):
        self.t = 0

    def act(self, obs):
        return 2 if obs[1] > 0 else 0
'''


@pytest.mark.parametrize(
    "text",
    [
        f"```python\n{POLICY}```",
        f"Here it is.\n\n```python\n{POLICY}```\nIt pushes.",
        f"```\n{POLICY}\n```",
        f"~~~py\n{POLICY}~~~",
        POLICY,
        f"The policy:\n\n{POLICY}",
        f"<think>\n```python\nclass Policy: pass\n```\n</think>\n```python\n{POLICY}```",
        f"```python\n{POLICY}```".replace("\n", "\r\n"),
        f"```python\n{POLICY.replace('    ', chr(9))}```",
        "1. Like this:\n\n" + textwrap.indent(f"```python\n{POLICY}\n```", "   "),
        f"```bash\npip install numpy\n```\n\n```python\n{POLICY}```",
        f"```python\n{POLICY}",
    ],
)
def test_the_policy_is_found(text: Any) -> None:
    """Each of these is an answer some model gave; each holds the same policy."""
    answer = extract_program(text)
    assert answer.problem is None
    assert Program.from_source(answer.source).digest == Program.from_source(POLICY).digest


def test_the_last_of_several_versions_wins() -> None:
    """Models first sketch, then correct themselves."""
    final = POLICY.replace("> 0", "> 0.01")
    answer = extract_program(
        f"```python\n{POLICY}```\nBetter:\n```python\n{final}```\nUse it:\n```python\npolicy = Policy()\n```"
    )
    assert "0.01" in answer.source


@pytest.mark.parametrize(
    ("text", "cut", "problem"),
    [
        ("", False, "empty"),
        ("  \n", False, "empty"),
        ("", True, "cut"),
        ("I cannot help with that.", False, "no_code"),
        ("```python\ndef act(obs):\n    return 1\n```", False, "no_code"),
        ("```python\nclass Policy:\n    def act(self, obs):\n        return (1 +", True, "cut"),
        ("<think>still thinking about", True, "cut"),
        ("<think>still thinking about", False, "empty"),
        ("```python\n" + "x = 1\n" * 30_000 + POLICY + "```", False, "too_long"),
    ],
)
def test_problems_are_named(text: Any, cut: bool, problem: str) -> None:
    """An answer without a usable module says why, so that the right thing is asked for again."""
    assert extract_program(text, cut=cut).problem == problem


def test_a_module_with_a_syntax_error_is_kept_for_repair() -> None:
    """It is the model's code all the same; the gate will say what is wrong with it."""
    answer = extract_program("```python\nclass Policy:\n    def act(self, obs)\n        return 1\n```")
    assert answer.problem is None
    assert "class Policy" in answer.source


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_nothing_makes_it_raise(text: Any) -> None:
    """Any text gives an answer, and a source or a problem, never both, never neither."""
    answer = extract_program(text)
    assert bool(answer.source) != bool(answer.problem)


@settings(max_examples=60, deadline=None)
@given(
    before=st.text(st.characters(exclude_characters="`~<>"), max_size=80),
    after=st.text(st.characters(exclude_characters="`~<>"), max_size=80),
    fence=st.sampled_from(["```", "````", "~~~"]),
)
def test_prose_around_a_fence_changes_nothing(before: Any, after: Any, fence: Any) -> None:
    """Whatever is said before and after, the module comes out unchanged."""
    answer = extract_program(f"{before}\n{fence}python\n{POLICY}\n{fence}\n{after}")
    assert Program.from_source(answer.source).digest == Program.from_source(POLICY).digest


def test_bombs_do_not_reach_the_parser() -> None:
    """Deep nesting and long sources are turned away, not parsed for minutes."""
    assert parse("(" * 50_000 + ")" * 50_000) is None
    assert parse("-" * 90_000 + "1") is None
    assert parse("x = 1\n" * 50_000) is None


@pytest.mark.parametrize(
    "twin",
    [
        POLICY.replace("obs", "observation"),
        POLICY.replace('"""Push along the velocity."""', ""),
        POLICY.replace("        return", "        # push\n\n        return"),
        POLICY.replace("def act(self, obs):", "def act(self, obs: list) -> int:"),
    ],
)
def test_digest_ignores_what_does_not_change_behaviour(twin: Any) -> None:
    """Comments, layout, annotations, docstrings and local names make no new program."""
    assert Program.from_source(twin).digest == Program.from_source(POLICY).digest


@pytest.mark.parametrize(
    "other",
    [POLICY.replace("> 0", "> 0.1"), POLICY.replace("obs[1]", "obs[0]"), POLICY.replace("2 if", "1 if")],
)
def test_digest_sees_what_changes_behaviour(other: Any) -> None:
    """A number or an index is the policy."""
    assert Program.from_source(other).digest != Program.from_source(POLICY).digest
