"""Episodes as they are told to who judges them without their rewards."""

import numpy as np

from promptpo.telling.preferences import told
from sandbox import Episode, Trajectory


def _told_steps(*, terminated: bool) -> list[int]:
    heights = [np.array([1.0 - 0.001 * t]) for t in range(200)]
    trajectory = Trajectory([*heights, np.array([0.0])], [0] * 200, [1.0] * 200)
    episode = Episode(1, 200.0, 200, terminated, not terminated, None, 0, 0.0, trajectory)
    table = told(episode, {}).split("\n\n")[1].splitlines()
    return [int(row.split("|")[0]) for row in table[1:]]


def test_how_an_episode_came_to_its_end_is_told() -> None:
    """The nearer the end, the closer the rows, where the environment ended it; evenly where it lasted."""
    fallen = _told_steps(terminated=True)
    assert fallen[0] == 0
    assert fallen[-2:] == [198, 199]
    assert sum(step > 150 for step in fallen) >= 4
    assert len(fallen) <= 9
    assert _told_steps(terminated=False) == [0, 28, 57, 85, 114, 142, 171, 199]
