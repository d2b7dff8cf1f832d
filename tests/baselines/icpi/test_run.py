"""Runs on disk: results, resuming, limits and refusals."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promptpo.core.candidate import Seeds
from promptpo.errors import ProviderError, RunError, UsageError
from promptpo_baselines.icpi.assembly import assemble
from promptpo_baselines.icpi.domains import DOMAINS
from promptpo_baselines.icpi.play import test as play_test
from promptpo_baselines.icpi.play import train
from promptpo_baselines.icpi.run import RunConfig, run
from promptpo_baselines.icpi.setting import setting_for
from tests.baselines.icpi.engines import LookupEngine
from tests.baselines.icpi.worlds import CHAIN, FAST, PAPER


def config(**changes: Any) -> Any:
    """Return the configuration of a short run with the oracle."""
    base = RunConfig(engine="oracle", steps=40, test_episodes=3)
    return replace(base, **changes)


SHORT = setting_for("promptpo/Chain-v0", max_rollout=2)
"""The chain with short rollouts, to make few requests."""


@pytest.fixture
def deterministic_server(server: Any) -> Any:
    """A server whose answers depend only on the prompt."""
    server.engine = LookupEngine(CHAIN.codec)
    return server


def over_http(server: Any, **changes: Any) -> Any:
    """Return the configuration of a short run that uses the test server."""
    settings = {"engine": "completion:m", "base_url": server.address, "steps": 16, "test_episodes": 1}
    return config(**{**settings, **changes})


def stable(result: Any) -> Any:
    """Return the parts of a result that two runs of the same configuration share."""
    return {
        name: value for name, value in result.items() if name not in ("wall_seconds", "config", "completions")
    }


@pytest.mark.slow
def test_result_has_regret_and_the_common_fields(tmp_path: Path) -> None:
    """One regret per finished episode, with the step at which it ended."""
    logs: list[Any] = []
    result = run(SHORT, config(method="icpi"), tmp_path, logs.append)
    assert json.loads((tmp_path / "result.json").read_text()) == result
    assert {"format", "method", "env_id", "test", "steps", "seed", "stop_reason", "versions", "llm"} <= set(
        result
    )
    assert [row["step"] for row in result["regret"]] == [log.end_step for log in logs]
    assert all(0 <= row["regret"] <= 1 for row in result["regret"])
    late = [row["regret"] for row in result["regret"] if row["step"] > 30]
    assert result["regret_last_quarter"] == pytest.approx(sum(late) / len(late))
    assert result["steps"]["train"] == 40
    assert result["test"]["episodes"] == len(result["test"]["returns"]) == 3
    assert result["stop_reason"] == "all steps taken"
    assert result["completions"]["asked"]["policy"] > 0


@pytest.mark.parametrize("method", ["no-argmax", "tabular-q", "matching", "random"])
def test_every_method_writes_the_same_kind_of_result(tmp_path: Path, method: str) -> None:
    """Methods without an engine make no request."""
    result = run(CHAIN, config(method=method), tmp_path)
    assert result["method"] == method
    assert result["regret"]
    asked = sum(result["completions"]["asked"].values())
    assert asked == 0 or method == "no-argmax"


@pytest.mark.parametrize(
    "change",
    [
        {"hint": False},
        {"balance": False},
        {"constrain": False},
        {"context": 16},
        *({"randomize": [kind]} for kind in ("done", "reward", "next", "policy")),
    ],
    ids=str,
)
def test_every_ablation_runs(tmp_path: Path, change: Any) -> None:
    result = run(CHAIN, config(profile=replace(PAPER, **change), steps=20, test_episodes=1), tmp_path)
    assert result["stop_reason"] == "all steps taken"
    assert sum(result["completions"]["asked"].values()) > 0


@pytest.mark.parametrize("env_id", DOMAINS)
def test_every_domain_runs(tmp_path: Path, env_id: str) -> None:
    result = run(setting_for(env_id), config(steps=30, test_episodes=1), tmp_path)
    assert result["env_id"] == env_id
    assert result["stop_reason"] == "all steps taken"


@pytest.mark.slow
def test_paid_answers_are_not_requested_again(deterministic_server: Any, tmp_path: Path) -> None:
    """The server may also have failed in the middle; the result equals that of an uninterrupted run."""
    whole = run(SHORT, over_http(deterministic_server), tmp_path / "whole")
    paid = len(deterministic_server.completions)
    assert whole["llm"]["calls"] == paid > 50
    assert 0 < sum(whole["completions"]["invalid"].values()) < paid
    assert whole["llm"]["cached_input_tokens"] == 2 * paid
    again = run(SHORT, over_http(deterministic_server), tmp_path / "whole")
    assert len(deterministic_server.completions) == paid
    assert stable(again) == stable(whole)
    assert again["completions"] == whole["completions"]
    deterministic_server.seen.clear()
    deterministic_server.works_for = 30
    with pytest.raises(ProviderError):
        run(SHORT, over_http(deterministic_server), tmp_path / "parts")
    refused = len(deterministic_server.completions) - 30
    assert 0 < refused < paid
    deterministic_server.works_for = None
    result = run(SHORT, over_http(deterministic_server), tmp_path / "parts")
    assert stable(result) == stable(whole)
    assert len(deterministic_server.completions) == paid + refused


@pytest.mark.slow
def test_limited_run_can_be_continued_with_a_higher_limit(deterministic_server: Any, tmp_path: Path) -> None:
    """The result states the limit."""
    limited = run(SHORT, over_http(deterministic_server, max_calls=20), tmp_path)
    assert limited["stop_reason"] == "the limit of 20 language-model calls is reached"
    assert limited["llm"]["calls"] == 20 == len(deterministic_server.completions)
    assert limited["steps"]["train"] < 16
    assert limited["test"]["mean_return"] is None
    more = run(SHORT, over_http(deterministic_server), tmp_path)
    assert more["stop_reason"] == "all steps taken"
    assert len(deterministic_server.completions) == more["llm"]["calls"]


def test_directory_of_another_run_is_refused(tmp_path: Path) -> None:
    """The sentence names the differing settings."""
    run(CHAIN, config(), tmp_path)
    with pytest.raises(UsageError, match=r"another seed, .*|another steps, seed"):
        run(CHAIN, config(seed=4, steps=50), tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(RunError, match="holds no ICPI run"):
        run(CHAIN, config(), tmp_path)


def test_run_that_no_longer_reproduces_is_refused(tmp_path: Path) -> None:
    """Changed code or packages must not mix two runs."""
    run(CHAIN, config(), tmp_path)
    journal = tmp_path / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    changed = [line.replace('"return_": 0.0', '"return_": 0.5') for line in lines]
    assert changed != lines
    journal.write_text("".join(changed))
    with pytest.raises(RunError, match="from episode"):
        run(CHAIN, config(), tmp_path)


def lake(**kwargs: Any) -> Any:
    """Return a lake that is not slippery."""
    return setting_for("FrozenLake-v1", env_kwargs={"is_slippery": False, **kwargs}, max_episode_steps=12)


@pytest.mark.parametrize("setting", [lake(), setting_for("CartPole-v1")], ids=["lake", "pole"])
def test_other_environments_run_through_the_generic_codec(server: Any, tmp_path: Path, setting: Any) -> None:
    """They have no regret."""
    server.engine = LookupEngine(setting.codec)
    result = run(setting, over_http(server, method="no-argmax", steps=60), tmp_path)
    assert result["regret"] is None
    assert result["regret_last_quarter"] is None
    assert result["test"]["episodes"] == 1
    assert result["stop_reason"] == "all steps taken"


@pytest.mark.slow
def test_copying_solves_a_small_deterministic_lake() -> None:
    """The whole algorithm on a foreign environment, far better than chance."""
    setting = lake(desc=["SF", "HG"])

    def mean(method: Any, steps: int) -> float:
        agent = assemble(setting, method, FAST, engine=LookupEngine(setting.codec))
        list(train(setting, agent, steps, 0))
        return sum(log.return_ for log in play_test(setting, agent, Seeds().test(20))) / 20

    learned = mean("icpi", 250)
    assert learned >= 0.9
    assert learned > mean("random", 20) + 0.2
