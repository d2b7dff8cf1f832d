"""Rollouts on disk."""

from dataclasses import replace

from promptpo.rollouts.packed import deflate, inflate
from promptpo_sandbox import Episode, Rollout, Trajectory


def test_what_policies_keep_is_on_disk_too() -> None:
    """So that a killed run tells the same of an episode as one that was not."""
    debug = [{"mode": "go", "gap": 0.5}, {}]
    for kept in (debug, ()):
        trajectory = Trajectory([0, 1, 2], [0, 1], [1.0, 0.5], kept)
        episode = Episode(0, 1.5, 2, True, False, None, 0, 0.0, trajectory, None)
        found = inflate(deflate([Rollout((episode,), None, 2, "", 0.0)]))[0].episodes[0].trajectory
        assert found is not None
        assert list(found.debug) == list(kept)


def test_what_a_reward_program_said_is_on_disk_too() -> None:
    """The environment's own return and the parts; files of runs without one are as before."""
    plain = Episode(0, 1.5, 2, True, False, None, 0, 0.0)
    scored = replace(plain, env_return=3.0, parts={"left": 1.5}, extremes=(0.5, 1.0))
    found = inflate(deflate([Rollout((plain, scored), None, 4, "", 0.0)]))[0].episodes
    assert found == (plain, scored)
