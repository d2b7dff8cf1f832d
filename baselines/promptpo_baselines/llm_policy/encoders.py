"""From a batch of states to what the policy network is given: tokens, or the features of a frozen model."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from promptpo_baselines.llm_policy.backbone import load_backbone, load_tokenizer, pooled, width_of
from promptpo_baselines.llm_policy.design import Design
from promptpo_baselines.llm_policy.numbers import longest, write

FloatArray = NDArray[np.float32]

STATE, TOKENS, FEATURES = "state", "tokens", "language"
"""Keys of encoded observations."""
PADDING = -1
MOST_REMEMBERED = 50_000
"""Texts whose features are kept; about 2.3 kB each for a model of width 576."""


class Tokens:
    """Writes states as text and gives the tokens, padded on the right to one length.

    Args:
        design: How numbers are written.
        size: Numbers in a state.
    """

    normalize: str | None = None
    """Key of what running statistics should normalise."""

    def __init__(self, design: Design, size: int) -> None:
        self._design, self._tokenizer = design, load_tokenizer(design)
        self.length = len(self._ids(longest(size, design.numbers)))
        self._vocabulary = len(self._tokenizer)

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(text)["input_ids"]
        return ids

    def tokens(self, states: Any) -> FloatArray:
        """Token numbers, (batch, length), `PADDING` where a text is shorter; longer ones are cut off.

        They are floats, as SB3's buffers keep observations; whole numbers of this size are exact.
        """
        rows = np.full((len(states), self.length), PADDING, np.float32)
        for row, state in zip(rows, np.asarray(states, np.float64).reshape(len(states), -1), strict=True):
            ids = self._ids(write(state.tolist(), self._design.numbers))[: self.length]
            row[: len(ids)] = ids
        return rows

    def encode(self, states: Any) -> dict[str, Any]:
        """The states, and their tokens."""
        return {STATE: np.asarray(states, np.float32), TOKENS: self.tokens(states)}

    def space(self, state: spaces.Box) -> spaces.Dict:
        """The space of what `encode` gives."""
        tokens = spaces.Box(PADDING, self._vocabulary, (self.length,), np.float32)
        return spaces.Dict({STATE: _float32(state), TOKENS: tokens})


class FrozenFeatures:
    """Runs a frozen language model over states as text, once for each different text.

    Args:
        design: The model, and how numbers are written.
        size: Numbers in a state.
        device: Where the model computes.
    """

    normalize: str | None = FEATURES
    """Features of language models differ in scale by orders of magnitude, and little between states."""

    def __init__(self, design: Design, size: int, device: torch.device) -> None:
        self._design, self._device = design, device
        self._reader = Tokens(design, size)
        self._model = load_backbone(design).to(device)
        self._width = width_of(self._model)
        self._remembered: dict[bytes, FloatArray] = {}
        self.computed = 0

    def features(self, states: Any) -> FloatArray:
        """The pooled vectors of the last layer, (batch, width)."""
        rows = self._reader.tokens(states)
        keys = [row.tobytes() for row in rows]
        new = {key: row for key, row in zip(keys, rows, strict=True) if key not in self._remembered}
        if len(self._remembered) + len(new) > MOST_REMEMBERED:
            self._remembered.clear()
            new = dict(zip(keys, rows, strict=True))
        if new:
            computed = self._computed(np.stack(list(new.values())))
            self._remembered.update(zip(new, computed, strict=True))
        return np.stack([self._remembered[key] for key in keys])

    @torch.no_grad()
    def _computed(self, rows: FloatArray) -> FloatArray:
        self.computed += len(rows)
        rows = rows[:, : int((rows != PADDING).sum(axis=1).max())]
        ids = torch.as_tensor(rows, device=self._device).long()
        mask = (ids != PADDING).long()
        hidden = self._model(input_ids=ids.clamp(min=0), attention_mask=mask).last_hidden_state
        features: FloatArray = pooled(hidden.float(), mask, self._design.pooling).cpu().numpy()
        return features

    def encode(self, states: Any) -> dict[str, Any]:
        """The states, and their features."""
        return {STATE: np.asarray(states, np.float32), FEATURES: self.features(states)}

    def space(self, state: spaces.Box) -> spaces.Dict:
        """The space of what `encode` gives."""
        features = spaces.Box(-np.inf, np.inf, (self._width,), np.float32)
        return spaces.Dict({STATE: _float32(state), FEATURES: features})


Encoder = Tokens | FrozenFeatures


def make_encoder(design: Design, size: int, device: torch.device) -> Encoder | None:
    """The encoder of a design; None where the network reads states as they are."""
    if design.network == "mlp" or design.reading == "embedding":
        return None
    return FrozenFeatures(design, size, device) if design.features_are_cached else Tokens(design, size)


def _float32(space: spaces.Box) -> spaces.Box:
    return spaces.Box(space.low.astype(np.float32), space.high.astype(np.float32), dtype=np.float32)
