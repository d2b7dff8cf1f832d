"""Limits on money and tokens are enforced, or refused before the first call."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.errors import UsageError
from promptpo.llm.base import Completion, Request
from promptpo.llm.scripted import ScriptedLLM
from promptpo.run.config_file import load_config
from tests.promptpo.optimizing import QUICK
from tests.promptpo.policies import FEEDBACK, WEAK, variant


@pytest.fixture
def exec_model(tmp_path: Path) -> Any:
    """A command model that logs its calls and answers with a policy; and its log."""
    script = tmp_path / "model.py"
    script.write_text(
        f"import sys\nsys.stdin.read()\nopen({str(tmp_path / 'calls')!r}, 'a').write('x')\nprint({WEAK!r})\n",
        encoding="utf-8",
    )
    return f"exec:{shlex.join([sys.executable, str(script)])}", tmp_path / "calls"


def optimize_briefly(model: Any, out: Any, **more: Any) -> Any:
    """Run briefly with a model by name."""
    return promptpo.optimize("CartPole-v1", model=model, out=out, **{**QUICK, **more})


@pytest.mark.parametrize("model", ["exec:cat", "inbox:box", "openai:my-own"])
def test_money_limit_without_a_price_is_rejected(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the flag; no run is created and no call made."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(UsageError, match=re.escape("--price IN,OUT")):
        optimize_briefly(model, tmp_path / "run", max_usd=1.0)
    assert not (tmp_path / "run").exists()
    assert not (tmp_path / "box").exists()


def test_stated_price_enforces_the_money_limit(exec_model: Any, tmp_path: Path) -> None:
    """The price is recorded, so that resuming knows it."""
    model, calls = exec_model
    run = optimize_briefly(model, tmp_path / "run", rounds=3, candidates=1, max_usd=0.001, price=(2.5, 10.0))
    assert "limit of $0.001" in run.stop_reason
    assert load_config(tmp_path / "run" / "config.toml").price == (2.5, 10.0)
    llm = run.data["llm"]
    assert llm["estimated_tokens"] == llm["input_tokens"] + llm["output_tokens"] > 0
    assert llm["cost_usd"] == pytest.approx(
        (llm["input_tokens"] * 2.5 + llm["output_tokens"] * 10) / 1e6, abs=1e-6
    )
    before = calls.read_text()
    assert "limit of $0.001" in promptpo.resume(tmp_path / "run").stop_reason
    assert calls.read_text() == before


def test_tokens_of_a_command_model_are_estimated(exec_model: Any, tmp_path: Path) -> None:
    """The command reports no usage."""
    model, calls = exec_model
    run = optimize_briefly(
        model, tmp_path / "run", rounds=3, candidates=1, max_tokens=100, recipe_options={"probe": False}
    )
    assert "limit of 100 tokens" in run.stop_reason
    assert len(calls.read_text()) == 1


def test_price_can_be_stated_on_resuming(exec_model: Any, tmp_path: Path) -> None:
    """Earlier calls do not count."""
    model, _ = exec_model
    optimize_briefly(model, tmp_path / "run", rounds=1, candidates=1)
    with pytest.raises(UsageError, match="--price"):
        promptpo.resume(tmp_path / "run", rounds=2, usd=1.0)
    run = promptpo.resume(tmp_path / "run", rounds=2, usd=1.0, price=(1.0, 1.0))
    assert run.data["rounds"] == 2
    assert run.data["llm"]["cost_usd"] > 0


def test_unpriced_call_ends_a_run_with_a_money_limit(tmp_path: Path) -> None:
    """The limit can no longer be enforced."""

    def model(request: Request) -> Any:
        text = FEEDBACK if request.purpose == "feedback" else variant(WEAK, len(request.key))
        return Completion(text, "m", cost_usd=None)

    out = tmp_path / "run"
    run = promptpo.optimize(
        "CartPole-v1", llm=ScriptedLLM(model), out=out, max_usd=1.0, rounds=5, candidates=1, **QUICK
    )
    assert "cannot be enforced" in run.stop_reason
    assert run.data["llm"]["calls"] == 1


@pytest.mark.parametrize("price", [(1.0,), (-1.0, 2.0), "cheap", (float("nan"), 1.0), ("a", "b")])
def test_invalid_price_is_rejected(price: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="price"):
        optimize_briefly("search", tmp_path / "run", price=price)


def test_resume_accepts_shorter_prompts_and_answers(tmp_path: Path) -> None:
    """The error on a context overflow advises this; the limits are recorded for later resumes."""

    def model(request: Request) -> Any:
        assert request.max_output_tokens == 2000 or not request.key.startswith("r2")
        return FEEDBACK if request.purpose == "feedback" else variant(WEAK, len(request.key))

    out = tmp_path / "run"
    promptpo.optimize("CartPole-v1", llm=ScriptedLLM(model), out=out, rounds=1, candidates=1, **QUICK)
    promptpo.resume(out, llm=ScriptedLLM(model), rounds=2, max_prompt_tokens=9000, max_output_tokens=2000)
    config = load_config(out / "config.toml")
    assert (config.max_prompt_tokens, config.max_output_tokens) == (9000, 2000)
