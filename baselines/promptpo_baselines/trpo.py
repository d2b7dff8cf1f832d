"""TRPO as sb3-contrib has it, with the gradients of all parameters from one pass."""

from __future__ import annotations

import torch
from sb3_contrib import TRPO
from torch import nn


class OnePassTRPO(TRPO):
    """The same updates, without a backward pass for every parameter.

    sb3-contrib asks for the gradient of each parameter by itself and keeps the graphs of all these passes, so that
    each product with the Fisher matrix goes through as many graphs as there are parameters.
    """

    def _compute_actor_grad(
        self, kl_div: torch.Tensor, policy_objective: torch.Tensor
    ) -> tuple[list[nn.Parameter], torch.Tensor, torch.Tensor, list[tuple[int, ...]]]:
        """Gradients of the divergence and of the objective, by the parameters that the policy depends on."""
        named = [parameter for name, parameter in self.policy.named_parameters() if "value" not in name]
        found = torch.autograd.grad(kl_div, named, create_graph=True, retain_graph=True, allow_unused=True)
        used = [(p, gradient) for p, gradient in zip(named, found, strict=True) if gradient is not None]
        parameters = [p for p, _ in used]
        objective = torch.autograd.grad(policy_objective, parameters, retain_graph=True)
        return (
            parameters,
            torch.cat([gradient.reshape(-1) for gradient in objective]),
            torch.cat([gradient.reshape(-1) for _, gradient in used]),
            [tuple(gradient.shape) for _, gradient in used],
        )
