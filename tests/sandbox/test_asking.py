"""Policies that are stepped by a caller act as in a rollout, and fail alone."""

from __future__ import annotations

from collections.abc import Iterator

import gymnasium
import pytest

from promptpo_sandbox import Failure, Limits, Sandbox, Trial
from promptpo_sandbox.lockstep.asking import AskedPolicies

COUNTS = """
import numpy as np

class Policy:
    def __init__(self):
        self.n = 0
        self.rng = np.random.default_rng()

    def act(self, obs):
        self.n += 1
        print("asked")
        if obs[0] > 5:
            raise ValueError("too far")
        if obs[0] < -5:
            while True:
                pass
        return [self.n + 0.001 * self.rng.random()]
"""
SPACE = gymnasium.spaces.Box(-10.0, 10.0, (1,))
ACTIONS = gymnasium.spaces.Box(0.0, 3.0, (1,), dtype="float64")


@pytest.fixture(scope="module")
def asking_box() -> Iterator[Sandbox]:
    """A sandbox with a short deadline of CPU time for each action."""
    with Sandbox(Limits(step_seconds=0.2, wall_factor=1000.0)) as box:
        yield box


def act(asked: AskedPolicies, **observations: float) -> dict[int, object]:
    """Return the policies' step counts, without the random part, or kinds of failures."""
    by_lane = {int(lane[1:]): SPACE.sample() * 0 + value for lane, value in observations.items()}
    return {
        lane: answer.kind if isinstance(answer, Failure) else int(answer[0])
        for lane, answer in asked.act(by_lane).items()
    }


def test_lanes_are_restarted_one_by_one(asking_box: Sandbox) -> None:
    """Each restarted lane gets a new policy; the others continue."""
    asked = asking_box.open_policies(COUNTS, SPACE, ACTIONS)
    assert asked.start({0: Trial(1), 1: Trial(2)}) == {}
    assert act(asked, _0=0, _1=0) == {0: 1, 1: 1}
    assert asked.start({0: Trial(3)}) == {}
    assert act(asked, _0=0, _1=0) == {0: 1, 1: 2}
    assert act(asked, _0=0, _1=0) == {0: 2, 1: 3}
    assert act(asked, _0=0, _1=0) == {0: 3, 1: 3}, "actions are clipped into their bounds"


def test_seed_determines_random_numbers(asking_box: Sandbox) -> None:
    """They are the same as in a rollout."""
    asked = asking_box.open_policies(COUNTS, SPACE, ACTIONS)
    asked.start({0: Trial(1), 1: Trial(1), 2: Trial(2)})
    answers = asked.act(dict.fromkeys(range(3), SPACE.sample() * 0))
    assert answers[0] == answers[1] != answers[2]


def test_policy_that_raises_fails_alone(asking_box: Sandbox) -> None:
    """The others continue, and its lane can be restarted."""
    asked = asking_box.open_policies(COUNTS, SPACE, ACTIONS)
    asked.start({0: Trial(1), 1: Trial(2)})
    assert act(asked, _0=6, _1=0) == {0: "crashed", 1: 1}
    assert asked.running == (1,)
    assert act(asked, _1=0) == {1: 2}
    asked.start({0: Trial(4)})
    assert act(asked, _0=0, _1=0) == {0: 1, 1: 3}


def test_policy_that_hangs_ends_its_guest(asking_box: Sandbox) -> None:
    """All policies in the guest fail, and the next start uses another guest."""
    asked = asking_box.open_policies(COUNTS, SPACE, ACTIONS)
    asked.start({0: Trial(1), 1: Trial(2)})
    assert act(asked, _0=-6, _1=0) == {0: "timeout", 1: "timeout"}
    assert asked.running == ()
    assert asked.start({1: Trial(2)}) == {}
    assert act(asked, _1=0) == {1: 1}


def test_rejected_source_and_failing_constructor_are_reported(asking_box: Sandbox) -> None:
    refused = asking_box.open_policies("import os\n" + COUNTS, SPACE, ACTIONS).start({0: Trial(1)})
    assert refused[0].kind == "rejected"
    broken = asking_box.open_policies(COUNTS.replace("self.n = 0", "self.n = 1 / 0"), SPACE, ACTIONS)
    assert broken.start({0: Trial(1)})[0].kind == "crashed"
    assert broken.running == ()


def test_observations_must_match_the_running_lanes(asking_box: Sandbox) -> None:
    asked = asking_box.open_policies(COUNTS, SPACE, ACTIONS)
    asked.start({0: Trial(1)})
    with pytest.raises(ValueError, match="running lanes"):
        asked.act({1: SPACE.sample()})
