"""Agents that do not learn."""

import json

import numpy as np
import pytest
from gymnasium import spaces

from benchmarks.agents import _zero, has_oracle, main, play
from benchmarks.environments.noise_world import optimal_return
from promptpo.errors import UsageError
from promptpo.records import Seeds, Task


def test_random_plays_the_test_seeds_and_repeats():
    """The same seeds as every run, and the same returns again."""
    first = play("random", Task("CartPole-v1"), 5)
    assert tuple(e.seed for e in first.episodes) == Seeds().test(5)
    assert first.returns == play("random", Task("CartPole-v1"), 5).returns
    assert len(set(first.returns)) > 1


def test_zero_stays_inside_the_action_space():
    """Clipped where the space leaves zero out."""
    assert _zero(spaces.Box(0.5, 1.0, (2,))).tolist() == [0.5, 0.5]
    assert _zero(spaces.Discrete(3, start=2)) == 2
    assert np.array_equal(_zero(spaces.MultiDiscrete([2, 3])), [0, 0])
    with pytest.raises(UsageError, match="no zero action"):
        _zero(spaces.Text(3))


def test_the_oracle_of_noise_world_is_optimal():
    """Its mean return is the optimum, within four standard errors."""
    found = play("oracle", Task("benchmarks.environments:promptpo/NoiseWorld-2-v0"), 200)
    error = np.std(found.returns) / np.sqrt(200)
    assert abs(found.mean_return - optimal_return(2)) < 4 * error


def test_oracles_exist_where_they_should():
    """And are refused elsewhere."""
    assert has_oracle("Meta-World/reach-v3")
    assert has_oracle("benchmarks.environments:promptpo/NoiseWorld-6-v0")
    assert not has_oracle("CartPole-v1")
    with pytest.raises(UsageError, match="no oracle for CartPole-v1"):
        play("oracle", Task("CartPole-v1"), 1)


def test_the_result_has_the_form_of_every_run(tmp_path, capsys):
    """The fields that rows read."""
    main("zero", "FrozenLake-v1", tmp_path / "run", 4, '{"is_slippery": false}', 20)
    content = json.loads((tmp_path / "run" / "result.json").read_text())
    assert content["test"]["returns"] == [0.0] * 4
    assert content["steps"] == {"test": 80, "total": 80}
    assert content["env_kwargs"] == {"is_slippery": False}
    assert content["versions"]["gymnasium"]
    assert json.loads(capsys.readouterr().out)["episodes"] == 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["button-press-v3", "drawer-open-v3", "pick-place-v3", "reach-v3"])
def test_metaworlds_scripted_policies_succeed(name):
    """They bound success, not return."""
    assert play("oracle", Task(f"Meta-World/{name}"), 5).success_rate == 1.0
