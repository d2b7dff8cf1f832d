"""``promptpo baseline icpi`` on the command line."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from promptpo_baselines.cli import main


def call(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """Return exit code, standard output and standard error of ``promptpo baseline icpi``."""
    code = main(["icpi", *words])
    out = capsys.readouterr()
    return code, out.out, out.err


@pytest.mark.slow
def test_run_prints_its_regret(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Standard error has one line per episode, and standard output has the summary."""
    words = ["promptpo/Chain-v0", "--engine", "oracle", "--steps", "20", "--test-episodes", "1"]
    code, out, err = call(capsys, *words, "--out", str(tmp_path / "a"))
    assert code == 0
    assert "mean regret in the last quarter" in out
    assert "Held-out return" in out
    assert "step 20/20" in err or "episode" in err
    code, out, err = call(capsys, *words, "--out", str(tmp_path / "b"), "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["regret"] == json.loads((tmp_path / "a" / "result.json").read_text())["regret"]
    assert call(capsys, *words, "--out", str(tmp_path / "c"), "--quiet") == (0, "", "")


def test_flags_are_recorded_with_the_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Profile, ablations and budgets."""
    code, out, _ = call(
        capsys, "promptpo/Chain-v0", "--engine", "oracle", "--profile", "paper", "--steps", "12", "--seed", "3",
        "--no-hint", "--no-balance", "--no-constraint", "--context", "16", "--randomize", "policy",
        "--prompt-tokens", "500", "--test-episodes", "0", "--out", str(tmp_path), "--json",
    )  # fmt: skip
    assert code == 0
    config = json.loads(out)["config"]
    profile = config["profile"]
    assert (config["engine"], config["seed"], config["steps"]) == ("oracle", 3, 12)
    assert (profile["name"], profile["hint"], profile["balance"], profile["constrain"]) == (
        "paper", False, False, False,
    )  # fmt: skip
    assert (profile["context"], profile["randomize"], profile["prompt_tokens"]) == (16, ["policy"], 500)


def test_estimate_makes_no_call_and_needs_no_key(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    words = ["CartPole-v1", "--engine", "anthropic:claude-haiku-4-5", "--steps", "100", "--estimate"]
    code, out, _ = call(capsys, *words)
    assert code == 0
    assert "at most $" in out
    code, out, _ = call(capsys, *words, "--json")
    assert json.loads(out)["most_calls"] > 1000
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_cost_is_estimated_before_the_run_starts(
    capsys: pytest.CaptureFixture[str], server: Any, tmp_path: Path
) -> None:
    """Reaching the budget ends the run with exit code 0."""
    code, out, err = call(
        capsys, "promptpo/Chain-v0", "--engine", "completion:m", "--base-url", server.address,
        "--steps", "30", "--max-calls", "5", "--out", str(tmp_path),
    )  # fmt: skip
    assert code == 0
    assert err.startswith("completion:m: at most")
    assert "the limit of 5 language-model calls is reached" in out
    assert len(server.completions) == 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["promptpo/Chain-v0"], "--engine is missing"),
        (["promptpo/Chian-v0", "--engine", "oracle"], "ICPI's own are promptpo/Chain-v0"),
        (["NoSuchThing-v0", "--engine", "oracle"], "there is no environment"),
        (["Pendulum-v1", "--method", "matching"], "needs a Discrete action space"),
        (["CartPole-v1", "--engine", "oracle"], "the oracle knows the rules of ICPI's own domains only"),
        (["promptpo/Chain-v0", "--engine", "oracel"], "ICPI's engines are"),
        (
            ["promptpo/Chain-v0", "--engine", "oracle", "--profile", "quick"],
            "'quick' is not one of 'paper', 'fast'",
        ),
        (["promptpo/Chain-v0", "--engine", "oracle", "--method", "ppo"], "'ppo' is not one of 'icpi'"),
        (
            ["promptpo/Chain-v0", "--engine", "oracle", "--randomize", "nxt"],
            "takes done, reward, next, policy, not 'nxt'",
        ),
        (["promptpo/Chain-v0", "--engine", "oracle", "--env-kwargs", "{"], "--env-kwargs"),
        (["nowhere:Thing-v0", "--method", "matching"], "there is no module 'nowhere' on the path or in"),
        (["promptpo/Chain-v0", "--engine", "llamacpp:m"], "needs --base-url"),
    ],
)
def test_wrong_usage_gets_one_sentence(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: list[str],
    message: str,
) -> None:
    """Exit code 2, no traceback and no directory."""
    monkeypatch.chdir(tmp_path)
    code, out, err = call(capsys, *words)
    assert code == 2, err
    assert message in err
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_environment_of_a_module_in_the_current_directory(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As with `promptpo optimize`, although the installed command does not have that directory on its path."""
    (tmp_path / "mine_of_icpi.py").write_text(
        "import gymnasium\n"
        "from gymnasium.envs.toy_text import FrozenLakeEnv\n"
        "gymnasium.register('MineOfIcpi-v0', entry_point=FrozenLakeEnv, max_episode_steps=20)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    words = [
        "mine_of_icpi:MineOfIcpi-v0",
        "--method",
        "matching",
        "--steps",
        "30",
        "--test-episodes",
        "2",
        "--out",
        "run",
    ]
    code, _, err = call(capsys, *words)
    assert code == 0, err
    assert json.loads((tmp_path / "run" / "result.json").read_text())["steps"]["train"] == 30
