"""The memory that one update of a trained language model needs, estimated before training."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gymnasium import spaces

from promptpo.errors import UsageError
from promptpo_baselines.llm_policy.design import Design
from promptpo_baselines.llm_policy.encoders import TOKENS

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

    from promptpo_baselines.hyperparameters import Hyperparameters
    from promptpo_baselines.settings import TrainingSettings

BYTES = 4
STATES_OF_PARAMETERS = 10
"""Values per parameter: weights, gradients, moments of the optimizer, vectors of the conjugate gradient and what they
are computed from; measured."""
VECTORS_PER_TOKEN = {"ppo": 17.0, "trpo": 150.0}
"""Vectors of the model's width that each layer keeps of each token for the backward pass (Korthikanti et al., 2022, "Reducing Activation
Recomputation", who count bytes at half precision: twice these numbers). TRPO differentiates twice; its numbers are slightly above what
was measured at its peak with GPT-2's and Llama's layers at 150 to 340 tokens (131, and 3 below)."""
MATRICES_PER_HEAD = {"ppo": 2.5, "trpo": 4.0}
"""Token-by-token matrices that plain attention keeps of each head and layer."""


def update_bytes(
    *, parameters: int, layers: int, width: int, heads: int, tokens: int, observations: int, algorithm: str
) -> int:
    """Estimate the memory of one update at its peak, in bytes.

    Args:
        parameters: Number of the network's parameters, all of them trained.
        layers: Number of layers of the language model.
        width: Size of its vectors.
        heads: Number of its attention heads.
        tokens: Maximum tokens of an observation.
        observations: Number of observations that pass through it at once.
        algorithm: "trpo" differentiates twice.
    """
    vectors = VECTORS_PER_TOKEN[algorithm] * tokens * width
    matrices = MATRICES_PER_HEAD[algorithm] * heads * tokens**2
    kept = layers * (vectors + matrices) * BYTES
    return int(parameters * BYTES * STATES_OF_PARAMETERS + observations * kept)


def observations_at_once(algorithm: str, row: Mapping[str, Any], n_envs: int) -> int:
    """Return how many observations pass through the network at once in an update.

    Args:
        algorithm: "trpo" takes a whole rollout, or a subsample of it; "ppo" a batch.
        row: Hyperparameters.
        n_envs: Environments stepped together.
    """
    if algorithm == "trpo":
        return -(-int(row.get("n_steps", 2048)) * n_envs // int(row.get("sub_sampling_factor", 1)))
    return int(row.get("batch_size", 64))


def check_memory(settings: TrainingSettings, row: Hyperparameters, model: BaseAlgorithm) -> None:
    """Check that updates of a language model fit into memory, before the first rollout.

    Raises:
        UsageError: An update needs more than the machine has.
    """
    design = Design(**(settings.language or {}))
    if design.network == "mlp" or design.features_are_cached:
        return
    space = model.observation_space
    read: Any = space.spaces[TOKENS] if isinstance(space, spaces.Dict) else space
    tokens = read.shape[0]
    config: Any = model.policy.pi_features_extractor._hidden[0].config  # type: ignore[union-attr, index] # noqa: SLF001
    needed = update_bytes(
        parameters=sum(p.numel() for p in model.policy.parameters() if p.requires_grad),
        layers=int(config.num_hidden_layers),
        width=int(config.hidden_size),
        heads=int(config.num_attention_heads),
        tokens=int(tokens),
        observations=observations_at_once(settings.algorithm, row.values, row.n_envs or 1),
        algorithm=settings.algorithm,
    )
    has = memory_of(model.device)
    if needed > has:
        raise UsageError(
            f"an update of this network needs about {needed / 2**30:,.0f} GiB, and this machine has {has / 2**30:,.0f}; "
            "pass fewer observations at once (--hyperparams FILE with a larger sub_sampling_factor for trpo, a smaller "
            "batch_size for ppo, or a smaller n_steps), or use --layers or --reading embedding."
        )


def memory_of(device: Any) -> int:
    """Return the memory of the device that computes, in bytes."""
    import torch

    if getattr(device, "type", "cpu") == "cuda":
        return int(torch.cuda.get_device_properties(device).total_memory)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
