"""The memory estimate decides which model fits on which machine."""

import subprocess
import sys
from dataclasses import asdict
from typing import Any

import pytest

from tests.baselines.late import Late

estimates = Late("promptpo_baselines.llm_policy.memory")

GPT2: Any = {"parameters": 124_000_000, "layers": 12, "width": 768, "heads": 12, "tokens": 320}
GIB = 2**30

DERIVED_TWICE = r"""
import re, torch, transformers
torch.set_num_threads(1)
config = transformers.GPT2Config(vocab_size=300, n_positions=256, n_embd=192, n_layer=2, n_head=4)
config._attn_implementation = "eager"
model = transformers.GPT2Model(config).eval()
model.config.use_cache = False
used = [p for p in model.parameters()]
def peak():  # of this program alone; ru_maxrss begins with what the process that started it had
    return int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) * 1024
before = peak()
ids = torch.zeros(4, 200, dtype=torch.long)
out = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state.mean(1)
divergence = ((out - out.detach()) ** 2).sum()
first = torch.autograd.grad(divergence, used, create_graph=True)
flat = torch.cat([one.reshape(-1) for one in first])
for _ in range(2):
    torch.autograd.grad((flat * torch.ones_like(flat)).sum(), used, retain_graph=True)
print(flat.numel(), peak() - before)
"""


@pytest.mark.slow
def test_gpt2_fits_with_few_observations_and_not_with_a_rollout() -> None:
    """TRPO on a whole rollout of 2,048 takes hundreds of gigabytes; a sixteenth of 512 fits into 80."""
    whole = estimates.update_bytes(**GPT2, observations=2048, algorithm="trpo")
    few = estimates.update_bytes(**GPT2, observations=32, algorithm="trpo")
    assert whole > 500 * GIB
    assert 3 * GIB < few < 80 * GIB
    assert estimates.update_bytes(**GPT2, observations=32, algorithm="ppo") < few


@pytest.mark.slow
def test_measured_memory_agrees_with_the_estimate() -> None:
    """Two layers of GPT-2 on four texts of 200 tokens, with second derivatives, in a process of its own."""
    pytest.importorskip("transformers")
    done = subprocess.run(
        [sys.executable, "-c", DERIVED_TWICE], capture_output=True, text=True, check=True, timeout=300
    )
    parameters, taken = map(int, done.stdout.split())
    estimate = estimates.update_bytes(
        parameters=parameters, layers=2, width=192, heads=4, tokens=200, observations=4, algorithm="trpo"
    )
    assert 0.4 * estimate < taken < 1.2 * estimate


@pytest.mark.parametrize(
    ("algorithm", "row", "n_envs", "observations"),
    [
        ("trpo", {"n_steps": 1024}, 2, 2048),
        ("trpo", {"n_steps": 1000, "sub_sampling_factor": 3}, 1, 334),
        ("ppo", {"n_steps": 1024, "batch_size": 32}, 2, 32),
        ("ppo", {}, 1, 64),
    ],
)
def test_number_of_observations_in_one_update(
    algorithm: str, row: Any, n_envs: int, observations: int
) -> None:
    """A rollout or part of it for TRPO, a batch for PPO."""
    assert estimates.observations_at_once(algorithm, row, n_envs) == observations


@pytest.mark.slow
def test_too_large_model_is_refused_before_training(
    tiny_gpt2: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentence says what would help; the control without a language model is not checked."""
    pytest.importorskip("stable_baselines3")
    from promptpo.envs.task import Task
    from promptpo.errors import UsageError
    from promptpo_baselines.building import build_envs, build_model, hyperparameters_of
    from promptpo_baselines.llm_policy import memory
    from promptpo_baselines.llm_policy.design import Design
    from promptpo_baselines.settings import TrainingSettings

    monkeypatch.setattr(memory, "memory_of", lambda device: GIB // 100)

    def build(**design: Any) -> Any:
        language = asdict(Design(tiny_gpt2, tune="full", **design))
        chosen = TrainingSettings("trpo", Task("Pendulum-v1"), steps=128, language=language)
        row = hyperparameters_of(chosen)
        envs = build_envs(chosen, row, steps_taken=0, saved=None)
        return build_model(chosen, row, envs)

    with pytest.raises(UsageError, match="sub_sampling_factor"):
        build()
    assert build(network="mlp") is not None
