"""The gate admits ordinary policies of a language model; test_reference.py runs those in legitimate/."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptpo_sandbox import check_source
from tests.sandbox.recordings import RECORDED, policy_in

LEGITIMATE = sorted(Path(__file__).parent.joinpath("legitimate").glob("*.py"))


def test_corpus_is_large() -> None:
    """There are at least 60 policies, each naming its style."""
    assert len(LEGITIMATE) >= 60
    assert all(path.read_text().startswith("# Style: ") for path in LEGITIMATE)


@pytest.mark.slow
def test_recorded_answers_pass_the_gate() -> None:
    """At most one in two hundred is refused."""
    refused = [path for path in RECORDED if check_source(policy_in(path)) is not None]
    assert len(refused) * 200 <= len(RECORDED) or len(refused) <= 1, refused
