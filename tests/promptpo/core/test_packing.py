"""Rollouts stored on disk."""

from dataclasses import replace

from promptpo.rollouts.packed import deflate, inflate
from promptpo_sandbox import Episode, Rollout, Trajectory


def test_debug_values_are_stored() -> None:
    """A resumed run must describe an episode like an uninterrupted one."""
    debug = [{"mode": "go", "gap": 0.5}, {}]
    for kept in (debug, ()):
        trajectory = Trajectory([0, 1, 2], [0, 1], [1.0, 0.5], kept)
        episode = Episode(0, 1.5, 2, True, False, None, 0, 0.0, trajectory, None)
        found = inflate(deflate([Rollout((episode,), None, 2, "", 0.0)]))[0].episodes[0].trajectory
        assert found is not None
        assert list(found.debug) == list(kept)


def test_reward_components_are_stored() -> None:
    """Files of runs without a reward program stay unchanged."""
    plain = Episode(0, 1.5, 2, True, False, None, 0, 0.0)
    scored = replace(plain, env_return=3.0, parts={"left": 1.5}, extremes=(0.5, 1.0))
    found = inflate(deflate([Rollout((plain, scored), None, 4, "", 0.0)]))[0].episodes
    assert found == (plain, scored)
