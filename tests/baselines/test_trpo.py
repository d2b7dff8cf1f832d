"""TRPO with the gradients of all parameters from one backward pass."""

from __future__ import annotations

from typing import Any

import pytest

from promptpo_baselines.algorithms import algorithm_class
from tests.baselines.late import Late

torch, sb3_contrib = Late("torch"), Late("sb3_contrib")


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Pendulum-v1"])
def test_updates_equal_those_of_sb3_contrib(env_id: str) -> None:
    """Every parameter is equal after two rollouts."""

    def trained(algorithm: Any) -> list[Any]:
        model = algorithm("MlpPolicy", env_id, n_steps=64, n_critic_updates=2, seed=3, device="cpu")
        return [p.detach() for p in model.learn(128).policy.parameters()]

    ours, theirs = trained(algorithm_class("trpo")), trained(sb3_contrib.TRPO)
    for mine, other in zip(ours, theirs, strict=True):
        assert torch.allclose(mine, other, atol=1e-5)


def test_gradients_of_all_parameters_take_two_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for the divergence and one for the objective, however many parameters there are."""
    algorithm: Any = algorithm_class("trpo")
    model = algorithm("MlpPolicy", "CartPole-v1", n_steps=16, device="cpu")
    passes = []
    plain = torch.autograd.grad

    def counted(*args: Any, **kwargs: Any) -> Any:
        passes.append(1)
        return plain(*args, **kwargs)

    monkeypatch.setattr("torch.autograd.grad", counted)
    distribution = model.policy.get_distribution(torch.zeros(4, 4))
    divergence = distribution.log_prob(torch.zeros(4)).mean()
    model._compute_actor_grad(divergence, 2 * divergence)
    assert len(passes) == 2
