"""Networks start as the program, and the policy file computes the same as the trained model."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from promptpo_baselines.algorithms import algorithm_class
from promptpo_baselines.refine.weights import ALPHABET, Network, text_bytes
from promptpo_sandbox import check_source
from tests.baselines.late import Late

torch, vec_env = Late("torch"), Late("stable_baselines3.common.vec_env")
networks, besides = Late("promptpo_baselines.refine.networks"), Late("promptpo_baselines.refine.environments")

OBSERVED, PASSED = 3, 2


class Noise(gymnasium.Env[Any, Any]):
    """Observations are noise; episodes of ten steps."""

    def __init__(self, action_space: Any) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (OBSERVED + PASSED,), np.float32)
        self.action_space, self._left = action_space, 10

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin."""
        super().reset(seed=seed)
        self._left = 10
        return self._noise(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Go on."""
        self._left -= 1
        return self._noise(), 0.0, self._left == 0, False, {}

    def _noise(self) -> Any:
        values = self.np_random.normal(3.0, 2.0, OBSERVED + PASSED)
        values[-PASSED:] = self.np_random.uniform(-1, 1, PASSED)
        return values.astype(np.float32)


def make_model(algorithm: str, action_space: Any, **arguments: Any) -> tuple[Any, Any]:
    """Return a model as refine builds it, and its normaliser with some statistics."""
    envs = besides.NormalizedAround(vec_env.DummyVecEnv([lambda: Noise(action_space)]))
    envs.kept = PASSED
    envs.reset()
    for _ in range(50):
        envs.step(np.stack([action_space.sample()]))
    policy: Any = "MlpPolicy"
    kwargs: dict[str, Any] = {"net_arch": {"pi": [16, 16], "qf": [8]}}
    if algorithm in ("ppo", "trpo"):
        choices = (int(action_space.n),) if isinstance(action_space, spaces.Discrete) else ()
        policy, kwargs = networks.NearProgramPolicy, {"net_arch": {"pi": [16, 16], "vf": [8]}}
        kwargs |= {"passed": PASSED, "choices": choices}
    model = algorithm_class(algorithm)(policy, envs, policy_kwargs=kwargs, seed=0, device="cpu", **arguments)
    if algorithm not in ("ppo", "trpo"):
        networks.begin_near_zero(model.policy.actor, -2.0)
    return model, envs


def run_text(network: Network, rows: Any) -> Any:
    """Return the exported network's output for whole observations."""
    scope: dict[str, Any] = {"np": np}
    exec(network.text, scope)  # noqa: S102 - our own text
    forward = scope["Network"]()
    return np.array([forward(row[:OBSERVED], row[OBSERVED:]) for row in rows])


@pytest.mark.parametrize("algorithm", ["ppo", "trpo", "sac", "tqc", "crossq"])
def test_untrained_network_adds_almost_nothing(algorithm: str) -> None:
    """This holds for every algorithm."""
    space = spaces.Box(-1.0, 1.0, (2,), np.float32)
    model, envs = make_model(algorithm, space)
    rows = np.array([envs.venv.envs[0]._noise() for _ in range(50)])
    actions = model.predict(envs.normalize_obs(rows), deterministic=True)[0]
    assert np.abs(actions).max() < 0.05


@pytest.mark.parametrize("algorithm", ["ppo", "trpo", "sac", "tqc", "crossq"])
def test_exported_network_agrees_with_the_model(algorithm: str) -> None:
    """Statistics, layers, batch normalisation and squashing, to the precision of two characters per weight."""
    space = spaces.Box(-1.0, 1.0, (2,), np.float32)
    arguments = (
        {"learning_starts": 5, "buffer_size": 100} if algorithm not in ("ppo", "trpo") else {"n_steps": 32}
    )
    model, envs = make_model(algorithm, space, **arguments)
    model.learn(40)
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    rows = np.array([envs.venv.envs[0]._noise() for _ in range(50)])
    actions = model.predict(envs.normalize_obs(rows), deterministic=True)[0]
    network = networks.network_of(model, envs, PASSED)
    np.testing.assert_allclose(np.clip(run_text(network, rows), -1, 1), actions, atol=2e-3)


def test_untrained_network_trusts_the_programs_choice() -> None:
    """The choice enters as a trainable bias on the logits."""
    model, envs = make_model("ppo", spaces.Discrete(2))
    rows = np.array([envs.venv.envs[0]._noise() for _ in range(50)])
    rows[:, OBSERVED:] = np.eye(2)[np.arange(50) % 2]
    normalised = torch.as_tensor(envs.normalize_obs(rows))
    probabilities = model.policy.get_distribution(normalised).distribution.probs.detach().numpy()
    chosen = probabilities[np.arange(50), np.arange(50) % 2]
    np.testing.assert_allclose(chosen, 0.9, atol=0.03)
    assert model.policy.action_net.weight.requires_grad


def test_programs_action_is_not_normalised() -> None:
    """It stands unchanged at the end of an observation."""
    _, envs = make_model("ppo", spaces.Box(-1.0, 1.0, (2,), np.float32))
    row = np.array([[3.0, 5.0, 1.0, 0.7, -0.2]], np.float32)
    normal = envs.normalize_obs(row)
    assert normal[0, -PASSED:].tolist() == row[0, -PASSED:].tolist()
    assert abs(normal[0, 0]) < 0.5


def test_weights_as_text_pass_the_gate() -> None:
    """No character ends a string or counts as a bracket; the length is as estimated."""
    model, envs = make_model("ppo", spaces.Box(-1.0, 1.0, (2,), np.float32))
    text = networks.network_of(model, envs, PASSED).text
    assert not set(ALPHABET) & set("\"'\\()[]{}#")
    assert check_source("import numpy as np\n" + text) is None
    weights = [line for line in text.split("\n") if line and set(line) <= set(ALPHABET)]
    assert sum(map(len, weights)) < 1.2 * text_bytes([5, 16, 16, 2]) + 400
