"""Networks that begin like the program: near-zero last layers, the program's choice as a learned bias on the logits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import MlpExtractor
from torch import nn

from promptpo.errors import UsageError
from promptpo_baselines.refine.weights import Layer, Network

NEAR_ZERO = 0.01
"""Factor of a last layer's initial weights."""
TRUST = 0.9
"""Probability that an untrained network gives to the program's choice."""
ACTIVATIONS = {
    nn.Tanh: "np.tanh(x)",
    nn.ReLU: "np.maximum(x, 0.0)",
    nn.ELU: "np.where(x > 0, x, np.expm1(np.minimum(x, 0.0)))",
    nn.LeakyReLU: "np.where(x > 0, x, 0.01 * x)",
    nn.SiLU: "x / (1.0 + np.exp(-x))",
}
"""Expressions for layers in the file."""


class _PassedOn(MlpExtractor):
    """Hidden layers whose policy part passes the program's action on to the last layer."""

    passed = 0

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """Return the output of the hidden layers, then the program's action."""
        return torch.cat([self.policy_net(features), features[:, -self.passed :]], dim=1)


class NearProgramPolicy(ActorCriticPolicy):
    """Actor and critic of an on-policy algorithm; the last layer sees the program's action.

    Args:
        passed: Size of the program's action, which is at the end of an observation.
        choices: Number of choices in each part of a discrete action; empty for others.
    """

    def __init__(self, *args: Any, passed: int, choices: tuple[int, ...], **kwargs: Any) -> None:
        self._passed, self._choices = passed, choices
        super().__init__(*args, **kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "passed": self._passed, "choices": self._choices}

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = _PassedOn(
            self.features_dim, net_arch=self.net_arch, activation_fn=self.activation_fn, device=self.device
        )
        self.mlp_extractor.passed = self._passed
        self.mlp_extractor.latent_dim_pi += self._passed

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        last: Any = self.action_net
        with torch.no_grad():
            last.weight[:, : -self._passed] *= NEAR_ZERO
            last.weight[:, -self._passed :] = 0.0
            last.bias.zero_()
            if not isinstance(self.action_space, spaces.Box):
                last.weight[:, -self._passed :] = torch.diag(
                    torch.as_tensor(trust(self._choices, self._passed))
                )


def trust(choices: tuple[int, ...], size: int) -> np.ndarray[Any, Any]:
    """Return the initial addition to the logits of the program's choices, so that they get probability `TRUST`."""
    if not choices:  # switches, encoded as -1 and 1
        return np.full(size, math.log(TRUST / (1 - TRUST)), np.float32)
    parts = [np.full(n, math.log(max(n - 1, 1) * TRUST / (1 - TRUST))) for n in choices]
    return np.concatenate(parts).astype(np.float32)


def begin_near_zero(actor: Any, log_std: float) -> None:
    """Initialise an off-policy actor with actions near zero and little noise.

    Args:
        actor: The actor of SAC, TQC or CrossQ.
        log_std: Log standard deviation of the noise before squashing.
    """
    with torch.no_grad():
        mean: Any = actor.mu[0] if isinstance(actor.mu, nn.Sequential) else actor.mu
        mean.weight *= NEAR_ZERO
        mean.bias.zero_()
        if isinstance(actor.log_std, nn.Linear):
            actor.log_std.weight *= NEAR_ZERO
            actor.log_std.bias.fill_(log_std)


def network_of(model: Any, normalizer: Any, passed: int) -> Network:
    """Return a model's deterministic policy as plain arrays.

    Args:
        model: A model of stable-baselines3 or sb3-contrib.
        normalizer: The `VecNormalize` around its environments.
        passed: Size of the program's action at the end of an observation.

    Raises:
        UsageError: It has a layer that the file cannot express.
    """
    on_policy = hasattr(model.policy, "mlp_extractor")
    if on_policy:
        hidden, last, squash = model.policy.mlp_extractor.policy_net, [model.policy.action_net], False
    else:
        actor = model.policy.actor
        mean = actor.mu if isinstance(actor.mu, nn.Sequential) else [actor.mu]
        hidden, last, squash = actor.latent_pi, list(mean), True
    layers, activation = _layers([*hidden, *last])
    statistics = normalizer.obs_rms
    inputs = len(statistics.mean) - passed
    return Network(
        mean=np.asarray(statistics.mean[:inputs], np.float64),
        std=np.sqrt(np.asarray(statistics.var[:inputs], np.float64) + normalizer.epsilon),
        clip=float(normalizer.clip_obs),
        layers=layers,
        activation=activation,
        passes_on=on_policy,
        squash=squash,
    )


def _layers(modules: list[Any]) -> tuple[list[Layer], str]:
    """Return affine maps and the activation between them; batch normalisation becomes part of the maps."""
    layers: list[Layer] = []
    activation = ""
    scale: Any = None
    shift: Any = None
    for module in modules:
        if isinstance(module, nn.Linear):
            weights = module.weight.detach().cpu().numpy().astype(np.float64)
            bias = module.bias.detach().cpu().numpy().astype(np.float64)
            if scale is not None:
                bias, weights = bias + weights @ shift, weights * scale
            layers.append(Layer(weights, bias))
            scale = shift = None
        elif hasattr(module, "ra_mean"):
            spread = np.sqrt(module.ra_var.numpy().astype(np.float64) + module.eps)
            gain = module.scale.detach().numpy().astype(np.float64) if module.affine else np.ones_like(spread)
            offset = module.bias.detach().numpy().astype(np.float64) if module.affine else 0.0
            scale, shift = gain / spread, offset - gain * module.ra_mean.numpy() / spread
        elif type(module) in ACTIVATIONS:
            activation = ACTIVATIONS[type(module)]
        elif isinstance(module, nn.Hardtanh):
            continue  # a limit before squashing, which affects only saturated actions
        elif not isinstance(module, nn.Identity | nn.Flatten):
            raise UsageError(
                f"refine cannot write a layer of {type(module).__name__}; take another activation."
            )
    return layers, activation
