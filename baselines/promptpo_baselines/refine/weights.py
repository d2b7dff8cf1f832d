"""A small network as text: two characters per weight, and a forward pass that needs numpy only."""

from __future__ import annotations

import itertools
import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np

ALPHABET = "".join(chr(c) for c in range(33, 127) if chr(c) not in "\"'\\()[]{}+-~#")
"""Characters that encode weights: none of them ends a string, or matters to the sandbox's gate."""
LEVELS = len(ALPHABET) ** 2
LINE = 100
"""Maximum length of a line of weights, in characters."""


@dataclass(frozen=True)
class Layer:
    """An affine map.

    Attributes:
        weights: One row per output.
        bias: One number per output.
    """

    weights: np.ndarray[Any, Any]
    bias: np.ndarray[Any, Any]


@dataclass(frozen=True)
class Network:
    """A deterministic policy network as plain arrays.

    Attributes:
        mean: Mean of the observation, without the program's action, which is subtracted.
        std: Standard deviation by which it is then divided.
        clip: Maximum magnitude of the result.
        layers: Its affine maps.
        activation: Activation between them, as an expression of ``x``.
        passes_on: Whether the last layer reads the program's action again.
        squash: Whether a hyperbolic tangent follows the last one.
    """

    mean: np.ndarray[Any, Any]
    std: np.ndarray[Any, Any]
    clip: float
    layers: list[Layer]
    activation: str
    passes_on: bool
    squash: bool

    @property
    def numbers(self) -> int:
        """Number of weights."""
        return sum(layer.weights.size + layer.bias.size for layer in self.layers)

    @property
    def text(self) -> str:
        """The weights and the class ``Network`` that reads them."""
        blocks = [_format_matrix("mean", self.mean[:, None]), _format_matrix("std", self.std[:, None])]
        for i, layer in enumerate(self.layers):
            blocks.append(_format_matrix(f"layer {i}", np.column_stack([layer.weights, layer.bias])))
        return textwrap.dedent(_NETWORK).format(
            alphabet=ALPHABET,
            blocks="\n".join(blocks),
            activation=self.activation or "x",
            clip=self.clip,
            passed="x = np.concatenate([x, prior])\n        " if self.passes_on else "",
            end="np.tanh(weights @ x + bias)" if self.squash else "weights @ x + bias",
        )


def text_bytes(sizes: list[int]) -> int:
    """Estimate the length of the weights of a network with these layer sizes as text."""
    return sum(2 * (before + 2) * after for before, after in itertools.pairwise(sizes))


def _format_matrix(name: str, matrix: np.ndarray[Any, Any]) -> str:
    """Format a matrix as an entry of ``NETWORK``: shape, each row's largest number, and the rest relative to it."""
    rows = np.asarray(matrix, np.float64)
    largest = np.array([float(f"{value:.7g}") for value in np.abs(rows).max(axis=1)])
    largest[largest == 0] = 1.0
    centre = (LEVELS - 1) // 2
    codes = np.clip(np.rint(rows / largest[:, None] * centre) + centre, 0, 2 * centre).astype(int).ravel()
    text = "".join(ALPHABET[code // len(ALPHABET)] + ALPHABET[code % len(ALPHABET)] for code in codes)
    lines = "\n".join(text[i : i + LINE] for i in range(0, len(text), LINE))
    scales = textwrap.fill(", ".join(f"{value:.7g}" for value in largest), LINE)
    return f'    ({tuple(rows.shape)}, [  # {name}\n{scales}], """\n{lines}\n"""),'


_NETWORK = '''\
NETWORK = [  # for each matrix: its shape, each row's largest number, and all numbers relative to it, in two characters each
{blocks}
]


class Network:
    """Affine maps of the observation, and of the program's action if the network adds to it."""

    def __init__(self):
        code = {{c: i for i, c in enumerate("{alphabet}")}}
        base, self.matrices = len(code), []
        for shape, largest, text in NETWORK:
            digits = np.array([code[c] for c in text if c in code]).reshape(-1, 2)
            centre = (base * base - 1) // 2
            numbers = (digits[:, 0] * base + digits[:, 1] - centre) / centre
            self.matrices.append(numbers.reshape(shape) * np.array(largest)[:, None])

    def __call__(self, observed, prior):
        mean, std, layers = self.matrices[0][:, 0], self.matrices[1][:, 0], self.matrices[2:]
        x = np.concatenate([np.clip((observed - mean) / std, -{clip}, {clip}), prior])
        for layer in layers[:-1]:
            x = layer[:, :-1] @ x + layer[:, -1]
            x = {activation}
        {passed}weights, bias = layers[-1][:, :-1], layers[-1][:, -1]
        return {end}
'''
