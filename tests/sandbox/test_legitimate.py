"""Ordinary policies stay allowed: every style in legitimate/, and programs that a language model really wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptpo_sandbox import Sandbox, Trial, check_source
from tests.sandbox.canaries import CanaryEnv
from tests.sandbox.recordings import RECORDED, policy_in

LEGITIMATE = sorted(Path(__file__).parent.joinpath("legitimate").glob("*.py"))


def test_corpus_is_large() -> None:
    """At least 60 policies, each naming its style."""
    assert len(LEGITIMATE) >= 60
    assert all(path.read_text().startswith("# Style: ") for path in LEGITIMATE)


@pytest.mark.parametrize("path", LEGITIMATE, ids=lambda path: path.stem)
def test_policy_runs(path: Path, box: Sandbox) -> None:
    """The gate lets it pass, and both its episodes end without a failure."""
    rollout = box.rollout(path.read_text(), [CanaryEnv(), CanaryEnv()], [Trial(1), Trial(2)])
    assert rollout.failure is None, rollout.failure
    assert [episode.steps for episode in rollout.episodes] == [12, 12]


def test_recorded_answers_pass_the_gate() -> None:
    """Of the policies that a language model wrote for real environments at most one in two hundred is refused."""
    refused = [path for path in RECORDED if check_source(policy_in(path)) is not None]
    assert len(refused) * 200 <= len(RECORDED) or len(refused) <= 1, refused
