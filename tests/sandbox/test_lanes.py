"""What a policy gets does not depend on how many episodes run beside it, even if it attacks."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox import Limits, Rollout, Sandbox, Trial
from tests.sandbox.canaries import Canaries, CanaryEnv
from tests.sandbox.test_attacks import ATTACKS

LIMITS = Limits(step_seconds=0.3, episode_seconds=1.0, construct_seconds=1.0, memory_bytes=128 * 1024 * 1024)


def told(rollout: Rollout) -> list[Any]:
    """Results and the ways of failing."""
    return [
        (e.seed, e.return_, e.steps, e.failure and (e.failure.kind, e.failure.step)) for e in rollout.episodes
    ]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_attacks_get_the_same_with_any_number_of_lanes(canaries: Canaries) -> None:
    """One lane or three, whatever they try."""
    trials = [Trial(seed) for seed in range(4)]
    different = []
    with Sandbox(LIMITS) as box:
        for path in ATTACKS:
            source = canaries.arm(path.read_text())
            one, three = (
                told(box.rollout(source, [CanaryEnv() for _ in range(lanes)], trials, stop_on_failure=False))
                for lanes in (1, 3)
            )
            if one != three:
                different.append((path.stem, one, three))
    assert different == []
