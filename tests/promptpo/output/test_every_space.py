"""Policies for every kind of space through stable-baselines3's `evaluate_policy`: exported and in the sandbox."""

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
from tests.promptpo.output.every_space import ACTIONS, OBSERVATIONS, evaluated, policy_for

KINDS = [(observation, "discrete") for observation in OBSERVATIONS] + [("dict", action) for action in ACTIONS]


@pytest.mark.parametrize(("observation", "action"), KINDS)
def test_the_exported_file_fits(observation: Any, action: Any, tmp_path: Path) -> None:
    """It sees observations as the environment gives them, and every action is one of the space."""
    pytest.importorskip("stable_baselines3")
    path = tmp_path / "policy.py"
    facts = Provenance(Task("Checked-v0"), "m", "run", "c")
    path.write_text(export_text(policy_for(observation, action), facts, action_space=ACTIONS[action]))
    spec = importlib.util.spec_from_file_location("exported_policy", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert [evaluated(module, observation, action, lanes) for lanes in (1, 3)] == [[3.0] * 4] * 2


@pytest.fixture(scope="module")
def boxes() -> Iterator[list[Sandbox]]:
    """Sandboxes that one policy leaves for the next."""
    idle: list[Sandbox] = []
    yield idle
    for box in idle:
        Sandbox.close(box)


@pytest.fixture
def warm(boxes: list[Sandbox], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each policy gets such sandboxes, under the limits that it asked for."""

    class Warm(Sandbox):
        def close(self) -> None:
            boxes.append(self)

    def sandbox(limits: Any, **how: Any) -> Any:
        asked = [box for box in boxes if box.limits == limits and box.allow_weaker == how["allow_weaker"]]
        if not asked:
            return Warm(limits, **how)
        boxes.remove(asked[0])
        return asked[0]

    monkeypatch.setattr("promptpo_sandbox.Sandbox", sandbox)


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize(("observation", "action"), KINDS)
def test_the_sandboxed_policy_fits(observation: Any, action: Any) -> None:
    """The same for the object that `load_policy` gives."""
    pytest.importorskip("stable_baselines3")
    spaces = OBSERVATIONS[observation], ACTIONS[action]
    with SandboxedPolicy(policy_for(observation, action), *spaces, allow_weaker_sandbox=True) as policy:
        assert evaluated(policy, observation, action, 3) == [3.0] * 4


def test_text_and_nested_spaces_come_apart() -> None:
    """What stable-baselines3 has no room for works as Gymnasium's own vector environments batch it."""
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
