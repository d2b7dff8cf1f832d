"""The steps of an episode where it hurts."""

from typing import Any

import numpy as np
import pytest

from promptpo.telling.trace import cell, event, shorter, trace
from sandbox import Episode, Trajectory

NAMES = {"obs[0]": "height", "action": "push"}


def episode(rewards: Any, *, terminated: bool = False, observations: Any = None) -> Any:
    """A recorded episode."""
    n = len(rewards)
    observations = observations or [np.array([t / 10, -1.0]) for t in range(n + 1)]
    trajectory = Trajectory(observations, [t % 2 for t in range(n)], list(rewards))
    return Episode(0, float(sum(rewards)), n, terminated, not terminated, None, 0, 0.0, trajectory, None)


@pytest.mark.parametrize(
    ("rewards", "terminated", "at"),
    [
        ([1.0] * 200, True, 199),  # a fall at the end
        ([1.0] * 200, False, 199),  # nothing happens
        ([1.0] * 120 + [-50.0] + [1.0] * 79, False, 120),  # one costly step
        ([0.0] * 50 + [10.0] + [0.0] * 149, False, 199),  # after a bonus nothing is lost
        ([1.0] * 100 + [-100.0], True, 100),  # the last step costs
    ],
)
def test_the_event_is_the_largest_loss_or_the_end(rewards: Any, terminated: bool, at: int) -> None:
    """A step that costs, or where the episode ended."""
    assert event(rewards, terminated=terminated)[0] == at


def test_a_lasting_fall_is_found_in_noise() -> None:
    """A robot that runs, dives and recovers: the steps around the dive, not the last ones."""
    rng = np.random.default_rng(0)
    rewards = rng.normal(2.4, 0.5, 1000)
    rewards[500:560] -= 3.0
    at, what = event(rewards.tolist(), terminated=False)
    assert 490 <= at <= 510
    assert "reward fell most" in what


def test_a_trace_has_names_and_twenty_steps() -> None:
    """Columns are called what the spec calls them; one that never changes is left out."""
    text = trace(episode([1.0] * 100, terminated=True), NAMES)
    lines = text.splitlines()
    assert lines[0] == "Steps 80 to 99, up to where the episode was terminated:"
    assert lines[1] == "step|height|push|reward"
    assert lines[2] == "80|8|0|1"
    assert len(lines) == 22


def test_a_trace_has_a_short_form() -> None:
    """The rows nearest to the event, and a heading that says which they are."""
    short = shorter(trace(episode([1.0] * 100, terminated=True), NAMES)).splitlines()
    assert short[0] == "Steps 90 to 99, up to where the episode was terminated:"
    assert (len(short), short[2][:3], short[-1][:3]) == (12, "90|", "99|")
    two = trace(episode([1.0, 2.0]), NAMES)
    assert shorter(two) == two


def test_entries_of_large_arrays_are_left_out() -> None:
    """Eight of a hundred cells say nothing; the numbers beside them do."""
    observations = [{"board": np.full((10, 10), t), "row": t} for t in range(6)]
    text = trace(episode([1.0] * 5, observations=observations), {"obs['row']": "row"})
    assert text.splitlines()[1] == "step|row|action|reward"


def test_steps_that_repeat_are_one_row() -> None:
    """Who stands still needs no twenty rows."""
    still = [np.array([0.5, 1.0])] * 31
    data = episode([0.0] * 30, observations=still)
    data.trajectory.actions[:] = [0] * 30
    assert trace(data, {}).splitlines()[2:] == ["10|0|0 (and the next 19)"]


@pytest.mark.parametrize(
    "observation", ["a mission", {"image": np.zeros((2, 2)), "mission": "go"}, 3, (1, 2.5)]
)
def test_any_observation_has_a_trace(observation: Any) -> None:
    """Texts, dictionaries, tuples and numbers."""
    text = trace(episode([1.0, 2.0], observations=[observation] * 3), {})
    assert text.splitlines()[-1].endswith("2")


@pytest.mark.parametrize(
    ("value", "text"),
    [(412, "412"), (-3.0, "-3"), (0.4567, "0.46"), (3e-7, "0"), (float("nan"), "NaN"), (1e30, "1e+30")],
)
def test_codes_are_told_exactly(value: Any, text: str) -> None:
    """The number of a state must not be rounded; measurements may be."""
    assert cell(value) == text


def test_an_episode_without_a_trajectory_has_none() -> None:
    """What was not recorded cannot be shown."""
    assert trace(Episode(0, 1.0, 5, True, False, None, 0, 0.0, None, None), {}) == ""
