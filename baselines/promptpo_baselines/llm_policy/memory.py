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
"""Weights, gradients, moments of the optimizer, and vectors of the conjugate gradient and what it is computed from, each as
large; measured."""
WIDE, SQUARE = 17.0, 2.5
"""Vectors of the model's width that a token keeps in a layer, and matrices of token by token that a head keeps, for
the backward pass of plain attention (Korthikanti et al., 2022, "Reducing Activation Recomputation", who count bytes at
half precision: twice these numbers)."""
TWICE_WIDE, TWICE_SQUARE = 150.0, 4.0
"""The same where TRPO differentiates twice, at its peak: a little above what was measured with GPT-2's and Llama's layers
at 150 to 340 tokens (131 and 3)."""


def update_bytes(
    *, parameters: int, layers: int, width: int, heads: int, tokens: int, observations: int, algorithm: str
) -> int:
    """About the memory of one update at its peak.

    Args:
        parameters: Of the network, all of them trained.
        layers: Of the language model.
        width: Of its vectors.
        heads: Of its attention.
        tokens: Longest text of an observation.
        observations: That go through it together.
        algorithm: "trpo" differentiates twice.
    """
    wide, square = (TWICE_WIDE, TWICE_SQUARE) if algorithm == "trpo" else (WIDE, SQUARE)
    kept = layers * tokens * (wide * width + square * heads * tokens) * BYTES
    return int(parameters * BYTES * STATES_OF_PARAMETERS + observations * kept)


def together(algorithm: str, row: Mapping[str, Any], n_envs: int) -> int:
    """How many observations go through the network together in an update.

    Args:
        algorithm: "trpo" takes a whole rollout, or every so many-th of it; "ppo" a batch.
        row: Hyperparameters.
        n_envs: Environments stepped together.
    """
    if algorithm == "trpo":
        return -(-int(row.get("n_steps", 2048)) * n_envs // int(row.get("sub_sampling_factor", 1)))
    return int(row.get("batch_size", 64))


def check_memory(settings: TrainingSettings, row: Hyperparameters, model: BaseAlgorithm) -> None:
    """Refuse to train a language model whose updates do not fit, before the first rollout.

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
        observations=together(settings.algorithm, row.values, row.n_envs or 1),
        algorithm=settings.algorithm,
    )
    has = memory_of(model.device)
    if needed > has:
        raise UsageError(
            f"an update of this network needs about {needed / 2**30:,.0f} GiB, and this machine has {has / 2**30:,.0f}; "
            "let fewer observations through at once, by --hyperparams FILE with a larger sub_sampling_factor (trpo), a "
            "smaller batch_size (ppo) or a smaller n_steps, or take --layers or --reading embedding."
        )


def memory_of(device: Any) -> int:
    """Memory of the machine that computes, in bytes; that of the accelerator where one does."""
    import torch

    if getattr(device, "type", "cpu") == "cuda":
        return int(torch.cuda.get_device_properties(device).total_memory)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
