"""Policies that are asked from outside do what they do in a rollout, and fail alone."""

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
    """A sandbox with a short deadline for each action."""
    with Sandbox(Limits(step_seconds=0.2)) as box:
        yield box


def numbers(asked: AskedPolicies, **observations: float) -> dict[int, object]:
    """What policies answer to observations, their counts without the random part; failures by kind."""
    given = {int(lane[1:]): SPACE.sample() * 0 + value for lane, value in observations.items()}
    return {
        lane: answer.kind if isinstance(answer, Failure) else int(answer[0])
        for lane, answer in asked.act(given).items()
    }


def test_lanes_are_started_anew_one_by_one(asking_box: Sandbox) -> None:
    """A fresh policy for each lane that is started; those of the others go on."""
    asked = asking_box.open_policies(COUNTS, SPACE, ACTIONS)
    assert asked.start({0: Trial(1), 1: Trial(2)}) == {}
    assert numbers(asked, _0=0, _1=0) == {0: 1, 1: 1}
    assert asked.start({0: Trial(3)}) == {}
    assert numbers(asked, _0=0, _1=0) == {0: 1, 1: 2}
    assert numbers(asked, _0=0, _1=0) == {0: 2, 1: 3}
    assert numbers(asked, _0=0, _1=0) == {0: 3, 1: 3}, "actions are clipped into their bounds"


def test_a_seed_decides_what_a_policy_draws(asking_box: Sandbox) -> None:
    """As in a rollout: the same seed, the same random numbers."""
    asked = asking_box.open_policies(COUNTS, SPACE, ACTIONS)
    asked.start({0: Trial(1), 1: Trial(1), 2: Trial(2)})
    answers = asked.act(dict.fromkeys(range(3), SPACE.sample() * 0))
    assert answers[0] == answers[1] != answers[2]


def test_a_policy_that_raises_fails_alone(asking_box: Sandbox) -> None:
    """The others are asked on, and its lane can be started again."""
    asked = asking_box.open_policies(COUNTS, SPACE, ACTIONS)
    asked.start({0: Trial(1), 1: Trial(2)})
    assert numbers(asked, _0=6, _1=0) == {0: "crashed", 1: 1}
    assert asked.running == (1,)
    assert numbers(asked, _1=0) == {1: 2}
    asked.start({0: Trial(4)})
    assert numbers(asked, _0=0, _1=0) == {0: 1, 1: 3}


def test_a_policy_that_hangs_takes_its_guest_along(asking_box: Sandbox) -> None:
    """All policies in the guest are lost, which is told, and the next start brings another guest."""
    asked = asking_box.open_policies(COUNTS, SPACE, ACTIONS)
    asked.start({0: Trial(1), 1: Trial(2)})
    assert numbers(asked, _0=-6, _1=0) == {0: "timeout", 1: "timeout"}
    assert asked.running == ()
    assert asked.start({1: Trial(2)}) == {}
    assert numbers(asked, _1=0) == {1: 1}


def test_what_is_refused_or_cannot_be_built_is_told(asking_box: Sandbox) -> None:
    """A source that the gate rejects, and a constructor that raises."""
    refused = asking_box.open_policies("import os\n" + COUNTS, SPACE, ACTIONS).start({0: Trial(1)})
    assert refused[0].kind == "rejected"
    broken = asking_box.open_policies(COUNTS.replace("self.n = 0", "self.n = 1 / 0"), SPACE, ACTIONS)
    assert broken.start({0: Trial(1)})[0].kind == "crashed"
    assert broken.running == ()


def test_observations_are_for_the_running_lanes(asking_box: Sandbox) -> None:
    """One for each, and for no other: the caller is told."""
    asked = asking_box.open_policies(COUNTS, SPACE, ACTIONS)
    asked.start({0: Trial(1)})
    with pytest.raises(ValueError, match="running lanes"):
        asked.act({1: SPACE.sample()})
