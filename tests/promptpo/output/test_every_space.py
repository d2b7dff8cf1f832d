"""Policies for every kind of space through stable-baselines3's `evaluate_policy`: exported and in the sandbox."""

import json
import subprocess
import sys
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

CHILD = """
import importlib.util, json, sys
from tests.promptpo.output.every_space import evaluated
results = {}
for name, path in json.loads(sys.argv[1]).items():
    spec = importlib.util.spec_from_file_location("exported_policy", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        results[name] = [evaluated(module, *name.split(), lanes) for lanes in (1, 3)]
    except Exception as error:
        results[name] = repr(error)
print(json.dumps(results))
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What exported files return, each in a process that is not the test's."""
    pytest.importorskip("stable_baselines3")
    folder, paths = tmp_path_factory.mktemp("exported"), {}
    for observation, action in KINDS:
        facts = Provenance(Task("Checked-v0"), "m", "run", "c")
        path = folder / f"{observation}_{action}.py"
        path.write_text(export_text(policy_for(observation, action), facts, action_space=ACTIONS[action]))
        paths[f"{observation} {action}"] = str(path)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(paths)],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("observation", "action"), KINDS)
def test_the_exported_file_fits(played: Any, observation: Any, action: Any) -> None:
    """It sees observations as the environment gives them, and every action is one of the space."""
    assert played[f"{observation} {action}"] == [[3.0] * 4, [3.0] * 4]


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
