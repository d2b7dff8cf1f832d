"""One process's work on a run, as callers from Python see it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.core.journal import JOURNAL, read_events
from promptpo.errors import FatalProviderError, RunError
from promptpo.llm.scripted import ScriptedLLM
from promptpo.output.run_result import BEST
from promptpo.output.runs import find_runs
from tests.promptpo.optimizing import QUICK, Model, optimize
from tests.promptpo.policies import GOOD


def test_run_leaves_the_documented_files(tmp_path: Path) -> None:
    run = optimize(Model(default=GOOD), tmp_path / "run", rounds=1, candidates=1)
    names = {path.name for path in run.directory.iterdir()}
    assert {"config.toml", "journal.jsonl", "policies", BEST, "result.json", "report.html"} <= names
    assert not (run.directory / "untold").exists()
    assert json.loads((run.directory / "result.json").read_text()) == run.data
    assert [one.data["reason"] for one in read_events(run.directory / JOURNAL) if one.kind == "stop"] == [
        run.stop_reason
    ]


def test_worse_end_never_overwrites_a_result(tmp_path: Path) -> None:
    """This holds even if the journal is truncated."""
    run = optimize(Model(default=GOOD), tmp_path / "run", rounds=1, candidates=1)
    before = run.policy_path.read_text()
    journal = run.directory / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:2]))  # as after restoring a copy from the very beginning
    with pytest.raises(RunError, match="is kept"):
        promptpo.resume(run.directory, llm=ScriptedLLM(Model()), seconds=0.001)
    assert run.policy_path.read_text() == before


def test_optimize_works_inside_a_running_event_loop(tmp_path: Path) -> None:
    """Notebooks call it so."""

    async def cell() -> Any:
        return optimize(Model(default=GOOD), tmp_path / "run", rounds=1, candidates=1)

    assert asyncio.run(cell()).mean_return > 90


class UnreachableLLM(ScriptedLLM):
    """A model that fails in its check or at its first call."""

    def __init__(self, listed: bool) -> None:
        super().__init__(lambda _: FatalProviderError("there is no such model."))
        self.listed = listed

    async def check(self) -> str | None:
        """Fail, or leave it to a call."""
        if self.listed:
            raise FatalProviderError("there is no such model.")
        return None


@pytest.mark.parametrize(("listed", "seeds"), [(True, False), (False, True)])
def test_refused_run_leaves_its_directory_free(tmp_path: Path, listed: bool, seeds: bool) -> None:
    """The same command with another model can start a run there."""
    out, few = tmp_path / "run", {**QUICK, "rounds": 1, "candidates": 1}

    def start_run(model: Any, **more: Any) -> Any:
        if not seeds:
            return promptpo.optimize("CartPole-v1", llm=model, out=out, **few, **more)
        return promptpo.optimize_seeds(
            "CartPole-v1", seeds=1, llm=lambda _: model, out=out, **few, **more
        ).runs[0]

    with pytest.raises(FatalProviderError, match="no such model"):
        start_run(UnreachableLLM(listed), hint="go left")
    assert not find_runs(tmp_path)
    assert not [*out.rglob(JOURNAL)]
    assert start_run(ScriptedLLM(Model(default=GOOD)), hint="go right").mean_return > 90
