"""A language model small enough for quick tests: real GPT-2 and tokenizer code with random weights."""

from typing import Any

import pytest


@pytest.fixture(scope="session")
def tiny_gpt2(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A directory in Hugging Face's format with a two-layer GPT-2 and a byte-level tokenizer."""
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    import torch

    directory = tmp_path_factory.mktemp("tiny-gpt2")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        ["-0.12 3.45 67 -89"], tokenizers.trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet)
    )
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(directory)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = transformers.GPT2Config(vocab_size=300, n_positions=128, n_embd=16, n_layer=2, n_head=2)
        transformers.GPT2Model(config).save_pretrained(directory)
    return str(directory)
