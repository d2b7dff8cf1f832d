"""Extracting programs from the answers of language models."""

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
def test_policy_is_extracted(text: Any) -> None:
    """Each form is one that some model has used."""
    answer = extract_program(text)
    assert answer.problem is None
    assert Program.from_source(answer.source).digest == Program.from_source(POLICY).digest


def test_last_version_wins() -> None:
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
def test_answer_without_a_program_has_a_problem(text: Any, cut: bool, problem: str) -> None:
    """The kind of problem decides what is requested again."""
    assert extract_program(text, cut=cut).problem == problem


def test_module_with_a_syntax_error_is_kept_for_repair() -> None:
    """The gate will explain the error."""
    answer = extract_program("```python\nclass Policy:\n    def act(self, obs)\n        return 1\n```")
    assert answer.problem is None
    assert "class Policy" in answer.source


@settings(max_examples=60, deadline=None)
@given(
    before=st.text(st.characters(exclude_characters="`~<>"), max_size=80),
    after=st.text(st.characters(exclude_characters="`~<>"), max_size=80),
    fence=st.sampled_from(["```", "````", "~~~"]),
)
def test_prose_around_a_fence_is_ignored(before: Any, after: Any, fence: Any) -> None:
    answer = extract_program(f"{before}\n{fence}python\n{POLICY}\n{fence}\n{after}")
    assert Program.from_source(answer.source).digest == Program.from_source(POLICY).digest


def test_oversized_sources_are_not_parsed() -> None:
    """Deep nesting and long sources could take minutes."""
    assert parse("(" * 50_000 + ")" * 50_000) is None
    assert parse("-" * 90_000 + "1") is None
    assert parse("x = 1\n" * 50_000) is None


@pytest.mark.parametrize(
    "duplicate",
    [
        POLICY.replace("obs", "observation"),
        POLICY.replace('"""Push along the velocity."""', ""),
        POLICY.replace("        return", "        # push\n\n        return"),
        POLICY.replace("def act(self, obs):", "def act(self, obs: list) -> int:"),
    ],
)
def test_digest_ignores_irrelevant_changes(duplicate: Any) -> None:
    assert Program.from_source(duplicate).digest == Program.from_source(POLICY).digest


@pytest.mark.parametrize(
    "other",
    [POLICY.replace("> 0", "> 0.1"), POLICY.replace("obs[1]", "obs[0]"), POLICY.replace("2 if", "1 if")],
)
def test_digest_changes_with_behaviour(other: Any) -> None:
    assert Program.from_source(other).digest != Program.from_source(POLICY).digest
