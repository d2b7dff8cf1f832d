"""Feedback on single episodes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from promptpo.prompts import feedback
from promptpo_sandbox import Episode, Rollout, Trajectory


def episode(n: int = 30, return_: float = 12.0) -> Any:
    """A recorded episode."""
    observations = [np.array([t / 10, -1.0]) for t in range(n + 1)]
    trajectory = Trajectory(observations, [t % 2 for t in range(n)], [0.4] * n)
    return Episode(0, return_, n, True, False, None, 0, 0.0, trajectory, None)


def test_selected_episodes_are_worst_and_best() -> None:
    """One of several equal episodes is called typical."""
    episodes = [episode(return_=value) for value in (5.0, 1.0, 9.0)]
    assert [(role, e.return_) for role, e in feedback.select_episodes(episodes)] == [
        ("worst", 1.0),
        ("best", 9.0),
    ]
    two_groups = [episode(return_=value) for value in (300.0, -2.0, 298.0, -9.0, 299.0)]
    assert [role for role, _ in feedback.select_episodes(two_groups)] == ["worst", "best"]
    assert [role for role, _ in feedback.select_episodes([episode(), episode()])] == ["typical"]
    assert feedback.select_episodes([]) == []


def test_feedback_class_gets_less_with_the_papers_recipe() -> None:
    """It gets only the observation before each step."""
    everything = feedback.for_feedback_class(episode(), sees_all=True)
    assert len(everything["observations"]) == len(everything["actions"]) + 1
    assert everything["terminated"] is True
    assert len(feedback.for_feedback_class(episode(), sees_all=False)) == 30


def episode_with(*actions: Any) -> Episode:
    """Return an episode with these actions."""
    trajectory = Trajectory([0] * (len(actions) + 1), actions, [1.0] * len(actions))
    return Episode(0, 1.0, len(actions), True, False, None, 0, 0.0, trajectory, None)


WITHOUT_TRAJECTORY = replace(episode_with(), trajectory=None)


@pytest.mark.parametrize(
    ("episodes", "text"),
    [
        ((), ""),
        ((episode_with(1),), ""),
        ((episode_with(1, 1),), ""),
        ((episode_with(1), episode_with(1), WITHOUT_TRAJECTORY), "1"),
        ((episode_with(1, 1), episode_with(2)), ""),
        ((episode_with(np.zeros(2), np.zeros(2)),) * 2, "[0.0, 0.0]"),
        ((episode_with({"b": 1, "a": (np.int64(2), 3)}),) * 2, '{"a": [2, 3], "b": 1}'),
        ((episode_with("x" * 58),) * 2, f'"{"x" * 58}"'),
        ((episode_with("x" * 59),) * 2, f'"{"x" * 58}…'),
    ],
)
def test_constant_action_is_reported(episodes: tuple[Episode, ...], text: str) -> None:
    """Over at least two episodes, as numbers and in at most sixty characters."""
    assert feedback.only_action_taken(Rollout(episodes, None, 0, "", 0.0)) == text
