"""Parsing of texts like ``dict(net_arch=[64, 64], activation_fn=nn.ReLU)``, which are never evaluated."""

from __future__ import annotations

import ast
from typing import Any

from promptpo.errors import UsageError

ACTIVATIONS = ("ELU", "GELU", "LeakyReLU", "ReLU", "SiLU", "Tanh")
"""Classes of ``torch.nn`` that a hyperparameter file may name."""


def read_literal(text: str) -> Any:
    """Return the value of a text of literals, ``dict(...)`` calls and ``nn.`` names.

    ``nn.ReLU`` becomes the string "nn.ReLU"; `activation` turns that into the class.

    Raises:
        UsageError: The text holds anything else.
    """
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"cannot read the hyperparameters {text!r}: {error}.") from error


def activation(name: str) -> Any:
    """Return the class that "nn.ReLU" names.

    Raises:
        UsageError: It is not one of `ACTIVATIONS`.
    """
    from torch import nn

    short = str(name).removeprefix("nn.")
    if short not in ACTIVATIONS:
        raise UsageError(f"there is no activation {name!r}; there are: nn.{', nn.'.join(ACTIVATIONS)}.")
    return getattr(nn, short)


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords) if all(k.arg for k in keywords):
            return {str(keyword.arg): _value(keyword.value) for keyword in keywords}
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return {_value(key): _value(value) for key, value in zip(keys, values, strict=True) if key}
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item) for item in items]
        case ast.Attribute(value=ast.Name(id="nn"), attr=name) if name in ACTIVATIONS:
            return f"nn.{name}"
        case _:
            return ast.literal_eval(node)
