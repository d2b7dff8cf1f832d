"""Policy files as objects with stable-baselines3's `predict`, the policy in the sandbox."""

import os
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import promptpo
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.output.exporting import Provenance, export_text, task_of
from promptpo.output.policy import PolicyFailedError, SandboxedPolicy, load_policy
from tests.promptpo.nursery import start_interpreter
from tests.promptpo.policies import GOOD, INFINITE_LOOP

RECORDED = Path(__file__).parents[1] / "core" / "recorded" / "model"
SOURCE = GOOD.split("```python\n")[1].split("```")[0]

COUNTS = """
class Policy:
    def __init__(self):
        self.calls = 0

    def act(self, obs):
        self.calls += 1
        return float(self.calls)
"""
LINE = gymnasium.spaces.Box(-100.0, 100.0, (1,), np.float64)


@pytest.fixture
def own_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sandboxes are children of this process, as they are outside the tests."""
    monkeypatch.setattr("promptpo_sandbox.process._start_interpreter", start_interpreter)


@pytest.fixture
def counting() -> Iterator[Any]:
    """A policy whose action is the number of its calls in the episode."""
    with SandboxedPolicy(
        COUNTS.replace("return float(self.calls)", "return [float(self.calls)]"), LINE, LINE
    ) as policy:
        yield policy


def test_single_observations(counting: Any) -> None:
    """State carries the episode on; no state begins another."""
    obs = np.zeros(1)
    action, state = counting.predict(obs)
    assert action.shape == (1,)
    again, state = counting.predict(obs, state)
    assert (float(action[0]), float(again[0])) == (1.0, 2.0)
    assert float(counting.predict(obs)[0][0]) == 1.0


def test_batches_have_a_policy_each(counting: Any) -> None:
    """`episode_start` begins anew in its own lane only."""
    batch = np.zeros((3, 1))
    _, state = counting.predict(batch, None, np.array([True, True, True]))
    _, state = counting.predict(batch, state, np.array([False, False, False]))
    actions, state = counting.predict(batch, state, np.array([False, True, False]))
    assert actions.tolist() == [[3.0], [1.0], [3.0]]
    assert len(state) == 3


def test_an_old_state_is_refused(counting: Any) -> None:
    """A state of an episode that is over cannot be gone on with."""
    obs = np.zeros(1)
    _, state = counting.predict(obs)
    counting.predict(obs)
    with pytest.raises(ValueError, match="state"):
        counting.predict(obs, state)


def test_dict_observations() -> None:
    """Batches of dicts come apart and single dicts go in as they are."""
    space = gymnasium.spaces.Dict({"a": LINE, "b": gymnasium.spaces.Discrete(5)})
    source = "class Policy:\n    def act(self, obs):\n        return [float(obs['a'][0]) + obs['b']]\n"
    with SandboxedPolicy(source, space, LINE) as policy:
        assert policy.predict({"a": np.array([0.5]), "b": 2})[0].tolist() == [2.5]
        batch = {"a": np.array([[1.0], [2.0]]), "b": np.array([3, 4])}
        assert policy.predict(batch)[0].tolist() == [[4.0], [6.0]]


def test_a_failing_policy_raises_and_can_begin_again() -> None:
    """The failure is typed; the next episode has a fresh policy."""
    source = COUNTS.replace("return float(self.calls)", "return [1 / (3 - self.calls)]")
    with SandboxedPolicy(source, LINE, LINE) as policy:
        state = None
        for _ in range(2):
            _, state = policy.predict(np.zeros(1), state)
        with pytest.raises(PolicyFailedError, match="ZeroDivisionError") as caught:
            policy.predict(np.zeros(1), state)
        assert (caught.value.failure.kind, caught.value.failure.step) == ("crashed", 2)
        assert policy.predict(np.zeros(1))[0].tolist() == [0.5]


@pytest.mark.slow
def test_it_does_not_run_here() -> None:
    """The policy cannot see this process: not its files, and a loop ends by its deadline."""
    source = "import os\n\n\nclass Policy:\n    def act(self, obs):\n        return [float(os.getpid())]\n"
    with SandboxedPolicy(source, LINE, LINE) as policy, pytest.raises(PolicyFailedError, match="rejected"):
        policy.predict(np.zeros(1))
    loop = INFINITE_LOOP.split("```python\n")[1].split("```")[0]
    with SandboxedPolicy(loop, LINE, LINE) as policy, pytest.raises(PolicyFailedError, match="timeout"):
        policy.predict(np.zeros(1))


def test_closing_ends_the_processes(own_interpreter: None, counting: Any) -> None:
    """No child is left, also when the object is merely forgotten."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    before = set(children.read_text().split())
    counting.predict(np.zeros((2, 1)))
    assert set(children.read_text().split()) - before
    counting.close()
    counting.close()
    assert not set(children.read_text().split()) - before
    with pytest.raises(ReferenceError):
        forgotten().__repr__()
    assert not set(children.read_text().split()) - before


