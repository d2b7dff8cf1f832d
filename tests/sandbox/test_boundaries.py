"""Both conditions of guards: ownership of arrays, and when a level counts as strong."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest

from promptpo_sandbox import Sandbox, SandboxUnavailableError, Trial
from promptpo_sandbox.lockstep.episodes import _binding
from promptpo_sandbox.lockstep.roundtrip import NoAction

ESSENTIAL = ["rlimits", "no_new_privileges", "landlock", "seccomp"]


@pytest.mark.parametrize(
    ("active", "missing", "level"),
    [
        (ESSENTIAL, [], "strong"),
        ([*ESSENTIAL, "user"], ["session: none"], "strong"),
        (ESSENTIAL, ["user: no unprivileged user id can be taken"], "medium"),
        ([name for name in ESSENTIAL if name != "landlock"], [], "medium"),
        ([name for name in ESSENTIAL if name != "rlimits"], [], "medium"),
        ([name for name in ESSENTIAL if name != "seccomp"], [], "weak"),
    ],
)
def test_strong_level_needs_all_layers_and_another_user(
    active: list[str], missing: list[str], level: str
) -> None:
    assert Sandbox()._judge_layers(active, missing).level == level


def test_replayed_action_is_not_changed_by_the_environment() -> None:
    """Only recorded actions are replayed, and failures are not."""
    lane: Any = SimpleNamespace(steps=0, taken=[np.array([1.0, 2.0])])
    for _ in range(2):
        action = _binding(lane, "new")
        assert action.tolist() == [1.0, 2.0]
        action *= 0.0
    failed = NoAction(("crashed", "x", ""))
    assert _binding(lane, failed) is failed
    lane.steps = 1
    assert _binding(lane, "new") == "new"


class ActionWritingEnv(gymnasium.Env[Any, Any]):
    """Writes into the action of the step before."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float64)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float64)

    def __init__(self) -> None:
        self.last = np.zeros(2)
        self.n = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.last, self.n = np.zeros(2), 0
        return np.full(2, 0.25), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.last[...] = 99.0
        self.last = action
        self.n += 1
        return np.full(2, self.n / 10), 0.0, False, self.n == 3, {}


def test_recorded_action_is_the_one_the_policy_returned() -> None:
    """Although the environment writes into the array later."""
    source = "class Policy:\n    def act(self, obs):\n        return obs + 0.5\n"
    with Sandbox() as box:
        rollout = box.rollout(source, [ActionWritingEnv()], [Trial(0)], record=True)
    trajectory = rollout.episodes[0].trajectory
    assert trajectory is not None
    assert np.allclose(trajectory.actions, [[0.75, 0.75], [0.6, 0.6], [0.7, 0.7]])


def test_other_systems_are_told_what_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing confines a guest elsewhere, so nothing is started there, not even if weaker protection is accepted."""
    monkeypatch.setattr(sys, "platform", "darwin")
    for weaker in (False, True):
        with pytest.raises(SandboxUnavailableError, match="works on Linux only"):
            Sandbox(allow_weaker=weaker)
