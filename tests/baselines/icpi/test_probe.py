"""What an engine can do, measured before anyone pays; and what a run will take."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promptpo_baselines.icpi.assembly import assemble
from promptpo_baselines.icpi.domains import DOMAINS
from promptpo_baselines.icpi.engines.lookup import LookupEngine
from promptpo_baselines.icpi.engines.testing import ScriptedEngine
from promptpo_baselines.icpi.estimate import estimate
from promptpo_baselines.icpi.play import train
from promptpo_baselines.icpi.probe import probe, table, verdict
from promptpo_baselines.icpi.setting import setting_for
from tests.baselines.icpi.worlds import CHAIN, FAST, PAPER, oracle


def rows_of(setting: Any, engine: Any, sizes: Any = (60,), questions: int = 12) -> Any:
    """All rows of a probe."""
    return list(probe(setting, engine, FAST, examples=sizes, questions=questions))


@pytest.mark.parametrize("env_id", DOMAINS)
def test_the_oracle_is_right_wherever_there_are_examples(env_id: str) -> None:
    """Numbers that are left to chance cannot be wrong."""
    rows = rows_of(setting_for(env_id), oracle(setting_for(env_id)), sizes=(200,))
    assert {row.kind for row in rows} == {"done", "reward", "next", "policy"}
    assert all(row.right == row.valid for row in rows)
    assert {row.valid for row in rows if row.kind != "reward"} == {1.0}
    assert "good enough" in verdict(rows)


def test_a_lookup_is_right_about_what_it_has_seen_only() -> None:
    """And the verdict says that this is not enough."""
    setting = setting_for("promptpo/DistractorChain-v0")
    rows = rows_of(setting, LookupEngine(setting.codec), sizes=(20, 200), questions=40)
    world = [row for row in rows if row.kind != "policy"]
    assert all(row.right_seen == 1.0 for row in world if row.right_seen is not None)
    assert all(row.right_new == 0.0 for row in world if row.right_new is not None)
    few, many = ([row.right for row in world if row.examples == size] for size in (20, 200))
    assert sum(few) < sum(many)
    assert "hardly be expected" in verdict(rows)


def test_a_wrong_engine_is_valid_but_not_right() -> None:
    """The two are told apart."""
    lines = {"done": "assert done", "reward": "assert reward == 7", "policy": "state = left()"}
    engine = ScriptedEngine(lambda request: lines.get(request.kind, "assert state == [0]"))
    by_kind = {row.kind: row for row in rows_of(CHAIN, engine)}
    assert all(row.valid == 1.0 for row in by_kind.values())
    assert by_kind["reward"].right == 0.0
    assert 0 < by_kind["done"].right < 1
    assert len(engine.requests) == sum(row.asked for row in by_kind.values())


def test_the_same_seed_asks_the_same() -> None:
    """A probe can be repeated."""
    assert rows_of(CHAIN, oracle(CHAIN)) == rows_of(CHAIN, oracle(CHAIN))


def test_the_table_has_a_line_per_row() -> None:
    """With a dash where nothing was asked."""
    rows = rows_of(CHAIN, oracle(CHAIN), sizes=(20, 60))
    lines = table(rows).splitlines()
    assert len(lines) == 1 + len(rows) == 9
    assert all(len(line) <= len(lines[0]) for line in lines)
    assert verdict([]) == "No next states were asked about."


@pytest.mark.parametrize("profile", [PAPER, FAST], ids=["paper", "fast"])
@pytest.mark.parametrize("env_id", ["promptpo/Chain-v0", "promptpo/MiniCatch-v0"])
def test_the_estimate_is_near_what_a_run_takes(env_id: str, profile: Any) -> None:
    """Within a factor of 1.5 of the calls, and below the most."""
    setting = setting_for(env_id)
    guess = estimate(
        setting, "icpi", profile, steps=80, test_episodes=0, episode_steps=8, model="oracle", free=True
    )
    made = assemble(setting, "icpi", profile, engine=oracle(setting), seed=0)
    train(setting, made.agent, 80, 0)
    calls = sum(made.tally.calls.values())
    assert guess.expected_calls is not None
    assert guess.expected_calls / 1.5 <= calls <= guess.expected_calls * 1.5
    assert calls <= guess.most_calls
    assert guess.most_usd == 0
    assert "nothing is charged" in guess.sentence("oracle")


def test_the_most_is_never_passed_by_full_rollouts() -> None:
    """An engine that never ends an episode and always answers."""
    lines = {
        "done": "assert not done",
        "reward": "assert reward == 0",
        "policy": "state, reward = action_0()",
    }
    setting = setting_for("FrozenLake-v1", env_kwargs={"is_slippery": False})
    engine = ScriptedEngine(lambda request: lines.get(request.kind, "assert state == [0]"))
    for profile in (PAPER, FAST):
        guess = estimate(
            setting, "icpi", profile, steps=60, test_episodes=0, episode_steps=100, model="m", free=True
        )
        made = assemble(setting, "icpi", profile, engine=engine, seed=0)
        train(setting, made.agent, 60, 0)
        assert guess.expected_calls is None
        assert 0 < sum(made.tally.calls.values()) <= guess.most_calls
        assert "about" not in guess.sentence("m")


def test_a_price_makes_dollars_of_the_estimate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A price that is not known is said to be unknown."""
    settings: dict[str, Any] = {"steps": 80, "test_episodes": 0, "episode_steps": 8}
    unknown = estimate(CHAIN, "icpi", FAST, model="openai:no-such-model", **settings)
    assert unknown.most_usd is None
    assert "price of openai:no-such-model is not known" in unknown.sentence("openai:no-such-model")
    known = estimate(CHAIN, "icpi", FAST, model="anthropic:claude-haiku-4-5", **settings)
    assert known.expected_usd is not None
    assert known.most_usd is not None
    assert 0 < known.expected_usd < known.most_usd
    assert "$" in known.sentence("anthropic:claude-haiku-4-5")
    smaller = estimate(
        CHAIN, "icpi", replace(FAST, prompt_tokens=400), model="anthropic:claude-haiku-4-5", **settings
    )
    assert smaller.most_usd is not None
    assert smaller.most_usd < known.most_usd
    assert estimate(CHAIN, "random", FAST, model="", **settings).most_calls == 0
