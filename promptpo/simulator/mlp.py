"""A multilayer perceptron with gradients, and Adam, in numpy; at this size faster than a framework."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from promptpo_sandbox.simulators import Array

BETAS, EPSILON, MAX_GRADIENT_NORM = (0.9, 0.999), 1e-5, 0.5


class Mlp:
    """A multilayer perceptron with tanh activations and orthogonal initial weights.

    Args:
        sizes: Sizes of the input, the hidden layers and the output.
        rng: Generator for the initial weights.
        last_gain: Scale of the last layer's initial weights.
    """

    def __init__(self, sizes: Sequence[int], rng: np.random.Generator, last_gain: float) -> None:
        gains = [2**0.5] * (len(sizes) - 2) + [last_gain]
        self.parameters: list[Array] = []
        for rows, columns, gain in zip(sizes[:-1], sizes[1:], gains, strict=True):
            self.parameters.append((gain * _orthogonal(rows, columns, rng)).astype(np.float32))
            self.parameters.append(np.zeros(columns, np.float32))

    def forward(self, x: Array) -> tuple[Array, list[Array]]:
        """Return the outputs, and the layers' inputs for `backward`."""
        inputs = []
        for i in range(0, len(self.parameters), 2):
            inputs.append(x)
            x = x @ self.parameters[i] + self.parameters[i + 1]
            if i + 2 < len(self.parameters):
                x = np.tanh(x)
        return x, inputs

    def backward(self, inputs: list[Array], gradient: Array) -> list[Array]:
        """Return the gradients of the parameters, given that of the outputs."""
        found: list[Array] = []
        for layer in range(len(inputs) - 1, -1, -1):
            found += [gradient.sum(axis=0), inputs[layer].T @ gradient]
            if layer:
                gradient = (gradient @ self.parameters[2 * layer].T) * (1 - inputs[layer] ** 2)
        return found[::-1]


def _orthogonal(rows: int, columns: int, rng: np.random.Generator) -> Array:
    q, r = np.linalg.qr(rng.standard_normal((max(rows, columns), min(rows, columns))))
    q *= np.sign(np.diag(r))
    return q if rows >= columns else q.T


class Adam:
    """Adam (Kingma and Ba, 2015) with clipping of the gradient's norm; updates the parameters in place.

    Args:
        parameters: The parameters to update.
    """

    def __init__(self, parameters: list[Array]) -> None:
        self._parameters, self._t = parameters, 0
        self._moments = [(np.zeros_like(parameter), np.zeros_like(parameter)) for parameter in parameters]

    def step(self, gradients: Sequence[Array], rate: float) -> None:
        """Take one step against the gradients."""
        norm = float(np.sqrt(sum(float((gradient.astype(float) ** 2).sum()) for gradient in gradients)))
        scale = min(1.0, MAX_GRADIENT_NORM / (norm + 1e-6))
        self._t += 1
        first, second = BETAS
        rate *= (1 - second**self._t) ** 0.5 / (1 - first**self._t)
        rows = zip(self._parameters, gradients, self._moments, strict=True)
        for parameter, gradient, (mean, square) in rows:
            scaled = gradient * scale
            mean[...] += (1 - first) * (scaled - mean)
            square[...] += (1 - second) * (scaled**2 - square)
            parameter[...] -= rate * mean / (np.sqrt(square) + EPSILON)
