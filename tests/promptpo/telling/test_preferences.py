"""Episodes as they are told to who judges them without their rewards."""

import numpy as np

from promptpo.telling.preferences import told
from sandbox import Episode, Trajectory


def test_an_episode_is_told_without_what_it_earned() -> None:
    """Two tables: over the episode, and steps of it; of ``info`` nothing that names a reward."""
    heights = [np.array([1.0 - 0.001 * t, 7.0]) for t in range(201)]
    infos = [{"reward_forward": 1.0 * t, "x_position": 2.0 * t} for t in range(200)]
    trajectory = Trajectory(heights, [0] * 200, [1.5] * 200, infos=infos)
    text = told(Episode(1, 300.0, 200, True, False, None, 0, 0.0, trajectory), {"obs[0]": "height"}, 500)
    head, steps = text.split("\n\n")
    assert head.splitlines()[0] == "200 steps; the environment ended it."
    assert "height|1|0.8|0.8|0.9|1" in head
    assert "info x_position|0|398|0|199|398" in head
    assert "reward" not in text
    assert "1.5" not in text
    assert [int(row.split("|")[0]) for row in steps.splitlines()[1:]][-6:] == [*range(194, 200)]
