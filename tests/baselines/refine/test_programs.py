"""Programs of all kinds beside a network: names, constructors and failures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.output.exporting import Provenance, export_text, policy_part
from promptpo.program import Program
from promptpo_baselines.environments import make_playable, training_envs
from promptpo_baselines.refine.files import build_refined_source
from promptpo_baselines.refine.programs import Prior
from promptpo_baselines.refine.start import prior_of, without_header
from promptpo_baselines.refine.weights import Layer, Network
from promptpo_sandbox import Sandbox, Trial, check_source
from tests.baselines.late import Late

besides = Late("promptpo_baselines.refine.environments")

OBSERVED = spaces.Box(-10.0, 10.0, (2,), np.float64)
ACTIONS = spaces.Box(-2.0, 2.0, (1,), np.float32)

PLAIN = "class Policy:\n    def act(self, obs):\n        return [obs[0]]\n"
CROWDED = """from __future__ import annotations
import numpy

class Program:
    gain = 1.0

class Network:
    pass

def finite(x):
    return numpy.array([x * Program.gain])

class Policy:
    def act(self, obs):
        import numpy as np
        return finite(np.float64(obs[0]))
"""
PARAMETERS = """
import numpy as np
PARAMS = {"gain": (1.0, 0.0, 2.0)}

class Policy:
    def __init__(self, params):
        self.gain = params["gain"]
    def reset(self):
        self.offset = 0.0
    def act(self, obs):
        return np.array([obs[0] * self.gain + self.offset])
"""
ALIASED = """
class Controller:
    def __init__(self, params):
        self.gain = 0.0
    def reset(self):
        self.gain = 1.0
    def act(self, obs):
        return (self.gain * obs[0],)

Policy = Controller
"""


@pytest.fixture(scope="module")
def prior_box() -> Iterator[Sandbox]:
    """One sandbox for all tests."""
    with Sandbox() as box:
        yield box


def zero_network(size: int) -> Network:
    """Return a network that adds nothing."""
    layer = Layer(np.zeros((1, size + 1)), np.zeros(1))
    return Network(np.zeros(size), np.ones(size), 10.0, [layer], "", passes_on=False, squash=False)


@pytest.mark.parametrize(
    "source", [PLAIN, CROWDED, PARAMETERS, ALIASED], ids=["plain", "crowded", "params", "alias"]
)
def test_program_acts_the_same_beside_a_network(source: str, prior_box: Sandbox) -> None:
    """In training and in the file, whatever names it uses and however it is constructed."""
    prior = Prior(source, OBSERVED, ACTIONS)
    asked = prior_box.open_policies(prior.training_source, prior.asked_space, prior.answer_space)
    assert asked.start({0: Trial(0, prior.program.values)}) == {}
    answer = asked.act({0: (1, np.array([1.5, 0.0]))})[0]
    np.testing.assert_allclose(answer, [0.75])
    text = build_refined_source(prior, zero_network(2), scale=1.0)
    assert check_source(text) is None
    assert Program.from_source(text).contract.takes_params
    whole = prior_box.open_policies(text, OBSERVED, ACTIONS)
    whole.start({0: Trial(0, Program.from_source(text).values)})
    np.testing.assert_allclose(whole.act({0: np.array([1.5, 0.0])})[0], [1.5])


def test_inactive_program_repeats_its_last_answer(prior_box: Sandbox) -> None:
    """Its memory does not change."""
    counting = "class Policy:\n    n = 0\n    def act(self, obs):\n        self.n = self.n + 1\n        return [self.n]\n"
    prior = Prior(counting, OBSERVED, ACTIONS)
    asked = prior_box.open_policies(prior.training_source, prior.asked_space, prior.answer_space)
    asked.start({0: Trial(0)})
    given = np.zeros(2)
    answers = [asked.act({0: (act, given)})[0][0] for act in (1, 0, 0, 1)]
    assert answers == [0.5, 0.5, 0.5, 1.0]


def test_program_gets_observations_unchanged(prior_box: Sandbox) -> None:
    """Such as dicts with text."""
    space = spaces.Dict(n=spaces.Discrete(5), says=spaces.Text(10))
    source = (
        "class Policy:\n    def act(self, obs):\n        return [obs['n'] if obs['says'] == 'go' else -1]\n"
    )
    prior = Prior(source, space, ACTIONS)
    asked = prior_box.open_policies(prior.training_source, prior.asked_space, prior.answer_space)
    asked.start({0: Trial(0)})
    assert asked.act({0: (1, {"n": 1, "says": "go"})})[0][0] == 0.5


def test_module_without_a_policy_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("x = 1\n")
    with pytest.raises(UsageError, match="class Policy"):
        prior_of(tmp_path / "other.py", Task("Pendulum-v1"), scale=1.0)


def test_off_policy_training_starts_near_the_program() -> None:
    """Its random actions are small additions, while its networks act from -1 to 1."""
    envs = training_envs(Task("Pendulum-v1"), 1, 0, 0, lambda task: besides.Flat(make_playable(task)))
    beside = besides.ProgramEnvs(
        envs, Prior(PLAIN, envs.observation_space, envs.action_space), scale=1.0, off_policy=True
    )
    space = beside.action_space
    drawn = np.array([space.sample() for _ in range(50)])
    assert drawn.dtype == np.float32
    assert 0.1 < np.abs(drawn).max() <= besides.GUIDED
    assert space.contains(np.ones(1, np.float32))
    beside.close()


def test_last_observation_of_an_episode_has_the_programs_action() -> None:
    """The critic needs it to estimate the value of going on; the next episode starts with a new program."""
    counting = "class Policy:\n    n = 0\n    def act(self, obs):\n        self.n = self.n + 1\n        return [self.n / 10]\n"
    envs = training_envs(
        Task("Pendulum-v1", max_episode_steps=3), 2, 0, 0, lambda task: besides.Flat(make_playable(task))
    )
    prior = Prior(counting, envs.observation_space, envs.action_space)
    beside = besides.ProgramEnvs(envs, prior, scale=1.0, off_policy=False)
    try:
        all_observations: Any = [beside.reset()]
        for _ in range(3):
            observations, _, _, infos = beside.step(np.zeros((2, 1)))
            all_observations.append(observations)
        program_actions = [float(row[0, -1]) for row in all_observations]
        np.testing.assert_allclose(program_actions, [0.05, 0.1, 0.15, 0.05], atol=1e-6)
        np.testing.assert_allclose(
            [info["terminal_observation"][-1] for info in infos], [0.2, 0.2], atol=1e-6
        )
        assert beside.tally.episodes == 4
        assert beside.tally.failures == {}
    finally:
        beside.close()


def test_header_of_an_exported_program_is_removed() -> None:
    """Its docstring stays, its results do not."""
    documented = '"""Push \\\\ along."""\n' + PLAIN
    task = Task("Pendulum-v1")
    provenance = Provenance(task, "someone", "run", "r1c1")
    bare = without_header(policy_part(export_text(documented, provenance, action_space=ACTIONS)))
    assert Program.from_source(bare).docstring == Program.from_source(documented).docstring
    code = (
        Program.from_source(bare).without_docstring.strip().removeprefix("from __future__ import annotations")
    )
    assert code.strip() == PLAIN.strip()
    assert without_header(documented) == documented
    silent_one = without_header(policy_part(export_text(PLAIN, provenance, action_space=ACTIONS)))
    assert "someone" not in silent_one
    assert Program.from_source(silent_one).digest == Program.from_source(PLAIN).digest
