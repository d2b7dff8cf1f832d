"""CrossQ whose batches are normalised by torch's own kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import CrossQ
from sb3_contrib.common.torch_layers import BatchRenorm1d

from promptpo_baselines.algorithms import algorithm_class, algorithm_of
from promptpo_baselines.crossq import QuickBatchRenorm


@pytest.mark.parametrize("steps", [0, 100_000, 100_001], ids=["first", "last of the warm-up", "after it"])
@pytest.mark.parametrize("training", [True, False])
def test_layers_are_those_of_the_library(*, training: bool, steps: int) -> None:
    """Values, gradients of everything and what is remembered, with a feature that changes much and one that is far off."""

    def passed(kind: type[BatchRenorm1d]) -> list[torch.Tensor]:
        generator = torch.Generator().manual_seed(5)

        def drawn(*shape: int) -> torch.Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        layer = kind(4).double().train(training)
        layer.scale.data, layer.bias.data = drawn(4), drawn(4)
        layer.ra_mean, layer.ra_var = drawn(4), drawn(4) ** 2 + 0.5
        layer.steps.fill_(steps)
        spread, middle = torch.tensor([0.5, 1.0, 30.0, 2.0]), torch.tensor([0.0, 1.0, -5.0, 400.0])
        x = (drawn(32, 4) * spread + middle).requires_grad_()
        y = layer(x)
        (torch.sin(y) * drawn(32, 4)).sum().backward()
        return [y, x.grad, layer.scale.grad, layer.bias.grad, layer.ra_mean, layer.ra_var, layer.steps]

    after = training and steps > 100_000  # the library then adds its epsilon at another place
    for mine, other in zip(passed(QuickBatchRenorm), passed(BatchRenorm1d), strict=True):
        assert torch.allclose(mine, other, rtol=0.03 if after else 1e-9, atol=0.03 if after else 1e-12)


def test_a_feature_that_never_changes_has_gradients() -> None:
    """A unit that is never active, and a part of the observation that is always the same."""
    layer = QuickBatchRenorm(2)
    layer.steps.fill_(layer.warmup_steps + 1)
    x = torch.tensor([[0.0, 1.0], [0.0, 3.0], [0.0, 2.0]], requires_grad=True)
    layer(x).square().sum().backward()
    assert all(torch.isfinite(found).all() for found in (x.grad, layer.scale.grad, layer.bias.grad))


def test_updates_are_those_of_the_library() -> None:
    """After some updates every parameter is what sb3-contrib's own CrossQ gives."""

    def trained(algorithm: Any) -> Any:
        kwargs = {"net_arch": [16, 16], "optimizer_class": torch.optim.SGD}  # Adam turns rounding into steps
        model = algorithm(
            "MlpPolicy", "Pendulum-v1", learning_starts=40, batch_size=32, policy_kwargs=kwargs, seed=3
        )
        return model.learn(52)

    ours, theirs = trained(algorithm_class("crossq")), trained(CrossQ)
    assert any(type(module) is QuickBatchRenorm for module in ours.policy.modules())
    pairs = zip(ours.policy.named_parameters(), theirs.policy.parameters(), strict=True)
    assert [name for (name, mine), other in pairs if not torch.allclose(mine, other, atol=1e-6)] == []


def test_a_saved_agent_is_the_librarys(tmp_path: Path) -> None:
    """It is known as CrossQ's, and sb3-contrib alone can play it; loaded here, it is quick again."""
    algorithm: Any = algorithm_class("crossq")
    model = algorithm("MlpPolicy", "Pendulum-v1", learning_starts=10, policy_kwargs={"net_arch": [8]}, seed=0)
    model.learn(14).save(tmp_path / "agent.zip")
    assert algorithm_of(tmp_path / "agent.zip") == "crossq"
    obs = np.array([[0.5, 0.1, -2.0]], np.float32)
    plain = CrossQ.load(tmp_path / "agent.zip")
    assert not any(type(module) is QuickBatchRenorm for module in plain.policy.modules())
    again = algorithm.load(tmp_path / "agent.zip")
    assert any(type(module) is QuickBatchRenorm for module in again.policy.modules())
    for other in (plain, again):
        assert np.allclose(
            model.predict(obs, deterministic=True)[0], other.predict(obs, deterministic=True)[0]
        )