def forgotten() -> Any:
    """A policy that acted, and that nobody has any more."""
    policy = SandboxedPolicy(COUNTS.replace("return float(self.calls)", "return [1.0]"), LINE, LINE)
    policy.predict(np.zeros(1))
    return weakref.proxy(policy)


def test_a_batch_may_become_smaller_and_greater(counting: Any) -> None:
    """Policies of lanes that are not asked any more are gone; the others go on."""
    _, state = counting.predict(np.zeros((3, 1)))
    actions, state = counting.predict(np.zeros((2, 1)), state[:2])
    assert actions.tolist() == [[2.0], [2.0]]
    with pytest.raises(ValueError, match="state"):
        counting.predict(np.zeros((3, 1)), (*state, 3))


def test_an_exported_file_says_its_task(exported: Path) -> None:
    """Env id and keyword arguments are read from the file without running it."""
    assert task_of(exported.read_text()).env_id == "CartPole-v1"
    with load_policy(exported) as policy:
        assert policy.action_space == gymnasium.spaces.Discrete(2)
        assert "Discrete(2)" in repr(policy)


def test_unknown_files_are_told(tmp_path: Path) -> None:
    """A bare module needs an environment; a missing file is named."""
    bare = tmp_path / "bare.py"
    bare.write_text(SOURCE)
    with pytest.raises(UsageError, match="which environment"):
        load_policy(bare)
    with load_policy(bare, "CartPole-v1") as policy:
        assert policy.predict(np.zeros(4, np.float32))[0] in (0, 1)
    with pytest.raises(UsageError, match="nowhere"):
        load_policy(tmp_path / "nowhere.py")


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """An exported policy."""
    path = tmp_path / "best.py"
    space = gymnasium.spaces.Discrete(2)
    path.write_text(
        export_text(SOURCE, Provenance(Task("CartPole-v1"), "m", "run", "r1c1"), action_space=space)
    )
    return path


def test_the_result_shows_itself_in_a_notebook() -> None:
    """Its HTML names the environment and the return, and escapes the source."""
    html = promptpo.load_run(RECORDED)._repr_html_()
    assert "CartPole-v1" in html
    assert "Held-out return" in html
    assert "[0] * obs[3] &gt; 0" in html


def test_evaluate_policy_of_stable_baselines3(exported: Path) -> None:
    """The same returns as the sandbox's own rollouts, with one environment and with several."""
    evaluation = pytest.importorskip("stable_baselines3.common.evaluation")
    from stable_baselines3.common.env_util import make_vec_env

    with promptpo.load_policy(exported) as policy:
        mean, _ = evaluation.evaluate_policy(
            policy, gymnasium.make("CartPole-v1"), n_eval_episodes=3, warn=False
        )
        assert mean == 500.0
        returns, lengths = evaluation.evaluate_policy(
            policy, make_vec_env("CartPole-v1", 2, seed=0), n_eval_episodes=4, return_episode_rewards=True
        )
    assert returns == [500.0] * 4
    assert lengths == [500] * 4
