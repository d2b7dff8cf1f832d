"""Policies for every kind of space under stable-baselines3's `evaluate_policy`, exported and sandboxed."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from promptpo.envs.task import Task
from promptpo.output.exporting import Provenance, export_text
from promptpo.output.policy import SandboxedPolicy
from promptpo_sandbox import Sandbox
from tests.promptpo.output.every_space import ACTIONS, OBSERVATIONS, evaluate_returns, policy_for

KINDS = [(observation, "discrete") for observation in OBSERVATIONS] + [("dict", action) for action in ACTIONS]


@pytest.mark.parametrize(("observation", "action"), KINDS)
def test_exported_file_supports_the_space(observation: Any, action: Any, tmp_path: Path) -> None:
    """Observations arrive unchanged, and every action is in the space."""
    pytest.importorskip("stable_baselines3")
    path = tmp_path / "policy.py"
    facts = Provenance(Task("Checked-v0"), "m", "run", "c")
    path.write_text(export_text(policy_for(observation, action), facts, action_space=ACTIONS[action]))
    spec = importlib.util.spec_from_file_location("exported_policy", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert [evaluate_returns(module, observation, action, lanes) for lanes in (1, 3)] == [[3.0] * 4] * 2


@pytest.fixture(scope="module")
def idle_sandboxes() -> Iterator[list[Sandbox]]:
    """Sandboxes that one test leaves for the next."""
    idle: list[Sandbox] = []
    yield idle
    for box in idle:
        Sandbox.close(box)


@pytest.fixture
def reused_sandboxes(idle_sandboxes: list[Sandbox], monkeypatch: pytest.MonkeyPatch) -> None:
    """Reuse idle sandboxes with the requested limits."""

    class Warm(Sandbox):
        def close(self) -> None:
            idle_sandboxes.append(self)

    def sandbox(limits: Any, **how: Any) -> Any:
        matching = [
            box for box in idle_sandboxes if box.limits == limits and box.allow_weaker == how["allow_weaker"]
        ]
        if not matching:
            return Warm(limits, **how)
        idle_sandboxes.remove(matching[0])
        return matching[0]

    monkeypatch.setattr("promptpo_sandbox.Sandbox", sandbox)


@pytest.mark.usefixtures("reused_sandboxes")
@pytest.mark.parametrize(("observation", "action"), KINDS)
def test_sandboxed_policy_supports_the_space(observation: Any, action: Any) -> None:
    pytest.importorskip("stable_baselines3")
    spaces = OBSERVATIONS[observation], ACTIONS[action]
    with SandboxedPolicy(policy_for(observation, action), *spaces, allow_weaker_sandbox=True) as policy:
        assert evaluate_returns(policy, observation, action, 3) == [3.0] * 4


def test_text_and_nested_observations_are_unbatched() -> None:
    """stable-baselines3 does not support them; batches follow Gymnasium's vector environments."""
    text = gymnasium.spaces.Text(5, charset="ab")
    space = gymnasium.spaces.Dict({"t": gymnasium.spaces.Tuple([text, gymnasium.spaces.Discrete(3)])})
    source = "class Policy:\n    def act(self, obs):\n        return len(obs['t'][0]) + obs['t'][1]\n"
    answers = gymnasium.spaces.Discrete(9)
    with SandboxedPolicy(source, space, answers, allow_weaker_sandbox=True) as policy:
        assert policy.predict({"t": ("ab", 1)})[0] == 3
        batch = {"t": (("a", "abb"), np.array([0, 2]))}
        assert policy.predict(batch)[0].tolist() == [1, 5]
    with SandboxedPolicy(source.replace("len(obs['t'][0]) + obs['t'][1]", "len(obs)"), text, answers,
                         allow_weaker_sandbox=True) as policy:  # fmt: skip
        assert policy.predict("aab")[0] == 3
        assert policy.predict(("a", "bb"))[0].tolist() == [1, 2]
