"""Encoding of states for the policy network: as tokens, or as features of a frozen model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from promptpo_baselines.llm_policy.backbone import load_backbone, load_tokenizer, mean_pool, width_of
from promptpo_baselines.llm_policy.design import Design
from promptpo_baselines.llm_policy.numbers import longest, write

FloatArray = NDArray[np.float32]

STATE, TOKENS, FEATURES = "state", "tokens", "language"
"""Keys of encoded observations."""
PADDING = -1
MOST_REMEMBERED = 50_000
"""Maximum number of texts whose features are kept; about 2.3 kB each for a model of width 576."""


class Encoder(ABC):
    """Adds the policy network's input to a batch of states.

    Attributes:
        key: Key of that input.
        normalize: Whether running statistics should normalise it.
        part: Its space.
    """

    key: str
    normalize = False
    part: spaces.Box

    @abstractmethod
    def read(self, states: Any) -> FloatArray:
        """Encode states as the network's input, shape (batch, size)."""

    def encode(self, states: Any) -> dict[str, Any]:
        """Return the states with their encoding."""
        return {STATE: np.asarray(states, np.float32), self.key: self.read(states)}

    def space(self, state: spaces.Box) -> spaces.Dict:
        """Return the space of `encode`'s results."""
        low, high = (bound.astype(np.float32) for bound in (state.low, state.high))
        return spaces.Dict({STATE: spaces.Box(low, high, dtype=np.float32), self.key: self.part})


class Tokens(Encoder):
    """Writes states as text and tokenizes it, padded on the right to one length.

    Args:
        design: The format of numbers.
        size: Number of numbers in a state.
    """

    key = TOKENS

    def __init__(self, design: Design, size: int) -> None:
        self._design, self._tokenizer = design, load_tokenizer(design)
        self.length = len(self._ids(longest(size, design.numbers)))
        self.part = spaces.Box(PADDING, len(self._tokenizer), (self.length,), np.float32)

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(text)["input_ids"]
        return ids

    def read(self, states: Any) -> FloatArray:
        """Return token IDs, (batch, length), `PADDING` where a text is shorter; longer ones are cut off.

        They are floats, like all observations in SB3's buffers; whole numbers of this size are exact.
        """
        rows = np.full((len(states), self.length), PADDING, np.float32)
        for row, state in zip(rows, np.asarray(states, np.float64).reshape(len(states), -1), strict=True):
            ids = self._ids(write(state.tolist(), self._design.numbers))[: self.length]
            row[: len(ids)] = ids
        return rows


class FrozenFeatures(Encoder):
    """Runs a frozen language model over states as text, once for each different text.

    Args:
        design: The model, and the format of numbers.
        size: Number of numbers in a state.
        device: Device of the model.
    """

    key = FEATURES
    normalize = True
    """Features of language models differ in scale by orders of magnitude, and little between states."""

    def __init__(self, design: Design, size: int, device: torch.device) -> None:
        self._device = device
        self._reader = Tokens(design, size)
        self._model = load_backbone(design).to(device)
        self.part = spaces.Box(-np.inf, np.inf, (width_of(self._model),), np.float32)
        self._remembered: dict[bytes, FloatArray] = {}
        self.computed = 0

    def read(self, states: Any) -> FloatArray:
        """Return the pooled vectors of the last layer, (batch, width)."""
        rows = self._reader.read(states)
        keys = [row.tobytes() for row in rows]
        new = {key: row for key, row in zip(keys, rows, strict=True) if key not in self._remembered}
        if len(self._remembered) + len(new) > MOST_REMEMBERED:
            self._remembered.clear()
            new = dict(zip(keys, rows, strict=True))
        if new:
            computed = self._compute_features(np.stack(list(new.values())))
            self._remembered.update(zip(new, computed, strict=True))
        return np.stack([self._remembered[key] for key in keys])

    @torch.no_grad()
    def _compute_features(self, rows: FloatArray) -> FloatArray:
        self.computed += len(rows)
        features: FloatArray = (
            read_tokens(self._model, torch.as_tensor(rows, device=self._device)).cpu().numpy()
        )
        return features


def read_tokens(model: Any, tokens: torch.Tensor) -> torch.Tensor:
    """Return the mean of the last layer's vectors, (batch, width), over all tokens except `PADDING`."""
    ids = tokens.long()
    ids = ids[:, : int((ids != PADDING).sum(dim=1).max())]  # no layer runs over common padding
    mask = (ids != PADDING).long()
    return mean_pool(model(input_ids=ids.clamp(min=0), attention_mask=mask).last_hidden_state, mask)


@lru_cache(maxsize=1)
def make_encoder(design: Design, size: int, device: torch.device) -> Encoder | None:
    """Return the encoder of a design; None if the network reads states as they are.

    It is cached, so that playing the agent just trained does not load the model again.
    """
    if design.network == "mlp" or design.reading == "embedding":
        return None
    return FrozenFeatures(design, size, device) if design.features_are_cached else Tokens(design, size)
