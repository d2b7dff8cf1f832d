"""sb3-contrib's TRPO, with the gradients of all parameters from one pass."""

from __future__ import annotations

import torch
from sb3_contrib import TRPO
from torch import nn


class OnePassTRPO(TRPO):
    """The same updates, without a backward pass for every parameter.

    sb3-contrib computes the gradient of each parameter separately and keeps the graphs of all these passes, so that
    each product with the Fisher matrix traverses as many graphs as there are parameters.
    """

    def _compute_actor_grad(
        self, kl_div: torch.Tensor, policy_objective: torch.Tensor
    ) -> tuple[list[nn.Parameter], torch.Tensor, torch.Tensor, list[tuple[int, ...]]]:
        """Return the gradients of the divergence and of the objective with respect to the policy's parameters."""
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
