"""The policy network: backbone, two layers, action distribution; and a separate critic that reads the state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import torch
from gymnasium import spaces
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor, MlpExtractor, create_mlp
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

from promptpo_baselines.llm_policy.backbone import load_backbone, width_of
from promptpo_baselines.llm_policy.design import HEAD_WIDTHS, Design
from promptpo_baselines.llm_policy.encoders import FEATURES, STATE, TOKENS, read_tokens
from promptpo_baselines.llm_policy.observations import state_size
from promptpo_baselines.llm_policy.sizes import head_parameters, matching_width
from promptpo_baselines.settings import TrainingSettings


class GivenFeatures(BaseFeaturesExtractor):
    """Passes on one part of an observation: a frozen model's features, or the state."""

    def __init__(self, observation_space: spaces.Space[Any], key: str) -> None:
        self._key = key
        space = (
            observation_space.spaces[key] if isinstance(observation_space, spaces.Dict) else observation_space
        )
        super().__init__(observation_space, features_dim=state_size(space))

    def forward(self, observations: Any) -> torch.Tensor:
        """Return the part, (batch, size)."""
        part: torch.Tensor = observations[self._key] if isinstance(observations, dict) else observations
        return part


class BackboneFeatures(BaseFeaturesExtractor):
    """Runs a language model of which some weights or the input are trained.

    Only what is trained is registered as parameters: TRPO computes the gradient of every parameter, SB3 would
    reinitialise the layers of a registered model, and checkpoints need not repeat the backbone's own files.

    Args:
        observation_space: Space of `Tokens`, or of bare states.
        design: The design as plain data, so that SB3 can save it.
    """

    def __init__(self, observation_space: spaces.Space[Any], design: dict[str, Any]) -> None:
        self._design = Design(**design)
        model: Any = load_backbone(self._design)
        super().__init__(observation_space, features_dim=width_of(model))
        self._hidden = (model,)  # a tuple, which torch does not search
        self.trained = nn.ParameterList([p for p in model.parameters() if p.requires_grad])
        self.norm = nn.LayerNorm(self.features_dim, elementwise_affine=False)
        if self._design.reading == "embedding":
            size = state_size(observation_space)
            scale = float(model.get_input_embeddings().weight.detach().std())
            self.slope = nn.Parameter(torch.randn(size, self.features_dim) * scale)
            self.offset = nn.Parameter(torch.randn(size, self.features_dim) * scale)

    def forward(self, observations: Any) -> torch.Tensor:
        """Return features, (batch, width), each scaled to mean 0 and variance 1."""
        model = self._hidden[0]
        if self._design.reading == "embedding":
            embedded = observations.unsqueeze(-1) * self.slope + self.offset
            mask = torch.ones(observations.shape, dtype=torch.long, device=observations.device)
            features = model(attention_mask=mask, inputs_embeds=embedded).last_hidden_state.mean(dim=1)
        else:
            features = read_tokens(model, observations[TOKENS])
        normed: torch.Tensor = self.norm(features)
        return normed

    def _apply(self, fn: Callable[..., Any], recurse: bool = True) -> BackboneFeatures:
        """Move the unregistered model along with the registered parameters."""
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self._hidden[0]._apply(fn)  # noqa: SLF001  as torch itself does for registered modules
        return self


class LanguageModelPolicy(ActorCriticPolicy):
    """Actor: language model, two layers, distribution (Gaussian with state-independent deviation, or softmax).

    The critic is a separate network of the same layers, which reads the state.
    """

    _actor_is_made = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "share_features_extractor": False})

    def make_features_extractor(self) -> BaseFeaturesExtractor:
        """Make the language model in the first call, which is for the actor; then pass on the state, for the critic."""
        if self._actor_is_made:
            return GivenFeatures(self.observation_space, STATE)
        self._actor_is_made = True
        return super().make_features_extractor()

    def _build_mlp_extractor(self) -> None:
        """Build the hidden layers of actor and critic, whose inputs have different sizes."""
        size, states = self.pi_features_extractor.features_dim, self.vf_features_extractor.features_dim
        layers = MlpExtractor(size, {"pi": list(HEAD_WIDTHS)}, self.activation_fn, self.device)
        layers.value_net = nn.Sequential(*create_mlp(states, -1, list(HEAD_WIDTHS), self.activation_fn))
        layers.latent_dim_vf = HEAD_WIDTHS[-1]
        self.mlp_extractor = layers.to(self.device)


def policy_and_arguments(
    settings: TrainingSettings, envs: VecEnv, given: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Return the policy class of a design and its arguments.

    Args:
        settings: Settings of the run, with a design.
        envs: Environments with all wrappers.
        given: Arguments from the hyperparameters; the design overrides their sizes of networks.
    """
    design = Design(**(settings.language or {}))
    arguments = {key: value for key, value in given.items() if key != "net_arch"}
    if design.network == "mlp":
        outputs = _outputs(envs.action_space)
        width = matching_width(actor_parameters(design, envs), state_size(envs.observation_space), outputs)
        return "MlpPolicy", {**arguments, "net_arch": {"pi": [width, width], "vf": list(HEAD_WIDTHS)}}
    if design.features_are_cached:
        features: dict[str, Any] = {
            "features_extractor_class": GivenFeatures,
            "features_extractor_kwargs": {"key": FEATURES},
        }
    else:
        features = {
            "features_extractor_class": BackboneFeatures,
            "features_extractor_kwargs": {"design": asdict(design)},
        }
    return LanguageModelPolicy, {**arguments, **features}


def actor_parameters(design: Design, envs: VecEnv) -> int:
    """Return the number of trainable parameters of a design's actor, or of the original of a control.

    Args:
        design: Design of a run; for "mlp", of the network that it controls for.
        envs: Environments of bare states, or with an encoder.
    """
    space = envs.observation_space
    state = space.spaces[STATE] if isinstance(space, spaces.Dict) else space
    original = replace(design, network="random")
    model: Any = load_backbone(original)  # random weights have the sizes of the real ones
    trained: int = sum(p.numel() for p in model.parameters() if p.requires_grad)
    if design.reading == "embedding":
        trained += 2 * state_size(state) * width_of(model)
    return trained + head_parameters(width_of(model), HEAD_WIDTHS, _outputs(envs.action_space))


def _outputs(space: spaces.Space[Any]) -> int:
    """Return the number of outputs of the actor's last layer."""
    return int(spaces.flatdim(space))
