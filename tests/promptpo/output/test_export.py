"""The exported file: plain Python with numpy, equal to what was evaluated, usable from stable-baselines3."""

import json
import subprocess
import sys

import gymnasium
import numpy as np
import pytest

from promptpo.envs.task import Task
from promptpo.output.exporting import MARKER, Provenance, exported, policy_part

BARE = """class Policy:
    def act(self, obs):
        return 1 if obs[2] + 0.5 * obs[3] > 0 else 0
"""

TUNED = '''"""Swing up by energy, then hold.

The gain was tuned."""
import numpy as np

PARAMS = {"gain": (5.0, 0.0, 9.0)}


class Policy:
    def __init__(self, params):
        self.gain = params["gain"]
        self.steps = 0

    def act(self, obs):
        self.steps += 1
        return np.array([self.gain * obs[2] + 0.001 * self.steps])
'''


def provenance(env_id, **more):
    """Header facts for a test."""
    return Provenance(Task(env_id), "test-model", "0.0", "run", "r1c1", "2026-01-01", **more)


def write(tmp_path, source, env_id):
    """The exported file for an environment."""
    env = gymnasium.make(env_id)
    path = tmp_path / "policy.py"
    path.write_text(exported(source, provenance(env_id), action_space=env.action_space))
    return path


@pytest.mark.parametrize(("source", "env_id"), [(BARE, "CartPole-v1"), (TUNED, "Pendulum-v1")])
def test_it_runs_without_promptpo(tmp_path, source, env_id):
    """Plain Python plays it; nothing of promptpo is imported."""
    path = write(tmp_path, source, env_id)
    block = "import sys; sys.modules['promptpo'] = None; sys.argv = ['policy.py', '--episodes', '2', '--seed', '3'];"
    done = subprocess.run(
        [sys.executable, "-c", f"{block} import runpy; runpy.run_path({str(path)!r}, run_name='__main__')"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "mean return of 2 episodes" in done.stdout


def load(path):
    """Import an exported file (its source is this test's own)."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("exported_policy", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_predict_takes_single_observations_and_keeps_state(tmp_path):
    """Without `episode_start` an observation is single, and the state carries the episode's policy."""
    module = load(write(tmp_path, TUNED, "Pendulum-v1"))
    obs = np.array([1.0, 0.0, 0.0], dtype=np.float32)
    first, state = module.predict(obs)
    second, _ = module.predict(obs, state)
    fresh, _ = module.predict(obs)
    assert first.shape == (1,)
    assert second[0] > first[0]
    assert fresh[0] == first[0]


def test_actions_stay_in_bounds(tmp_path):
    """The bounds that clipped actions during evaluation clip them in `predict` too."""
    module = load(write(tmp_path, TUNED, "Pendulum-v1"))
    action, _ = module.predict(np.array([1.0, 0.0, 8.0], dtype=np.float32))
    assert action[0] == 2.0
    assert action.dtype == np.float32


def test_predict_serves_vectorised_environments(tmp_path):
    """A batch has one policy per environment, renewed where an episode starts."""
    module = load(write(tmp_path, TUNED, "Pendulum-v1"))
    batch = np.zeros((3, 3), dtype=np.float32)
    _, state = module.predict(batch, None, np.array([True, True, True]))
    actions, state = module.predict(batch, state, np.array([False, True, False]))
    assert actions.shape == (3, 1)
    assert actions[1, 0] < actions[0, 0]


@pytest.mark.slow
@pytest.mark.parametrize(("source", "env_id"), [(BARE, "CartPole-v1"), (TUNED, "Pendulum-v1")])
def test_stable_baselines3_evaluates_it(tmp_path, source, env_id):
    """`evaluate_policy` accepts the module as it is."""
    evaluation = pytest.importorskip("stable_baselines3.common.evaluation")
    module = load(write(tmp_path, source, env_id))
    mean, _ = evaluation.evaluate_policy(module, gymnasium.make(env_id), n_eval_episodes=3, warn=False)
    assert np.isfinite(mean)


RESETS = """class Policy:
    def reset(self):
        self.action = 1

    def act(self, obs):
        self.action = 1 - self.action
        return self.action
"""


def test_reset_is_called_like_in_the_sandbox(tmp_path):
    """A policy that sets itself up in `reset` works, in the sandbox and in the exported file."""
    from sandbox import Sandbox, Trial

    module = load(write(tmp_path, RESETS, "CartPole-v1"))
    assert module.predict(np.zeros(4, dtype=np.float32))[0] == 0
    with Sandbox() as box:
        rollout = box.rollout(RESETS, [gymnasium.make("CartPole-v1")], [Trial(0), Trial(1)])
    assert rollout.failure is None


def test_the_policy_part_comes_back(tmp_path):
    """What goes into the sandbox is the candidate's module, without the added part."""
    text = write(tmp_path, BARE, "CartPole-v1").read_text()
    assert MARKER in text
    assert "predict" not in policy_part(text)
    assert "class Policy" in policy_part(text)


def test_a_docstring_with_quotes_and_backslashes_stays_valid(tmp_path):
    """Whatever the model wrote into its docstring, the header remains one string."""
    source = "r'''A \"\"\"quoted\"\"\" \\\\d+ strategy'''\n" + BARE
    path = write(tmp_path, source, "CartPole-v1")
    compile(path.read_text(), "policy.py", "exec")


def test_the_header_tells_the_number_and_where_it_is_from():
    """Return, interval, episodes, seeds, model, version and run are in the header."""
    text = exported(
        BARE,
        provenance("CartPole-v1", test=(487.2, (470.0, 500.0), 100), test_seeds=(20_000_000, 20_000_099)),
        action_space=None,
    )
    header = text.split('"""')[1]
    for fact in (
        "CartPole-v1",
        "test-model",
        "487.2",
        "470 to 500",
        "100 episodes",
        "20000000",
        "r1c1",
        "run",
    ):
        assert fact in header


def test_keyword_arguments_reach_the_player(tmp_path):
    """The environment is made with the keyword arguments of the run."""
    task = Task("FrozenLake-v1", {"is_slippery": False})
    facts = Provenance(task, "m", "0", "run", "c", "d")
    text = exported("class Policy:\n    def act(self, obs):\n        return 2\n", facts, action_space=None)
    assert json.dumps({"is_slippery": False}) in text
