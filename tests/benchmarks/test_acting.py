"""A model that acts by itself as a column of a benchmark, beside programs."""

from collections.abc import Iterator
from typing import Any

import pytest

from promptpo_benchmarks.benchmark import Benchmark, run
from promptpo_benchmarks.runner.cells import plan
from promptpo_benchmarks.runner.estimate import estimate
from promptpo_benchmarks.runner.methods import CellBudget, choose
from promptpo_benchmarks.runner.suite import Suite, SuiteTask
from promptpo_benchmarks.statistics.rows import read_rows
from tests.baselines.llm_agent.conftest import ActingServer

LAKE = SuiteTask("FrozenLake-v1", {"is_slippery": False}, max_episode_steps=5)
SUITE = Suite("mine", "Mine", (LAKE,), steps=300)


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server with a constant answer; OpenAI's client finds it by its environment variable."""
    server = ActingServer()
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", server.address)
    yield server.address
    server.close()


@pytest.mark.slow
def test_report_has_the_cost_of_an_episode(tmp_path: Any, address: str) -> None:
    """Calls, seconds and dollars of the acting model, beside a program's."""
    budget = CellBudget(test_episodes=1, rounds=1, candidates=1)
    benchmark = Benchmark(
        SUITE, choose(["llm-agent", "search"]), ["openai:m"], 1, budget, tmp_path, ["mine.toml"]
    )
    assert run(benchmark, 2, lambda line: None) == []
    acting = {row.cell.method.name: row.acting for row in read_rows(SUITE, benchmark.cells())}
    assert acting["llm-agent"]["calls"] == 5
    assert acting["llm-agent"]["seconds"] > acting["search"]["seconds"] > 0
    assert acting["search"]["calls"] == acting["search"]["cost_usd"] == 0
    report = (tmp_path / "report.md").read_text()
    part = report.split("Cost of an episode")[1].split("##")[0]
    assert "llm-agent (openai:m)" in part
    assert "search" in part


def test_program_search_and_recordings_do_not_act(tmp_path: Any) -> None:
    """The estimate has one call for each step."""
    methods = choose(["promptpo", "llm-agent"])
    cells = plan(SUITE, methods, ["search", "replay:x", "openai:gpt-5-mini"], 1, tmp_path)
    assert [cell.model for cell in cells if cell.method.name == "llm-agent"] == ["openai:gpt-5-mini"]
    (agent,) = [cell for cell in cells if cell.method.name == "llm-agent"]
    words = agent.command(SUITE, CellBudget(usd=0.5))
    assert words[words.index("--engine") + 1] == "openai:gpt-5-mini"
    assert words[words.index("--max-usd") + 1] == "0.5"
    (column,) = estimate(SUITE, [agent], CellBudget(test_episodes=7))
    assert column.calls == 7 * 5
