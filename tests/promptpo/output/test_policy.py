"""Policy files as objects with stable-baselines3's `predict`; the policy runs in the sandbox."""

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
    """Start sandboxes as children of this process, as outside the tests."""
    monkeypatch.setattr("promptpo_sandbox.process._start_interpreter", start_interpreter)


@pytest.fixture
def counting_policy() -> Iterator[Any]:
    """A policy whose action is the number of its calls in the episode."""
    with SandboxedPolicy(
        COUNTS.replace("return float(self.calls)", "return [float(self.calls)]"), LINE, LINE
    ) as policy:
        yield policy


def test_state_continues_an_episode(counting_policy: Any) -> None:
    """Without a state, a new episode starts."""
    obs = np.zeros(1)
    action, state = counting_policy.predict(obs)
    assert action.shape == (1,)
    again, state = counting_policy.predict(obs, state)
    assert (float(action[0]), float(again[0])) == (1.0, 2.0)
    assert float(counting_policy.predict(obs)[0][0]) == 1.0


def test_each_lane_of_a_batch_has_its_own_policy(counting_policy: Any) -> None:
    """`episode_start` renews the policy of its lane only."""
    batch = np.zeros((3, 1))
    _, state = counting_policy.predict(batch, None, np.array([True, True, True]))
    _, state = counting_policy.predict(batch, state, np.array([False, False, False]))
    actions, state = counting_policy.predict(batch, state, np.array([False, True, False]))
    assert actions.tolist() == [[3.0], [1.0], [3.0]]
    assert len(state) == 3


def test_state_of_an_ended_episode_is_rejected(counting_policy: Any) -> None:
    obs = np.zeros(1)
    _, state = counting_policy.predict(obs)
    counting_policy.predict(obs)
    with pytest.raises(ValueError, match="state"):
        counting_policy.predict(obs, state)


def test_dict_observations_are_unbatched() -> None:
    space = gymnasium.spaces.Dict({"a": LINE, "b": gymnasium.spaces.Discrete(5)})
    source = "class Policy:\n    def act(self, obs):\n        return [float(obs['a'][0]) + obs['b']]\n"
    with SandboxedPolicy(source, space, LINE) as policy:
        assert policy.predict({"a": np.array([0.5]), "b": 2})[0].tolist() == [2.5]
        batch = {"a": np.array([[1.0], [2.0]]), "b": np.array([3, 4])}
        assert policy.predict(batch)[0].tolist() == [[4.0], [6.0]]


def test_failing_policy_raises_and_restarts() -> None:
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
def test_policy_is_confined() -> None:
    """It cannot import os, and a loop ends at its deadline."""
    source = "import os\n\n\nclass Policy:\n    def act(self, obs):\n        return [float(os.getpid())]\n"
    with SandboxedPolicy(source, LINE, LINE) as policy, pytest.raises(PolicyFailedError, match="rejected"):
        policy.predict(np.zeros(1))
    loop = INFINITE_LOOP.split("```python\n")[1].split("```")[0]
    with SandboxedPolicy(loop, LINE, LINE) as policy, pytest.raises(PolicyFailedError, match="timeout"):
        policy.predict(np.zeros(1))


def test_closing_or_forgetting_ends_the_processes(own_interpreter: None, counting_policy: Any) -> None:
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    before = set(children.read_text().split())
    counting_policy.predict(np.zeros((2, 1)))
    assert set(children.read_text().split()) - before
    counting_policy.close()
    counting_policy.close()
    assert not set(children.read_text().split()) - before
    with pytest.raises(ReferenceError):
        forgotten_policy().__repr__()
    assert not set(children.read_text().split()) - before


def forgotten_policy() -> Any:
    """Return a weak reference to a policy that acted and is no longer referenced."""
    policy = SandboxedPolicy(COUNTS.replace("return float(self.calls)", "return [1.0]"), LINE, LINE)
    policy.predict(np.zeros(1))
    return weakref.proxy(policy)


def test_batch_may_shrink_but_not_grow_with_an_old_state(counting_policy: Any) -> None:
    """Policies of dropped lanes are closed."""
    _, state = counting_policy.predict(np.zeros((3, 1)))
    actions, state = counting_policy.predict(np.zeros((2, 1)), state[:2])
    assert actions.tolist() == [[2.0], [2.0]]
    with pytest.raises(ValueError, match="state"):
        counting_policy.predict(np.zeros((3, 1)), (*state, 3))


def test_task_is_read_from_the_exported_file(exported_policy: Path) -> None:
    """The file is not run."""
    assert task_of(exported_policy.read_text()).env_id == "CartPole-v1"
    with load_policy(exported_policy) as policy:
        assert policy.action_space == gymnasium.spaces.Discrete(2)
        assert "Discrete(2)" in repr(policy)


def test_bare_module_needs_an_environment(tmp_path: Path) -> None:
    """A missing file is named."""
    bare = tmp_path / "bare.py"
    bare.write_text(SOURCE)
    with pytest.raises(UsageError, match="which environment"):
        load_policy(bare)
    with load_policy(bare, "CartPole-v1") as policy:
        assert policy.predict(np.zeros(4, np.float32))[0] in (0, 1)
    with pytest.raises(UsageError, match="nowhere"):
        load_policy(tmp_path / "nowhere.py")


@pytest.fixture
def exported_policy(tmp_path: Path) -> Path:
    """Export a policy."""
    path = tmp_path / "best.py"
    space = gymnasium.spaces.Discrete(2)
    path.write_text(
        export_text(SOURCE, Provenance(Task("CartPole-v1"), "m", "run", "r1c1"), action_space=space)
    )
    return path


def test_result_has_an_html_repr() -> None:
    """It names the environment and the return, and escapes the source."""
    html = promptpo.load_run(RECORDED)._repr_html_()
    assert "CartPole-v1" in html
    assert "Held-out return" in html
    assert "[0] * obs[3] &gt; 0" in html


def test_exported_policy_works_with_stable_baselines3(exported_policy: Path) -> None:
    evaluation = pytest.importorskip("stable_baselines3.common.evaluation")
    from stable_baselines3.common.env_util import make_vec_env

    with promptpo.load_policy(exported_policy) as policy:
        mean, _ = evaluation.evaluate_policy(
            policy, gymnasium.make("CartPole-v1"), n_eval_episodes=3, warn=False
        )
        assert mean == 500.0
        returns, lengths = evaluation.evaluate_policy(
            policy, make_vec_env("CartPole-v1", 2, seed=0), n_eval_episodes=4, return_episode_rewards=True
        )
    assert returns == [500.0] * 4
    assert lengths == [500] * 4
