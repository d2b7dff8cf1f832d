"""The design of a language-model policy: one frozen value with the command's flags, stored as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import typer

Numbers = Literal["decimal", "integer", "raw"]

HEAD_WIDTHS = (64, 64)
"""Widths of the layers between the language model and the actions, and of the critic's."""


@dataclass(frozen=True)
class DesignFlags:
    """Flags of the language model that is the policy network, or of a control."""

    backbone: Annotated[
        str, typer.Option(help="smollm2, a Hugging Face id, a directory, or a .gguf file.")
    ] = "smollm2"
    network: Annotated[
        Literal["pretrained", "random", "mlp"],
        typer.Option(
            help="pretrained; or a control: random (the same architecture, random weights) or mlp (as many trainable parameters)."
        ),
    ] = "pretrained"
    tune: Annotated[
        Literal["frozen", "lora", "full"],
        typer.Option(help="Part of the backbone that is trained: nothing, low-rank adapters, or all."),
    ] = "frozen"
    reading: Annotated[
        Literal["text", "embedding"],
        typer.Option(
            help="text: states go through the tokenizer; embedding: one learned vector for each number."
        ),
    ] = "text"
    numbers: Annotated[
        Numbers, typer.Option(help="How text writes numbers: two decimals, tenths, or all digits.")
    ] = "integer"
    state: Annotated[
        Literal["normalized", "raw"], typer.Option(help="Normalized by running statistics, or raw.")
    ] = "normalized"
    layers: Annotated[int | None, typer.Option(min=1, help="Use only the first layers of the backbone.")] = (
        None
    )
    lora_rank: Annotated[int, typer.Option(min=1, help="Rank of the adapters.")] = 8
    matmul: Annotated[
        Literal["float32", "tf32", "bfloat16"],
        typer.Option(help="Precision of matrix products in forward and backward passes; sums stay float32."),
    ] = "float32"


@dataclass(frozen=True)
class Design(DesignFlags):
    """A language model as the policy network, or a control.

    Attributes:
        seed: Seed of random weights.
    """

    seed: int = 0

    @property
    def features_are_cached(self) -> bool:
        """Whether the backbone's features depend on nothing that is trained.

        They are then computed once for each observation and stored in the rollout buffer; the optimizer's
        passes never run the backbone.
        """
        return self.tune == "frozen" and self.reading == "text"
