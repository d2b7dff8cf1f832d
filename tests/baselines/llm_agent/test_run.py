"""Runs over real HTTP with the official client: results, resuming, limits and Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo.errors import ProviderError, UsageError
from promptpo_baselines.llm_agent.run import AgentConfig, run

LAKE = Task("FrozenLake-v1", {"is_slippery": False, "map_name": "4x4"})
CARTPOLE = Task("CartPole-v1", {}, 9)


def config(server: Any, task: Task = CARTPOLE, **changes: Any) -> Any:
    """Return a short run that uses the test server as chat."""
    base = AgentConfig(task=task, engine="openai:m", base_url=server.address, test_episodes=3)
    return replace(base, **changes)


def to_the_goal(prompt: str) -> str:
    """Return the next action across the lake for the observation in the prompt."""
    cell = int(prompt.rsplit("Observation: ", 1)[1].split("\n", maxsplit=1)[0])
    return "(B)" if cell == 0 else "C" if cell in (8, 13, 14) else "B: MOVE_DOWN"


@pytest.mark.slow
def test_agent_follows_the_model_and_reports_its_cost(server: Any, tmp_path: Path) -> None:
    """Repeated questions are answered from memory, and the result of a program is listed beside it."""
    server.script = to_the_goal
    program = tmp_path / "down.py"
    program.write_text(
        '"""Down."""\n\n\nclass Policy:\n    def __init__(self):\n        pass\n\n    def act(self, obs):\n        return 1\n'
    )
    progress: list[Any] = []
    out = tmp_path / "run"
    result = run(config(server, LAKE, beside=program), out, lambda *said: progress.append(said))
    assert json.loads((out / "result.json").read_text()) == result
    assert result["test"]["returns"] == [1.0, 1.0, 1.0]
    assert result["test"]["episodes"] == 3
    assert result["llm"]["calls"] == len(server.completions) == 6
    assert result["answers"]["repeated"] == 12
    assert result["per_episode"]["calls"] == 2
    assert result["per_episode"]["steps"] == 6
    assert result["per_episode"]["seconds"] > 0
    assert result["program"]["per_episode"]["calls"] == 0
    assert result["program"]["mean_return"] == 0
    assert result["steps"]["test"] == 18
    assert [done for _, done in progress] == [1, 2, 3]
    assert result["stop_reason"] == "all episodes played"


def test_prompt_has_spec_actions_last_steps_and_observation(server: Any, tmp_path: Path) -> None:
    """The spec comes first and is the same in every request, so that it can be cached."""
    run(config(server, test_episodes=1, last=2, choose="name"), tmp_path)
    bodies = server.completions
    system, task, now = (message["content"] for message in bodies[-1]["messages"])
    assert "one of the letters A, B" in system
    assert "Task: CartPole-v1" in task
    assert "(B) PUSH_CART_RIGHT" in task
    assert all(body["messages"][1]["content"] == task for body in bodies)
    steps = len(bodies)
    assert now.count("Reward: ") == 2
    assert f"Step {steps - 1}\n" in now
    assert now.startswith(f"Step {steps - 2}\nObservation: [")
    assert now.endswith("Action: (")
    assert "logprobs" not in bodies[0]


@pytest.mark.parametrize("engine", ["openai:m", "completion:m", "llamacpp:m"])
def test_most_likely_action_is_taken_if_there_are_log_probabilities(
    server: Any, tmp_path: Path, engine: str
) -> None:
    """Whatever the text says."""
    server.chances = {"A": 0.2, " B": 0.15, "B": 0.1, "the": 0.3}
    server.script = lambda prompt: "A"
    result = run(config(server, engine=engine, test_episodes=1), tmp_path)
    assert result["answers"]["scored"] == result["answers"]["calls"] == len(server.completions)
    body = server.completions[-1]
    text = body["prompt"] if "prompt" in body else body["messages"][-1]["content"]
    assert "Action: (B) PUSH_CART_RIGHT" in text
    assert "Action: (A)" not in text


def test_refused_log_probabilities_are_requested_only_once(server: Any, tmp_path: Path) -> None:
    """From then on the model names its actions."""
    server.refuses_logprobs = True
    result = run(config(server, test_episodes=1, at_once=1), tmp_path)
    assert result["answers"]["scored"] == 0
    assert result["answers"]["unreadable"] == 0
    assert sum(bool(body.get("logprobs")) for body in server.completions) == 1


@pytest.mark.parametrize("change", [{"choose": "score"}, {"weigh": True, "steps": 20}])
def test_missing_log_probabilities_are_reported_if_required(server: Any, tmp_path: Path, change: Any) -> None:
    with pytest.raises(UsageError, match="gives no log-probabilities"):
        run(config(server, test_episodes=1, **change), tmp_path)


@pytest.mark.slow
def test_values_decide_between_equally_likely_actions(server: Any, tmp_path: Path) -> None:
    """They come from random rollouts, and the pole stays up longer."""
    server.chances = {"A": 0.5, "B": 0.499}
    task = Task("CartPole-v1", {}, 40)
    plain = run(config(server, task), tmp_path / "plain")
    weighed = run(config(server, task, weigh=True, steps=800), tmp_path / "weighed")
    assert weighed["steps"]["train"] == 800
    assert plain["steps"]["train"] == 0
    assert weighed["test"]["mean_return"] > 2 * plain["test"]["mean_return"]


def test_invalid_answers_are_retried_and_then_drawn_at_random(server: Any, tmp_path: Path) -> None:
    """The second request says what was wrong, and draws repeat with the seed."""
    server.script = lambda prompt: "```\nno idea\n```"
    first = run(config(server, test_episodes=1), tmp_path / "a")
    steps = first["steps"]["test"]
    assert first["answers"]["drawn"] == steps
    assert first["answers"]["unreadable"] == first["llm"]["calls"] == 2 * steps
    assert '"```\\nno idea\\n```" is no answer' in server.completions[1]["messages"][-1]["content"]
    assert run(config(server, test_episodes=1), tmp_path / "b")["test"] == first["test"]


def test_numbers_are_parsed_and_clipped(server: Any, tmp_path: Path) -> None:
    """The action space is a box of one number; there are no log-probabilities."""
    server.script = lambda prompt: "7.5"
    task = Task("Pendulum-v1", {}, 3)
    result = run(config(server, task, test_episodes=1), tmp_path)
    assert result["answers"]["clipped"] == 3
    assert "Action: [2]" in server.completions[-1]["messages"][-1]["content"]
    assert "logprobs" not in server.completions[0]
    with pytest.raises(UsageError, match="can be counted"):
        run(config(server, task, weigh=True), tmp_path / "other")


def test_resuming_repeats_no_request(server: Any, tmp_path: Path) -> None:
    """Runs stop at a limit or with a failing server; their parts equal an uninterrupted run."""
    whole = run(config(server), tmp_path / "whole")
    once = len(server.completions)
    stopped = run(config(server, max_calls=5), tmp_path / "parts")
    assert stopped["stop_reason"] == "the limit of 5 language-model calls is reached"
    server.works_for = len(server.seen) + 4
    with pytest.raises(ProviderError):
        run(config(server), tmp_path / "parts")
    server.works_for = None
    parts = run(config(server), tmp_path / "parts")
    assert parts["test"] == whole["test"]
    assert parts["llm"] == whole["llm"]
    assert server.answered == 2 * once
    again = run(config(server), tmp_path / "parts")
    assert again["per_episode"] == parts["per_episode"]
    assert server.answered == 2 * once


def test_directory_of_another_run_is_refused(server: Any, tmp_path: Path) -> None:
    """The sentence names the differing flag."""
    run(config(server, test_episodes=1), tmp_path)
    with pytest.raises(UsageError, match="another last"):
        run(config(server, test_episodes=1, last=3), tmp_path)


def test_too_long_prompt_loses_its_oldest_steps(server: Any, tmp_path: Path) -> None:
    """The task is always kept."""
    run(config(server, engine="completion:m", test_episodes=1, last=12, at_once=1), tmp_path / "long")
    longest = max(len(body["prompt"]) for body in server.completions)
    server.context = longest - 100
    server.seen.clear()
    run(config(server, engine="completion:m", test_episodes=1, last=12, at_once=1), tmp_path / "short")
    answered = [body["prompt"] for body in server.completions if len(body["prompt"]) <= server.context]
    assert len(answered) < len(server.completions)
    assert all("Task: CartPole-v1" in prompt for prompt in answered)


@pytest.mark.slow
def test_pending_answers_at_ctrl_c_are_kept(server: Any, tmp_path: Path) -> None:
    """The next command repeats no request."""
    server.waits = threading.Event()
    words = [
        sys.executable, "-m", "promptpo", "baseline", "llm-agent", "CartPole-v1", "--engine", "openai:m",
        "--base-url", server.address, "--test-episodes", "2", "--max-episode-steps", "6", "--out", str(tmp_path),
        "--json",
    ]  # fmt: skip
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.asked.wait(60)
    process.send_signal(signal.SIGINT)
    threading.Timer(0.3, server.waits.set).start()
    process.communicate(timeout=60)
    assert process.returncode == 130
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["stop_reason"].startswith("interrupted")
    assert result["llm"]["calls"] == server.answered == 2
    server.waits = None
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    finished = json.loads(done.stdout)
    assert finished["llm"]["calls"] == server.answered == 12


def test_run_is_listed_shown_and_compared(
    server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Like other baselines, also if its test was cut short."""
    from promptpo.cli.app import run as command

    run(config(server), tmp_path / "whole")
    run(config(server, max_calls=1), tmp_path / "cut")
    for words in (
        ["show", str(tmp_path / "whole")],
        ["show", str(tmp_path / "cut")],
        ["list", str(tmp_path)],
    ):
        assert command(words) == 0
    out = capsys.readouterr().out
    assert "An episode took" in out
    assert "Nothing was tested." in out
    page = tmp_path / "page.html"
    assert command(["compare", str(tmp_path / "whole"), str(tmp_path / "cut"), "-o", str(page)]) == 0
    assert "openai:m" in page.read_text().replace("<wbr>", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["CartPole-v1"], "--engine is missing"),
        (["CartPole-v1", "--engine", "oracle"], "ICPI's own domains only"),
        (["CartPole-v1", "--engine", "llamacpp:m"], "needs --base-url"),
        (["CartPole-v1", "--engine", "opnai:m"], "opnai"),
        (
            ["Pendulum-v1", "--engine", "openai:m", "--weigh", "--base-url", "http://127.0.0.1:9/v1"],
            "can be counted",
        ),
        (["Blackjack-v2", "--engine", "openai:m", "--base-url", "http://127.0.0.1:9/v1"], "Blackjack"),
        (
            [
                "CartPole-v1",
                "--engine",
                "openai:m",
                "--base-url",
                "http://127.0.0.1:9/v1",
                "--beside",
                "none.py",
            ],
            "none.py",
        ),
    ],
)
def test_wrong_usage_gets_one_sentence(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: list[str],
    message: str,
) -> None:
    """There is no traceback and no directory."""
    from promptpo.cli.app import run as command

    monkeypatch.chdir(tmp_path)
    assert command(["baseline", "llm-agent", *words]) in (1, 2)
    out = capsys.readouterr()
    assert message in out.err
    lines = [
        line for line in out.err.strip().splitlines() if "takes a while" not in line
    ]  # on a busy machine
    assert len(lines) == 1
    assert list(tmp_path.iterdir()) == []


def test_estimate_makes_no_call_and_needs_no_key(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It assumes one call for each step."""
    from promptpo.cli.app import run as command

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    words = ["baseline", "llm-agent", "CartPole-v1", "--engine", "openai:gpt-5-mini", "--test-episodes", "3"]
    assert command([*words, "--estimate"]) == 0
    assert "at most 1,500 calls" in capsys.readouterr().out
    assert command([*words, "--estimate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["most_usd"] > 0
    assert list(tmp_path.iterdir()) == []
